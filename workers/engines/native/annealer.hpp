// One plan, or one part of a plan, under simulated annealing over ruin and recreate, and trades in between.
//
// Source: Christiaens and Vanden Berghe 2020, section 4. Owns the plan under change and the best one seen; when to
// stop and how hot it is are `search_driver.hpp`'s.
#pragma once
#include "population.hpp"
#include "recreate.hpp"
#include "ruin.hpp"
#include "inter_route_exchange.hpp"

namespace sisr {

class Annealer {
public:
    Annealer(const Problem& problem, const StopCriterion& stop_criterion, std::uint64_t seed);

    void restart_from(const std::vector<Route>& routes);             // of all agents
    void take(const std::vector<Route>& routes, const SubPlan& part);  // those of its agents; forgets the best plan
    // Begin a child of two plans: the one with routes of the other, whatever that leaves out put back.
    void restart_from(const std::vector<Route>& one, const std::vector<Route>& other);
    void forget();                                                 // the best plan: it is the one at hand
    void build(bool scattered);  // insert what is absent
    void step(double temperature);
    void set_unassigned_prices(std::vector<Number> prices);  // for what is left out; with none, nothing need be, or the plan is the best
    void store_best();             // the plan as the best one, if it is
    double mean_leg_cost() const;

    Plan plan;
    std::vector<Route> best;  // by agent
    Number cost = 0, best_cost = UNKNOWN, iterations = 0;

private:
    static constexpr double EXCHANGES = 0.5;  // share of touched routes for which another agent is tried
    static constexpr int EXCHANGES_PER_STEP = 10;         // proposed after each round

    void improve_touched_routes();
    void trade(double temperature);
    void accept_or_undo(Number most);
    Number acceptance_margin(double temperature);

    const Problem& problem_;
    Random random_;
    Ruin ruin_;
    Recreate recreate_;
    InterRouteExchange exchange_;
    std::vector<int> items_;
    IndexedSet stale_;  // agents whose route in `best` is not the one of `plan`
};

}  // namespace sisr
