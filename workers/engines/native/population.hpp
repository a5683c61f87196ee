// A population of plans from separate searches, and the selection of parents.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Population {
public:
    struct Pair {
        int one, other;
    };

    void add(const std::vector<Route>& routes, Number cost) { members_.push_back({routes, cost}); }
    Pair draw(Random& random) const;
    const std::vector<Route>& routes(int member) const { return members_[member].routes; }
    // Replace the worse parent by a child that is cheaper and whose cost no other member has.
    void replace_parent(const Pair& parents, const std::vector<Route>& child, Number cost);

private:
    struct Member {
        std::vector<Route> routes;  // by agent
        Number cost;
    };

    std::vector<Member> members_;
};

// Give a plan some nearby routes of another in exchange for as many of its own: those with most tickets in common.
// Tickets that are then served twice or not at all are unserved, and left to the caller. Pinned routes stay.
//
// Source: selective route exchange, Nagata and Kobayashi 2010 (PPSN XI), section 3. Departures: the routes are drawn
// around a location, and the search that follows inserts the unserved tickets.
void crossover(Plan& plan, const std::vector<Route>& other, Random& random);

}  // namespace sisr
