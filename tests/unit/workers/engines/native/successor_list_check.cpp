// Counts tickets whose successor list contradicts their windows, their service times and the travel between them.
#include <algorithm>

#include "search_problem.hpp"

using namespace sisr;

namespace {

bool may_succeed(const Problem& problem, std::size_t one, int next) {
    const Ticket &a = problem.tickets[one], &b = problem.tickets[next];
    return a.opens() + a.service + problem.duration(problem.agents[0])(a.place, b.place) <= b.closes();
}

}  // namespace

// Returns the number of wrong lists; `made` counts the successors, and the neighbours that time windows exclude.
extern "C" __attribute__((visibility("default"))) Number sisr_successor_list_check(const Input* input, Number, Number,
                                                                                   Number*, Number, Number* made) {
    Number cancel = 0, faults = 0;
    const StopCriterion stop_criterion(60, &cancel);
    const Problem problem(*input, stop_criterion);
    for (std::size_t one = 0; one < problem.successors.size(); ++one) {
        const auto &listed = problem.successors[one], &near = problem.neighbours[one];
        const auto follows = [&](int next) { return next != static_cast<int>(one) && may_succeed(problem, one, next); };
        const Number possible = std::count_if(near.begin(), near.end(), follows);
        faults += std::count_if(listed.begin(), listed.end(), [&](int next) { return !follows(next); });
        faults += static_cast<Number>(listed.size()) != std::min<Number>(possible, 30);
        made[0] += static_cast<Number>(listed.size());
        made[1] += static_cast<Number>(near.size()) - 1 - possible;
    }
    return faults;
}
