// One route: its stops in order, and what a look at an insertion needs to know at each of them.
//
// `lay_out` is the one definition of the model in this library: it walks the route, and says whether the route is
// feasible and what it costs. Everything faster (cheapest_insertion.hpp) only leaves out what cannot matter.
#pragma once
#include "search_problem.hpp"

namespace sisr {

inline constexpr int TERMINUS = -1;  // the stop of the first and last node of each route

struct Node {
    std::int32_t stop;  // ticket, reload (Problem::reload_stop) or TERMINUS
    std::int32_t place;
    std::int32_t leg, leg_time;  // distance and time from the node before
    Number finish;     // earliest end of service
    Number latest;     // latest start of service that keeps the rest of the route on time
};

// A stretch of a route as the clock sees it, whatever happens around it: how long it takes at least, and between which
// moments its first service may start for that. Two stretches join in constant time.
//
// Source: Vidal, Crainic, Gendreau and Prins, Computers & Operations Research 40 (2013), section 4.2; without time warp,
// since routes here are feasible.
struct RouteSegment {
    Number lasts, opens, closes;  // closes < opens: nobody can drive it

    bool is_possible() const { return opens <= closes; }
    RouteSegment then(Number travel, const RouteSegment& next) const {
        const Number reach = lasts + travel, wait = std::max<Number>(0, next.opens - reach - closes);
        if (!is_possible() || !next.is_possible() || opens + reach > next.closes) return {0, 0, -1};
        return {reach + wait + next.lasts, std::max(next.opens - reach, opens) - wait,
                std::min(next.closes - reach, closes)};
    }
};

inline constexpr RouteSegment ANYTIME{0, -NEVER, NEVER};  // of no length

// Where a node stands among the trips of its route: each begins at the start or a reload, and leaves there when all
// that it delivers is released.
struct TripPosition {
    int begin;                 // node at which the trip begins
    Number released, to_come;  // the latest release of the trip up to and with the node, from it on
    RouteSegment since;             // the trip up to and with the node, its release left aside
};

struct BreakTaken {
    int rest, after;
};  // index in Agent::break_list, index of the node it follows

// What a walk adds up.
struct Totals {
    int served = 0, reloads = 0;
    Number distance = 0, duration = 0, idle = 0, cost = 0;  // idle: waiting that a later departure cannot save
};

struct Route : Totals {
    explicit Route(int agent) : agent(agent), nodes{{TERMINUS, 0, 0, 0, 0, 0}, {TERMINUS, 0, 0, 0, 0, 0}} {}

    int agent;
    int pinned = 0;  // node of the last locked ticket: up to it only reloads come and go
    std::vector<Node> nodes;
    std::vector<Number> load;  // by dimension: the sum where loads only fall (see Problem::mixed)
    std::vector<Number> leg, head,
        tail;  // by node and dimension: on board when leaving; its maximum over the trip up to there, from there
    std::vector<RouteSegment> until, from;  // by node: the route up to and with it, from it on (see Problem::stretches)
    std::vector<TripPosition> trips;         // by node, where there are releases or reloads

    bool is_used() const { return served > 0; }
};

// Walk the route: times, cost, limits. False when it breaks a hard rule; then only `nodes` are still of use.
bool lay_out(const Problem& problem, Route& route, std::vector<BreakTaken>* break_list = nullptr);

// After `lay_out`: what insertions ask for (`latest`, `head`, `tail`, `until`, `from`).
void compute_backward(const Problem& problem, Route& route);

// What both would find after a ticket was put at `at`, where insertion knows that it fits (see Problem::is_plain).
void update_after_insertion(const Problem& problem, Route& route, std::size_t at);

// A stop by itself, and the time from the end of one stop to the start of service at another.
RouteSegment segment_of(const Problem& problem, const Agent& agent, int stop, bool is_end);
inline Number time_between(const Problem& problem, const Agent& agent, int place, int stop, bool is_first) {
    if (!problem.is_ticket(stop))
        return problem.duration(agent)(place, problem.is_reload(stop) ? problem.reload_place(stop) : agent.end);
    const Ticket& ticket = problem.tickets[stop];
    const bool sets_up = is_first || ticket.place != place;
    return problem.duration(agent)(place, ticket.place) + (sets_up ? ticket.setup : 0);
}

}  // namespace sisr
