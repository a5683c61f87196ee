// The effect of a later departure while every service stays in its time window: less waiting, more lateness. Used only
// where duration has a cost or a limit, and windows are soft or multiple.
#pragma once
#include "route_state.hpp"

namespace sisr {

class DepartureDelays {
public:
    // For a scheduled route without breaks.
    DepartureDelays(const Problem& problem, const Route& route) {
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k) {
            const Node &before = route.nodes[k - 1], &node = route.nodes[k];
            const Number arrival = before.finish + node.leg_time;
            if (problem.is_ticket(node.stop))
                serve(problem.tickets[node.stop], arrival, node.finish, k == 1 || node.place != before.place);
            else
                waited_ += node.finish - arrival;
        }
        std::sort(steps_.begin(), steps_.end(),
                  [](const LatenessStep& one, const LatenessStep& other) { return one.after < other.after; });
    }

    Number most() const { return most_; }  // the largest delay that keeps the windows

    // The cheapest delay, and at least `required`; no delay saves more time than the waiting. The lateness rate rises
    // with the delay, so the first delay at which it exceeds the cost of time is the best.
    Number best(Number per_time, Number required) const {
        const Number most = std::min(most_, waited_);
        Number rate = 0;
        for (const LatenessStep& step : steps_) {
            if (step.after >= most) break;
            rate += step.rate;
            if (rate > per_time) return std::clamp(required, step.after, most);
        }
        return most;
    }

    Number lateness(Number delay) const {  // additional lateness cost of a delay
        Number sum = 0;
        for (const LatenessStep& step : steps_) sum += step.rate * std::max<Number>(0, delay - step.after);
        return sum;
    }

private:
    struct LatenessStep {
        Number after, rate;  // the delay from which a ticket is late, and its lateness cost per unit
    };

    void serve(const Ticket& ticket, Number arrival, Number finish, bool has_setup) {
        const Number start = finish - ticket.service;
        waited_ += start - arrival - (has_setup ? ticket.setup : 0);
        most_ = std::min(most_, waited_ + ticket.window_from(start)->close - start);
        if (ticket.soft_close < NEVER && ticket.lateness > 0)
            steps_.push_back({waited_ + std::max<Number>(0, ticket.soft_close - start), ticket.lateness});
    }

    Number waited_ = 0, most_ = NEVER;
    std::vector<LatenessStep> steps_;
};

}  // namespace sisr
