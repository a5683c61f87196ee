// The cost and the indexes of a plan, recomputed from the stops of its routes.
#pragma once
#include "working_plan.hpp"

namespace sisr {

// The cost of all routes, each evaluated from its stops alone; NEVER when one is infeasible.
inline Number cost_from_scratch(const Problem& problem, const Plan& plan) {
    Number sum = 0, longest = 0;
    for (int agent = 0; agent < static_cast<int>(plan.routes.size()); ++agent) {
        Route route(agent);
        route.nodes.clear();
        for (const Node& node : plan.routes[agent].nodes) route.nodes.push_back({node.stop, 0, 0, 0, 0});
        if (!evaluate(problem, route)) return NEVER;
        sum += route.cost;
        if (route.is_used()) longest = std::max(longest, route.duration);
    }
    for (int item : plan.absent) sum += problem.items[item].penalty;
    return sum + problem.span_cost * longest;
}

inline bool is_indexed(const Problem& problem, const Plan& plan) {
    for (const Route& route : plan.routes) {
        if (plan.active.has(route.agent) != route.is_used()) return false;
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k) {
            const int stop = route.nodes[k].stop;
            if (problem.is_reload(stop)) continue;
            if (plan.agent_of[stop] != route.agent || plan.node[stop] != static_cast<int>(k)) return false;
        }
        if (problem.dimensions > 0 && !problem.is_mixed(problem.agents[route.agent]) &&
            plan.spare[route.agent] != problem.agents[route.agent].capacity[0] - route.load[0])
            return false;
    }
    return true;
}

}  // namespace sisr
