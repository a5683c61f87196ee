#include "locked_visits.hpp"

#include <map>

namespace sisr {
namespace {

constexpr std::size_t MAX_PARTIAL_ROUTES = 40;  // partial routes kept after each visit

using Load = std::pair<int, std::size_t>;  // state: number of reloads, stops since the last one
using Placements = std::map<Load, std::vector<Route>>;

Route with_stop(const Problem& problem, const Route& route, int stop) {
    Route next = route;
    next.nodes.insert(next.nodes.end() - 1, Node{stop, 0, 0, 0, 0, 0});
    if (problem.is_ticket(stop)) next.pinned = static_cast<int>(next.nodes.size()) - 2;
    return next;
}

bool dominates(const Route& one, const Route& other) {
    return one.cost <= other.cost && one.nodes.back().finish <= other.nodes.back().finish;
}

void keep_if_nondominated(const Problem& problem, Route route, Load load, Placements& placements) {
    if (!evaluate(problem, route)) return;
    std::vector<Route>& kept = placements[load];
    if (std::any_of(kept.begin(), kept.end(), [&](const Route& other) { return dominates(other, route); })) return;
    std::erase_if(kept, [&](const Route& other) { return dominates(route, other); });
    kept.push_back(std::move(route));
}

std::vector<std::pair<Load, Route>> cheapest(const Placements& placements) {
    std::vector<std::pair<Load, Route>> kept;
    for (const auto& [load, routes] : placements)
        for (const Route& route : routes) kept.emplace_back(load, route);
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; });
    kept.resize(std::min(kept.size(), MAX_PARTIAL_ROUTES), {{}, Route(0)});
    return kept;
}

}  // namespace

Route locked_route(const Problem& problem, int agent, const StopCriterion& stop_criterion) {
    const Agent& driver = problem.agents[agent];
    Route without_reloads(agent);
    for (int ticket : driver.locked) without_reloads = with_stop(problem, without_reloads, ticket);
    Route evaluated = without_reloads;
    if (driver.locked.empty() || driver.max_reloads == 0 || evaluate(problem, evaluated)) return without_reloads;
    std::vector<std::pair<Load, Route>> partial{{{0, 0}, Route(agent)}};
    for (int ticket : driver.locked) {
        if (stop_criterion.over()) return without_reloads;
        Placements placements;
        for (const auto& [load, route] : partial) {
            keep_if_nondominated(problem, with_stop(problem, route, ticket), {load.first, load.second + 1}, placements);
            for (int depot : driver.reloads)
                keep_if_nondominated(problem,
                                     with_stop(problem, with_stop(problem, route, problem.reload_stop(depot)), ticket),
                                     {load.first + 1, 1}, placements);
        }
        partial = cheapest(placements);
    }
    if (partial.empty()) return without_reloads;
    Route best(agent);  // not evaluated yet, like the other result
    best.nodes = partial.front().second.nodes, best.pinned = partial.front().second.pinned;
    return best;
}

}  // namespace sisr
