// Utilities of the search: stop criterion, random numbers, sets of small integers.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <vector>

// A benchmark may give another clock, of CPU time (`benchmarks/paired_search.py`).
#ifndef SISR_CLOCK
#define SISR_CLOCK std::chrono::steady_clock
#endif

namespace sisr {

// Stops the search when the caller cancels, or when the time is up and there is a first plan.
class StopCriterion {
public:
    StopCriterion(double seconds, std::int64_t* cancel) : begin_(Clock::now()), seconds_(seconds), cancel_(*cancel) {}

    double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    double share() const { return elapsed() / seconds_; }
    bool over() const { return cancelled() || (elapsed() >= seconds_ && !builds_first_plan()); }
    bool is_late() const { return elapsed() >= seconds_; }  // while the first plan is built, it may be
    bool cancelled() const { return cancel_.load(std::memory_order_relaxed) != 0; }
    void set_has_plan() const { has_plan_.store(true, std::memory_order_relaxed); }

private:
    // A busy machine may give no CPU within the time, so the first plan is bounded by the CPU time that was given.
    bool builds_first_plan() const {
        return !has_plan_.load(std::memory_order_relaxed) && std::clock() - cpu_begin_ < FIRST_PLAN_CPU_S * CLOCKS_PER_SEC;
    }
    static constexpr std::clock_t FIRST_PLAN_CPU_S = 10;

    using Clock = SISR_CLOCK;
    Clock::time_point begin_;
    double seconds_;
    std::clock_t cpu_begin_ = std::clock();
    mutable std::atomic<bool> has_plan_{false};
    std::atomic_ref<std::int64_t> cancel_;
};

// SplitMix64 (Steele, Lea, Flood 2014): fast, and every seed is good.
class Random {
public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
        return z ^ (z >> 31);
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
    int below(int n) { return static_cast<int>(((next() >> 32) * static_cast<std::uint64_t>(n)) >> 32); }
    int between(int low, int high) { return low + below(high - low + 1); }
    bool chance(double p) { return unit() < p; }

private:
    std::uint64_t state_;
};

// True with probability `rate`. Draws the distance to the next blink instead of a number for each call.
class Blink {
public:
    Blink(Random& random, double rate) : random_(random), scale_(1.0 / std::log1p(-rate)) { rewind(); }

    bool operator()() {
        if (--left_ > 0) return false;
        rewind();
        return true;
    }

private:
    void rewind() { left_ = 1 + static_cast<int>(std::log(1.0 - random_.unit()) * scale_); }

    Random& random_;
    double scale_;
    int left_ = 0;
};

// A set of 0..n-1 with insertion, removal and a random member in constant time.
class IndexedSet {
public:
    explicit IndexedSet(int n = 0) : place_(static_cast<std::size_t>(n), -1) {}

    bool has(int x) const { return place_[x] >= 0; }
    int size() const { return static_cast<int>(members_.size()); }
    bool empty() const { return members_.empty(); }
    int any(Random& random) const { return members_[random.below(size())]; }
    int back() const { return members_.back(); }
    auto begin() const { return members_.begin(); }
    auto end() const { return members_.end(); }

    void set(int x, bool member) {
        if (has(x) == member) return;
        if (member) {
            place_[x] = size();
            members_.push_back(x);
        } else {
            members_[place_[x]] = members_.back();
            place_[members_.back()] = place_[x];
            members_.pop_back();
            place_[x] = -1;
        }
    }

private:
    std::vector<int> members_, place_;
};

// A set of 0..n-1 that is cleared in constant time.
class ClearableSet {
public:
    explicit ClearableSet(int n = 0) : round_(static_cast<std::size_t>(n), 0) {}

    void clear() {
        if (++now_ == 0) std::fill(round_.begin(), round_.end(), 0), now_ = 1;
    }
    bool has(int x) const { return round_[x] == now_; }
    bool add(int x) {  // false if it was a member already
        const bool is_new = round_[x] != now_;
        round_[x] = now_;  // without a branch, because it would be unpredictable
        return is_new;
    }

private:
    std::vector<std::uint32_t> round_;
    std::uint32_t now_ = 1;
};

}  // namespace sisr
