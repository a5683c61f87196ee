// Makes many trades in a plan and counts those after which the plan is not what laying out its routes anew says it is.
#include <map>

#include "board.hpp"
#include "recreate.hpp"
#include "trade.hpp"

using namespace sisr;

namespace {

constexpr Number NOTHING_LEFT_TO_LOSE = NEVER / 16;  // by legs any move is worth a look; what breaks a rule is dearer

// The cost of all routes, each laid out from its stops alone; NEVER when one breaks a rule.
Number cost_from_scratch(const Problem& problem, const Plan& plan) {
    Number sum = 0, longest = 0;
    for (int agent = 0; agent < static_cast<int>(plan.routes.size()); ++agent) {
        Route route(agent);
        route.nodes.clear();
        for (const Node& node : plan.routes[agent].nodes) route.nodes.push_back({node.stop, 0, 0, 0, 0});
        if (!lay_out(problem, route)) return NEVER;
        sum += route.cost;
        if (route.is_used()) longest = std::max(longest, route.duration);
    }
    for (int item : plan.absent) sum += problem.items[item].penalty;
    return sum + problem.span_cost * longest;
}

std::map<int, int> stops_of(const Plan& plan) {  // how often each is served; a reload may lose its reason
    std::map<int, int> stops;
    for (const Route& route : plan.routes)
        for (const Node& node : route.nodes)
            if (!plan.problem.is_reload(node.stop)) ++stops[node.stop];
    return stops;
}

bool is_indexed(const Problem& problem, const Plan& plan) {
    for (const Route& route : plan.routes) {
        if (plan.active.has(route.agent) != route.is_used()) return false;
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k) {
            const int stop = route.nodes[k].stop;
            if (problem.is_reload(stop)) continue;
            if (plan.where[stop] != route.agent || plan.node[stop] != static_cast<int>(k)) return false;
        }
        if (problem.dimensions > 0 && !problem.is_mixed(problem.agents[route.agent]) &&
            plan.spare[route.agent] != problem.agents[route.agent].capacity[0] - route.load[0])
            return false;
    }
    return true;
}

bool is_whole(const Problem& problem, const Plan& plan, const std::map<int, int>& stops) {
    return plan.cost() == cost_from_scratch(problem, plan) && stops_of(plan) == stops && is_indexed(problem, plan);
}

}  // namespace

// Returns how many plans were wrong; `made` becomes how many trades were kept and undone, and `board` holds the end.
extern "C" __attribute__((visibility("default"))) Number sisr_trades(const Input* input, Number seed, Number draws,
                                                                     Number* board, Number size, Number* made) {
    Number cancel = 0, faults = 0;
    const Watch watch(60, &cancel);
    const Problem problem(*input, watch);
    Random random(static_cast<std::uint64_t>(seed));
    Plan plan(problem, watch);
    if (!problem.is_sound || !plan.is_sound) return 0;
    plan.begin();
    std::vector<int> items(plan.absent.begin(), plan.absent.end());
    if (!Recreate(plan, random, watch)(items)) return plan.undo(), 0;
    plan.keep();
    const auto stops = stops_of(plan);
    Trade trade(plan, random);
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
    Board(board, size).publish(code, plan.cost());
    return faults;
}
