#include "inter_route_exchange.hpp"

namespace sisr {

bool InterRouteExchange::propose(Number room) {
    if (plan_.reachable.empty()) return false;
    const int ticket = plan_.reachable[random_.below(static_cast<int>(plan_.reachable.size()))];
    if (problem_.reloads && plan_.agent_of[ticket] >= 0 && random_.chance(TRIPS)) return trips(ticket);
    const int neighbour = next_to(ticket);
    if (neighbour < 0) return false;
    const int one = plan_.agent_of[ticket], other = plan_.agent_of[neighbour];
    if (one < 0 || other < 0) return false;
    const int at = plan_.node[ticket], next = plan_.node[neighbour];
    if (one != other) return tails(one, at, other, next, room);
    if (problem_.timed) return false;  // time windows fix the direction
    return at < next ? reverse(one, at + 1, next, room) : reverse(one, next, at - 1, room);
}

// A ticket that a new leg may lead to; -1 without any.
int InterRouteExchange::next_to(int ticket) {
    if (problem_.timed && random_.chance(TOWARDS_SUCCESSORS)) {
        const auto& successors = problem_.successors[ticket];
        return successors.empty() ? -1 : successors[random_.below(static_cast<int>(successors.size()))];
    }
    const auto& near = problem_.neighbours[ticket];
    const int others = std::min<int>(NEAR, static_cast<int>(near.size()) - 1);
    return others < 1 ? -1 : near[1 + random_.below(others)];
}

bool InterRouteExchange::tails(int one, int last, int other, int next, Number room) {
    const Route &a = plan_.routes[one], &b = plan_.routes[other];
    const Agent& agent = problem_.agents[one];
    if (agent.unlocked_type != problem_.agents[other].unlocked_type || last < a.pinned || next <= b.pinned)
        return false;
    const Node &i = a.nodes[last], &after_i = a.nodes[last + 1], &before_j = b.nodes[next - 1], &j = b.nodes[next];
    const Matrix& distance = problem_.distance(agent);
    const bool is_emptied = after_i.stop == TERMINUS && next == 1;
    const Number detour = Number{distance(i.place, j.place)} - after_i.leg - j.leg +
                          (is_emptied ? 0 : distance(before_j.place, after_i.place));
    if (agent.per_distance * detour - (is_emptied ? agent.fixed : 0) >= room) return false;
    if (problem_.timed && !(in_time(a, last, b, next) && in_time(b, next - 1, a, last + 1))) return false;
    if (agent.max_reloads == 0 && !(fits(a, last, b, next) && fits(b, next - 1, a, last + 1))) return false;
    plan_.begin();
    const auto tail_of = [](const Route& route, int from) { return Span{from, static_cast<int>(route.nodes.size())}; };
    plan_.exchange_segments(one, tail_of(a, last + 1), other, tail_of(b, next));
    return true;
}

// Whether a vehicle that continues with the tail of another route is on time.
bool InterRouteExchange::in_time(const Route& route, int last, const Route& tail, int next) const {
    const Node &i = route.nodes[last], &j = tail.nodes[next];
    return i.finish + problem_.duration(problem_.agents[route.agent])(i.place, j.place) <= j.latest;
}

// Whether all deliveries of a route of one trip that continues with another tail fit, and all pickups, in their order.
// Where loads rise and fall in any order this is a necessary condition.
bool InterRouteExchange::fits(const Route& route, int last, const Route& tail, int next) const {
    const Number* capacity = problem_.agents[route.agent].capacity;
    const auto load = [&](const Route& of, int from, int d, Kind kind) {
        Number sum = 0;
        for (int k = from, end = static_cast<int>(of.nodes.size()) - 1; k < end; ++k)
            if (const Ticket& ticket = problem_.tickets[of.nodes[k].stop]; ticket.kind == kind) sum += ticket.demand[d];
        return sum;
    };
    const auto then = [&](Number all, int d, Kind kind) {
        return all - load(route, last + 1, d, kind) + load(tail, next, d, kind);
    };
    if (problem_.backhaul && problem_.mixed && route.first_pickup <= last && tail.last_delivery >= next) return false;
    for (int d = 0; d < problem_.dimensions; ++d) {
        if (then(route.departs_with(problem_, d), d, Kind::DELIVERY) > capacity[d]) return false;
        if (problem_.mixed && then(route.returns_with(problem_, d), d, Kind::PICKUP) > capacity[d]) return false;
    }
    return true;
}

// Exchange trips between two vehicles of one type, or move one trip, with its reload, to the other.
bool InterRouteExchange::trips(int ticket) {
    const int one = plan_.agent_of[ticket],
              drawn = plan_.reachable[random_.below(static_cast<int>(plan_.reachable.size()))],
              other = plan_.agent_of[drawn];
    if (other < 0 || other == one || problem_.agents[one].unlocked_type != problem_.agents[other].unlocked_type)
        return false;
    const Route &a = plan_.routes[one], &b = plan_.routes[other];
    Span mine = trip_around(a, plan_.node[ticket]), theirs = trip_around(b, plan_.node[drawn]);
    if (mine.begin <= a.pinned || theirs.begin <= b.pinned) return false;
    if (random_.chance(ONE_WAY)) {
        if (problem_.is_reload(a.nodes[mine.end].stop))
            ++mine.end, theirs.end = theirs.begin;
        else if (problem_.is_reload(a.nodes[mine.begin - 1].stop))
            --mine.begin, theirs.begin = theirs.end;
        else
            return false;
    }
    plan_.begin();
    plan_.exchange_segments(one, mine, other, theirs);
    return true;
}

Span InterRouteExchange::trip_around(const Route& route, int node) const {
    Span trip{node, node + 1};
    while (problem_.is_ticket(route.nodes[trip.begin - 1].stop)) --trip.begin;
    while (problem_.is_ticket(route.nodes[trip.end].stop)) ++trip.end;
    return trip;
}

bool InterRouteExchange::reverse(int agent, int from, int to, Number room) {
    const Route& route = plan_.routes[agent];
    if (from >= to || from <= route.pinned) return false;
    const Agent& driver = problem_.agents[agent];
    const Node &before = route.nodes[from - 1], &first = route.nodes[from], &last = route.nodes[to],
               &after = route.nodes[to + 1];
    const Matrix& distance = problem_.distance(driver);
    const Number detour =
        Number{distance(before.place, last.place)} + distance(first.place, after.place) - first.leg - after.leg;
    if (driver.per_distance * detour >= room) return false;
    plan_.begin();
    plan_.reverse_segment(agent, from, to);
    return true;
}

}  // namespace sisr
