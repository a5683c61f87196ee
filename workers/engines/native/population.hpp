// A few plans that were searched apart, and the pairs of them that make new ones.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Population {
public:
    struct Pair {
        int one, other;
    };

    void found(const std::vector<Route>& routes, Number cost) { members_.push_back({routes, cost}); }
    Pair draw(Random& random) const;
    const std::vector<Route>& routes(int member) const { return members_[member].routes; }
    // Put a child in the place of the dearer of its parents, if it is cheaper and costs what no other does.
    void take(const Pair& parents, const std::vector<Route>& child, Number cost);

private:
    struct Member {
        std::vector<Route> routes;  // by agent
        Number cost;
    };

    std::vector<Member> members_;
};

// Give a plan routes of another that lie together, in exchange for as many of its own: those with most of the same
// tickets. What was on either and is now on none is left out. Pinned routes stay.
//
// Source: selective route exchange, Nagata and Kobayashi 2010 (PPSN XI), section 3; departures: the routes are drawn
// around a place, and what is left out is put back by whoever searches on.
void cross(Plan& plan, const std::vector<Route>& other, Random& random);

}  // namespace sisr
