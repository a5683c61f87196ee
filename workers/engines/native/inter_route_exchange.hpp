// Small moves between rounds of ruin and recreate: two routes exchange their tails or trips, or a stretch is driven in
// reverse.
//
// Ruin and recreate moves tickets one by one, and seldom many of them beyond a crossing. Sources: Potvin and Rousseau,
// J. Oper. Res. Soc. 46 (12), 1995 (2-opt*); Toth and Vigo, INFORMS J. Comput. 15 (4), 2003 (only towards a near
// neighbour). A move is drawn by lot; its new legs say whether it is worth laying out, and that what it costs.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class InterRouteExchange {
public:
    InterRouteExchange(Plan& plan, Random& random) : plan_(plan), problem_(plan.problem), random_(random) {}

    // Not where a stop is bound to others of its route.
    bool is_of_use() const { return !problem_.rivals && !problem_.paired; }
    // Draw a move. If by its legs the plan grows by less than `room`, make it in a round of its own, which is left open:
    // the cost of the plan is the judgement. False when nothing was made.
    bool propose(Number room);

private:
    static constexpr int NEAR = 20;           // neighbours a new leg may lead to
    static constexpr double TOWARDS_SUCCESSORS = 0.5;  // share of moves towards followers, where the clock forbids something
    static constexpr double TRIPS = 0.5;  // share of moves that are of whole trips, where there are reloads …
    static constexpr double ONE_WAY = 0.5;  // … and of these such as give and take nothing

    int next_to(int ticket);
    // Go on from a node of one route with that of another, whose vehicle takes over what followed.
    bool tails(int one, int last, int other, int next, Number room);
    bool in_time(const Route& route, int last, const Route& rest, int next) const;
    bool fits(const Route& route, int last, const Route& rest, int next) const;
    bool reverse(int agent, int from, int to, Number room);
    bool trips(int ticket);
    Span trip_around(const Route& route, int node) const;

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
};

}  // namespace sisr
