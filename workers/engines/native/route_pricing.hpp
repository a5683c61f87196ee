// Pricing of routes for lower bounds: the route of least reduced cost in a relaxed network of one type of agents.
//
// Owns two searches over labels. `price` finds the least reduced cost of all ng-routes (a ticket may be visited again
// where it left the memory of the last stop): from both ends where times do not matter, else from the start, with
// bounds from the end. `enumerate` finds every elementary route below a limit. All arithmetic is exact in
// integers. `workers/engines/bounds/relaxed_networks.py` says what a network leaves out; here every omission only
// lowers costs or admits more routes. Where shipments have numbers, their second halves follow their first ones on the same
// route, and their loads are on board in between. A subset-row cut costs its price at every second visit to its tickets, as long as
// all stops in between remember it (`workers/engines/bounds/subset_row_cuts.py`).
//
// Source: ng-routes, Baldacci, Mingozzi and Roberti, Operations Research 59 (5), 2011; two halves of routes, Righini and
// Salani, Discrete Optimization 3 (3), 2006; limited memory, Pecin, Pessoa, Poggi and Uchoa, Mathematical Programming
// Computation 9 (1), 2017.
#pragma once
#include <cstdint>

#include "problem_input.hpp"

namespace sisr {

inline constexpr Number EXCLUDED = INT64_MAX / 4;  // cost of an arc that no route drives, and of no route at all
inline constexpr int MAX_PRICED_DIMENSIONS = 4, MAX_SUBSETS = 64;

enum NetworkField {
    N_OPEN,
    N_CLOSE,  // with overtime
    N_SHIFT_END,
    N_PER_OVERTIME,
    N_PER_TIME,
    N_FIXED,
    N_MAX_DISTANCE,  // -1 without
    N_MAX_DURATION,  // -1 without
    N_MAX_STOPS,
    N_COUNTS_STOPS,  // whether fewer stops are worth something
    N_IS_TIMED,      // whether times matter
    NETWORK_FIELDS
};

// Row `tickets` of an arc table is the start, column `tickets` the end.
struct Network {
    Number tickets, dimensions;
    const Number* field;
    const Number* cost;      // (tickets + 1)²; EXCLUDED where there is no arc
    const Number* time;      // (tickets + 1)², between the starts of services
    const Number* distance;  // (tickets + 1)²
    const Number* shortest;  // (tickets + 1)²: the least time over any tickets in between
    const Number* discount;  // (tickets + 1)², of the cost of each arc: dual values of cuts; none on the way to the end
    const Number *windows_at, *windows;
    const Number* soft;       // tickets × (soft close or -1, cost of lateness)
    const Number* release;    // tickets
    const Number* delivery;   // tickets × dimensions
    const Number* pickup;     // tickets × dimensions
    const Number* capacity;   // dimensions
    const Number* half;       // tickets × (number of its shipment or -1, whether it is the second half)
    const Number* shipped;    // tickets × dimensions: what its shipment has on board between its halves
    const Number* node_cost;  // tickets: what a visit costs, less its dual value
    const std::uint64_t* memory;  // tickets × 4 words: tickets that a visit to this ticket does not forget
    const std::uint64_t* coarse;  // tickets × 4 words: a part of them, for bounds of how a route can end
    const std::uint64_t* subsets;  // tickets × (cuts that have the ticket, cuts that a visit to it does not forget)
    const Number* subset_price;    // MAX_SUBSETS: never negative
};

struct PricingOptions {
    double seconds;
    Number max_labels, max_routes;
    Number is_heuristic;  // compare labels by cost, time and load alone
    Number limit;         // enumeration: of the reduced cost with all prices of cuts, exclusive
};

enum class Pricing { COMPLETE, LIMITED, OUT_OF_MEMORY };

// Both write routes as (reduced cost, number of stops, stops) and set `used` to the cells written. The reduced costs of
// `price` have discounts and prices of subset-row cuts, those of `enumerate` are below the limit with them and told
// without.
// `price` sets `least` to the least reduced cost, but no more than 0; it is a bound only where COMPLETE.
Pricing price_routes(const Network& network, const PricingOptions& options, Number* out, Number size, Number* used,
                     Number* least);
Pricing enumerate_routes(const Network& network, const PricingOptions& options, Number* out, Number size, Number* used);

}  // namespace sisr
