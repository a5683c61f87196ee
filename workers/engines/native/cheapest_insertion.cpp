#include "cheapest_insertion.hpp"

namespace sisr {

void Inserter::try_positions(const Route& route, const Option& option, InsertionPosition& best) {
    if (!admits(route, option)) return;
    if (option.pickup >= 0)
        pair(route, option, best);
    else if (problem_.deliveries_only)
        simple(route, option, best);
    else
        single(route, option, best);
    if (!estimated_.empty()) evaluate_likeliest(route, best);
}

bool Inserter::admits(const Route& route, const Option& option) const {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    if (!problem_.is_mixed(agent))
        for (int d = 0; d < problem_.dimensions; ++d)
            if (route.load[d] + ticket.demand[d] > agent.capacity[d]) return false;
    if (route.served + (option.pickup >= 0 ? 2 : 1) > agent.max_stops) return false;
    const bool has_locked_pickup = option.pickup < 0 && ticket.kind == Kind::SHIPMENT_DELIVERY;
    if (!problem_.restricts_agents && !problem_.any_incompatible && !has_locked_pickup) return true;
    const auto is_here = [&](int other) { return plan_.agent_of[other] == route.agent; };
    const auto is_allowed = [&](int stop) {
        return problem_.may_serve(agent.type, stop) && !problem_.has_incompatible(stop, is_here);
    };
    if (!is_allowed(option.ticket) || (option.pickup >= 0 && !is_allowed(option.pickup))) return false;
    return !has_locked_pickup || is_here(ticket.partner);
}

// Cost of an option that does not depend on its position in a route. The first stop of an idle agent adds the fixed
// cost, and the leg from start to end, which cost nothing, is not saved.
Number Inserter::base_cost(const Route& route, const Option& option) const {
    const Agent& agent = problem_.agents[route.agent];
    Number service_cost = problem_.service_cost(route.agent, option.ticket);
    if (option.pickup >= 0) service_cost += problem_.service_cost(route.agent, option.pickup);
    const Number start = route.is_used() ? -least_load_cost(problem_, route)
                                         : agent.fixed + agent.per_distance * route.nodes.back().leg;
    return service_cost + start + least_load_cost(problem_, route, &option);
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

// As `single`, where only distance, the sum of loads and one time window per ticket matter.
void Inserter::simple(const Route& route, const Option& option, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs dist{distance.into(ticket.place), distance.out_of(ticket.place)};
    const Legs time{duration.into(ticket.place), duration.out_of(ticket.place)};
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance;
    const Number open = ticket.opens(), close = ticket.closes(), service = ticket.service;
    const bool timed = problem_.timed, is_used = route.is_used();
    const Node* nodes = route.nodes.data();
    const int last = static_cast<int>(route.nodes.size()) - 1;
    Number least = best.delta;
    int after = -1, k = route.pinned;
    if (timed)
        while (k < last && nodes[k + 1].latest < open + service) ++k;
    for (; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (timed && before.finish > close) break;
        if (is_used && blink_()) continue;
        const Number detour = Number{dist.in[before.place]} + dist.out[next.place] - next.leg;
        const Number delta = base + agent.per_distance * detour;
        if (delta >= least || detour > room) continue;
        if (timed) {
            const Number arrival = before.finish + time.in[before.place];
            if (arrival > close || std::max(arrival, open) + service + time.out[next.place] > next.latest) continue;
        }
        least = delta, after = k;
    }
    if (after >= 0) best = {least, route.agent, after, -1, TERMINUS, TERMINUS, option};
}

void Inserter::single(const Route& route, const Option& option, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Ticket& ticket = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs dist{distance.into(ticket.place), distance.out_of(ticket.place)};
    const Legs time{duration.into(ticket.place), duration.out_of(ticket.place)};
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance, closes = ticket.closes();
    const Number done = ticket.opens() + ticket.service;  // earliest end of service
    const bool is_mixed = problem_.is_mixed(agent), timed = problem_.timed, backhaul = problem_.backhaul;
    const bool reloads = agent.max_reloads > route.reloads && agent.max_reloads > 0;
    const bool is_pickup = ticket.kind == Kind::PICKUP, sums_durations = problem_.sums_durations;
    const bool is_used = route.is_used();
    const Number time_room = agent.longest() - route.duration;
    const Node* nodes = route.nodes.data();
    int k = route.pinned, last = static_cast<int>(route.nodes.size()) - 1;
    if (backhaul && is_mixed && route.reloads == 0) {
        if (ticket.kind == Kind::DELIVERY) last = std::min(last, route.first_pickup);
        if (is_pickup) k = std::max(k, route.last_delivery);
    }
    for (const Node& node : route.nodes) __builtin_prefetch(dist.in + node.place);  // random accesses to a large matrix
    for (; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (timed) {
            if (before.finish > closes) break;
            if (done > next.latest) continue;
        }
        if (is_used && blink_()) continue;
        const Number detour = Number{dist.in[before.place]} + dist.out[next.place] - next.leg;
        Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > room) continue;
        if (sums_durations) {
            const Number longer =
                ticket.service + time.in[before.place] + time.out[next.place] - (is_used ? next.leg_time : 0);
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
        if (backhaul && route.reloads > 0 && !in_order(route, k, ticket.kind)) continue;
        propose(route, {delta, route.agent, k, -1, TERMINUS, TERMINUS, option}, best);
    }
    if (reloads) this->reloads(route, option, base, best);
}

// Tried after positions without a reload: a reload that costs nothing is found later anyway.
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
        if (!fits_split_trip(route, option.ticket, after, reload_before != TERMINUS)) return;
        propose(route, {delta, route.agent, after, -1, reload_before, reload_after, option}, best);
    };
    for (int depot : agent.reloads) {
        const int stop = problem_.reload_stop(depot);
        if (opens_trip) offer(Number{distance(before.place, depot)} + into[depot] + from[next.place], stop, TERMINUS);
        if (ends_trip) offer(Number{into[before.place]} + from[depot] + distance(depot, next.place), TERMINUS, stop);
    }
}

