#include "cheapest_insertion.hpp"

namespace sisr {

void Inserter::look(int agent, const Option& option, InsertionPosition& best) {
    if (plan_.spare[agent] < problem_.tickets[option.ticket].load) return;  // told without the route, which is far away
    const Route& route = plan_.routes[agent];
    if (!admits(route, option)) return;
    if (option.pickup >= 0)
        pair(route, option, best);
    else if (problem_.bare)
        bare(route, option, best);
    else
        single(route, option, best);
    if (!likely_.empty()) lay_out_likeliest(route, best);
}

bool Inserter::admits(const Route& route, const Option& option) const {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    if (!problem_.is_mixed(agent))
        for (int d = 0; d < problem_.dimensions; ++d)
            if (route.load[d] + ticket.demand[d] > agent.capacity[d]) return false;
    if (route.served + (option.pickup >= 0 ? 2 : 1) > agent.max_stops) return false;
    const bool has_locked_lift = option.pickup < 0 && ticket.kind == Kind::SHIPMENT_DELIVERY;
    if (!problem_.restricts_agents && !problem_.rivals && !has_locked_lift) return true;
    const auto is_here = [&](int other) { return plan_.where[other] == route.agent; };
    const auto is_welcome = [&](int stop) {
        return problem_.may_serve(agent.type, stop) && !problem_.has_incompatible(stop, is_here);
    };
    if (!is_welcome(option.ticket) || (option.pickup >= 0 && !is_welcome(option.pickup))) return false;
    return !has_locked_lift || is_here(ticket.partner);
}

// What an option costs wherever it goes on a route. An idle agent costs nothing, so its first stop brings the fixed cost
// and the way from start to end is not saved.
Number Inserter::base_cost(const Route& route, const Option& option) const {
    const Agent& agent = problem_.agents[route.agent];
    Number preference_cost = problem_.preference_cost(route.agent, option.ticket);
    if (option.pickup >= 0) preference_cost += problem_.preference_cost(route.agent, option.pickup);
    return preference_cost + (route.is_used() ? 0 : agent.fixed + agent.per_distance * route.nodes.back().leg);
}

bool Inserter::fits(const Route& route, const std::vector<Number>& loads, int node, int ticket) const {
    const Agent& agent = problem_.agents[route.agent];
    const Number* demand = problem_.tickets[ticket].demand;
    for (int d = 0; d < problem_.dimensions; ++d)
        if (loads[node * problem_.dimensions + d] + demand[d] > agent.capacity[d]) return false;
    return true;
}

bool Inserter::in_order(const Route& route, int after, Kind kind) const {
    const auto is_kind = [&](int k, Kind other) { return problem_.tickets[route.nodes[k].stop].kind == other; };
    const auto in_trip = [&](int k) { return problem_.is_ticket(route.nodes[k].stop); };
    if (kind == Kind::DELIVERY)
        for (int k = after; in_trip(k); --k)
            if (is_kind(k, Kind::PICKUP)) return false;
    if (kind == Kind::PICKUP)
        for (int k = after + 1; in_trip(k); ++k)
            if (is_kind(k, Kind::DELIVERY)) return false;
    return true;
}

// What `single` finds where nothing but distance, the sum of the loads and one window a ticket can matter.
void Inserter::bare(const Route& route, const Option& option, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs way{distance.into(ticket.place), distance.out_of(ticket.place)};
    const Legs time{duration.into(ticket.place), duration.out_of(ticket.place)};
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance;
    const Number open = ticket.opens(), close = ticket.closes(), service = ticket.service;
    const bool timed = problem_.timed, is_used = route.is_used();
    const Node* nodes = route.nodes.data();
    const int last = static_cast<int>(route.nodes.size()) - 1;
    int k = route.pinned;
    if (timed)
        while (k < last && nodes[k + 1].latest < open + service) ++k;
    for (; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (timed && before.finish > close) return;
        if (is_used && blink_()) continue;
        const Number detour = Number{way.in[before.place]} + way.out[next.place] - next.leg;
        const Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > room) continue;
        if (timed) {
            const Number arrival = before.finish + time.in[before.place];
            if (arrival > close || std::max(arrival, open) + service + time.out[next.place] > next.latest) continue;
        }
        best = {delta, route.agent, k, -1, TERMINUS, TERMINUS, option};
    }
}

