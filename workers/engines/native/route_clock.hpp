// The hours of one walk along a route: what time it is, what was waited, when breaks are taken.
//
// Owns when a break is taken on a given way. Which departure is best is `lay_out`'s.
#pragma once
#include "route_state.hpp"

namespace sisr {

// The time of a vehicle on its way, as early as possible. `waited` and `slack` say by how much it could have left later
// and still be everywhere in time (Savelsbergh 1992), which shortens the day.
struct Clock {
    Number now, waited = 0, slack = NEVER, lateness = 0;

    void wait_until(Number time) {
        if (time > now) waited += time - now, now = time;
    }
    void within(Number close) { slack = std::min(slack, close - now + waited); }
};

// When a break is taken before it must be: never, on a leg where it costs no time, or where waiting makes up for some.
enum class BreakTiming { LATE, FREE, EARLY };

// BreakScheduler, taken on the last leg that allows them or before. Those that are over when the route begins need not be taken
// on it.
class BreakScheduler {
public:
    BreakScheduler(const Agent& agent, Number begin, BreakTiming resting, std::vector<BreakTaken>* taken)
        : begin_(begin), resting_(resting), break_list_(agent.break_list), taken_(taken) {
        if (taken_) taken_->clear();
    }

    bool are_met() const { return are_met_; }  // one was taken, or missed
    bool may_be(BreakTiming other) const { return other == BreakTiming::LATE ? are_sooner_ : are_later_; }

    // Drive one leg to a stop that is over at `done(arrival)`; false when a break would be missed.
    bool drive(Clock& clock, Number travel, int node, const auto& done) {
        if (!break_list_.empty()) return drive_with_breaks(clock, travel, node, done);
        clock.now += travel;
        return true;
    }

private:
    bool drive_with_breaks(Clock& clock, Number travel, int node, const auto& done) {
        Number resting = 0, next_break = clock.now;
        for (std::size_t next = 0; next < break_list_.size();) {
            const std::size_t k = next++;
            const Break& rest = break_list_[k];
            if (is_over_ >> k & 1 || rest.over() <= begin_) continue;
            const Number begin = std::max(next_break, rest.open), arrival = clock.now + resting + travel;
            const Number over = done(arrival), costs = done(std::max(begin, arrival) + rest.duration) - over;
            const Number least = resting_ == BreakTiming::LATE ? 0 : resting_ == BreakTiming::FREE ? 1 : rest.duration;
            const bool can_wait = over <= rest.close;
            if (can_wait && costs >= least) {
                are_later_ = are_later_ || costs < rest.duration;
                continue;
            }
            are_met_ = true;
            are_sooner_ = are_sooner_ || can_wait;
            if (begin > rest.close) return false;
            clock.slack = std::min(clock.slack, rest.close - clock.now - resting + clock.waited);
            const Number pause = begin - clock.now - resting;
            if (pause > travel) clock.waited += pause - travel, clock.now += pause - travel;
            resting += rest.duration;
            next_break = begin + rest.duration;
            is_over_ |= std::uint64_t{1} << k;
            next = 0;  // one that could wait perhaps cannot any more
            if (taken_) taken_->push_back({static_cast<int>(k), node});
        }
        clock.now += resting + travel;
        return true;
    }

    Number begin_;
    BreakTiming resting_;
    const std::vector<Break>& break_list_;
    std::vector<BreakTaken>* taken_;
    std::uint64_t is_over_ = 0;  // a bit each; a day of an agent has ten at most
    bool are_met_ = false, are_sooner_ = false, are_later_ = false;  // than they must be, than they might be
};

}  // namespace sisr
