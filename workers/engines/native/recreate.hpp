// Recreate: greedy insertion of items in a random order.
//
// Source: Christiaens and Vanden Berghe 2020, section 5.2 (greedy insertion with blinks). Departure: a route is tried
// only if it serves a near neighbour of the item, and all routes only if none of these is feasible. Nearly every best
// position is among them, and an insertion takes as long with 5000 tickets as with 500.
#pragma once
#include <array>
#include <span>

#include "cheapest_insertion.hpp"

namespace sisr {

class Recreate {
public:
    Recreate(Plan& plan, Random& random, const StopCriterion& stop_criterion)
        : plan_(plan),
          problem_(plan.problem),
          random_(random),
          stop_criterion_(stop_criterion),
          inserter_(plan, random, plan.problem.items.size() <= FEW_ITEMS ? BLINK_OFTEN : BLINK_RATE, stop_criterion),
          is_listed_(1 + static_cast<int>(plan.problem.agents.size())),
          key_(plan.problem.items.size()),
          cost_only_grows_(!problem_.priced && !problem_.reloads && problem_.span_cost == 0 &&
                           problem_.all_of.empty() && !problem_.has_least_loads) {}

    // Returns false when an all-or-none group could neither be completed nor removed, or when the routes cost more than
    // `most` before all items are inserted. An item stays unserved where that is cheaper, unless `at_any_cost`.
    bool operator()(std::vector<int>& items, Number most = NEVER, bool at_any_cost = false);

    // Insert the most remote items into idle routes, one each, while there are any. Then routes grow in separate
    // regions, as by the merging of Christiaens and Vanden Berghe's start; routes filled one after the other do not.
    void seed_routes(std::vector<int>& items);

private:
    static constexpr double BLINK_RATE = 0.01;
    static constexpr std::size_t FEW_ITEMS = 3;  // so few that greedy insertion repeats the same plans
    static constexpr double BLINK_OFTEN = 0.1;
    static constexpr int NEAR = 40;  // neighbours whose routes are tried
    // Share of iterations that insert optional items at any cost, to find those that pay together.
    static constexpr double FORCED_INSERTION = 0.3;
    static constexpr int FEW_ROUTES = 4;  // number of used routes up to which all are tried

    void sort(std::vector<int>& items, int order);
    int draw_order();
    Number key(int order, const Option& option) const;
    InsertionPosition best_position(const Option& option);
    void list_routes_near(int ticket);
    void try_idle_agents(const Option& option, InsertionPosition& best);
    void drop_unprofitable(const std::vector<int>& items);
    bool complete_groups();

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
    const StopCriterion& stop_criterion_;
    Inserter inserter_;
    ClearableSet is_listed_;                // by agent, from 1; 0 is for unserved tickets
    std::array<int, 2 * NEAR + 1> nearby_;  // agents: the first `nearby_count_`
    std::size_t nearby_count_ = 0;
    std::vector<Number> key_;  // sort key by item
    bool cost_only_grows_;     // whether every insertion increases the cost
};

}  // namespace sisr