// Whether a ticket fits into the trip after a reload inserted behind a node, or into the trip before it.
bool Inserter::fits_split_trip(const Route& route, int ticket, int after, bool is_behind) const {
    if (!problem_.uses_segments) return true;  // the evaluation decides
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
    const Ticket &pickup = problem_.tickets[option.pickup], &delivery = problem_.tickets[option.ticket];
    const Matrix &distance = problem_.distance(agent), &duration = problem_.duration(agent);
    const Legs to_pickup{distance.into(pickup.place), distance.out_of(pickup.place)};
    const Legs to_delivery{distance.into(delivery.place), distance.out_of(delivery.place)};
    const Legs pickup_time{duration.into(pickup.place), duration.out_of(pickup.place)};
    const Legs delivery_time{duration.into(delivery.place), duration.out_of(delivery.place)};
    const Number between = distance(pickup.place, delivery.place);
    const Number base = base_cost(route, option), room = agent.max_distance - route.distance,
                 pickup_closes = pickup.closes();
    const bool timed = problem_.timed;
    const Node* nodes = route.nodes.data();
    const int last = static_cast<int>(route.nodes.size()) - 1;
    const auto offer = [&](int k, int j, Number detour, Number leave,
                           int place) {  // delivery after node j, which is left at `leave`
        const Number delta = base + agent.per_distance * detour;
        if (delta >= best.delta || detour > room) return;
        if (timed) {
            const Number end = serve(option.ticket, leave + delivery_time.in[place], place, false);
            if (end == NEVER || !is_on_time(nodes[j + 1], end + delivery_time.out[nodes[j + 1].place], delivery.place))
                return;
        }
        propose(route, {delta, route.agent, k, j, TERMINUS, TERMINUS, option}, best);
    };
    int k = route.pinned;
    if (last - k > FEW_POSITIONS && problem_.needs_evaluation && stop_criterion_.is_late()) k = last - FEW_POSITIONS;
    for (; k < last; ++k) {
        const Node &before = nodes[k], &next = nodes[k + 1];
        if (is_over_ || (timed && before.finish > pickup_closes)) break;
        if (route.is_used() && blink_()) continue;
        const Number there = Number{to_pickup.in[before.place]} - next.leg, detour = there + to_pickup.out[next.place];
        const Number at_once = there + between + to_delivery.out[next.place];
        if (base + agent.per_distance * std::min(detour, at_once) >= best.delta) continue;
        if (!fits(route, route.leg, k, option.pickup)) continue;
        Number leave =
            timed ? serve(option.pickup, before.finish + pickup_time.in[before.place], before.place, k == 0) : 0;
        if (leave == NEVER) continue;
        offer(k, k, at_once, leave, pickup.place);
        for (int j = k + 1, place = pickup.place; j < last; place = nodes[j].place, ++j) {
            const Node& node = nodes[j];
            if (timed) {
                const Number arrival = leave + (j == k + 1 ? pickup_time.out[node.place] : node.leg_time);
                if (!is_on_time(node, arrival, place)) break;
                leave = problem_.is_reload(node.stop) ? arrival : serve(node.stop, arrival, place, false);
                if (leave > delivery.closes()) break;
            }
            if (!fits(route, route.leg, j, option.pickup)) break;
            offer(k, j, detour + to_delivery.in[node.place] + to_delivery.out[nodes[j + 1].place] - nodes[j + 1].leg,
                  leave, node.place);
        }
    }
    if (agent.max_reloads > route.reloads) pair_beside_reload(route, option, base, best);
}

