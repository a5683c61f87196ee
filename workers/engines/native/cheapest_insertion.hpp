// The cheapest insertion of an option into a route.
//
// Distance, loads and times take constant time per position, from values stored at each node. Where these determine
// both cost and feasibility, they are exact. Where they do not (`Problem::needs_evaluation`: cost of time, lateness,
// breaks, reloads …), they give a necessary condition and a lower bound, and only positions that pass are evaluated.
// Where concatenated segments estimate the cost (`Problem::estimates_by_segments`), only the best estimates of a route
// are.
#pragma once
#include "working_plan.hpp"

namespace sisr {

class Inserter {
public:
    Inserter(const Plan& plan, Random& random, double blink_rate, const StopCriterion& stop_criterion)
        : plan_(plan), problem_(plan.problem), blink_(random, blink_rate), stop_criterion_(stop_criterion) {}

    // Update `best` if the route of `agent` has a cheaper position. Its duration is priced against `longest`.
    void try_route(int agent, const Option& option, InsertionPosition& best) {
        const Ticket& ticket = problem_.tickets[option.ticket];
        const Number spare = (ticket.kind == Kind::PICKUP ? plan_.spare_for_pickups : plan_.spare)[agent];
        if (spare >= ticket.load) try_positions(plan_.routes[agent], option, best);  // else without access to the route
    }
    // Whether an idle agent may be cheaper than `best`: not where the way to the ticket and back alone costs as much.
    bool may_open(int agent, const Option& option, const InsertionPosition& best) const {
        const Agent& driver = problem_.agents[agent];
        if (option.pickup >= 0 || driver.max_reloads > 0) return true;
        const Matrix& distance = problem_.distance(driver);
        const int place = problem_.tickets[option.ticket].place;
        const Number way = Number{distance.into(place)[driver.start]} + distance.out_of(place)[driver.end];
        return driver.fixed + driver.per_distance * way < best.delta;
    }
    void update_longest() { longest_ = plan_.longest(); }

private:
    static constexpr int MAX_EVALUATED = 2;  // feasible positions evaluated in one route
    // Positions at the end of a long route to which a shipment is inserted once the time is up and no plan is there yet.
    static constexpr int FEW_POSITIONS = 8;
    static constexpr unsigned CHECK_EVERY = 64;  // positions priced between two looks at the clock

    struct Legs {
        const std::int32_t *in, *out;
    };  // from and to each place

    void try_positions(const Route& route, const Option& option, InsertionPosition& best);
    bool admits(const Route& route, const Option& option) const;
    void single(const Route& route, const Option& option, InsertionPosition& best);
    void simple(const Route& route, const Option& option, InsertionPosition& best);
    void pair(const Route& route, const Option& option, InsertionPosition& best);
    void pair_beside_reload(const Route& route, const Option& option, Number base, InsertionPosition& best);
    void reloads(const Route& route, const Option& option, Number base, InsertionPosition& best);
    void reloads_at(const Route& route, const Option& option, int after, Number base, InsertionPosition& best);
    void propose(const Route& route, const InsertionPosition& position, InsertionPosition& best);
    void evaluate_likeliest(const Route& route, InsertionPosition& best);
    bool price(const Route& route, InsertionPosition& position);
    bool price_by_segments(const Route& route, InsertionPosition& position) const;
    Number surcharge(const Route& route, const InsertionPosition& position, const RouteSegment& all) const;
    RouteSegment up_to(const Route& route, const InsertionPosition& position) const;
    bool fits_split_trip(const Route& route, int ticket, int after, bool is_behind) const;
    bool fits(const Route& route, const std::vector<Number>& loads, int node, int ticket) const;
    bool in_order(const Route& route, int after, Kind kind) const;
    Number base_cost(const Route& route, const Option& option) const;

    // Whether to stop, asked for each position that is priced: a long route has so many that one insertion takes seconds.
    bool is_over() {
        if (++priced_ % CHECK_EVERY == 0) is_over_ = stop_criterion_.over();
        return is_over_;
    }
    // What a route of this duration adds to the cost of the longest one.
    Number span(Number duration) const { return problem_.span_cost * std::max<Number>(0, duration - longest_); }
    // End of the service of a ticket reached at `arrival` from `before`; NEVER if it is too late.
    Number serve(int ticket, Number arrival, int before, bool is_first) const {
        const Ticket& t = problem_.tickets[ticket];
        arrival += problem_.setup(ticket, before, is_first);
        const Window* window = t.window_from(arrival);
        return window ? std::max(arrival, window->open) + t.service : NEVER;
    }
    // Whether the rest of the route is on time when its next node is reached at `arrival` from `place`.
    bool is_on_time(const Node& next, Number arrival, int place) const {
        return arrival + problem_.setup(next.stop, place, false) <= next.latest;
    }

    const Plan& plan_;
    const Problem& problem_;
    Blink blink_;
    const StopCriterion& stop_criterion_;
    unsigned priced_ = 0;
    bool is_over_ = false;
    Number longest_ = 0;
    Route candidate_{0};
    std::vector<std::pair<Number, InsertionPosition>> estimated_;  // positions in one route with their estimated cost
};

}  // namespace sisr
