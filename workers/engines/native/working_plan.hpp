// A plan under change: the routes of all agents, with the way back to what they were when the round began.
//
// A round is `begin`, any number of changes, then `keep` or `undo`. Only the routes a round touches are copied, so a
// round costs what it changes and not what the plan holds.
#pragma once
#include "route_state.hpp"

namespace sisr {

// Cost of a route that breaks a rule, for as long as a round lasts: more than all that may be left out, and two of them
// with all that fit into a Number.
inline constexpr Number BROKEN = 2 * NEVER;

// Where an option may go and what that would cost. `reload_*` are stops to insert with it, TERMINUS for none.
struct InsertionPosition {
    Number delta = NEVER;
    int agent = -1, after = -1, drop_after = -1;
    int reload_before = TERMINUS, reload_after = TERMINUS;
    Option option{-1, -1};
};

// What one of several searchers may touch.
struct SubPlan {
    std::vector<std::uint8_t> agents;  // by agent: whether it belongs to the part
    std::vector<int> absent;           // items nobody serves
};

// Nodes of a route, up to one that is left out.
struct Span {
    int begin, end;
};

class Plan {
public:
    Plan(const Problem& problem, const StopCriterion& stop_criterion);

    void begin();
    Number keep();  // the cost of the plan as it is now
    void undo();
    // All routes at once, outside a round; or those of a part, as if the rest did not exist.
    void become(const std::vector<Route>& others, const SubPlan* part = nullptr);
    bool is_mine(int agent) const { return active.has(agent) || idle[problem.agents[agent].type].has(agent); }
    Number cost() const { return route_cost_ + penalties_ + problem.span_cost * longest(); }
    Number cost_now();  // within a round: with the items that moved

    bool insert(const InsertionPosition& spot);
    void remove(int ticket);     // and its partner; the route is laid out by `close_gaps`
    bool close_gaps(int agent);  // false: the route was restored, its tickets are back
    bool set_idle_route(int agent,
               const std::vector<int>& stops);  // of an idle agent; false, and unchanged, when they do not fit
    // Let two agents serve each other's stops, where they can and it is cheaper, or at any price.
    bool exchange(int one, int other, bool at_any_price = false);
    // Exchange stretches of two routes, or do one in reverse; false when that breaks a rule, the cost being beyond all
    // others until the round is undone.
    bool cross(int one, Span mine, int other, Span theirs);
    bool turn(int agent, std::size_t from, std::size_t to);
    void drop_unprofitable(int item);    // if its route saves more without it than it pays
    bool drop_reloads(int agent);  // those that only cost
    // Put a reload among locked visits, for one beside it, or for another where no more are allowed, at any price;
    // false, and unchanged, when that breaks a rule.
    bool reload_among_locked(int agent, int after, int stop);
    bool settle(int agent);        // lay out anew after a change of nodes
    bool is_served(int item) const;
    int item_at(int ticket) const { return problem.tickets[ticket].item; }
    Number longest() const;  // duration of the longest route, where that is priced
    Number route_cost() const { return route_cost_; }
    // What leaving out costs from now on, outside a round: prices by item, or, without, the penalties of the problem.
    void set_unassigned_prices(std::vector<Number> prices);
    bool has_reduced_penalties() const { return !prices_.empty(); }
    Number price(int item) const { return has_reduced_penalties() ? prices_[item] : problem.items[item].penalty; }

    const Problem& problem;
    std::vector<Route> routes;     // by agent
    std::vector<Number> spare;     // by agent: room in the first dimension; NEVER where loads rise and fall
    std::vector<int> where, node;  // of tickets: agent (-1: nobody), index in its route
    IndexedSet active;                    // agents with stops
    std::vector<IndexedSet> idle;         // agents without, by type
    IndexedSet absent;                    // items nobody serves, as of the last `keep`
    std::vector<int> own;          // tickets in reach: all, or those of a part
    std::vector<int> touched;      // agents, this round
    int served = 0;                // tickets
    bool is_sound = true;          // false: locked visits alone break a rule

private:
    bool may_drive(int agent, const Route& route, Number& least) const;
    std::size_t lock_as(Route& route, const std::vector<int>& stops) const;
    void touch(int agent);
    void index(int agent, std::size_t from = 1);
    void leave(int agent);
    void forget(int agent);
    void restore(int agent);
    void erase_gaps(int agent);

    std::vector<Route> saved_;
    ClearableSet is_touched_, is_moved_;
    std::vector<int> moved_;  // items, this round
    std::vector<Number> prices_;
    Number route_cost_ = 0, penalties_ = 0;
};

void place(Route& route, const InsertionPosition& spot);  // put the stops of a spot into a route, without laying it out

}  // namespace sisr
