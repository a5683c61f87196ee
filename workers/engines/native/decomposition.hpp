// Decomposes a plan into parts of nearby routes, for parallel search.
#pragma once
#include "working_plan.hpp"

namespace sisr {

// Parts of about equally many tickets. Routes are bisected recursively by their distances from two random tickets,
// which differ each time. Idle agents and unserved items are distributed.
std::vector<SubPlan> decompose(const Problem& problem, const std::vector<Route>& routes, int count, Random& random);

}  // namespace sisr
