#include "ruin.hpp"

namespace sisr {

void Ruin::operator()(std::vector<int>& items) {
    items.clear();
    is_ruined_.clear(), is_listed_.clear();
    absent_listed_ = 0;
    if (plan_.reachable.empty()) return;
    const int seed = draw_seed();
    const double mean_stops = plan_.active.empty() ? 1 : static_cast<double>(plan_.served) / plan_.active.size();
    const double longest = std::min<double>(LONGEST_STRING, mean_stops);
    const int strings = static_cast<int>(1 + random_.unit() * (4 * MEAN_REMOVED / (1 + longest) - 1));
    int ruined = 0;
    const bool is_emptied = (problem_.priced || !problem_.exchangeable) && random_.chance(EMPTIED_ROUTE);
    if (is_emptied && plan_.agent_of[seed] >= 0) remove_route(plan_.agent_of[seed], items);
    for (int ticket : problem_.neighbours[seed]) {
        if (ruined == strings) break;
        const int agent = plan_.agent_of[ticket];
        if (agent < 0) {
            list_absent(ticket, items);
        } else if (!is_ruined_.has(agent) && plan_.node[ticket] > plan_.routes[agent].pinned) {
            is_ruined_.add(agent), ++ruined;
            const double most = std::min<double>(plan_.routes[agent].served, longest);
            remove_string(ticket, static_cast<int>(1 + random_.unit() * most), items);
        }
    }
    if (!problem_.exchangeable && random_.chance(REASSIGN_SHARE)) reassign();
    if (!problem_.reload_locked.empty() && random_.chance(RELOAD_SHARE)) reload();
    has_listed_neighbourhood_ =
        plan_.has_reduced_penalties() && !plan_.absent.empty() && random_.chance(NEIGHBOURHOOD_SHARE);
    if (has_listed_neighbourhood_) return list_neighbourhood(seed, items);
    for (int tries = 0, cheap = 0; tries < ABSENT_TRIED && !plan_.absent.empty(); ++tries) {
        const int item = plan_.absent.any(random_);
        if ((plan_.has_reduced_penalties() || problem_.items[item].is_priced) && ++cheap > CHEAP_TRIED) continue;
        if (!problem_.items[item].options.empty() && is_listed_.add(item)) items.push_back(item);
    }
}

// The ticket to begin at; often one of the longest route, where its duration has a cost.
int Ruin::draw_seed() {
    int seed = plan_.reachable[random_.below(static_cast<int>(plan_.reachable.size()))];
    if (problem_.span_cost == 0 || plan_.active.empty() || !random_.chance(LONGEST_ROUTE)) return seed;
    const Route* longest = &plan_.routes[*plan_.active.begin()];
    for (int agent : plan_.active)
        if (plan_.routes[agent].duration > longest->duration) longest = &plan_.routes[agent];
    const int stop = longest->nodes[random_.between(1, static_cast<int>(longest->nodes.size()) - 2)].stop;
    return problem_.is_ticket(stop) ? stop : seed;
}

// Try an agent of another type on a ruined route at any cost: recreate uses its capacity, or the round is rejected.
void Ruin::reassign() {
    if (plan_.touched.empty()) return;
    const int agent = plan_.touched[random_.below(static_cast<int>(plan_.touched.size()))];
    const IndexedSet& idle = plan_.idle[random_.below(problem_.types)];
    const IndexedSet& others = idle.empty() || random_.chance(0.5) ? plan_.active : idle;
    if (others.empty()) return;
    const int other = others.any(random_);
    if (problem_.agents[other].type != problem_.agents[agent].type) plan_.exchange(agent, other, true);
}

// Try a reload among locked visits at any cost: recreate makes use of it, or the round is rejected.
void Ruin::reload() {
    const auto& agents = problem_.reload_locked;
    const int agent = agents[random_.below(static_cast<int>(agents.size()))];
    const auto& depots = problem_.agents[agent].reloads;
    if (!plan_.contains(agent)) return;
    const int after = random_.between(0, plan_.routes[agent].pinned - 1);
    const int depot = depots[random_.below(static_cast<int>(depots.size()))];
    plan_.reload_among_locked(agent, after, problem_.reload_stop(depot));
}

void Ruin::list_neighbourhood(int ticket, std::vector<int>& items) {
    for (int neighbour : problem_.neighbours[ticket]) list_absent(neighbour, items);
}

void Ruin::list_absent(int ticket, std::vector<int>& items) {
    const int item = problem_.tickets[ticket].item;
    if (item < 0 || absent_listed_ == ABSENT_TRIED || !plan_.absent.has(item) || !is_listed_.add(item)) return;
    items.push_back(item);
    ++absent_listed_;
}

// Remove a string of `length` tickets around one; a split string preserves some in its middle.
void Ruin::remove_string(int ticket, int length, std::vector<int>& items) {
    const int agent = plan_.agent_of[ticket];
    const Route& route = plan_.routes[agent];
    const int first = route.pinned + 1, count = static_cast<int>(route.nodes.size()) - 1 - first,
              at = plan_.node[ticket] - first;
    length = std::min(length, count);
    int preserved = 0;
    if (length > 1 && length < count && random_.chance(SPLIT))
        for (preserved = 1; length + preserved < count && random_.chance(SPLIT_GROWTH);) ++preserved;
    const int span = length + preserved;
    const int begin = random_.between(std::max(0, at - span + 1), std::min(at, count - span));
    const int gap = preserved > 0 ? random_.between(1, length - 1) : length;
    chosen_.clear();
    for (int k = 0; k < span; ++k)
        if (k < gap || k >= gap + preserved) {
            const int stop = route.nodes[first + begin + k].stop;
            if (!problem_.is_reload(stop)) chosen_.push_back(stop);
        }
    remove(agent, items);
}

void Ruin::remove_route(int agent, std::vector<int>& items) {
    const Route& route = plan_.routes[agent];
    chosen_.clear();
    for (int k = route.pinned + 1, last = static_cast<int>(route.nodes.size()) - 1; k < last; ++k)
        if (!problem_.is_reload(route.nodes[k].stop)) chosen_.push_back(route.nodes[k].stop);
    is_ruined_.add(agent);
    remove(agent, items);
}

void Ruin::remove(int agent, std::vector<int>& items) {
    const std::size_t listed = items.size();
    for (int ticket : chosen_) {
        const int item = problem_.tickets[ticket].item;
        if (plan_.agent_of[ticket] < 0 || item < 0) continue;
        plan_.remove(ticket);
        if (is_listed_.add(item)) items.push_back(item);
    }
    if (!plan_.close_gaps(agent)) items.resize(listed);
}

}  // namespace sisr
