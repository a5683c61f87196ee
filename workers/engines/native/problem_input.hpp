// The C structure of a problem: flat arrays owned by the caller, alive and unchanged during the call.
//
// Owns the layout and nothing else. `workers/engines/native/native_arrays.py` fills it; `search_problem.hpp` converts
// it for the search. Absent optional values are -1. Lists of varying length are two arrays: the part of `x` from
// `x_at[i]` to `x_at[i + 1]` belongs to `i`.
#pragma once
#include <cstdint>

namespace sisr {

using Number = std::int64_t;

inline constexpr Number ABI_VERSION = 16;

enum AgentField {
    A_START,
    A_END,
    A_OPEN,
    A_CLOSE,
    A_FIXED,
    A_PER_DISTANCE,
    A_PER_TIME,
    A_MAX_DISTANCE,
    A_MAX_DURATION,
    A_MAX_STOPS,
    A_OVERTIME,
    A_PER_OVERTIME,
    A_MAX_RELOADS,
    A_PROFILE,
    A_TYPE,
    A_UNLOCKED_TYPE,
    AGENT_FIELDS
};
enum TicketField {
    T_LOCATION,
    T_IS_PICKUP,
    T_SOFT_CLOSE,
    T_LATENESS,
    T_SERVICE,
    T_SETUP,
    T_RELEASE,
    T_PENALTY,
    T_PICKUP,
    T_IS_PRICED,
    TICKET_FIELDS
};

struct Input {
    Number agents, tickets, locations, dimensions, profiles, types, groups;
    Number backhaul, span_cost;
    Number drops_short_routes;  // a route below its least load counts as not driven; otherwise it is to be filled
    const Number* agent;                           // agents × AGENT_FIELDS
    const Number* capacity;                        // agents × dimensions
    const Number* least_load;                      // agents × dimensions; what a used agent serves at least
    const Number *breaks_at, *breaks;              // per agent; each break: open, close, duration
    const Number *reloads_at, *reloads;            // per agent; locations
    const Number *locks_at, *locks;                // per agent; tickets
    const Number* ticket;                          // tickets × TICKET_FIELDS
    const Number* demand;                          // tickets × dimensions
    const Number *windows_at, *windows;            // per ticket; each window: open, close
    const std::uint8_t* allowed;                   // types × tickets
    const Number *incompatible_at, *incompatible;  // per ticket; tickets that must not share a route with it
    const Number *members_at, *members;            // per group; tickets
    const Number* group;                           // groups × (is one_of, penalty)
    const Number* const* distance;                 // profiles × (locations × locations)
    const Number* const* duration;
    const Number* preference;  // tickets × (agent or -1, cost of service by any other)
    // Instead of `distance` and `duration` where there are many locations: of 32 bits, with a last row and column of
    // zeros, read in place. Null otherwise.
    const std::int32_t* const* narrow_distance;
    const std::int32_t* const* narrow_duration;
};

struct Options {
    double seconds;  // time limit of the search, from the call
    Number seed;
    Number threads;         // at most; fewer for small plans
    Number max_iterations;  // -1: no limit; otherwise cooling follows the count and a seed repeats the run
    Number warm_length;     // length of `warm`, a plan encoded as in `SharedIncumbent`
    const Number* warm;
    Number routes_size;  // length of `routes`; 0: routes are not logged
    Number* routes;      // see `route_log.hpp`
    // The shares of a longer cooling, from scratch, at which this search begins and ends; 0 and 1 for a search by itself.
    double cooled_from = 0, cooled_to = 1;
};

}  // namespace sisr
