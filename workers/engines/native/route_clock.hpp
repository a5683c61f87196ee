// The time along one route: present time, waiting, and when breaks are taken.
//
// Owns the breaks of a route with a given departure. `evaluate` chooses the departure.
#pragma once
#include "route_state.hpp"

namespace sisr {

// The earliest times along a route. `waited` and `slack` give the latest departure that keeps all times feasible
// (forward time slack, Savelsbergh 1992), which shortens the duration.
struct Clock {
    Number now, waited = 0, slack = NEVER, lateness = 0;

    void wait_until(Number time) {
        if (time > now) waited += time - now, now = time;
    }
    void limit_slack(Number close) { slack = std::min(slack, close - now + waited); }
};

// When a break is taken before its last chance: never, on a leg where it costs no time, or where waiting offsets part.
enum class BreakTiming { LATE, FREE, EARLY };

// The breaks of an agent, each taken on the last leg that allows it or earlier. Breaks that are over before the
// departure are not taken on the route.
class BreakScheduler {
public:
    BreakScheduler(const Agent& agent, Number begin, BreakTiming timing, std::vector<BreakTaken>* taken)
        : begin_(begin), timing_(timing), break_list_(agent.break_list), taken_(taken) {
        if (taken_) taken_->clear();
    }

    bool has_any() const { return has_any_; }  // whether any break was taken or missed
    bool may_differ(BreakTiming other) const { return other == BreakTiming::LATE ? earlier_differs_ : later_differs_; }

    // Drive one leg to a stop whose service ends at `done(arrival)`; false when a break would be missed.
    bool drive(Clock& clock, Number travel, int node, const auto& done) {
        if (!break_list_.empty()) return drive_with_breaks(clock, travel, node, done);
        clock.now += travel;
        return true;
    }

private:
    bool drive_with_breaks(Clock& clock, Number travel, int node, const auto& done) {
        Number break_time = 0, next_break = clock.now;
        for (std::size_t next = 0; next < break_list_.size();) {
            const std::size_t k = next++;
            const Break& break_spec = break_list_[k];
            if (is_over_ >> k & 1 || break_spec.over() <= begin_) continue;
            const Number begin = std::max(next_break, break_spec.open), arrival = clock.now + break_time + travel;
            const Number over = done(arrival), costs = done(std::max(begin, arrival) + break_spec.duration) - over;
            const Number least = timing_ == BreakTiming::LATE   ? 0
                                 : timing_ == BreakTiming::FREE ? 1
                                                                : break_spec.duration;
            const bool can_wait = over <= break_spec.close;
            if (can_wait && costs >= least) {
                later_differs_ = later_differs_ || costs < break_spec.duration;
                continue;
            }
            has_any_ = true;
            earlier_differs_ = earlier_differs_ || can_wait;
            if (begin > break_spec.close) return false;
            clock.slack = std::min(clock.slack, break_spec.close - clock.now - break_time + clock.waited);
            const Number pause = begin - clock.now - break_time;
            if (pause > travel) clock.waited += pause - travel, clock.now += pause - travel;
            break_time += break_spec.duration;
            next_break = begin + break_spec.duration;
            is_over_ |= std::uint64_t{1} << k;
            next = 0;  // those that could wait may have to be taken now
            if (taken_) taken_->push_back({static_cast<int>(k), node});
        }
        clock.now += break_time + travel;
        return true;
    }

    Number begin_;
    BreakTiming timing_;
    const std::vector<Break>& break_list_;
    std::vector<BreakTaken>* taken_;
    std::uint64_t is_over_ = 0;  // one bit per break; an agent has ten at most
    bool has_any_ = false, earlier_differs_ = false, later_differs_ = false;  // whether other timings would differ
};

}  // namespace sisr
