// Where a running search and its caller meet: a block of numbers both can see.
//
// The caller may set `cancel` at any time. The search writes its incumbent between two steps of `sequence` (odd while
// writing), so a reader that saw the same even number before and after has a whole plan (a sequence lock).
// A plan is, for each used agent: agent, count, then `count` stops, each 4 × index + kind (0 ticket, 1 reload, 2
// break).
#pragma once
#include <atomic>

#include "working_plan.hpp"

namespace sisr {

enum StopCode { CODE_TICKET, CODE_RELOAD, CODE_BREAK, CODES = 4 };
enum IncumbentField { B_CANCEL, B_SEQUENCE, B_ITERATIONS, B_COST, B_LENGTH, B_PLAN };

using Code = std::vector<Number>;

class SharedIncumbent {
public:
    SharedIncumbent(Number* cells, Number size) : cells_(cells), size_(size) {}

    void publish(const Code& plan, Number cost);
    void count(Number iterations) { at(B_ITERATIONS).store(iterations, std::memory_order_relaxed); }

private:
    std::atomic_ref<Number> at(Number k) { return std::atomic_ref<Number>(cells_[k]); }

    Number* cells_;
    Number size_;
};

// Copy the incumbent into `copy` (as long as the board): its length, then the plan. Returns its sequence, 0 for none.
Number read_incumbent(Number* cells, Number* copy);

// Append the route of one agent; finds where its breaks go.
void encode(const Problem& problem, const Route& route, Code& code);

// Rebuild the routes of a plan in an empty `Plan`, leaving out what does not fit.
void decode(const Number* code, Number length, Plan& plan);

}  // namespace sisr