void Inserter::single(const Route& route, const Option& option, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs way{distance.into(ticket.place), distance.out_of(ticket.place)};
    const Legs time{duration.into(ticket.place), duration.out_of(ticket.place)};
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance, closes = ticket.closes();
    const Number done = ticket.opens() + ticket.service;  // at the earliest
    const bool is_mixed = problem_.is_mixed(agent), timed = problem_.timed, backhaul = problem_.backhaul;
    const bool reloads = agent.max_reloads > route.reloads && agent.max_reloads > 0;
    const bool is_pickup = ticket.kind == Kind::PICKUP, sums = problem_.sums;
    const Number time_room = agent.longest() - route.duration;
    const Node* nodes = route.nodes.data();
    for (const Node& node : route.nodes) __builtin_prefetch(way.in + node.place);  // scattered over a large table
    for (int k = route.pinned, last = static_cast<int>(route.nodes.size()) - 1; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (timed) {
            if (before.finish > closes) break;
            if (done > next.latest) continue;
        }
        if (route.is_used() && blink_()) continue;
        const Number detour = Number{way.in[before.place]} + way.out[next.place] - next.leg;
        Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > room) continue;
        if (sums) {
            const Number longer = ticket.service + time.in[before.place] + time.out[next.place] -
                                  (route.is_used() ? next.leg_time : 0);
            delta += agent.per_time * longer + span(route.duration + longer);
            if (longer > time_room) continue;
        }
        if (timed) {
            const Number end = serve(option.ticket, before.finish + time.in[before.place], before.place, k == 0);
            if (end == NEVER || !is_on_time(next, end + time.out[next.place], ticket.place)) continue;
        }
        if (is_mixed && ticket.kind != Kind::SHIPMENT_DELIVERY &&
            !fits(route, is_pickup ? route.tail : route.head, k, option.ticket))
            continue;
        if (backhaul && !in_order(route, k, ticket.kind)) continue;
        propose(route, {delta, route.agent, k, -1, TERMINUS, TERMINUS, option}, best);
    }
    if (reloads) this->reloads(route, option, base, best);
}

// After the places without: a reload that costs nothing would only be missed later.
void Inserter::reloads(const Route& route, const Option& option, Number base, InsertionPosition& best) {
    const Ticket& ticket = problem_.tickets[option.ticket];
    const Number closes = ticket.closes(), done = ticket.opens() + ticket.service;
    for (int k = route.pinned, last = static_cast<int>(route.nodes.size()) - 1; k < last; ++k) {
        if (problem_.timed) {
            if (route.nodes[k].finish > closes) break;
            if (done > route.nodes[k + 1].latest) continue;
        }
        if (!route.is_used() || !blink_()) reloads_at(route, option, k, base, best);
    }
}

void Inserter::reloads_at(const Route& route, const Option& option, int after, Number base, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Node &before = route.nodes[after], &next = route.nodes[after + 1];
    const bool opens_trip = problem_.is_ticket(before.stop), ends_trip = problem_.is_ticket(next.stop);
    const Matrix& distance = problem_.distance(agent);
    const std::int32_t *from = distance.out_of(problem_.tickets[option.ticket].place),
                       *into = distance.into(problem_.tickets[option.ticket].place);
    const auto offer = [&](Number length, int reload_before, int reload_after) {
        const Number detour = length - next.leg, delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > agent.max_distance - route.distance) return;
        if (!may_cut(route, option.ticket, after, reload_before != TERMINUS)) return;
        propose(route, {delta, route.agent, after, -1, reload_before, reload_after, option}, best);
    };
    for (int depot : agent.reloads) {
        const int stop = problem_.reload_stop(depot);
        if (opens_trip) offer(Number{distance(before.place, depot)} + into[depot] + from[next.place], stop, TERMINUS);
        if (ends_trip) offer(Number{into[before.place]} + from[depot] + distance(depot, next.place), TERMINUS, stop);
    }
}

// Whether a ticket fits into the trip after a reload that is put behind a node, or into the one before it.
bool Inserter::may_cut(const Route& route, int ticket, int after, bool is_behind) const {
    if (!problem_.stretches) return true;  // a walk will tell
    const Agent& agent = problem_.agents[route.agent];
    for (int d = 0; d < problem_.dimensions; ++d) {
        const auto on_board = [&](int node) { return route.leg[node * problem_.dimensions + d]; };
        const Number left = on_board(after), load = is_behind ? left : on_board(route.trips[after].begin) - left;
        if (load + problem_.tickets[ticket].demand[d] > agent.capacity[d]) return false;
    }
    return true;
}