// Inserts a shipment directly after or before a new reload, where loads leave no room for it elsewhere.
void Inserter::pair_beside_reload(const Route& route, const Option& option, Number base, InsertionPosition& best) {
    const Agent& agent = problem_.agents[route.agent];
    const Matrix& distance = problem_.distance(agent);
    const int pickup = problem_.tickets[option.pickup].place, delivery = problem_.tickets[option.ticket].place;
    const auto offer = [&](int k, Number length, int reload_before, int reload_after) {
        const Number detour = length + distance(pickup, delivery) - route.nodes[k + 1].leg;
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
                offer(k, there + distance(depot, pickup) + distance(delivery, next.place), stop, TERMINUS);
            if (problem_.is_ticket(next.stop))
                offer(k, Number{distance(before.place, pickup)} + distance(delivery, depot) + back, TERMINUS, stop);
        }
    }
}

// `position.delta` is exact, or a lower bound where evaluation is needed.
void Inserter::propose(const Route& route, const InsertionPosition& position, InsertionPosition& best) {
    if (position.delta >= best.delta) return;
    if (!problem_.needs_evaluation) {
        best = position;
        return;
    }
    if (is_over()) return;
    InsertionPosition exact = position;
    if (problem_.estimates_by_segments) {
        if (price_by_segments(route, exact) && exact.delta < best.delta) estimated_.emplace_back(exact.delta, position);
        return;
    }
    const bool is_possible = problem_.uses_segments ? price_by_segments(route, exact) : price(route, exact);
    if (is_possible && exact.delta < best.delta) best = exact;
}

// Evaluate the best estimates of a route. Once some are feasible, the others are rarely cheaper.
void Inserter::evaluate_likeliest(const Route& route, InsertionPosition& best) {
    if (is_over_) estimated_.clear();
    std::sort(estimated_.begin(), estimated_.end(),
              [](const auto& one, const auto& other) { return one.first < other.first; });
    int possible = 0;
    for (const auto& [estimate, position] : estimated_) {
        if (estimate >= best.delta || possible == MAX_EVALUATED || is_over()) break;
        InsertionPosition exact = position;
        if (!price(route, exact)) continue;
        ++possible;
        if (exact.delta < best.delta) best = exact;
    }
    estimated_.clear();
}

