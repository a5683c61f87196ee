// The incumbent shared by a running search and its caller: a buffer of numbers that both access.
//
// The caller may set `cancel` at any time. The search writes its incumbent between two increments of `sequence` (odd
// while writing), so a reader that reads the same even number before and after has a consistent plan (a sequence lock).
// A plan is, for each used agent: agent, count, then `count` stops, each 4 × index + kind (0 ticket, 1 reload, 2
// break).
#pragma once
#include <atomic>

#include "working_plan.hpp"

namespace sisr {

enum StopCode { CODE_TICKET, CODE_RELOAD, CODE_BREAK, CODES = 4 };
enum IncumbentField {
    INCUMBENT_CANCEL,
    INCUMBENT_SEQUENCE,
    INCUMBENT_ITERATIONS,
    INCUMBENT_COST,
    INCUMBENT_LENGTH,
    INCUMBENT_PLAN
};

using Code = std::vector<Number>;

class SharedIncumbent {
public:
    SharedIncumbent(Number* cells, Number size) : cells_(cells), size_(size) {}

    void publish(const Code& plan, Number cost);
    void count(Number iterations) { at(INCUMBENT_ITERATIONS).store(iterations, std::memory_order_relaxed); }

private:
    std::atomic_ref<Number> at(Number k) { return std::atomic_ref<Number>(cells_[k]); }

    Number* cells_;
    Number size_;
};

// Copy the incumbent into `copy` (as long as the buffer): its length, then the plan. Returns its sequence, 0 for none.
Number read_incumbent(Number* cells, Number* copy);

// Append the route of one agent, with its breaks at their positions.
void encode(const Problem& problem, const Route& route, Code& code);

// Rebuild the routes of a plan in an empty `Plan`, without stops that are infeasible.
void decode(const Number* code, Number length, Plan& plan);

}  // namespace sisr
