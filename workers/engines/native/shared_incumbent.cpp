#include "shared_incumbent.hpp"

namespace sisr {

void SharedIncumbent::publish(const Code& plan, Number cost) {
    if (static_cast<Number>(plan.size()) + INCUMBENT_PLAN > size_) return;
    const Number sequence = at(INCUMBENT_SEQUENCE).load(std::memory_order_relaxed);
    at(INCUMBENT_SEQUENCE).store(sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    at(INCUMBENT_COST).store(cost, std::memory_order_relaxed);
    at(INCUMBENT_LENGTH).store(static_cast<Number>(plan.size()), std::memory_order_relaxed);
    for (std::size_t k = 0; k < plan.size(); ++k) at(INCUMBENT_PLAN + k).store(plan[k], std::memory_order_relaxed);
    at(INCUMBENT_SEQUENCE).store(sequence + 2, std::memory_order_release);
}

Number read_incumbent(Number* cells, Number* copy) {
    const auto at = [&](Number k) { return std::atomic_ref<Number>(cells[k]); };
    for (;;) {
        const Number before = at(INCUMBENT_SEQUENCE).load(std::memory_order_acquire);
        if (before % 2 != 0) continue;
        copy[0] = at(INCUMBENT_LENGTH).load(std::memory_order_relaxed);
        for (Number k = 0; k < copy[0]; ++k) copy[k + 1] = at(INCUMBENT_PLAN + k).load(std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_acquire);
        if (at(INCUMBENT_SEQUENCE).load(std::memory_order_relaxed) == before) return before;
    }
}

void encode(const Problem& problem, const Route& route, Code& code) {
    std::vector<BreakTaken> break_list;
    Route evaluated = route;
    if (!problem.agents[route.agent].break_list.empty()) evaluate(problem, evaluated, &break_list);
    code.push_back(route.agent);
    code.push_back(static_cast<Number>(route.nodes.size() - 2 + break_list.size()));
    std::size_t next = 0;
    for (std::size_t k = 0; k + 1 < route.nodes.size(); ++k) {
        const int stop = route.nodes[k].stop;
        if (stop != TERMINUS)
            code.push_back(problem.is_reload(stop) ? CODES * problem.location(problem.reload_place(stop)) + CODE_RELOAD
                                                   : CODES * stop + CODE_TICKET);
        for (; next < break_list.size() && break_list[next].after == static_cast<int>(k); ++next)
            code.push_back(CODES * break_list[next].index + CODE_BREAK);
    }
}

void decode(const Number* code, Number length, Plan& plan) {
    const Problem& problem = plan.problem;
    for (Number k = 0; k + 1 < length;) {
        const int agent = static_cast<int>(code[k]);
        const Number end = std::min(length, k + 2 + code[k + 1]);
        std::vector<int> stops;
        for (k += 2; k < end; ++k) {
            const int index = static_cast<int>(code[k] / CODES), kind = static_cast<int>(code[k] % CODES);
            if (kind == CODE_BREAK) continue;
            stops.push_back(kind == CODE_RELOAD ? problem.reload_stop(problem.place(index)) : index);
        }
        plan.set_idle_route(agent, stops);
    }
}

}  // namespace sisr
