// Counts tickets whose list of followers is not what their windows, their services and the travel between them say.
#include <algorithm>

#include "problem.hpp"

using namespace sisr;

namespace {

bool may_follow(const Problem& problem, int one, int next) {
    const Ticket &a = problem.tickets[one], &b = problem.tickets[next];
    return a.opens() + a.service + problem.duration(problem.agents[0])(a.place, b.place) <= b.closes();
}

}  // namespace

// Returns how many lists were wrong; `made` becomes how many followers are listed, and how many the clock forbids.
extern "C" __attribute__((visibility("default"))) Number sisr_followers(const Input* input, Number, Number, Number*,
                                                                        Number, Number* made) {
    Number cancel = 0, faults = 0;
    const Watch watch(60, &cancel);
    const Problem problem(*input, watch);
    const int tickets = static_cast<int>(problem.followers.size());
    for (int one = 0; one < tickets; ++one) {
        const auto& listed = problem.followers[one];
        const auto is_listed = [&](int next) { return std::find(listed.begin(), listed.end(), next) != listed.end(); };
        Number possible = 0;
        for (int next = 0; next < tickets; ++next) {
            const bool follows = next != one && may_follow(problem, one, next);
            possible += follows, made[1] += next != one && !follows;
            faults += next != one && is_listed(next) && !follows;
        }
        faults += listed.front() != one;
        faults += static_cast<Number>(listed.size()) - 1 != std::min<Number>(possible, 30);
        made[0] += static_cast<Number>(listed.size()) - 1;
    }
    return faults;
}
