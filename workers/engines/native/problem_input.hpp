// The C face of a problem: flat arrays owned by the caller, alive and unchanged for the whole call.
//
// Owns the layout and nothing else. The Python side (`workers/engines/native/sisr_engine.py`) fills it; `search_problem.hpp` turns it into
// the shape the search works on. Absent optional values are -1. Lists of varying length are two arrays: `x_at[i]` to
// `x_at[i + 1]` is the part of `x` that belongs to `i`.
#pragma once
#include <cstdint>

namespace sisr {

using Number = std::int64_t;

inline constexpr Number ABI_VERSION = 5;

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
    const Number* agent;                 // agents × AGENT_FIELDS
    const Number* capacity;              // agents × dimensions
    const Number *breaks_at, *breaks;    // of agents; each break: open, close, duration
    const Number *reloads_at, *reloads;  // of agents; locations
    const Number *locks_at, *locks;      // of agents; tickets
    const Number* ticket;                // tickets × TICKET_FIELDS
    const Number* demand;                // tickets × dimensions
    const Number *windows_at, *windows;  // of tickets; each window: open, close
    const std::uint8_t* allowed;         // types × tickets
    const Number *rivals_at, *rivals;    // of tickets; tickets that must not share a route with it
    const Number *members_at, *members;  // of groups; tickets
    const Number* group;                 // groups × (is one_of, penalty)
    const Number* const* distance;       // profiles × (locations × locations)
    const Number* const* duration;
    const Number* preference;            // tickets × (agent or -1, what any other costs)
};

struct Options {
    double seconds;  // until the search returns, counted from the call
    Number seed;
    Number threads;         // at most, for plans that are large enough
    Number max_iterations;  // -1: until the time is up; otherwise cooling follows the count and runs repeat
    Number warm_length;     // numbers in `warm`, the encoding of `SharedIncumbent`
    const Number* warm;
};

}  // namespace sisr
