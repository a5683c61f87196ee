#include "route_log.hpp"

namespace sisr {

void RouteLog::add(const Problem& problem, const Route& route) {
    if (!is_open() || !route.is_used() || least_load_cost(problem, route) > 0 || !is_new(problem, route)) return;
    Code code;
    Number cost = route.cost;  // what is forgone is no cost of the route where all routes are chosen anew
    if (problem.forgoes)
        for (const Node& node : route.nodes)
            if (problem.is_ticket(node.stop)) cost -= problem.tickets[node.stop].forgone;
    encode(problem, route, code);
    const std::lock_guard lock(mutex_);
    append(code, cost, route.duration);
}

bool RouteLog::is_new(const Problem& problem, const Route& route) {
    const auto mixed = [](Number value) { return Random(static_cast<std::uint64_t>(value)).next(); };
    std::uint64_t key = mixed(route.cost) ^ mixed(-1 - problem.agents[route.agent].type);
    for (const Node& node : route.nodes)
        if (node.stop != TERMINUS) key += mixed(node.stop);
    return seen_[key % SEEN].exchange(key, std::memory_order_relaxed) != key;
}

void RouteLog::append(const Code& code, Number cost, Number duration) {
    const Number length = static_cast<Number>(code.size()) + ROUTE_HEADER;
    if (length > half_size_ - 1) return;
    std::atomic_ref<Number> used(cells_[half_ * half_size_]);
    if (1 + used.load(std::memory_order_relaxed) + length > half_size_) {
        half_ = 1 - half_;
        std::atomic_ref<Number>(cells_[half_ * half_size_]).store(0, std::memory_order_release);
        return append(code, cost, duration);
    }
    Number* to = cells_ + half_ * half_size_ + 1 + used.load(std::memory_order_relaxed);
    *to++ = cost;
    *to++ = duration;
    std::copy(code.begin(), code.end(), to);
    used.store(used.load(std::memory_order_relaxed) + length, std::memory_order_release);
}

}  // namespace sisr
