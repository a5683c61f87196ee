// Routes of good plans, logged for the recombination in a buffer that search and caller share.
//
// The buffer has two halves. Each begins with the number of its cells in use; routes follow, each as cost, duration, agent,
// count and `count` stops as in `SharedIncumbent`. When a half is full the other one is begun anew, so the buffer holds the
// newest routes. The caller reads it after the search; a search that was killed leaves no route half written.
#pragma once
#include <array>
#include <mutex>

#include "shared_incumbent.hpp"

namespace sisr {

class RouteLog {
public:
    RouteLog(Number* cells, Number size) : cells_(cells), half_size_(size / 2) {}

    bool is_open() const { return half_size_ > 0; }
    // Append a route, unless an equal one (type, tickets, cost) was logged not long ago. Thread-safe.
    void add(const Problem& problem, const Route& route);

private:
    static constexpr std::size_t SEEN = 1 << 14;
    static constexpr Number ROUTE_HEADER = 2;  // cells before the code of a route: its cost and duration

    bool is_new(const Problem& problem, const Route& route);
    void append(const Code& code, Number cost, Number duration);

    Number* cells_;
    Number half_size_;
    int half_ = 0;
    std::mutex mutex_;
    std::array<std::atomic<std::uint64_t>, SEEN> seen_{};  // the last key with each remainder
};

}  // namespace sisr
