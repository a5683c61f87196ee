// The current plan: the routes of all agents, with undo.
//
// A round is `begin`, any number of changes, then `keep` or `undo`. Only the routes a round changes are copied, so its
// time depends on the changes and not on the size of the plan.
#pragma once
#include "route_state.hpp"

namespace sisr {

// Cost of an infeasible route during a round: more than all penalties, and the sum of two, with all others, fits into a
// Number.
inline constexpr Number INFEASIBLE_COST = 2 * NEVER;

// A position for an option and its cost. `reload_*` are stops to insert with it, TERMINUS for none.
struct InsertionPosition {
    Number delta = NEVER;
    int agent = -1, after = -1, delivery_after = -1;
    int reload_before = TERMINUS, reload_after = TERMINUS;
    Option option{-1, -1};
};

// The part of a plan that one search may change.
struct SubPlan {
    std::vector<std::uint8_t> agents;  // by agent: whether it belongs to the part
    std::vector<int> absent;           // unserved items
};

// Nodes of a route, `end` excluded.
struct Span {
    int begin, end;
};

class Plan {
public:
    Plan(const Problem& problem, const StopCriterion& stop_criterion);

    void begin();
    Number keep();  // returns the cost of the plan
    void undo();
    // Replace all routes, outside a round; or those of a part, as if no others existed.
    void replace_routes(const std::vector<Route>& others, const SubPlan* part = nullptr);
    bool contains(int agent) const { return active.has(agent) || idle[problem.agents[agent].type].has(agent); }
    Number cost() const { return route_cost_ + penalties_ + problem.span_cost * longest(); }
    Number cost_now();  // within a round: with the changes made so far

    bool insert(const InsertionPosition& position);
    void remove(int ticket);     // with its shipment partner; `close_gaps` updates the route
    bool close_gaps(int agent);  // false: the route was restored with its tickets
    // Set the route of an unused agent; returns false, and changes nothing, when it is infeasible.
    bool set_idle_route(int agent, const std::vector<int>& stops);
    // Exchange the stops of two agents, where that is feasible and cheaper, or at any cost.
    bool exchange(int one, int other, bool at_any_price = false);
    // Exchange segments of two routes, or reverse one. Returns false when that is infeasible; the cost is then
    // prohibitive until the round is undone.
    bool exchange_segments(int one, Span mine, int other, Span theirs);
    bool reverse_segment(int agent, std::size_t from, std::size_t to);
    void drop_unprofitable(int item);  // if its route saves more than its penalty
    bool drop_reloads(int agent);      // those without benefit
    // Put a reload among locked visits, in place of an adjacent one, or of another where no more are allowed, at any
    // cost. Returns false, and changes nothing, when that is infeasible.
    bool reload_among_locked(int agent, int after, int stop);
    bool update_route(int agent);  // evaluate after a change of nodes
    bool is_served(int item) const;
    bool is_on_short_route(int ticket) const;  // one below its least load, without which a plan is published
    int item_at(int ticket) const { return problem.tickets[ticket].item; }
    Number longest() const;  // duration of the longest route, where it has a cost
    Number route_cost() const { return route_cost_; }
    // Replace penalties from now on, outside a round: prices by item, or, when empty, the penalties of the problem.
    void set_unassigned_prices(std::vector<Number> prices);
    bool has_reduced_penalties() const { return !prices_.empty(); }
    Number price(int item) const { return has_reduced_penalties() ? prices_[item] : problem.items[item].penalty; }

    const Problem& problem;
    std::vector<Route> routes;        // by agent
    // By agent: free capacity for deliveries and for pickups, in the first dimension; NEVER where it depends on the
    // position.
    std::vector<Number> spare, spare_for_pickups;
    std::vector<int> agent_of, node;  // by ticket: agent (-1: unserved), index in its route
    IndexedSet active;                // agents with stops
    std::vector<IndexedSet> idle;     // agents without stops, by type
    IndexedSet absent;                // unserved items, as of the last `keep`
    std::vector<int> reachable;       // tickets that may be moved: all, or those of a part
    std::vector<int> touched;         // agents changed in this round
    int served = 0;                   // number of tickets
    bool is_sound = true;             // false: locked visits alone are infeasible

private:
    bool may_drive(int agent, const Route& route, Number& least) const;
    std::size_t apply_locked_reloads(Route& route, const std::vector<int>& stops) const;
    void touch(int agent);
    void index(int agent, std::size_t from = 1);
    void exclude(int agent);
    void clear_positions(int agent);
    void restore(int agent);
    void erase_gaps(int agent);

    std::vector<Route> saved_;
    ClearableSet is_touched_, is_moved_;
    std::vector<int> moved_;  // items changed in this round
    std::vector<Number> prices_;
    Number route_cost_ = 0, penalties_ = 0;
};

// Insert the stops of a position into a route, without evaluating it.
void place(Route& route, const InsertionPosition& position);

}  // namespace sisr
