#include "annealer.hpp"

namespace sisr {

Annealer::Annealer(const Problem& problem, const Watch& watch, std::uint64_t seed)
    : plan(problem, watch),
      best(plan.routes),
      problem_(problem),
      random_(seed),
      ruin_(plan, random_),
      recreate_(plan, random_, watch),
      trade_(plan, random_),
      stale_(static_cast<int>(problem.agents.size())) {
    for (int agent = 0; agent < static_cast<int>(best.size()); ++agent) stale_.set(agent, true);
}

void Annealer::go_on_from(const std::vector<Route>& routes) {
    plan.become(routes);
    for (int agent = 0; agent < static_cast<int>(routes.size()); ++agent) stale_.set(agent, true);
    cost = plan.cost();
}

void Annealer::go_on_from(const std::vector<Route>& one, const std::vector<Route>& other) {
    go_on_from(one);
    cross(plan, other, random_);
    build(false);
}

void Annealer::take(const std::vector<Route>& routes, const Part& part) {
    plan.become(routes, &part);
    forget();
}

void Annealer::forget() {
    for (int agent = 0; agent < static_cast<int>(best.size()); ++agent) stale_.set(agent, plan.is_mine(agent));
    cost = plan.cost();
    best_cost = UNKNOWN;
    remember();
}

void Annealer::build(bool scattered) {
    plan.begin();
    items_.assign(plan.absent.begin(), plan.absent.end());
    if (scattered) recreate_.scatter(items_);
    std::erase_if(items_, [&](int item) { return plan.is_served(item); });
    if (recreate_(items_)) {
        plan.keep();
        for (int agent : plan.touched) stale_.set(agent, true);
    } else {
        plan.undo();
    }
    cost = plan.cost();
    remember();
}

void Annealer::step(double temperature) {
    ++iterations;
    plan.begin();
    ruin_(items_);
    const Number most = cost + leeway(temperature);
    if (recreate_(items_, most, ruin_.has_gathered())) {
        polish();
        judge(most);
    } else {
        plan.undo();
    }
    if (trade_.is_of_use()) trade(temperature);
}

void Annealer::charge(std::vector<Number> prices) {
    plan.charge(std::move(prices));
    cost = plan.cost();
    if (plan.is_lenient()) return;
    build(false);
    if (!plan.absent.empty()) go_on_from(best);
}

// Many small moves by the same draw: a round of ruin and recreate takes as long as all of them.
void Annealer::trade(double temperature) {
    const Number room = leeway(temperature);
    for (int k = 0; k < TRADES; ++k)
        if (trade_.propose(room)) judge(cost + room);
}

// Keep what the round made of the plan if that costs less than `most`.
void Annealer::judge(Number most) {
    const Number now = plan.cost_now();
    if (now >= most) return plan.undo();
    plan.keep();
    cost = now;
    for (int agent : plan.touched) stale_.set(agent, true);
    remember();
}

// What a plan that is taken must cost less than, above the cost of this one; never 0, so that an equal one is taken.
Number Annealer::leeway(double temperature) {
    return 1 + static_cast<Number>(-temperature * std::log(1.0 - random_.unit()));
}

// What insertion does not change: which agent drives a route, and reloads that lost their reason.
void Annealer::polish() {
    for (std::size_t k = 0; k < plan.touched.size(); ++k) {
        const int agent = plan.touched[k];
        if (plan.routes[agent].reloads > 0) plan.drop_reloads(agent);
        if (problem_.exchangeable || !random_.chance(EXCHANGES)) continue;
        const Bag& idle = plan.idle[random_.below(problem_.types)];
        const int other = idle.empty() || random_.chance(0.5) ? random_.below(static_cast<int>(plan.routes.size()))
                                                              : idle.any(random_);
        if (plan.is_mine(other) && problem_.agents[other].type != problem_.agents[agent].type)
            plan.exchange(agent, other);
    }
}

void Annealer::remember() {
    const auto is_absent = [&](int item) { return plan.absent.has(item); };
    if (cost >= best_cost || (plan.is_lenient() && !plan.absent.empty())) return;
    if (std::any_of(problem_.musts.begin(), problem_.musts.end(), is_absent)) return;
    best_cost = cost;
    while (!stale_.empty()) {
        const int agent = stale_.back();
        best[agent] = plan.routes[agent];
        stale_.set(agent, false);
    }
}

double Annealer::mean_leg_cost() const {
    Number sum = 0;
    for (int agent : plan.active) {
        const Agent& driver = problem_.agents[agent];
        sum += plan.routes[agent].cost - driver.fixed;
        for (const Node& node : plan.routes[agent].nodes)  // service is paid wherever it is done
            if (problem_.is_ticket(node.stop)) sum -= driver.per_time * problem_.tickets[node.stop].service;
    }
    return std::max(1.0, static_cast<double>(sum) / (plan.served + plan.active.size() + 1));
}

}  // namespace sisr
