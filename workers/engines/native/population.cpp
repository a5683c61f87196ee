#include "population.hpp"

namespace sisr {
namespace {

std::vector<int> stops_of(const Route& route) {
    std::vector<int> stops;
    for (const Node& node : route.nodes)
        if (node.stop != TERMINUS) stops.push_back(node.stop);
    return stops;
}

// Agents of routes of a plan around a ticket, the nearest first, up to half of all.
std::vector<int> draw_routes(const Problem& problem, const std::vector<Route>& routes, Random& random) {
    std::vector<int> where(problem.tickets.size(), -1), drawn;
    int used = 0;
    for (const Route& route : routes) {
        used += route.is_used();
        for (const int stop : stops_of(route))
            if (problem.is_ticket(stop)) where[stop] = route.agent;
    }
    const int ticket = random.below(static_cast<int>(problem.tickets.size()));
    const std::size_t most = random.between(1, std::max(1, used / 2));
    for (const int near : problem.neighbours[ticket]) {
        const int agent = where[near];
        if (agent < 0 || routes[agent].pinned > 0 || std::find(drawn.begin(), drawn.end(), agent) != drawn.end()) continue;
        drawn.push_back(agent);
        if (drawn.size() == most) break;
    }
    return drawn;
}

// Agents of a plan that serve most of these tickets, `most` at most, pinned ones aside.
std::vector<int> most_alike(const Plan& plan, const std::vector<int>& stops, std::size_t most) {
    std::vector<int> shared(plan.routes.size(), 0), agents;
    for (const int stop : stops)
        if (plan.problem.is_ticket(stop) && plan.where[stop] >= 0) ++shared[plan.where[stop]];
    for (const int agent : plan.active)
        if (plan.routes[agent].pinned == 0) agents.push_back(agent);
    std::sort(agents.begin(), agents.end(),
              [&](int a, int b) { return shared[a] != shared[b] ? shared[a] > shared[b] : a < b; });
    agents.resize(std::min(agents.size(), most));
    return agents;
}

void leave_out(Plan& plan, const std::vector<int>& stops) {
    std::vector<int> changed;
    for (const int stop : stops) {
        if (!plan.problem.is_ticket(stop) || plan.where[stop] < 0 || plan.item_at(stop) < 0) continue;
        const int agent = plan.where[stop];
        if (plan.node[stop] <= plan.routes[agent].pinned) continue;
        plan.remove(stop);
        if (std::find(changed.begin(), changed.end(), agent) == changed.end()) changed.push_back(agent);
    }
    for (const int agent : changed) plan.close_gaps(agent);
}

}  // namespace

Population::Pair Population::draw(Random& random) const {
    const int size = static_cast<int>(members_.size()), one = random.below(size), step = random.between(1, size - 1);
    return {one, (one + step) % size};
}

void Population::take(const Pair& parents, const std::vector<Route>& child, Number cost) {
    Member& dearer = members_[members_[parents.one].cost > members_[parents.other].cost ? parents.one : parents.other];
    const auto is_twin = [&](const Member& member) { return member.cost == cost; };
    if (cost < dearer.cost && std::none_of(members_.begin(), members_.end(), is_twin)) dearer = {child, cost};
}

void cross(Plan& plan, const std::vector<Route>& other, Random& random) {
    const std::vector<int> given = draw_routes(plan.problem, other, random);
    std::vector<int> stops;
    for (const int agent : given)
        for (const int stop : stops_of(other[agent])) stops.push_back(stop);
    plan.begin();
    for (const int agent : most_alike(plan, stops, given.size())) leave_out(plan, stops_of(plan.routes[agent]));
    leave_out(plan, stops);
    for (const int agent : given) {
        const IndexedSet& idle = plan.idle[plan.problem.agents[agent].type];
        if (!idle.empty()) plan.set_idle_route(idle.has(agent) ? agent : idle.back(), stops_of(other[agent]));
    }
    plan.keep();
}

}  // namespace sisr
