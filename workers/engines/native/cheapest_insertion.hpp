// The cheapest place for an option in a route.
//
// Distance, loads and the clock are looked at in constant time a position, from what each node remembers. Where that
// settles both cost and feasibility it is the answer; where it does not (`Problem::walks`: cost of time, lateness,
// breaks, reloads …) it is a necessary condition and a bound, and only the positions that pass are laid out; where joined
// stretches estimate their cost (`Problem::estimates`), only the likeliest of a route.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Inserter {
public:
    Inserter(const Plan& plan, Random& random, double blink_rate)
        : plan_(plan), problem_(plan.problem), blink_(random, blink_rate) {}

    // Lower `best` when the route of `agent` has a cheaper place. The longest route is priced against `longest`.
    void look(int agent, const Option& option, InsertionPosition& best);
    void forget_longest() { longest_ = plan_.longest(); }

private:
    static constexpr int MOST_LAID_OUT = 2;  // possible places in one route

    struct Legs {
        const std::int32_t *in, *out;
    };  // from and to each place

    bool admits(const Route& route, const Option& option) const;
    void single(const Route& route, const Option& option, InsertionPosition& best);
    void bare(const Route& route, const Option& option, InsertionPosition& best);
    void pair(const Route& route, const Option& option, InsertionPosition& best);
    void pair_beside_reload(const Route& route, const Option& option, Number base, InsertionPosition& best);
    void reloads(const Route& route, const Option& option, Number base, InsertionPosition& best);
    void reloads_at(const Route& route, const Option& option, int after, Number base, InsertionPosition& best);
    void propose(const Route& route, const InsertionPosition& spot, InsertionPosition& best);
    void lay_out_likeliest(const Route& route, InsertionPosition& best);
    bool price(const Route& route, InsertionPosition& spot);
    bool price_by_segments(const Route& route, InsertionPosition& spot) const;
    Number surcharge(const Route& route, const InsertionPosition& spot, const RouteSegment& all) const;
    RouteSegment up_to(const Route& route, const InsertionPosition& spot) const;
    bool may_cut(const Route& route, int ticket, int after, bool is_behind) const;
    bool fits(const Route& route, const std::vector<Number>& loads, int node, int ticket) const;
    bool in_order(const Route& route, int after, Kind kind) const;
    Number base_cost(const Route& route, const Option& option) const;

    // What a route of this duration adds to the price of the longest one.
    Number span(Number duration) const { return problem_.span_cost * std::max<Number>(0, duration - longest_); }
    // Service of a ticket that is reached at `arrival` from `before`; its end, or NEVER.
    Number serve(int ticket, Number arrival, int before, bool is_first) const {
        const Ticket& t = problem_.tickets[ticket];
        if (problem_.setups && (is_first || t.place != before)) arrival += t.setup;
        const Window* window = t.window_from(arrival);
        return window ? std::max(arrival, window->open) + t.service : NEVER;
    }
    // Whether the rest of the route is on time when its next node is reached at `arrival` from `place`.
    bool is_on_time(const Node& next, Number arrival, int place) const {
        if (problem_.setups && problem_.is_ticket(next.stop) && next.place != place)
            arrival += problem_.tickets[next.stop].setup;
        return arrival <= next.latest;
    }

    const Plan& plan_;
    const Problem& problem_;
    Blink blink_;
    Number longest_ = 0;
    Route trial_{0};
    std::vector<std::pair<Number, InsertionPosition>> likely_;  // places in one route by their estimated cost
};

}  // namespace sisr
