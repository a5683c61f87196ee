// When a listing for the check of proofs ends early.
#pragma once
#include <chrono>
#include <cstdint>

namespace proof {

struct OutOfRoom {};

// Ends a listing by time, or by its number of partial routes, with an exception.
class Limits {
public:
    Limits(double seconds, std::int64_t most_partial)
        : ends_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))),
          left_(most_partial) {}

    void count_partial() {
        if (--left_ < 0) throw OutOfRoom{};
    }
    void watch() {
        if (++steps_ % 1024 == 0 && Clock::now() >= ends_) throw OutOfRoom{};
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point ends_;
    std::int64_t left_;
    unsigned steps_ = 0;
};

}  // namespace proof
