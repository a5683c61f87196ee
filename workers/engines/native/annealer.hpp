// Simulated annealing with ruin and recreate of one plan, or one part of a plan, with inter-route exchanges in between.
//
// Source: Christiaens and Vanden Berghe 2020, section 4. Owns the current plan and the best one. The stop criterion and
// the temperature belong to `search_driver.hpp`.
#pragma once
#include "population.hpp"
#include "recreate.hpp"
#include "route_log.hpp"
#include "ruin.hpp"
#include "inter_route_exchange.hpp"

namespace sisr {

class Annealer {
public:
    Annealer(const Problem& problem, const StopCriterion& stop_criterion, RouteLog& log, std::uint64_t seed);

    void restart_from(const std::vector<Route>& routes);  // of all agents
    // Continue with the agents of a part; discards the best plan.
    void start_part(const std::vector<Route>& routes, const SubPlan& part);
    // Start a child of two plans: the first with some routes of the second, and every other ticket inserted.
    void restart_from(const std::vector<Route>& one, const std::vector<Route>& other);
    void discard_best();      // sets it to the current plan
    void build(bool seeded);  // insert all unserved items
    void step(double temperature);
    // Set the prices of unserved items. Without prices the penalties apply again, and the plan serves all items or
    // becomes the best one.
    void set_unassigned_prices(std::vector<Number> prices);
    void store_best();  // set the best plan to the current one, if that is better
    double mean_leg_cost() const;

    Plan plan;
    std::vector<Route> best;  // by agent
    Number cost = 0, best_cost = UNKNOWN, iterations = 0;

private:
    static constexpr double EXCHANGES = 0.5;       // share of changed routes for which another agent is tried
    static constexpr int EXCHANGES_PER_STEP = 10;  // proposed after each iteration
    static constexpr double LOGGED_EXCESS = 0.02;  // largest excess over the best cost of plans whose routes are logged

    void improve_touched_routes();
    void exchange_routes(double temperature);
    void accept_or_undo(Number most);
    void log_touched_routes();
    bool is_whole_without_short_routes() const;
    Number acceptance_margin(double temperature);

    const Problem& problem_;
    Random random_;
    Ruin ruin_;
    Recreate recreate_;
    InterRouteExchange exchange_;
    RouteLog& log_;
    std::vector<int> items_;
    IndexedSet stale_;  // agents whose route in `best` differs from that in `plan`
};

}  // namespace sisr
