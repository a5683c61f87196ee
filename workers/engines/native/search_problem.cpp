// Converts the flat arrays of `Input` into a `Problem`.
#include "search_problem.hpp"

#include <cstring>
#include <map>

namespace sisr {

// The locations in nearest-neighbour order, so that neighbours are close in memory.
std::vector<int> Problem::nearest_neighbour_order(const Number* cells) const {
    const std::size_t count = input_.locations;
    std::vector<int> order(count);
    for (std::size_t k = 0; k < count; ++k) order[k] = static_cast<int>(k);
    for (std::size_t k = 0; k + 2 < count; ++k) {
        const Number* row = cells + count * order[k];
        std::swap(order[k + 1],
                  *std::min_element(order.begin() + k + 1, order.end(), [&](int a, int b) { return row[a] < row[b]; }));
    }
    return order;
}

void Problem::read_travel(const StopCriterion& stop_criterion) {
    if (input_.narrow_distance != nullptr) return read_narrow_travel(stop_criterion);
    order_ = nearest_neighbour_order(input_.distance[0]);
    place_of_.resize(order_.size());
    for (std::size_t place = 0; place < order_.size(); ++place) place_of_[order_[place]] = static_cast<int>(place);
    const std::size_t bytes = sizeof(Number) * input_.locations * input_.locations;
    std::map<const Number*, std::shared_ptr<Matrix>>
        known;  // equal matrices are stored once, which halves the cache use of many problems
    const auto matrix = [&](const Number* cells) {
        for (const auto& [other, made] : known)
            if (other == cells || std::memcmp(other, cells, bytes) == 0) return made;
        return known[cells] = std::make_shared<Matrix>(cells, order_, stop_criterion);
    };
    for (int profile = 0; profile < input_.profiles; ++profile) {
        distances_.push_back(matrix(input_.distance[profile]));
        durations_.push_back(matrix(input_.duration[profile]));
        is_read = is_read && distances_.back()->is_whole() && durations_.back()->is_whole();
    }
}

// Large matrices stay where they are, and the order of their locations with them.
void Problem::read_narrow_travel(const StopCriterion& stop_criterion) {
    order_.resize(static_cast<std::size_t>(input_.locations));
    for (std::size_t place = 0; place < order_.size(); ++place) order_[place] = static_cast<int>(place);
    place_of_ = order_;
    std::map<const std::int32_t*, std::shared_ptr<Matrix>> known;
    const auto matrix = [&](const std::int32_t* cells) {
        std::shared_ptr<Matrix>& made = known[cells];
        if (made == nullptr)
            made = std::make_shared<Matrix>(cells, static_cast<int>(input_.locations), stop_criterion);
        return made;
    };
    for (int profile = 0; profile < input_.profiles; ++profile) {
        distances_.push_back(matrix(input_.narrow_distance[profile]));
        durations_.push_back(matrix(input_.narrow_duration[profile]));
        is_read = is_read && distances_.back()->is_whole() && durations_.back()->is_whole();
    }
}

void Problem::read_agents() {
    for (int i = 0; i < input_.agents; ++i) {
        const Number* f = input_.agent + i * AGENT_FIELDS;
        Agent agent{place(f[A_START]),
                    place(f[A_END]),
                    static_cast<int>(f[A_PROFILE]),
                    static_cast<int>(f[A_TYPE]),
                    static_cast<int>(f[A_UNLOCKED_TYPE]),
                    f[A_MAX_STOPS] < 0 ? INT32_MAX : static_cast<int>(f[A_MAX_STOPS]),
                    static_cast<int>(f[A_MAX_RELOADS]),
                    f[A_OPEN],
                    f[A_CLOSE] + f[A_OVERTIME],
                    f[A_CLOSE],
                    f[A_FIXED],
                    f[A_PER_DISTANCE],
                    f[A_PER_TIME],
                    f[A_PER_OVERTIME],
                    limit(f[A_MAX_DISTANCE]),
                    limit(f[A_MAX_DURATION]),
                    input_.capacity + i * dimensions,
                    input_.least_load + i * dimensions,
                    {},
                    {},
                    {}};
        for (Number k = input_.breaks_at[i]; k < input_.breaks_at[i + 1]; ++k)
            agent.break_list.push_back({input_.breaks[3 * k], input_.breaks[3 * k + 1], input_.breaks[3 * k + 2]});
        for (Number k = input_.reloads_at[i]; k < input_.reloads_at[i + 1]; ++k)
            agent.reloads.push_back(place(input_.reloads[k]));
        for (Number k = input_.locks_at[i]; k < input_.locks_at[i + 1]; ++k)
            agent.locked.push_back(static_cast<int>(input_.locks[k]));
        if (!agent.locked.empty() && agent.max_reloads > 0 && !agent.reloads.empty()) reload_locked.push_back(i);
        agents.push_back(std::move(agent));
    }
    types = static_cast<int>(input_.types);
    exchangeable = types == 1;
}

void Problem::read_tickets() {
    for (int i = 0; i < input_.tickets; ++i) {
        const Number* f = input_.ticket + i * TICKET_FIELDS;
        Ticket ticket{place(f[T_LOCATION]),
                      -1,
                      -1,
                      f[T_IS_PICKUP] != 0 ? Kind::PICKUP : Kind::DELIVERY,
                      {},
                      f[T_SERVICE],
                      f[T_SETUP],
                      f[T_RELEASE],
                      limit(f[T_SOFT_CLOSE]),
                      f[T_LATENESS],
                      dimensions > 0 ? input_.demand[i * dimensions] : 0,
                      input_.demand + i * dimensions,
                      {},
                      {}};
        if (input_.preference[2 * i] >= 0) {
            ticket.preferred = static_cast<int>(input_.preference[2 * i]);
            ticket.switch_cost = input_.preference[2 * i + 1];
            has_service_costs = has_service_costs || ticket.switch_cost > 0;
        }
        for (Number k = input_.windows_at[i]; k < input_.windows_at[i + 1]; ++k)
            ticket.windows.push_back({input_.windows[2 * k], input_.windows[2 * k + 1]});
        if (ticket.windows.empty()) ticket.windows.push_back({-NEVER, NEVER});
        ticket.reach = {ticket.windows.front().open, ticket.windows.back().close};
        for (Number k = input_.incompatible_at[i]; k < input_.incompatible_at[i + 1]; ++k)
            ticket.incompatible.push_back(static_cast<int>(input_.incompatible[k]));
        tickets.push_back(std::move(ticket));
    }
    for (int i = 0; i < input_.tickets; ++i) {
        const int pickup = static_cast<int>(input_.ticket[i * TICKET_FIELDS + T_PICKUP]);
        if (pickup < 0) continue;
        tickets[i].partner = pickup, tickets[i].kind = Kind::SHIPMENT_DELIVERY;
        tickets[pickup].partner = i, tickets[pickup].kind = Kind::SHIPMENT_PICKUP;
    }
}

void Problem::read_items() {
    is_locked_.assign(tickets.size(), false);
    for (const Agent& agent : agents)
        for (int ticket : agent.locked) is_locked_[ticket] = true;
    for (int g = 0; g < input_.groups; ++g) {
        if (input_.group[2 * g] == 0) continue;
        const Number *begin = input_.members + input_.members_at[g], *end = input_.members + input_.members_at[g + 1];
        const auto locked = std::count_if(begin, end, [&](Number ticket) { return is_locked_[ticket]; });
        const int chosen = tickets[*begin].item;
        if (locked == 0 && chosen >= 0 && !items[chosen].options.empty()) {  // other halves of the same shipments
            items[chosen].penalty += input_.group[2 * g + 1];
            continue;
        }
        items.push_back({{}, input_.group[2 * g + 1]});
        for (auto member = begin; member != end; ++member)  // a locked ticket is no option, nor is its delivery
            if (!is_locked_[*member]) add_option(static_cast<int>(items.size()) - 1, static_cast<int>(*member));
        note_forgone(items.back(), items.back().penalty - input_.group[2 * g + 1]);
        if (locked > 0) items.back() = {{}, 0};  // already chosen
        is_sound = is_sound && locked <= 1;
    }
    for (int ticket = 0; ticket < static_cast<int>(tickets.size()); ++ticket) {
        if (is_locked_[ticket] || tickets[ticket].kind == Kind::SHIPMENT_PICKUP)
            continue;  // inserted with its delivery
        if (tickets[ticket].item < 0) {
            items.push_back({{}, 0});
            add_option(static_cast<int>(items.size()) - 1, ticket);
        }
        if (tickets[ticket].kind == Kind::SHIPMENT_DELIVERY && is_locked_[tickets[ticket].partner])
            demand(tickets[ticket].item, ticket);
    }
    read_groups();
    for (int item : mandatory) items[item].penalty = NEVER / (2 * static_cast<Number>(mandatory.size()));
}

// The penalty of an option without that of its group: of a half of a shipment that is in none.
Number Problem::own_penalty(const Option& option) const {
    const auto penalty = [&](int of) { return of < 0 ? 0 : input_.ticket[of * TICKET_FIELDS + T_PENALTY]; };
    return penalty(option.ticket) + penalty(option.pickup);
}

// What each option of an item forgoes: the own penalties of all the others.
void Problem::note_forgone(const Item& item, Number own_penalties) {
    for (const Option& option : item.options) {
        tickets[option.ticket].forgone = own_penalties - own_penalty(option);
        forgoes = forgoes || tickets[option.ticket].forgone > 0;
    }
    has_service_costs = has_service_costs || forgoes;
}

// Add a ticket, with its shipment partner, as an option of an item.
void Problem::add_option(int item, int ticket) {
    const int delivery = tickets[ticket].kind == Kind::SHIPMENT_PICKUP ? tickets[ticket].partner : ticket;
    const int pickup = tickets[delivery].kind == Kind::SHIPMENT_DELIVERY && !is_locked_[tickets[delivery].partner]
                           ? tickets[delivery].partner
                           : -1;
    if (tickets[delivery].item >= 0 || is_locked_[delivery]) return;
    const auto is_priced = [&](int of) { return of < 0 || input_.ticket[of * TICKET_FIELDS + T_IS_PRICED] != 0; };
    items[item].penalty += own_penalty({pickup, delivery});
    items[item].is_priced = items[item].is_priced && is_priced(delivery) && is_priced(pickup);
    tickets[delivery].item = item;
    if (pickup >= 0) tickets[pickup].item = item;
    const auto& excluded = tickets[delivery].incompatible;
    if (std::find(excluded.begin(), excluded.end(), tickets[delivery].partner) == excluded.end())
        items[item].options.push_back({pickup, delivery});
}

// All-or-none groups. Where one member is locked or mandatory, the others become mandatory, and with them the groups
// that they belong to.
void Problem::read_groups() {
    std::vector<std::vector<int>> open;
    for (int g = 0; g < input_.groups; ++g)
        if (input_.group[2 * g] == 0)
            open.emplace_back(input_.members + input_.members_at[g], input_.members + input_.members_at[g + 1]);
    const auto is_required = [&](int ticket) {
        const int item = tickets[ticket].item;
        return is_locked_[ticket] || (item >= 0 && items[item].is_mandatory);
    };
    const auto has_required = [&](const std::vector<int>& group) {
        return std::any_of(group.begin(), group.end(), is_required);
    };
    for (auto begun = open.begin(); (begun = std::find_if(open.begin(), open.end(), has_required)) != open.end();) {
        for (int ticket : *begun)
            if (tickets[ticket].item >= 0) demand(tickets[ticket].item, ticket);
        open.erase(begun);
    }
    for (const auto& group : open) {
        for (int ticket : group)
            if (tickets[ticket].item >= 0) items[tickets[ticket].item].all_of = static_cast<int>(all_of.size());
        all_of.push_back(group);
    }
}

// Make a ticket mandatory; other options of its item are removed.
void Problem::demand(int item, int ticket) {
    std::erase_if(items[item].options,
                  [&](const Option& option) { return option.ticket != ticket && option.pickup != ticket; });
    if (items[item].is_mandatory) return;
    items[item].is_mandatory = true;
    mandatory.push_back(item);
}

void Problem::classify() {
    Number longest_route = 0, longest_leg = 0, first_close = NEVER,
           last_open = 0;  // longest_route: upper bound of any route's duration
    for (const auto& duration : durations_) longest_leg = std::max<Number>(longest_leg, duration->longest());
    sums_durations = true;
    bool is_single = true, exceeds_segments = false,
         has_soft_windows = false;  // exceeds_segments: segments are not exact
    for (const Agent& agent : agents) {
        first_close = std::min(first_close, agent.close);
        last_open = std::max(last_open, agent.open);
        reloads = reloads || agent.max_reloads > 0;
        uses_segments = uses_segments || agent.per_time > 0 || agent.max_duration < NEVER;
        trips = trips || agent.max_reloads > 0;
        exceeds_segments =
            exceeds_segments || !agent.break_list.empty() || (agent.per_overtime > 0 && agent.close > agent.shift_end);
        several_vehicle_types = several_vehicle_types || agent.fixed != agents[0].fixed ||
                                agent.per_distance != agents[0].per_distance ||
                                !std::equal(agent.capacity, agent.capacity + dimensions, agents[0].capacity);
    }
    for (const Ticket& ticket : tickets) {
        longest_route += longest_leg + ticket.service + ticket.setup;
        timed = timed || !ticket.is_any_time();
        sums_durations = sums_durations && ticket.is_any_time() && ticket.kind != Kind::SHIPMENT_PICKUP;
        setups = setups || ticket.setup > 0;
        releases = releases || ticket.release > 0;
        has_soft_windows = has_soft_windows || ticket.soft_close < NEVER;
        exceeds_segments = exceeds_segments || (ticket.soft_close < NEVER && ticket.lateness > 0);
        is_single = is_single && ticket.windows.size() == 1;
        paired = paired || ticket.partner >= 0;
        mixed = mixed || ticket.kind != Kind::DELIVERY;
    }
    const std::uint8_t* end = input_.allowed + static_cast<std::size_t>(types) * tickets.size();
    restricts_agents = std::find(input_.allowed, end, 0) != end;
    any_incompatible =
        std::any_of(tickets.begin(), tickets.end(), [](const Ticket& ticket) { return !ticket.incompatible.empty(); });
    optimizes_departure = (uses_segments || span_cost > 0) && (!is_single || has_soft_windows);
    trips = trips || releases;
    uses_segments = uses_segments || trips;
    uses_segments = uses_segments || span_cost > 0;
    exceeds_segments = exceeds_segments || (trips && mixed);
    needs_evaluation = exceeds_segments || uses_segments;
    uses_segments = uses_segments && !exceeds_segments && is_single;
    priced = std::any_of(items.begin(), items.end(),
                         [](const Item& item) { return item.is_priced && !item.options.empty(); });
    sums_durations = sums_durations && (needs_evaluation || last_open + longest_route + longest_leg > first_close) &&
                     !exceeds_segments && !setups && !trips;
    if (sums_durations) needs_evaluation = uses_segments = false;
    estimates_by_segments = needs_evaluation && !uses_segments && !trips;
    timed = timed || needs_evaluation || (!sums_durations && last_open + longest_route + longest_leg > first_close);
    deliveries_only = is_single && !(needs_evaluation || sums_durations || mixed || backhaul || setups);
}

// What a route costs that serves almost its least load; one that serves little costs twice as much. One with locked visits
// cannot be given up, so that outweighs all else.
void Problem::price_least_loads() {
    double penalties = 0;
    for (const Item& item : items) penalties += item.is_mandatory ? 0 : static_cast<double>(item.penalty);
    const double most = static_cast<double>(NEVER / 4) / static_cast<double>(agents.size());
    const double mean = penalties / static_cast<double>(std::max<std::size_t>(1, items.size()));
    for (Agent& agent : agents) {
        agent.least_load_penalty = !agent.locked.empty() ? most : drops_short_routes ? 0 : LEAST_LOAD_SHARE * mean;
        has_least_loads = has_least_loads || std::any_of(agent.least_load, agent.least_load + dimensions,
                                                         [](Number least) { return least > 0; });
    }
}

void Problem::read_neighbours(const StopCriterion& stop_criterion) {
    const int n = static_cast<int>(tickets.size()), kept = std::min(n, NEIGHBOURS);
    const Agent& agent = agents[0];
    const Matrix &distance = this->distance(agent), &duration = this->duration(agent);
    const double per_distance = agent.per_distance + agent.per_time == 0 ? 1 : agent.per_distance;
    const double furthest = 1 + 2 * (per_distance * distance.longest() + double(agent.per_time) * duration.longest());
    const double length = per_distance * FURTHEST / furthest, hours = double(agent.per_time) * FURTHEST / furthest;
    remoteness.assign(n, NEVER);
    int start = -1;
    for (const Agent& other : agents) {
        if (other.start == start) continue;
        start = other.start;
        for (int i = 0; i < n; ++i) remoteness[i] = std::min<Number>(remoteness[i], distance(start, tickets[i].place));
    }
    neighbours.resize(n);
    std::vector<int> places(n);
    for (int i = 0; i < n; ++i) places[i] = tickets[i].place;
    std::vector<std::uint64_t> nearest;  // nearness in the high bits, ticket in the low bits: sorts faster than pairs
    nearest.reserve(2 * kept);
    for (int i = 0; i < n; ++i) {
        if (stop_criterion.over()) {  // no time left to search; keep the lists usable
            neighbours[i] = {i};
            continue;
        }
        const int u = places[i];
        const std::int32_t *there = distance.out_of(u), *back = distance.into(u);
        const std::int32_t *there_time = duration.out_of(u), *back_time = duration.into(u);
        // only what may still be among the nearest is kept, so that few of many tickets are sorted
        nearest.clear();
        double too_far = FURTHEST;
        for (int j = 0; j < n; ++j) {
            const int v = places[j];
            double near = length * (double(there[v]) + back[v]);
            if (hours > 0) near += hours * (double(there_time[v]) + back_time[v]);
            if (near >= too_far) continue;
            nearest.push_back(j == i ? i : (static_cast<std::uint64_t>(near) + 1) << TICKET_BITS | j);
            if (static_cast<int>(nearest.size()) < 2 * kept) continue;
            std::nth_element(nearest.begin(), nearest.begin() + (kept - 1), nearest.end());
            too_far = static_cast<double>(nearest[kept - 1] >> TICKET_BITS);
            nearest.resize(kept);
        }
        std::sort(nearest.begin(), nearest.end());
        nearest.resize(kept);
        neighbours[i].reserve(kept);
        for (int k = 0; k < kept; ++k)
            neighbours[i].push_back(static_cast<int>(nearest[k] & ((1u << TICKET_BITS) - 1)));
    }
}

// Tickets that may follow another on time, by travel and waiting cost.
void Problem::read_successors() {
    if (!timed || paired || any_incompatible) return;
    const Agent& agent = agents[0];
    const Matrix &distance = this->distance(agent), &duration = this->duration(agent);
    const double per_distance = agent.per_distance + agent.per_time == 0 ? 1 : agent.per_distance;
    const double driving = per_distance * distance.longest() / std::max(1, duration.longest()) + agent.per_time;
    const double waiting = std::max<double>(agent.per_time, WAITING * driving);
    std::vector<std::pair<double, int>> nearest;
    for (const auto& near : neighbours) {
        const Ticket& ticket = tickets[near[0]];
        nearest.clear();
        for (std::size_t k = 1; k < near.size(); ++k) {
            const Ticket& next = tickets[near[k]];
            const Number time = duration(ticket.place, next.place), travel = ticket.service + time;
            if (ticket.opens() + travel > next.closes()) continue;
            const Number wait = std::max<Number>(0, next.opens() - ticket.closes() - travel);
            nearest.push_back({per_distance * distance(ticket.place, next.place) + double(agent.per_time) * time +
                                   waiting * static_cast<double>(wait),
                               near[k]});
        }
        std::sort(nearest.begin(), nearest.end());
        auto& listed = successors.emplace_back();
        for (std::size_t k = 0; k < std::min<std::size_t>(SUCCESSORS, nearest.size()); ++k)
            listed.push_back(nearest[k].second);
    }
}

}  // namespace sisr
