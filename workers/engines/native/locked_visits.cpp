#include "locked_visits.hpp"

#include <map>

namespace sisr {
namespace {

constexpr std::size_t MOST_PLACEMENTS = 40;  // that are gone on with at each visit

using Load = std::pair<int, std::size_t>;  // what is on board: reloads made, stops since the last
using Placements = std::map<Load, std::vector<Route>>;

Route longer(const Problem& problem, const Route& route, int stop) {
    Route next = route;
    next.nodes.insert(next.nodes.end() - 1, Node{stop, 0, 0, 0, 0, 0});
    if (problem.is_ticket(stop)) next.pinned = static_cast<int>(next.nodes.size()) - 2;
    return next;
}

bool dominates(const Route& one, const Route& other) {
    return one.cost <= other.cost && one.nodes.back().finish <= other.nodes.back().finish;
}

void keep_if_good(const Problem& problem, Route route, Load load, Placements& ways) {
    if (!lay_out(problem, route)) return;
    std::vector<Route>& rivals = ways[load];
    if (std::any_of(rivals.begin(), rivals.end(), [&](const Route& rival) { return dominates(rival, route); })) return;
    std::erase_if(rivals, [&](const Route& rival) { return dominates(route, rival); });
    rivals.push_back(std::move(route));
}

std::vector<std::pair<Load, Route>> cheapest(const Placements& ways) {
    std::vector<std::pair<Load, Route>> kept;
    for (const auto& [load, routes] : ways)
        for (const Route& route : routes) kept.emplace_back(load, route);
    std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.second.cost < b.second.cost; });
    kept.resize(std::min(kept.size(), MOST_PLACEMENTS), {{}, Route(0)});
    return kept;
}

}  // namespace

Route locked_route(const Problem& problem, int agent, const StopCriterion& stop_criterion) {
    const Agent& driver = problem.agents[agent];
    Route bare(agent);
    for (int ticket : driver.locked) bare = longer(problem, bare, ticket);
    Route trial = bare;
    if (driver.locked.empty() || driver.max_reloads == 0 || lay_out(problem, trial)) return bare;
    std::vector<std::pair<Load, Route>> begun{{{0, 0}, Route(agent)}};
    for (int ticket : driver.locked) {
        if (stop_criterion.over()) return bare;
        Placements ways;
        for (const auto& [load, route] : begun) {
            keep_if_good(problem, longer(problem, route, ticket), {load.first, load.second + 1}, ways);
            for (int depot : driver.reloads)
                keep_if_good(problem, longer(problem, longer(problem, route, problem.reload_stop(depot)), ticket),
                             {load.first + 1, 1}, ways);
        }
        begun = cheapest(ways);
    }
    if (begun.empty()) return bare;
    Route best(agent);  // not laid out yet, as the other is not
    best.nodes = begun.front().second.nodes, best.pinned = begun.front().second.pinned;
    return best;
}

}  // namespace sisr