void Inserter::pair(const Route& route, const Option& option, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket &lift = problem_.tickets[option.pickup], &drop = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs to_lift{distance.into(lift.place), distance.out_of(lift.place)};
    const Legs to_drop{distance.into(drop.place), distance.out_of(drop.place)};
    const Legs lift_time{duration.into(lift.place), duration.out_of(lift.place)};
    const Legs drop_time{duration.into(drop.place), duration.out_of(drop.place)};
    const Number between = distance(lift.place, drop.place);
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance, lift_closes = lift.closes();
    const bool timed = problem_.timed;
    const Node* nodes = route.nodes.data();
    const int last = static_cast<int>(route.nodes.size()) - 1;
    const auto offer = [&](int k, int j, Number detour, Number leave,
                           int place) {  // drop after node j, left at `leave`
        const Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > room) return;
        if (timed) {
            const Number end = serve(option.ticket, leave + drop_time.in[place], place, false);
            if (end == NEVER || !is_on_time(nodes[j + 1], end + drop_time.out[nodes[j + 1].place], drop.place))
                return;
        }
        propose(route, {delta, route.agent, k, j, TERMINUS, TERMINUS, option}, best);
    };
    for (int k = route.pinned; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (timed && before.finish > lift_closes) break;
        if (route.is_used() && blink_()) continue;
        const Number there = Number{to_lift.in[before.place]} - next.leg, detour = there + to_lift.out[next.place];
        const Number at_once = there + between + to_drop.out[next.place];
        if (base + agent.per_distance * std::min(detour, at_once) >= best.delta) continue;
        if (!fits(route, route.leg, k, option.pickup)) continue;
        Number leave =
            timed ? serve(option.pickup, before.finish + lift_time.in[before.place], before.place, k == 0) : 0;
        if (leave == NEVER) continue;
        offer(k, k, at_once, leave, lift.place);
        for (int j = k + 1, place = lift.place; j < last; place = nodes[j].place, ++j) {
            const Node& node = nodes[j];
            if (timed) {
                const Number arrival = leave + (j == k + 1 ? lift_time.out[node.place] : node.leg_time);
                if (!is_on_time(node, arrival, place)) break;
                leave = problem_.is_reload(node.stop) ? arrival : serve(node.stop, arrival, place, false);
                if (leave > drop.closes()) break;
            }
            if (!fits(route, route.leg, j, option.pickup)) break;
            offer(k, j, detour + to_drop.in[node.place] + to_drop.out[nodes[j + 1].place] - nodes[j + 1].leg, leave,
                  node.place);
        }
    }
    if (agent.max_reloads > route.reloads) pair_beside_reload(route, option, base, best);
}

// A shipment in one piece behind a reload or in front of one: what else is on board may leave no room for it.
void Inserter::pair_beside_reload(const Route& route, const Option& option, Number base, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Matrix& distance = problem_.distance(agent);
    const int lift = problem_.tickets[option.pickup].place, drop = problem_.tickets[option.ticket].place;
    const auto offer = [&](int k, Number length, int reload_before, int reload_after) {
        const Number detour = length + distance(lift, drop) - route.nodes[k + 1].leg;
        const Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > agent.max_distance - route.distance) return;
        propose(route, {delta, route.agent, k, k, reload_before, reload_after, option}, best);
    };
    for (int k = route.pinned, last = static_cast<int>(route.nodes.size()) - 1; k < last; ++k) {
        const Node &before = route.nodes[k], &next = route.nodes[k + 1];
        if (route.is_used() && blink_()) continue;
        for (int depot : agent.reloads) {
            const Number there = distance(before.place, depot), back = distance(depot, next.place);
            const int stop = problem_.reload_stop(depot);
            if (problem_.is_ticket(before.stop))
                offer(k, there + distance(depot, lift) + distance(drop, next.place), stop, TERMINUS);
            if (problem_.is_ticket(next.stop))
                offer(k, Number{distance(before.place, lift)} + distance(drop, depot) + back, TERMINUS, stop);
        }
    }
}

// `spot.delta` is exact, or a bound where only a walk can tell.
void Inserter::propose(const Route& route, const InsertionPosition& spot, InsertionPosition& best) {
    if (spot.delta >= best.delta) return;
    if (!problem_.walks) {
        best = spot;
        return;
    }
    InsertionPosition exact = spot;
    if (problem_.estimates) {
        if (price_by_segments(route, exact) && exact.delta < best.delta) likely_.emplace_back(exact.delta, spot);
        return;
    }
    const bool is_possible = problem_.stretches ? price_by_segments(route, exact) : price(route, exact);
    if (is_possible && exact.delta < best.delta) best = exact;
}

