// Puts items back, each where it costs least, in an order drawn anew each round.
//
// Source: Christiaens and Vanden Berghe 2020, section 5.2 (greedy insertion with blinks). Departure: a route is looked
// at only when it serves a near neighbour of the item, all routes only when none of these takes it. Nearly every best
// place is among them, and a look then costs the same at 5000 tickets as at 500.
#pragma once
#include "cheapest_insertion.hpp"

namespace sisr {

class Recreate {
public:
    Recreate(Plan& plan, Random& random, const StopCriterion& stop_criterion)
        : plan_(plan),
          problem_(plan.problem),
          random_(random),
          stop_criterion_(stop_criterion),
          inserter_(plan, random, plan.problem.items.size() <= FEW_ITEMS ? BLINK_OFTEN : BLINK_RATE),
          is_listed_(1 + static_cast<int>(plan.problem.agents.size())),
          key_(plan.problem.items.size()),
          only_grows_(problem_.exchangeable && !problem_.priced && !problem_.reloads && problem_.span_cost == 0 &&
                      problem_.all_of.empty()) {}

    // False when a group that must be served whole could neither be completed nor taken out, or when the routes cost
    // more than `most` before all items are back. An item stays out where that is cheaper, unless `at_any_cost`.
    bool operator()(std::vector<int>& items, Number most = NEVER, bool at_any_cost = false);

    // Give items an agent each, the most remote first, while idle ones last. The start of Christiaens and Vanden
    // Berghe: routes that grow by merging keep to one region, those filled one after the other do not.
    void scatter(std::vector<int>& items);

private:
    static constexpr double BLINK_RATE = 0.01;
    static constexpr std::size_t FEW_ITEMS = 3;  // of which greedy insertion makes the same few plans again and again
    static constexpr double BLINK_OFTEN = 0.1;
    static constexpr int NEAR = 40;  // neighbours whose routes are looked at
    static constexpr double FORCED_INSERTION =
        0.3;  // share of rounds that insert priced items at any cost, to see what they are worth together
    static constexpr int FEW_ROUTES = 4;  // up to here all are

    void sort(std::vector<int>& items, int order);
    int any_order();
    Number key(int order, const Option& option) const;
    InsertionPosition best_spot(const Option& option);
    void list_routes_near(int ticket);
    void look_at_idle(const Option& option, InsertionPosition& best);
    void drop_unprofitable(const std::vector<int>& items);
    bool complete_groups();

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
    const StopCriterion& stop_criterion_;
    Inserter inserter_;
    ClearableSet is_listed_;           // by agent, from 1; 0 is nobody
    std::vector<int> nearby_;  // agents
    std::vector<Number> key_;  // by item
    bool only_grows_;          // the cost, insertion by insertion
};

}  // namespace sisr
