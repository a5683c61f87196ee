#include "recreate.hpp"

namespace sisr {
namespace {

enum Order { BY_CHANCE, BY_DEMAND, FAR_FIRST, CLOSE_FIRST, NARROW_FIRST, OPENS_FIRST, CLOSES_LAST };

constexpr Order ORDERS[] = {BY_CHANCE,    BY_CHANCE,   BY_CHANCE,   BY_CHANCE,   BY_DEMAND,   BY_DEMAND,
                            BY_DEMAND,    BY_DEMAND,   FAR_FIRST,   FAR_FIRST,   CLOSE_FIRST, NARROW_FIRST,
                            NARROW_FIRST, OPENS_FIRST, OPENS_FIRST, CLOSES_LAST, CLOSES_LAST};
constexpr int UNTIMED_ORDERS = 11;

}  // namespace

bool Recreate::operator()(std::vector<int>& items, Number most, bool at_any_cost) {
    sort(items, draw_order());
    inserter_.update_longest();
    const bool forces_insertion = problem_.priced && random_.chance(FORCED_INSERTION);
    if (!cost_only_grows_ || (!plan_.absent.empty() && !plan_.has_reduced_penalties())) most = NEVER;
    for (std::size_t k = 0; k < items.size(); ++k) {
        if (plan_.route_cost() > most) return false;
        if ((k % 16 == 15 || problem_.needs_evaluation || problem_.paired) && stop_criterion_.over()) break;
        const Item& item = problem_.items[items[k]];
        InsertionPosition best;
        for (const Option& option : item.options) {
            const InsertionPosition position = best_position(option);
            if (position.delta < best.delta) best = position;
        }
        const bool is_forced = at_any_cost || item.all_of >= 0 || (forces_insertion && item.is_priced);
        if (best.agent < 0 || (best.delta >= plan_.price(items[k]) && !is_forced)) continue;
        plan_.insert(best);
        if (problem_.span_cost > 0) inserter_.update_longest();
    }
    if (forces_insertion) drop_unprofitable(items);
    return problem_.all_of.empty() || complete_groups();
}

void Recreate::seed_routes(std::vector<int>& items) {
    sort(items, FAR_FIRST);
    for (int item : items) {
        if (stop_criterion_.over()) return;
        InsertionPosition best;
        for (const Option& option : problem_.items[item].options) try_idle_agents(option, best);
        if (best.agent >= 0) plan_.insert(best);
    }
}

int Recreate::draw_order() {
    return ORDERS[random_.below(problem_.timed ? static_cast<int>(std::size(ORDERS)) : UNTIMED_ORDERS)];
}

void Recreate::sort(std::vector<int>& items, int order) {
    for (int item : items)
        key_[item] = problem_.items[item].options.empty() ? 0 : key(order, problem_.items[item].options[0]);
    for (int k = static_cast<int>(items.size()) - 1; k > 0; --k) std::swap(items[k], items[random_.below(k + 1)]);
    if (order != BY_CHANCE) std::sort(items.begin(), items.end(), [&](int a, int b) { return key_[a] < key_[b]; });
    if (!problem_.mandatory.empty())
        std::stable_partition(items.begin(), items.end(), [&](int item) { return problem_.items[item].is_mandatory; });
}

Number Recreate::key(int order, const Option& option) const {
    const Ticket& ticket = problem_.tickets[option.ticket];
    switch (order) {
        case BY_DEMAND: {
            Number sum = 0;
            for (int d = 0; d < problem_.dimensions; ++d) sum -= ticket.demand[d];
            return sum;
        }
        case FAR_FIRST:
            return -problem_.remoteness[option.ticket];
        case CLOSE_FIRST:
            return problem_.remoteness[option.ticket];
        case NARROW_FIRST:
            return ticket.closes() - ticket.opens();
        case OPENS_FIRST:
            return ticket.opens();
        case CLOSES_LAST:
            return -ticket.closes();
        default:
            return 0;
    }
}

InsertionPosition Recreate::best_position(const Option& option) {
    InsertionPosition best;
    is_listed_.clear(), nearby_count_ = 0;
    is_listed_.add(0);
    if (plan_.active.size() > FEW_ROUTES) {
        if (option.pickup >= 0) list_routes_near(option.pickup);
        list_routes_near(option.ticket);
        for (int agent : std::span(nearby_).first(nearby_count_)) inserter_.try_route(agent, option, best);
    }
    if (best.agent < 0)
        for (int agent : plan_.active)
            if (is_listed_.add(1 + agent)) inserter_.try_route(agent, option, best);
    try_idle_agents(option, best);
    return best;
}

// Branches on shared routes are unpredictable, so each agent is written, and overwritten by the next if it is listed.
void Recreate::list_routes_near(int ticket) {
    const auto& near = problem_.neighbours[ticket];
    const std::size_t last = std::min<std::size_t>(near.size() - 1, NEAR);
    std::size_t count = nearby_count_;
    for (std::size_t k = 1; k <= last; ++k) {
        const int agent = plan_.agent_of[near[k]];
        nearby_[count] = agent;
        count += is_listed_.add(1 + agent);
    }
    nearby_count_ = count;
}

void Recreate::try_idle_agents(const Option& option, InsertionPosition& best) {
    for (const IndexedSet& agents : plan_.idle)
        if (!agents.empty() && inserter_.may_open(agents.back(), option, best))
            inserter_.try_route(agents.back(), option, best);
}

// Remove optional items that cost more than their penalty.
void Recreate::drop_unprofitable(const std::vector<int>& items) {
    for (int item : items)
        if (problem_.items[item].is_priced && problem_.items[item].all_of < 0 && plan_.is_served(item))
            plan_.drop_unprofitable(item);
}

// Remove incomplete all-or-none groups; groups that share a ticket may make others incomplete, and so may a route that
// then serves too little and counts as not driven.
bool Recreate::complete_groups() {
    const auto is_here = [&](int ticket) {
        return plan_.agent_of[ticket] >= 0 && !(problem_.drops_short_routes && plan_.is_on_short_route(ticket));
    };
    for (bool is_whole = false; !is_whole;) {
        is_whole = true;
        for (const auto& group : problem_.all_of) {
            if (std::none_of(group.begin(), group.end(), is_here) || std::all_of(group.begin(), group.end(), is_here))
                continue;
            for (int ticket : group) {
                if (plan_.agent_of[ticket] < 0) continue;
                const int agent = plan_.agent_of[ticket];
                plan_.remove(ticket);
                if (!plan_.close_gaps(agent)) return false;
            }
            is_whole = false;
        }
    }
    return true;
}

}  // namespace sisr
