// Inter-route exchange: moves between iterations of ruin and recreate. Two routes exchange tails (2-opt*) or trips, or
// a segment is reversed (2-opt).
//
// Ruin and recreate moves tickets one by one, and rarely resolves crossings of long tails. Sources: Potvin and
// Rousseau, J. Oper. Res. Soc. 46 (12), 1995 (2-opt*); Toth and Vigo, INFORMS J. Comput. 15 (4), 2003 (granular
// neighbourhoods). A move is drawn at random; the change of its legs decides whether it is evaluated.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class InterRouteExchange {
public:
    InterRouteExchange(Plan& plan, Random& random) : plan_(plan), problem_(plan.problem), random_(random) {}

    // False where stops depend on others of their route.
    bool is_of_use() const { return !problem_.any_incompatible && !problem_.paired; }
    // Draw a move. If its legs add less than `room`, make it in a new round, which stays open; the caller decides by
    // the cost of the plan. Returns false when no move was made.
    bool propose(Number room);

private:
    static constexpr int NEAR = 20;                    // neighbours a new leg may lead to
    static constexpr double TOWARDS_SUCCESSORS = 0.5;  // share of moves to successors, where times matter
    static constexpr double TRIPS = 0.5;    // share of moves that exchange whole trips, where there are reloads …
    static constexpr double ONE_WAY = 0.5;  // … and share of these that move one trip only

    int next_to(int ticket);
    // Connect a node of one route to the tail of another, and the other way round (2-opt*).
    bool tails(int one, int last, int other, int next, Number room);
    bool in_time(const Route& route, int last, const Route& tail, int next) const;
    bool fits(const Route& route, int last, const Route& tail, int next) const;
    bool reverse(int agent, int from, int to, Number room);
    bool trips(int ticket);
    Span trip_around(const Route& route, int node) const;

    Plan& plan_;
    const Problem& problem_;
    Random& random_;
};

}  // namespace sisr
