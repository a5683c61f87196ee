#include "unassigned_penalty.hpp"

#include <cmath>

namespace sisr {

void UnassignedPenalty::initialize(const Plan& first) {
    if (!is_simple() || !first.absent.empty() || problem_.items.empty()) return;
    const int items = static_cast<int>(problem_.items.size());
    const double routes = first.active.size();
    double needed = 0, mean_round_trip = 0;
    for (int item = 0; item < items; ++item)
        needed += vehicles_filled(item), mean_round_trip += round_trip_cost(item) / items;
    if (routes < MIN_ROUTE_RATIO * needed || routes > MAX_ROUTE_RATIO * needed) return;
    if (mean_round_trip * routes < ROUND_TRIP_SHARE * static_cast<double>(first.route_cost())) return;
    for (int item = 0; item < items; ++item)
        shares_.push_back(round_trip_cost(item) * vehicles_filled(item) * routes / needed);
}

std::vector<Number> UnassignedPenalty::prices(double share) const {
    const double factor = MIN_FACTOR * std::pow(MAX_FACTOR / MIN_FACTOR, share / end_);
    std::vector<Number> prices;
    for (std::size_t item = 0; item < shares_.size(); ++item)
        prices.push_back(std::min(problem_.items[item].penalty, static_cast<Number>(factor * shares_[item])));
    return prices;
}

// Identical vehicles, deliveries only, and no dependencies between tickets.
bool UnassignedPenalty::is_simple() const {
    return problem_.exchangeable && !problem_.priced && !problem_.paired && !problem_.mixed && !problem_.reloads &&
           problem_.span_cost == 0 && !problem_.has_least_loads && problem_.all_of.empty() && problem_.mandatory.empty();
}

// The number of vehicles that a ticket fills.
double UnassignedPenalty::vehicles_filled(int item) const {
    double most = 0;
    for (int d = 0; d < problem_.dimensions; ++d)
        if (const Number room = problem_.agents[0].capacity[d]; room > 0)
            most = std::max(most, static_cast<double>(ticket_of(item).demand[d]) / static_cast<double>(room));
    return most;
}

double UnassignedPenalty::round_trip_cost(int item) const {
    const Agent& agent = problem_.agents[0];
    const Matrix& distance = problem_.distance(agent);
    const int place = ticket_of(item).place;
    return static_cast<double>(agent.fixed) +
           static_cast<double>(agent.per_distance) *
               (static_cast<double>(distance(agent.start, place)) + distance(place, agent.end));
}

}  // namespace sisr
