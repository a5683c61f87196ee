// What leaving a route later changes while every service stays in its window: less is waited, and some is later than
// agreed. Owns that trade; it is asked for only where hours cost or are limited, and windows are soft or several.
#pragma once
#include "route_state.hpp"

namespace sisr {

class Delays {
public:
    // Of a route that was walked, and on which nobody rested.
    Delays(const Problem& problem, const Route& route) {
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k) {
            const Node &before = route.nodes[k - 1], &node = route.nodes[k];
            const Number arrival = before.finish + node.leg_time;
            if (problem.is_ticket(node.stop))
                serve(problem.tickets[node.stop], arrival, node.finish, k == 1 || node.place != before.place);
            else
                waited_ += node.finish - arrival;
        }
        std::sort(dues_.begin(), dues_.end(), [](const Due& one, const Due& other) { return one.after < other.after; });
    }

    Number most() const { return most_; }  // with which the windows are kept

    // The delay that costs least, at least what is called for; no time is saved beyond what is waited. Lateness grows
    // the faster the later the departure, so the first delay from which on more is lost than saved is the best.
    Number best(Number per_time, Number called_for) const {
        const Number most = std::min(most_, waited_);
        Number rate = 0;
        for (const Due& due : dues_) {
            if (due.after >= most) break;
            rate += due.rate;
            if (rate > per_time) return std::clamp(called_for, due.after, most);
        }
        return most;
    }

    Number lateness(Number delay) const {  // that a delay adds
        Number sum = 0;
        for (const Due& due : dues_) sum += due.rate * std::max<Number>(0, delay - due.after);
        return sum;
    }

private:
    struct Due {
        Number after, rate;  // the delay that makes a ticket late, and what each unit then costs
    };

    void serve(const Ticket& ticket, Number arrival, Number finish, bool sets_up) {
        const Number start = finish - ticket.service;
        waited_ += start - arrival - (sets_up ? ticket.setup : 0);
        most_ = std::min(most_, waited_ + ticket.window_from(start)->close - start);
        if (ticket.soft_close < NEVER && ticket.lateness > 0)
            dues_.push_back({waited_ + std::max<Number>(0, ticket.soft_close - start), ticket.lateness});
    }

    Number waited_ = 0, most_ = NEVER;
    std::vector<Due> dues_;
};

}  // namespace sisr
