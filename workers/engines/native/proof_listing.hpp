// Lists routes for the check of proofs: of each set of tickets that one route of an agent can serve below a limit, the
// least cost, and the least without prices of cuts, which are savings on legs and what subset cuts add. Of routes that
// serve the same tickets, one is left out where another is nowhere worse without them. Both halves of a shipment are on
// one route, the pickup first, and its goods on board in between. Shares nothing with the pricing (`route_pricing.cpp`):
// neither code nor the layout of its input.
//
// `planner_mcp/routing/verification/optimality_check.py` says why the list proves something.
#pragma once
#include <cstdint>

namespace proof {

using Int = std::int64_t;

inline constexpr Int NO_LEG = INT64_MAX / 4;  // cost of a leg that is not driven
inline constexpr int MOST_DIMENSIONS = 4, MOST_TICKETS = 256, MOST_CUTS = 64;

// One row of the table of agents: the only one.
struct AgentRow {
    Int tickets, dimensions, opens, closes, shift_end, per_overtime, per_time, fixed;
    Int max_distance, max_duration, max_stops;  // NO_LEG without
    Int counts_stops;  // whether nothing but the number of stops ends a route soon
    Int is_simple;     // one window a ticket; no lateness, no release
    Int capacity[MOST_DIMENSIONS];
};

struct TicketRow {
    Int cost;  // of a visit, less its price
    Int release, soft_close, lateness, first_window, end_window;
    Int pickup;  // of half a shipment: the ticket of its pickup, which may be this one; -1 for other tickets
    Int given[MOST_DIMENSIONS], taken[MOST_DIMENSIONS];  // nothing for half a shipment
    Int shipped[MOST_DIMENSIONS];  // goods of a shipment that come on board there; those that leave are negative
    std::uint64_t near[MOST_TICKETS / 64], nearest[MOST_TICKETS / 64];  // what a stop there remembers; the latter less
    std::uint64_t cuts, kept;  // subset cuts that have the ticket; those that a stop there remembers, these among them
};

// From one start of service, or the departure (row `tickets`), to the next, or the end (column `tickets`).
struct LegRow {
    Int cost, time, distance;
    Int saved;  // of the cost, by prices of cuts; never negative, and none on the way to the end
};

struct WindowRow {
    Int opens, closes;
};

struct Request {
    const AgentRow* agent;
    const TicketRow* tickets;
    const LegRow* legs;  // (tickets + 1)²
    const WindowRow* windows;
    const Int* cut_price;  // MOST_CUTS: of every second visit that a subset cut remembers; never negative
    Int limit;  // of the cost of a route, exclusive
    Int most_partial;
    double seconds;
};

enum class Listing { COMPLETE, LIMITED, OUT_OF_MEMORY };

// Writes (cost, cost without prices of cuts, number of tickets, tickets) of each set, and into `used` how many numbers that are.
Listing list_routes(const Request& request, Int* out, Int size, Int* used);

}  // namespace proof
