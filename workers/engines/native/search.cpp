#include "search.hpp"

#include <cmath>

namespace sisr {

Search::Search(const Problem& problem, const Options& options, const Watch& watch, Board& board)
    : problem_(problem),
      options_(options),
      watch_(watch),
      board_(board),
      random_(static_cast<std::uint64_t>(options.seed)),
      plan_(problem),
      ruin_(plan_, random_),
      recreate_(plan_, random_, watch),
      stale_(static_cast<int>(problem.agents.size())) {
    for (std::size_t agent = 0; agent < problem.agents.size(); ++agent) stale_.set(static_cast<int>(agent), true);
    best_ = plan_.routes;
}

End Search::run() {
    if (!problem_.is_sound || !plan_.is_sound) return End::UNSOUND;
    start();
    const double begun = share();
    const double highest = options_.warm_length > 0 ? WARM : HOT;
    const double hot = highest * mean_leg_cost(), cooling = std::log(COLD / highest);
    const bool is_small = problem_.items.size() <= FEW_ITEMS;
    End end = End::TIME_LIMIT;
    while (!watch_.over()) {
        if (iterations_ == options_.max_iterations || problem_.items.empty() ||
            (is_small && iterations_ == FEW_ITERATIONS)) {
            end = End::EXHAUSTED;
            break;
        }
        step(hot * std::exp(cooling * (share() - begun) / (1 - begun)));
        if (is_news_ && watch_.elapsed() - published_at_ > PUBLISH_EVERY_S) publish();
    }
    if (is_news_) publish();
    return watch_.cancelled() ? End::STOPPED : end;
}

double Search::share() const {
    if (options_.max_iterations < 0) return watch_.share();
    return static_cast<double>(iterations_) / static_cast<double>(options_.max_iterations);
}

// Go on from the given plan, or from the better of two: routes that grow together and routes filled one by one.
void Search::start() {
    const std::vector<Route> nothing = plan_.routes;
    if (options_.warm_length > 0) {
        plan_.begin();
        decode(options_.warm, options_.warm_length, plan_);
        cost_ = plan_.keep();
        remember();
        build(false);
        return;
    }
    build(true);
    for (double share : {0.5, 1.0}) {
        descend(share * DESCENT_SHARE);
        if (share == 1.0) break;
        plan_.become(nothing);
        build(false);
    }
    if (best_cost_ == NEVER) return;
    for (std::size_t agent = 0; agent < problem_.agents.size(); ++agent) stale_.set(static_cast<int>(agent), true);
    cost_ = best_cost_;
    plan_.become(best_);
}

void Search::build(bool scattered) {
    for (std::size_t agent = 0; agent < problem_.agents.size(); ++agent) stale_.set(static_cast<int>(agent), true);
    plan_.begin();
    items_.assign(plan_.absent.begin(), plan_.absent.end());
    if (scattered) recreate_.scatter(items_);
    std::erase_if(items_, [&](int item) { return plan_.is_served(item); });
    if (recreate_(items_))
        plan_.keep();
    else
        plan_.undo();
    cost_ = plan_.cost();
    remember();
    publish();
}

void Search::descend(double until) {
    const Number iterations = DESCENT * static_cast<Number>(problem_.items.size());
    for (Number k = 0; k < iterations && share() < until && !watch_.over(); ++k) step(0);
}

void Search::step(double temperature) {
    plan_.begin();
    ruin_(items_);
    const bool is_whole = recreate_(items_);
    if (is_whole) polish();
    const Number cost = plan_.cost_now();
    if (is_whole && is_accepted(cost, temperature)) {
        plan_.keep();
        cost_ = cost;
        for (int agent : plan_.touched) stale_.set(agent, true);
        remember();
    } else {
        plan_.undo();
    }
    board_.count(++iterations_);
}

bool Search::is_accepted(Number cost, double temperature) {
    return static_cast<double>(cost - cost_) <
           -temperature * std::log(1.0 - random_.unit());  // penalties pass what a double holds
}

// What insertion does not change: which agent drives a route, and reloads that lost their reason.
void Search::polish() {
    for (std::size_t k = 0; k < plan_.touched.size(); ++k) {
        const int agent = plan_.touched[k];
        if (plan_.routes[agent].reloads > 0) plan_.drop_reloads(agent);
        if (problem_.exchangeable || !random_.chance(EXCHANGES)) continue;
        const Bag& idle = plan_.idle[random_.below(problem_.types)];
        const int other = idle.empty() || random_.chance(0.5) ? random_.below(static_cast<int>(plan_.routes.size()))
                                                              : idle.any(random_);
        if (problem_.agents[other].type != problem_.agents[agent].type) plan_.exchange(agent, other);
    }
}

void Search::remember() {
    const auto is_served = [&](int item) { return plan_.is_served(item); };
    if (cost_ >= best_cost_ || !std::all_of(problem_.musts.begin(), problem_.musts.end(), is_served)) return;
    best_cost_ = cost_;
    is_news_ = true;
    while (!stale_.empty()) {
        const int agent = stale_.back();
        best_[agent] = plan_.routes[agent];
        stale_.set(agent, false);
    }
}

void Search::publish() {
    if (best_cost_ == NEVER) return;
    Code code;
    for (const Route& route : best_)
        if (route.is_used()) encode(problem_, route, code);
    board_.publish(code, best_cost_);
    published_at_ = watch_.elapsed();
    is_news_ = false;
}

double Search::mean_leg_cost() const {
    Number cost = 0;
    for (int agent : plan_.active) cost += plan_.routes[agent].cost - problem_.agents[agent].fixed;
    return std::max(1.0, static_cast<double>(cost) / (plan_.served + plan_.active.size() + 1));
}

}  // namespace sisr
