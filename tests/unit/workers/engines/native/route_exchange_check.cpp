// Makes many trades in a plan and counts those after which the plan is not what laying out its routes anew says it is.
#include <map>

#include "shared_incumbent.hpp"
#include "recreate.hpp"
#include "recomputed_cost.hpp"
#include "inter_route_exchange.hpp"

using namespace sisr;

namespace {

constexpr Number NOTHING_LEFT_TO_LOSE = NEVER / 16;  // by legs any move is worth a look; what breaks a rule is dearer

std::map<int, int> stops_of(const Plan& plan) {  // how often each is served; a reload may lose its reason
    std::map<int, int> stops;
    for (const Route& route : plan.routes)
        for (const Node& node : route.nodes)
            if (!plan.problem.is_reload(node.stop)) ++stops[node.stop];
    return stops;
}

bool is_whole(const Problem& problem, const Plan& plan, const std::map<int, int>& stops) {
    return plan.cost() == cost_from_scratch(problem, plan) && stops_of(plan) == stops && is_indexed(problem, plan);
}

}  // namespace

// Returns how many plans were wrong; `made` becomes how many trades were kept and undone, and `board` holds the end.
extern "C" __attribute__((visibility("default"))) Number sisr_route_exchange_check(const Input* input, Number seed, Number draws,
                                                                     Number* board, Number size, Number* made) {
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
    InterRouteExchange trade(plan, random);
    for (Number k = 0; trade.is_of_use() && k < draws; ++k) {
        const Number before = plan.cost();
        if (!trade.propose(NOTHING_LEFT_TO_LOSE)) continue;
        const bool breaks_a_rule = plan.cost_now() >= before + NOTHING_LEFT_TO_LOSE;
        faults += breaks_a_rule != (cost_from_scratch(problem, plan) == NEVER);
        if (breaks_a_rule || random.chance(0.5)) {
            plan.undo(), ++made[1];
            faults += plan.cost() != before;
        } else {
            plan.keep(), ++made[0];
        }
        faults += !is_whole(problem, plan, stops);
    }
    Code code;
    for (const Route& route : plan.routes)
        if (route.is_used()) encode(problem, route, code);
    SharedIncumbent(board, size).publish(code, plan.cost());
    return faults;
}
