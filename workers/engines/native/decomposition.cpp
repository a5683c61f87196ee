#include "decomposition.hpp"

namespace sisr {
namespace {

class RouteBisection {
public:
    RouteBisection(const Problem& problem, const std::vector<Route>& routes, std::vector<SubPlan>& parts,
                   Random& random)
        : problem_(problem), routes_(routes), parts_(parts), random_(random), side_(routes.size()) {}

    // Distribute `agents` over the parts from `first` to before `end`.
    void decompose(std::vector<int> agents, std::size_t first, std::size_t end) {
        if (end - first == 1) {
            for (int agent : agents) parts_[first].agents[agent] = true;
            return;
        }
        const std::size_t middle = (first + end) / 2;
        sort_between_seeds(agents);
        long tickets = 0, wanted = 0;
        for (int agent : agents) tickets += routes_[agent].served;
        auto half = agents.begin();
        const long share = tickets * static_cast<long>(middle - first) / static_cast<long>(end - first);
        while (half != agents.end() && wanted < share) wanted += routes_[*half++].served;
        decompose({agents.begin(), half}, first, middle);
        decompose({half, agents.end()}, middle, end);
    }

private:
    void sort_between_seeds(std::vector<int>& agents) {
        const int tickets = static_cast<int>(problem_.tickets.size());
        const auto any_place = [&] { return problem_.tickets[random_.below(tickets)].place; };
        const Matrix& distance = problem_.distance(problem_.agents[0]);
        const std::int32_t *one = distance.out_of(any_place()), *other = distance.out_of(any_place());
        for (int agent : agents) {
            double sum = 0;
            const auto& nodes = routes_[agent].nodes;
            for (std::size_t k = 1; k + 1 < nodes.size(); ++k)
                sum += double(one[nodes[k].place]) - other[nodes[k].place];
            side_[agent] = sum / routes_[agent].served;
        }
        std::sort(agents.begin(), agents.end(), [&](int a, int b) { return side_[a] < side_[b]; });
    }

    const Problem& problem_;
    const std::vector<Route>& routes_;
    std::vector<SubPlan>& parts_;
    Random& random_;
    std::vector<double> side_;  // by agent
};

}  // namespace

std::vector<SubPlan> decompose(const Problem& problem, const std::vector<Route>& routes, int count, Random& random) {
    std::vector<SubPlan> parts(count, SubPlan{std::vector<std::uint8_t>(routes.size(), false), {}});
    std::vector<int> used;
    std::vector<bool> is_served(problem.items.size(), false);
    int next_part = random.below(count);
    for (const Route& route : routes) {
        if (!route.is_used()) {
            parts[next_part++ % count].agents[route.agent] = true;
            continue;
        }
        used.push_back(route.agent);
        for (const Node& node : route.nodes)
            if (problem.is_ticket(node.stop) && problem.tickets[node.stop].item >= 0)
                is_served[problem.tickets[node.stop].item] = true;
    }
    RouteBisection(problem, routes, parts, random).decompose(used, 0, parts.size());
    for (int item = 0; item < static_cast<int>(problem.items.size()); ++item)
        if (!is_served[item]) parts[random.below(count)].absent.push_back(item);
    return parts;
}

}  // namespace sisr
