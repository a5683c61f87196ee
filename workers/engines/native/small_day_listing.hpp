// Lists what one agent can serve on a small day: each set of tickets with the least cost of a route for it. For the check
// of proofs; shares nothing with the pricing, the enumeration of the day, or the evaluation of plans.
//
// Partial routes grow by a ticket or a reload, with each choice of breaks on the way. They are kept unless another one
// with the same tickets and the same last stop is nowhere worse, or no end of it is below the limit.
// `planner_mcp/routing/verification/small_day_tables.py` fills the tables and says what they leave out.
#pragma once
#include <cstdint>

#include "proof_listing.hpp"

namespace proof::small {

inline constexpr int MOST_TICKETS = 12, MOST_BREAKS = 3;

struct AgentRow {
    Int tickets, places, breaks, locked, dimensions, opens, closes, shift_end;  // `places` of reload
    Int fixed, per_time, per_overtime, max_distance, max_duration, max_stops, max_reloads;  // NO_LEG without a limit
    Int has_backhaul;
    Int capacity[MOST_DIMENSIONS];
};

enum Load : Int { DELIVERY, PICKUP, PICKUP_TO_DELIVER, DELIVERY_OF_PICKUP };

struct TicketRow {
    Int may_serve, cost, price, release, soft_close, lateness, first_window, end_window, load;
    Int before;    // ticket served earlier on the route; -1 without
    Int excludes;  // bits of tickets that no route serves with it
    Int demand[MOST_DIMENSIONS];
};

// From the end of a service to the next one, or the end. Rows and columns: tickets, places, then the start or the end.
struct LegRow {
    Int cost, distance, travel, setup;
};

struct BreakRow {
    Int opens, closes, duration;  // of its start
};

struct Request {
    const AgentRow* agent;
    const TicketRow* tickets;
    const LegRow* legs;
    const Int* service;  // by row
    const WindowRow* windows;
    const BreakRow* breaks;
    const Int* locked;     // tickets that come first, in order
    const Int* may_end;    // by set of tickets: whether a route may serve just these
    const Int* rest;       // by row and set: what a route costs at least from there on, less prices, of the set or a part
    Int limit;             // of the cost less prices of a route, exclusive
    Int most_partial;
    double seconds;
};

// Writes (cost, tickets as bits) of each set, and into `used` how many numbers that are.
Listing list_routes(const Request& request, Int* out, Int size, Int* used);

}  // namespace proof::small
