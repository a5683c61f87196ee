// Builds the routes of locked visits: first on their route, in order, with reloads where the capacity requires them.
#pragma once
#include "route_state.hpp"

namespace sisr {

// The route of an agent without other visits. If no feasible arrangement is found in time, the visits without reloads.
Route locked_route(const Problem& problem, int agent, const StopCriterion& stop_criterion);

}  // namespace sisr
