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

// Whether the loads that insertions read are those of the route evaluated from scratch.
inline bool has_its_loads(const Problem& problem, const Plan& plan, const Route& route) {
    Route fresh = route;
    if (!evaluate(problem, fresh)) return false;
    compute_backward(problem, fresh);
    const Agent& agent = problem.agents[route.agent];
    if (problem.is_one_trip(agent) && problem.dimensions > 0 &&
        (plan.spare[route.agent] != agent.capacity[0] - fresh.departs_with(problem, 0) ||
         plan.spare_for_pickups[route.agent] != agent.capacity[0] - fresh.returns_with(problem, 0)))
        return false;
    return route.load == fresh.load && route.leg == fresh.leg && route.head == fresh.head && route.tail == fresh.tail &&
           route.last_delivery == fresh.last_delivery && route.first_pickup == fresh.first_pickup;
}

inline bool is_indexed(const Problem& problem, const Plan& plan) {
    for (const Route& route : plan.routes) {
        if (plan.active.has(route.agent) != route.is_used()) return false;
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k) {
            const int stop = route.nodes[k].stop;
            if (problem.is_reload(stop)) continue;
            if (plan.agent_of[stop] != route.agent || plan.node[stop] != static_cast<int>(k)) return false;
        }
        if (!has_its_loads(problem, plan, route)) return false;
    }
    return true;
}

}  // namespace sisr
