// One route: its stops in order, and the values that insertion needs at each of them.
//
// `evaluate` is the definition of the model in this library: it computes the times, the feasibility and the cost of a
// route. Everything faster (cheapest_insertion.hpp) only skips what cannot matter.
#pragma once
#include "search_problem.hpp"

namespace sisr {

inline constexpr int TERMINUS = -1;  // the stop of the first and the last node of each route

struct Node {
    std::int32_t stop;  // ticket, reload (Problem::reload_stop) or TERMINUS
    std::int32_t place;
    std::int32_t leg, leg_time;  // distance and time from the previous node
    Number finish;               // earliest end of service
    Number latest;               // latest start of service that keeps the rest of the route on time
};

// A segment of a route: its least duration, and the interval of start times of its first service that reach it. Two
// segments are concatenated in constant time.
//
// Source: Vidal, Crainic, Gendreau and Prins, Computers & Operations Research 40 (2013), section 4.2; without time
// warp, since routes here are feasible.
struct RouteSegment {
    Number duration, opens, closes;  // closes < opens: infeasible

    bool is_possible() const { return opens <= closes; }
    // As a call it takes a twentieth of a search where durations have limits.
    [[gnu::always_inline]] RouteSegment then(Number travel, const RouteSegment& next) const {
        const Number reach = duration + travel, wait = std::max<Number>(0, next.opens - reach - closes);
        if (!is_possible() || !next.is_possible() || opens + reach > next.closes) return {0, 0, -1};
        return {reach + wait + next.duration, std::max(next.opens - reach, opens) - wait,
                std::min(next.closes - reach, closes)};
    }
};

inline constexpr RouteSegment ANYTIME{0, -NEVER, NEVER};  // the empty segment

// The position of a node in its trip. A trip begins at the start or at a reload, and leaves after the releases of all
// its deliveries.
struct TripPosition {
    int begin;                 // node at which the trip begins
    Number released, to_come;  // latest release of the trip up to and with the node, and after it
    RouteSegment since;        // the trip up to and with the node, without its release
};

struct BreakTaken {
    int index, after;
};  // index in Agent::break_list, index of the preceding node

// The totals of a route.
struct Totals {
    int served = 0, reloads = 0;
    Number distance = 0, duration = 0, idle = 0, cost = 0;  // idle: waiting that no later departure saves
};

struct Route : Totals {
    explicit Route(int agent) : agent(agent), nodes{{TERMINUS, 0, 0, 0, 0, 0}, {TERMINUS, 0, 0, 0, 0, 0}} {}

    int agent;
    int pinned = 0;  // node of the last locked ticket; up to it only reloads change
    int last_delivery = 0, first_pickup = 1;  // nodes, in a route of one trip where pickups come last
    std::vector<Node> nodes;
    std::vector<Number> load;  // by dimension: the sum, where loads only fall (see Problem::mixed)
    std::vector<Number> leg, head,
        tail;  // by node and dimension: load on departure; its maximum over the trip up to the node, and from the node
    std::vector<RouteSegment> until, from;  // by node: the route up to and with it, and from it on
    std::vector<TripPosition> trips;        // by node, where there are releases or reloads

    bool is_used() const { return served > 0; }
    // Loads of a vehicle that is loaded once.
    Number departs_with(const Problem& problem, int d) const { return problem.mixed ? leg[d] : load[d]; }
    Number returns_with(const Problem& problem, int d) const {
        return problem.mixed ? leg[(nodes.size() - 2) * problem.dimensions + d] : 0;
    }
};

// Evaluate the route: times, cost, limits. Returns false when it is infeasible; then only `nodes` are valid.
bool evaluate(const Problem& problem, Route& route, std::vector<BreakTaken>* break_list = nullptr);

// `least_load_cost` where some agents have least loads.
Number missing_load_cost(const Problem& problem, const Route& route, const Option* inserted);

// What a route costs that serves less than the least load of its agent, with an option that is inserted: the penalties of
// all that it serves, or, while it is to be filled, those of optional tickets and less than one of a wanted ticket, the
// less the more it serves. 0 where it serves enough. A plan is published without such routes.
inline Number least_load_cost(const Problem& problem, const Route& route, const Option* inserted = nullptr) {
    return problem.has_least_loads ? missing_load_cost(problem, route, inserted) : 0;
}

// After `evaluate`: the values that insertions need (`latest`, `head`, `tail`, `until`, `from`).
void compute_backward(const Problem& problem, Route& route);

// The result of both after the insertion of a ticket at `at` that is known to be feasible (see Problem::is_plain).
void update_after_insertion(const Problem& problem, Route& route, std::size_t at);

// The segment of a single stop, and the time from the end of one stop to the start of service at another.
inline RouteSegment segment_of(const Problem& problem, const Agent& agent, int stop, bool is_end) {
    if (!problem.is_ticket(stop))
        return is_end ? RouteSegment{0, -NEVER, agent.close} : RouteSegment{0, agent.open, NEVER};
    const Ticket& ticket = problem.tickets[stop];
    return {ticket.service, ticket.opens(), ticket.closes()};
}
inline Number time_between(const Problem& problem, const Agent& agent, int place, int stop, bool is_first) {
    return problem.duration(agent)(place, problem.stop_place(stop, agent)) + problem.setup(stop, place, is_first);
}

}  // namespace sisr
