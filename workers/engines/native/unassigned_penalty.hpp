// Reduced penalties of unserved tickets at the beginning of a search, until the number of routes has settled.
//
// Where most of a route's cost is the way to its first and from its last stop, one route less saves much. Yet routes
// are not emptied stop by stop into others that are nearly full: the steps cost more than the temperature accepts. So
// at first a wanted ticket may stay unserved for a few times its share of a route of its own. Half-empty routes
// dissolve, and unserved tickets together form new routes, which become full enough. The penalty rises, and is finally
// restored. The duration is limited in long searches, since no plan better than the first can be published meanwhile.
#pragma once
#include <algorithm>

#include "working_plan.hpp"

namespace sisr {

class UnassignedPenalty {
public:
    UnassignedPenalty(const Problem& problem, double seconds)
        : problem_(problem), end_(std::min(END_SHARE, MAX_END_S / seconds)) {}

    void initialize(const Plan& first);  // decide by the initial plan whether the search gains from it
    bool is_active(double share) const { return !shares_.empty() && share < end_; }
    std::vector<Number> prices(double share) const;  // by item, at a share of the time at which it is active

private:
    static constexpr double END_SHARE = 0.23, MAX_END_S = 20;  // of the time; limited in seconds
    static constexpr double MIN_FACTOR = 2.5, MAX_FACTOR = 4;  // times the share of a route
    // Number of routes relative to what loads require: at least some more, but not many more for other reasons.
    static constexpr double MIN_ROUTE_RATIO = 1.05, MAX_ROUTE_RATIO = 1.25;
    static constexpr double ROUND_TRIP_SHARE = 0.8;  // least share of the round trips in the cost of the routes

    bool is_simple() const;
    double vehicles_filled(int item) const;
    double round_trip_cost(int item) const;
    const Ticket& ticket_of(int item) const { return problem_.tickets[problem_.items[item].options[0].ticket]; }

    const Problem& problem_;
    const double end_;
    std::vector<double> shares_;  // by item: cost of its share of a route of its own
};

}  // namespace sisr
