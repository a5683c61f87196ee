// Makes many exchanges in a plan and counts those whose plan differs from the evaluation of its routes from scratch.
#include <map>

#include "shared_incumbent.hpp"
#include "recreate.hpp"
#include "recomputed_cost.hpp"
#include "inter_route_exchange.hpp"

using namespace sisr;

namespace {

constexpr Number LARGE_MARGIN = NEVER / 16;  // any move is tried; the cost of an infeasible plan exceeds it

std::map<int, int> stops_of(const Plan& plan) {  // number of services; reloads may be removed
    std::map<int, int> stops;
    for (const Route& route : plan.routes)
        for (const Node& node : route.nodes)
            if (!plan.problem.is_reload(node.stop)) ++stops[node.stop];
    return stops;
}

bool is_consistent(const Problem& problem, const Plan& plan, const std::map<int, int>& stops) {
    return plan.cost() == cost_from_scratch(problem, plan) && stops_of(plan) == stops && is_indexed(problem, plan);
}

}  // namespace

// Returns the number of wrong plans; `made` counts exchanges kept and undone, `incumbent` holds the last plan.
extern "C" __attribute__((visibility("default"))) Number sisr_route_exchange_check(const Input* input, Number seed,
                                                                                   Number draws, Number* incumbent,
                                                                                   Number size, Number* made) {
    Number cancel = 0, faults = 0;
    const StopCriterion stop_criterion(60, &cancel);
    const Problem problem(*input, stop_criterion);
    Random random(static_cast<std::uint64_t>(seed));
    Plan plan(problem, stop_criterion);
    if (!problem.is_sound || !plan.is_sound) return 0;
    plan.begin();
    std::vector<int> items(plan.absent.begin(), plan.absent.end());
    if (!Recreate(plan, random, stop_criterion)(items)) return plan.undo(), 0;
    plan.keep();
    const auto stops = stops_of(plan);
    InterRouteExchange exchange(plan, random);
    for (Number k = 0; exchange.is_of_use() && k < draws; ++k) {
        const Number before = plan.cost();
        if (!exchange.propose(LARGE_MARGIN)) continue;
        const bool breaks_a_rule = plan.cost_now() >= before + LARGE_MARGIN;
        faults += breaks_a_rule != (cost_from_scratch(problem, plan) == NEVER);
        if (breaks_a_rule || random.chance(0.5)) {
            plan.undo(), ++made[1];
            faults += plan.cost() != before;
        } else {
            plan.keep(), ++made[0];
        }
        faults += !is_consistent(problem, plan, stops);
    }
    Code code;
    for (const Route& route : plan.routes)
        if (route.is_used()) encode(problem, route, code);
    SharedIncumbent(incumbent, size).publish(code, plan.cost());
    return faults;
}
