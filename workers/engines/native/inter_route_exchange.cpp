#include "inter_route_exchange.hpp"

namespace sisr {

bool InterRouteExchange::propose(Number room) {
    if (plan_.own.empty()) return false;
    const int ticket = plan_.own[random_.below(static_cast<int>(plan_.own.size()))];
    if (problem_.reloads && plan_.where[ticket] >= 0 && random_.chance(TRIPS)) return trips(ticket);
    const int neighbour = next_to(ticket);
    if (neighbour < 0) return false;
    const int one = plan_.where[ticket], other = plan_.where[neighbour];
    if (one < 0 || other < 0) return false;
    const int at = plan_.node[ticket], next = plan_.node[neighbour];
    if (one != other) return tails(one, at, other, next, room);
    if (problem_.timed) return false;  // windows want their order
    return at < next ? reverse(one, at + 1, next, room) : reverse(one, next, at - 1, room);
}

// A ticket that a new leg may lead to; -1 when there is none.
int InterRouteExchange::next_to(int ticket) {
    if (problem_.timed && random_.chance(TOWARDS_SUCCESSORS)) {
        const auto& followers = problem_.followers[ticket];
        return followers.empty() ? -1 : followers[random_.below(static_cast<int>(followers.size()))];
    }
    const auto& near = problem_.neighbours[ticket];
    const int others = std::min<int>(NEAR, static_cast<int>(near.size()) - 1);
    return others < 1 ? -1 : near[1 + random_.below(others)];
}

bool InterRouteExchange::tails(int one, int last, int other, int next, Number room) {
    const Route &a = plan_.routes[one], &b = plan_.routes[other];
    const Agent& agent = problem_.agents[one];
    if (agent.kin != problem_.agents[other].kin || last < a.pinned || next <= b.pinned) return false;
    const Node &i = a.nodes[last], &after_i = a.nodes[last + 1], &before_j = b.nodes[next - 1], &j = b.nodes[next];
    const Matrix& distance = problem_.distance(agent);
    const bool empties = after_i.stop == TERMINUS && next == 1;
    const Number detour = Number{distance(i.place, j.place)} - after_i.leg - j.leg +
                          (empties ? 0 : distance(before_j.place, after_i.place));
    if (agent.per_distance * detour - (empties ? agent.fixed : 0) >= room) return false;
    if (problem_.timed && !(in_time(a, last, b, next) && in_time(b, next - 1, a, last + 1))) return false;
    if (!problem_.is_mixed(agent) && !(fits(a, last, b, next) && fits(b, next - 1, a, last + 1))) return false;
    plan_.begin();
    const auto rest_of = [](const Route& route, int from) { return Span{from, static_cast<int>(route.nodes.size())}; };
    plan_.cross(one, rest_of(a, last + 1), other, rest_of(b, next));
    return true;
}

// Whether a vehicle that goes on with the rest of another's route comes in time for it.
bool InterRouteExchange::in_time(const Route& route, int last, const Route& rest, int next) const {
    const Node &i = route.nodes[last], &j = rest.nodes[next];
    return i.finish + problem_.duration(problem_.agents[route.agent])(i.place, j.place) <= j.latest;
}

// Where loads only fall: whether it has room for it.
bool InterRouteExchange::fits(const Route& route, int last, const Route& rest, int next) const {
    const Number* capacity = problem_.agents[route.agent].capacity;
    const auto load = [&](const Route& of, int from, int d) {
        Number sum = 0;
        for (int k = from, end = static_cast<int>(of.nodes.size()) - 1; k < end; ++k)
            sum += problem_.tickets[of.nodes[k].stop].demand[d];
        return sum;
    };
    for (int d = 0; d < problem_.dimensions; ++d)
        if (route.load[d] - load(route, last + 1, d) + load(rest, next, d) > capacity[d]) return false;
    return true;
}

// Two vehicles of one type exchange trips, or one gives its trip, with a reload, to the other.
bool InterRouteExchange::trips(int ticket) {
    const int one = plan_.where[ticket], drawn = plan_.own[random_.below(static_cast<int>(plan_.own.size()))],
              other = plan_.where[drawn];
    if (other < 0 || other == one || problem_.agents[one].kin != problem_.agents[other].kin) return false;
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
    plan_.cross(one, mine, other, theirs);
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
    plan_.turn(agent, from, to);
    return true;
}

}  // namespace sisr
