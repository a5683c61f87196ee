// The locked visits of an agent: first on its route, in their order, with reloads before and between them where they do
// not fit otherwise.
#pragma once
#include "route_state.hpp"

namespace sisr {

// The route of an agent that serves nothing else. Where no way keeps all rules, or none was found until the time is up,
// it is the visits without a reload.
Route locked_route(const Problem& problem, int agent, const StopCriterion& stop_criterion);

}  // namespace sisr
