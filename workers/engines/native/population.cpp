#include "population.hpp"

namespace sisr {
namespace {

std::vector<int> stops_of(const Route& route) {
    std::vector<int> stops;
    for (const Node& node : route.nodes)
        if (node.stop != TERMINUS) stops.push_back(node.stop);
    return stops;
}

// Agents of routes near a random ticket, nearest first, up to half of the used ones.
std::vector<int> draw_routes(const Problem& problem, const std::vector<Route>& routes, Random& random) {
    std::vector<int> agent_of(problem.tickets.size(), -1), drawn;
    int used = 0;
    for (const Route& route : routes) {
        used += route.is_used();
        for (const int stop : stops_of(route))
            if (problem.is_ticket(stop)) agent_of[stop] = route.agent;
    }
    const int ticket = random.below(static_cast<int>(problem.tickets.size()));
    const std::size_t most = random.between(1, std::max(1, used / 2));
    for (const int near : problem.neighbours[ticket]) {
        const int agent = agent_of[near];
        if (agent < 0 || routes[agent].pinned > 0 || std::find(drawn.begin(), drawn.end(), agent) != drawn.end())
            continue;
        drawn.push_back(agent);
        if (drawn.size() == most) break;
    }
    return drawn;
}

// Agents of the routes with most of these tickets, `most` at most, without pinned ones.
std::vector<int> most_similar_routes(const Plan& plan, const std::vector<int>& stops, std::size_t most) {
    std::vector<int> shared(plan.routes.size(), 0), agents;
    for (const int stop : stops)
        if (plan.problem.is_ticket(stop) && plan.agent_of[stop] >= 0) ++shared[plan.agent_of[stop]];
    for (const int agent : plan.active)
        if (plan.routes[agent].pinned == 0) agents.push_back(agent);
    std::sort(agents.begin(), agents.end(),
              [&](int a, int b) { return shared[a] != shared[b] ? shared[a] > shared[b] : a < b; });
    agents.resize(std::min(agents.size(), most));
    return agents;
}

void unserve(Plan& plan, const std::vector<int>& stops) {
    std::vector<int> changed;
    for (const int stop : stops) {
        if (!plan.problem.is_ticket(stop) || plan.agent_of[stop] < 0 || plan.item_at(stop) < 0) continue;
        const int agent = plan.agent_of[stop];
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

void Population::replace_parent(const Pair& parents, const std::vector<Route>& child, Number cost) {
    Member& worse = members_[members_[parents.one].cost > members_[parents.other].cost ? parents.one : parents.other];
    const auto has_same_cost = [&](const Member& member) { return member.cost == cost; };
    if (cost < worse.cost && std::none_of(members_.begin(), members_.end(), has_same_cost)) worse = {child, cost};
}

void crossover(Plan& plan, const std::vector<Route>& other, Random& random) {
    const std::vector<int> given = draw_routes(plan.problem, other, random);
    std::vector<int> stops;
    for (const int agent : given)
        for (const int stop : stops_of(other[agent])) stops.push_back(stop);
    plan.begin();
    for (const int agent : most_similar_routes(plan, stops, given.size())) unserve(plan, stops_of(plan.routes[agent]));
    unserve(plan, stops);
    for (const int agent : given) {
        const IndexedSet& idle = plan.idle[plan.problem.agents[agent].type];
        if (!idle.empty()) plan.set_idle_route(idle.has(agent) ? agent : idle.back(), stops_of(other[agent]));
    }
    plan.keep();
}

}  // namespace sisr
