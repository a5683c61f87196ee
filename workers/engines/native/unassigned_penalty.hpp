// For how little a ticket may be left out while the number of routes settles.
//
// Where most of a route is the way there and back, one route less is worth a lot. Yet none is emptied stop by stop into
// others that are nearly full: every step on that way costs more than the heat allows. So at first what everybody wants
// may stay out for a few times its share of a route of its own. Half empty routes dissolve, and what is out goes together
// into new ones, where these become full enough. The price rises, and then is what it was. A long search does not take
// more time for it than pays: until then nothing better than the first plan is there to be shown.
#pragma once
#include <algorithm>

#include "working_plan.hpp"

namespace sisr {

class UnassignedPenalty {
public:
    UnassignedPenalty(const Problem& problem, double seconds) : problem_(problem), end_(std::min(END, END_S / seconds)) {}

    void consider(const Plan& first);  // whether a search that begins from such a plan gains by it
    bool holds(double share) const { return !shares_.empty() && share < end_; }
    std::vector<Number> prices(double share) const;  // by item, at a share of the time at which it holds

private:
    static constexpr double END = 0.2, END_S = 20;      // of the time, in seconds at most
    static constexpr double LOWEST = 2.5, HIGHEST = 4;  // times the share of a route
    static constexpr double SLACK = 1.05, IDLE = 1.25;  // times as many routes as loads ask for: some, or other reasons
    static constexpr double ROUND_TRIP_SHARE = 0.8;                 // of what a route costs is the way there and back

    bool is_simple() const;
    double need(int item) const;
    double round_trip_cost(int item) const;
    const Ticket& ticket_of(int item) const { return problem_.tickets[problem_.items[item].options[0].ticket]; }

    const Problem& problem_;
    const double end_;
    std::vector<double> shares_;  // by item: of a route of its own, as a cost
};

}  // namespace sisr
