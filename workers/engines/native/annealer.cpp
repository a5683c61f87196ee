#include "annealer.hpp"

namespace sisr {

Annealer::Annealer(const Problem& problem, const StopCriterion& stop_criterion, RouteLog& log, std::uint64_t seed)
    : plan(problem, stop_criterion),
      best(plan.routes),
      problem_(problem),
      random_(seed),
      ruin_(plan, random_),
      recreate_(plan, random_, stop_criterion),
      exchange_(plan, random_),
      log_(log),
      stale_(static_cast<int>(problem.agents.size())) {
    for (int agent = 0; agent < static_cast<int>(best.size()); ++agent) stale_.set(agent, true);
}

void Annealer::restart_from(const std::vector<Route>& routes) {
    plan.replace_routes(routes);
    for (int agent = 0; agent < static_cast<int>(routes.size()); ++agent) stale_.set(agent, true);
    cost = plan.cost();
}

void Annealer::restart_from(const std::vector<Route>& one, const std::vector<Route>& other) {
    restart_from(one);
    crossover(plan, other, random_);
    build(false);
}

void Annealer::start_part(const std::vector<Route>& routes, const SubPlan& part) {
    plan.replace_routes(routes, &part);
    discard_best();
}

void Annealer::discard_best() {
    for (int agent = 0; agent < static_cast<int>(best.size()); ++agent) stale_.set(agent, plan.contains(agent));
    cost = plan.cost();
    best_cost = UNKNOWN;
    store_best();
}

void Annealer::build(bool seeded) {
    plan.begin();
    items_.assign(plan.absent.begin(), plan.absent.end());
    if (seeded) recreate_.seed_routes(items_);
    std::erase_if(items_, [&](int item) { return plan.is_served(item); });
    if (recreate_(items_)) {
        plan.keep();
        for (int agent : plan.touched) stale_.set(agent, true);
    } else {
        plan.undo();
    }
    cost = plan.cost();
    store_best();
}

void Annealer::step(double temperature) {
    ++iterations;
    plan.begin();
    ruin_(items_);
    const Number most = cost + acceptance_margin(temperature);
    if (recreate_(items_, most, ruin_.has_listed_neighbourhood())) {
        improve_touched_routes();
        accept_or_undo(most);
    } else {
        plan.undo();
    }
    if (exchange_.is_of_use()) exchange_routes(temperature);
}

void Annealer::set_unassigned_prices(std::vector<Number> prices) {
    plan.set_unassigned_prices(std::move(prices));
    cost = plan.cost();
    if (plan.has_reduced_penalties()) return;
    build(false);
    if (!plan.absent.empty()) restart_from(best);
}

// Several small moves per iteration: together they take as long as one ruin and recreate.
void Annealer::exchange_routes(double temperature) {
    const Number room = acceptance_margin(temperature);
    for (int k = 0; k < EXCHANGES_PER_STEP; ++k)
        if (exchange_.propose(room)) accept_or_undo(cost + room);
}

// Keep the changes of this round if the plan then costs less than `most`.
void Annealer::accept_or_undo(Number most) {
    const Number now = plan.cost_now();
    if (now >= most) return plan.undo();
    plan.keep();
    cost = now;
    for (int agent : plan.touched) stale_.set(agent, true);
    log_touched_routes();
    store_best();
}

// Log the new routes of a good plan, for the recombination.
void Annealer::log_touched_routes() {
    if (!log_.is_open() || static_cast<double>(cost) > (1 + LOGGED_EXCESS) * static_cast<double>(best_cost)) return;
    for (const int agent : plan.touched) log_.add(problem_, plan.routes[agent]);
}

// The acceptance margin above the present cost; at least 1, so that an equal plan is accepted.
Number Annealer::acceptance_margin(double temperature) {
    return 1 + static_cast<Number>(-temperature * std::log(1.0 - random_.unit()));
}

// Changes that insertion does not make: the agent of a route, and the removal of reloads that are no longer needed.
void Annealer::improve_touched_routes() {
    for (std::size_t k = 0; k < plan.touched.size(); ++k) {
        const int agent = plan.touched[k];
        if (plan.routes[agent].reloads > 0) plan.drop_reloads(agent);
        if (problem_.exchangeable || !random_.chance(EXCHANGES)) continue;
        const IndexedSet& idle = plan.idle[random_.below(problem_.types)];
        const int other = idle.empty() || random_.chance(0.5) ? random_.below(static_cast<int>(plan.routes.size()))
                                                              : idle.any(random_);
        if (plan.contains(other) && problem_.agents[other].type != problem_.agents[agent].type)
            plan.exchange(agent, other);
    }
}

void Annealer::store_best() {
    const auto is_absent = [&](int item) { return plan.absent.has(item); };
    if (cost >= best_cost || (plan.has_reduced_penalties() && !plan.absent.empty())) return;
    if (std::any_of(problem_.mandatory.begin(), problem_.mandatory.end(), is_absent)) return;
    if (problem_.has_least_loads && !is_whole_without_short_routes()) return;
    best_cost = cost;
    while (!stale_.empty()) {
        const int agent = stale_.back();
        best[agent] = plan.routes[agent];
        stale_.set(agent, false);
    }
}

// Whether the plan keeps its locks and groups when it is published, without its routes below their least load.
bool Annealer::is_whole_without_short_routes() const {
    const auto is_short = [&](int ticket) { return plan.is_on_short_route(ticket); };
    const auto loses_any = [&](const Agent& agent) {
        return std::any_of(agent.locked.begin(), agent.locked.end(), is_short);
    };
    const auto is_lost = [&](int item) {
        const auto& options = problem_.items[item].options;
        return std::any_of(options.begin(), options.end(), [&](const Option& option) { return is_short(option.ticket); });
    };
    const auto is_split = [&](const std::vector<int>& group) {
        return std::any_of(group.begin(), group.end(), is_short) && !std::all_of(group.begin(), group.end(), is_short);
    };
    return std::none_of(problem_.agents.begin(), problem_.agents.end(), loses_any) &&
           std::none_of(problem_.mandatory.begin(), problem_.mandatory.end(), is_lost) &&
           std::none_of(problem_.all_of.begin(), problem_.all_of.end(), is_split);
}

double Annealer::mean_leg_cost() const {
    Number sum = 0;
    for (int agent : plan.active) {
        const Agent& driver = problem_.agents[agent];
        sum += plan.routes[agent].cost - driver.fixed - least_load_cost(problem_, plan.routes[agent]);
        for (const Node& node : plan.routes[agent].nodes)  // the cost of service does not depend on the route
            if (problem_.is_ticket(node.stop)) {
                const Ticket& ticket = problem_.tickets[node.stop];
                sum -= driver.per_time * ticket.service + ticket.forgone;
            }
    }
    return std::max(1.0, static_cast<double>(sum) / (plan.served + plan.active.size() + 1));
}

}  // namespace sisr
