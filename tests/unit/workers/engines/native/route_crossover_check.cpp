// Crosses many pairs of plans and counts the children that differ from the evaluation of their routes from scratch.
#include "annealer.hpp"
#include "shared_incumbent.hpp"
#include "recomputed_cost.hpp"

using namespace sisr;

namespace {

constexpr int ROUNDS = 60;  // iterations between the two parents

bool is_consistent(const Problem& problem, const Plan& plan) {
    const auto is_indexed_right = [&](int item) { return plan.absent.has(item) != plan.is_served(item); };
    for (int item = 0; item < static_cast<int>(problem.items.size()); ++item)
        if (!is_indexed_right(item)) return false;
    return plan.cost() == cost_from_scratch(problem, plan) && is_indexed(problem, plan);
}

int routes_of(const std::vector<Route>& other, const Plan& plan) {  // in both plans
    int shared = 0;
    for (const Route& route : other)
        for (const Route& mine : plan.routes)
            shared += route.is_used() &&
                      std::equal(route.nodes.begin(), route.nodes.end(), mine.nodes.begin(), mine.nodes.end(),
                                 [](const Node& a, const Node& b) { return a.stop == b.stop; });
    return shared;
}

}  // namespace

// Returns the number of wrong children; `taken` counts routes inherited from the second parent, and
// `incumbent` holds the last child.
extern "C" __attribute__((visibility("default"))) Number sisr_route_crossover_check(const Input* input, Number seed,
                                                                                    Number children, Number* incumbent,
                                                                                    Number size, Number* taken) {
    Number cancel = 0, faults = 0;
    const StopCriterion stop_criterion(60, &cancel);
    const Problem problem(*input, stop_criterion);
    RouteLog log(nullptr, 0);
    Annealer annealer(problem, stop_criterion, log, static_cast<std::uint64_t>(seed));
    if (!problem.is_sound || !annealer.plan.is_sound) return 0;
    annealer.build(false);
    std::vector<Route> one = annealer.plan.routes;
    for (Number child = 0; child < children; ++child) {
        for (int k = 0; k < ROUNDS; ++k) annealer.step(1e9);
        const std::vector<Route> other = annealer.plan.routes;
        annealer.restart_from(one);
        const int before = routes_of(other, annealer.plan);
        annealer.restart_from(one, other);
        *taken += std::max(0, routes_of(other, annealer.plan) - before);
        faults += !is_consistent(problem, annealer.plan);
        one = annealer.plan.routes;
    }
    Code code;
    for (const Route& route : annealer.plan.routes)
        if (route.is_used()) encode(problem, route, code);
    SharedIncumbent(incumbent, size).publish(code, annealer.plan.cost());
    return faults;
}
