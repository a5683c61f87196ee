// The library as C sees it: three functions over plain arrays. Safe to call from several threads, a board each.
#include <new>

#include "search_driver.hpp"

#define EXPORTED __attribute__((visibility("default")))

extern "C" {

EXPORTED sisr::Number sisr_abi() { return sisr::ABI_VERSION; }

// Search until the time is up or `board[B_CANCEL]` is set; returns an `End`. `board` starts as zeros.
EXPORTED int sisr_solve(const sisr::Input* input, const sisr::Options* options, sisr::Number* board,
                        sisr::Number size) {
    try {
        const sisr::StopCriterion stop_criterion(options->seconds, &board[sisr::B_CANCEL]);
        const sisr::Problem problem(*input, stop_criterion);
        sisr::SharedIncumbent face(board, size);
        return static_cast<int>(sisr::Search(problem, *options, stop_criterion, face).run());
    } catch (const std::bad_alloc&) {
        return static_cast<int>(sisr::End::OUT_OF_MEMORY);
    }
}

// Copy the incumbent (its length, then its codes); returns its sequence number, 0 while there is none.
EXPORTED sisr::Number sisr_read(sisr::Number* board, sisr::Number* copy) { return sisr::read_incumbent(board, copy); }
}