bool Inserter::price(const Route& route, InsertionPosition& position) {
    candidate_.agent = route.agent;
    candidate_.nodes = route.nodes;
    place(candidate_, position);
    if (!evaluate(problem_, candidate_)) return false;
    position.delta = candidate_.cost - route.cost + span(candidate_.duration);
    return true;
}

// The segment up to and with the node before the position, leaving the depot after the releases of this trip.
RouteSegment Inserter::up_to(const Route& route, const InsertionPosition& position) const {
    const TripPosition &here = route.trips[position.after], &trip = route.trips[here.begin];
    const bool splits_trip = position.reload_before != TERMINUS || position.reload_after != TERMINUS;
    Number release = splits_trip ? here.released : trip.to_come;
    if (position.reload_before == TERMINUS)
        release = std::max(release, problem_.tickets[position.option.ticket].release);
    if (release == trip.to_come) return route.until[position.after];
    const Agent& agent = problem_.agents[route.agent];
    if (here.begin == 0) return RouteSegment{0, std::max(agent.open, release), NEVER}.then(0, here.since);
    const int before = here.begin - 1, stop = route.nodes[here.begin].stop;
    return route.until[before]
        .then(time_between(problem_, agent, route.nodes[before].place, stop, false), {0, release, NEVER})
        .then(0, here.since);
}

// What an estimate adds for overtime, and for lateness at the first inserted stop.
Number Inserter::surcharge(const Route& route, const InsertionPosition& position, const RouteSegment& all) const {
    const Agent& agent = problem_.agents[route.agent];
    const auto overtime = [&](const RouteSegment& segment) {
        return std::max<Number>(0, segment.opens + segment.duration - agent.shift_end);
    };
    Number sum = 0;
    if (agent.per_overtime > 0)
        sum += agent.per_overtime * (overtime(all) - (route.is_used() ? overtime(route.until.back()) : 0));
    const int stop = position.option.pickup >= 0 ? position.option.pickup : position.option.ticket;
    const Ticket& ticket = problem_.tickets[stop];
    if (ticket.lateness > 0) {
        const Node& before = route.nodes[position.after];
        const Number arrival = before.finish + time_between(problem_, agent, before.place, stop, position.after == 0);
        sum += ticket.lateness * std::max<Number>(0, std::max(arrival, ticket.opens()) - ticket.soft_close);
    }
    return sum;
}

// Adds the cost of time to `position.delta`. Where segments only estimate it (`Problem::estimates_by_segments`), the
// difference is taken from the segments of the present route.
bool Inserter::price_by_segments(const Route& route, InsertionPosition& position) const {
    const Agent& agent = problem_.agents[route.agent];
    RouteSegment all = problem_.trips ? up_to(route, position) : route.until[position.after];
    int at = route.nodes[position.after].place, next = position.after + 1;
    bool is_first = position.after == 0;
    const auto drive = [&](int stop, int place, const RouteSegment& segment) {
        all = all.then(time_between(problem_, agent, at, stop, is_first), segment);
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
    reload(position.reload_before, problem_.tickets[position.option.ticket].release);
    if (position.option.pickup >= 0) {
        visit(position.option.pickup);
        for (; next <= position.delivery_after; ++next) visit(route.nodes[next].stop);
    }
    visit(position.option.ticket);
    reload(position.reload_after, 0);
    all = all.then(time_between(problem_, agent, at, route.nodes[next].stop, false), route.from[next]);
    if (!all.is_possible() || all.duration > agent.max_duration) return false;
    const Number previous_duration =
        problem_.estimates_by_segments && route.is_used() ? route.until.back().duration : route.duration;
    position.delta += agent.per_time * (all.duration - previous_duration) + span(all.duration);
    if (problem_.estimates_by_segments) position.delta += surcharge(route, position, all);
    return true;
}

}  // namespace sisr
