// Cuts a plan into parts of routes that lie together, to be searched side by side.
#pragma once
#include "working_plan.hpp"

namespace sisr {

// As many parts of about equally many tickets. Where they are cut is drawn anew each time: two tickets are poles, and
// the routes nearer to the one than to the other go together. Idle agents and absent items are dealt out.
std::vector<SubPlan> cut(const Problem& problem, const std::vector<Route>& routes, int count, Random& random);

}  // namespace sisr