// Walk the likeliest places of a route. Once some are possible the others seldom turn out to be cheaper.
void Inserter::lay_out_likeliest(const Route& route, InsertionPosition& best) {
    std::sort(likely_.begin(), likely_.end(), [](const auto& one, const auto& other) { return one.first < other.first; });
    int possible = 0;
    for (const auto& [estimate, spot] : likely_) {
        if (estimate >= best.delta || possible == MOST_LAID_OUT) break;
        InsertionPosition exact = spot;
        if (!price(route, exact)) continue;
        ++possible;
        if (exact.delta < best.delta) best = exact;
    }
    likely_.clear();
}

bool Inserter::price(const Route& route, InsertionPosition& spot) {
    trial_.agent = route.agent;
    trial_.nodes = route.nodes;
    place(trial_, spot);
    if (!lay_out(problem_, trial_)) return false;
    spot.delta = trial_.cost - route.cost + span(trial_.duration);
    return true;
}

// The route up to and with the node after which the spot is, leaving its depot with what then is in this trip.
RouteSegment Inserter::up_to(const Route& route, const InsertionPosition& spot) const {
    const TripPosition &here = route.trips[spot.after], &trip = route.trips[here.begin];
    const bool is_cut = spot.reload_before != TERMINUS || spot.reload_after != TERMINUS;
    Number release = is_cut ? here.released : trip.to_come;
    if (spot.reload_before == TERMINUS)
        release = std::max(release, problem_.tickets[spot.option.ticket].release);
    if (release == trip.to_come) return route.until[spot.after];
    const Agent& agent = problem_.agents[route.agent];
    if (here.begin == 0) return RouteSegment{0, std::max(agent.open, release), NEVER}.then(0, here.since);
    const int before = here.begin - 1, stop = route.nodes[here.begin].stop;
    return route.until[before]
        .then(time_between(problem_, agent, route.nodes[before].place, stop, false), {0, release, NEVER})
        .then(0, here.since);
}

// What an estimate adds for overtime, and for lateness at the stop that is put in first.
Number Inserter::surcharge(const Route& route, const InsertionPosition& spot, const RouteSegment& all) const {
    const Agent& agent = problem_.agents[route.agent];
    const auto overtime = [&](const RouteSegment& day) { return std::max<Number>(0, day.opens + day.lasts - agent.shift_end); };
    Number sum = 0;
    if (agent.per_overtime > 0)
        sum += agent.per_overtime * (overtime(all) - (route.is_used() ? overtime(route.until.back()) : 0));
    const int stop = spot.option.pickup >= 0 ? spot.option.pickup : spot.option.ticket;
    const Ticket& ticket = problem_.tickets[stop];
    if (ticket.lateness > 0) {
        const Node& before = route.nodes[spot.after];
        const Number arrival = before.finish + time_between(problem_, agent, before.place, stop, spot.after == 0);
        sum += ticket.lateness * std::max<Number>(0, std::max(arrival, ticket.opens()) - ticket.soft_close);
    }
    return sum;
}

// The rest of the cost is in `spot.delta` already. Where stretches only estimate it (`Problem::estimates`), the route
// is compared with what they tell of it without.
bool Inserter::price_by_segments(const Route& route, InsertionPosition& spot) const {
    const Agent& agent = problem_.agents[route.agent];
    RouteSegment all = problem_.trips ? up_to(route, spot) : route.until[spot.after];
    int at = route.nodes[spot.after].place, next = spot.after + 1;
    bool is_first = spot.after == 0;
    const auto drive = [&](int stop, int place, const RouteSegment& stretch) {
        all = all.then(time_between(problem_, agent, at, stop, is_first), stretch);
        at = place;
        is_first = false;
    };
    const auto visit = [&](int stop) {
        drive(stop, problem_.tickets[stop].place, segment_of(problem_, agent, stop, false));
    };
    const auto reload = [&](int stop, Number release) {
        if (stop == TERMINUS) return;
        if (problem_.is_ticket(route.nodes[next].stop)) release = std::max(release, route.trips[next].to_come);
        drive(stop, problem_.reload_place(stop), {0, release, NEVER});
    };
    reload(spot.reload_before, problem_.tickets[spot.option.ticket].release);
    if (spot.option.pickup >= 0) {
        visit(spot.option.pickup);
        for (; next <= spot.drop_after; ++next) visit(route.nodes[next].stop);
    }
    visit(spot.option.ticket);
    reload(spot.reload_after, 0);
    all = all.then(time_between(problem_, agent, at, route.nodes[next].stop, false), route.from[next]);
    if (!all.is_possible() || all.lasts > agent.max_duration) return false;
    const Number lasted = problem_.estimates && route.is_used() ? route.until.back().lasts : route.duration;
    spot.delta += agent.per_time * (all.lasts - lasted) + span(all.lasts);
    if (problem_.estimates) spot.delta += surcharge(route, spot, all);
    return true;
}

}  // namespace sisr
