// A problem converted for the search: compact, with all values precomputed that insertion needs.
//
// Owns what is constant during a search. Tickets that are inserted together are one `Item`; agents that differ only in
// their id share a `type`, so a hundred idle vehicles are tried once. The meaning of every number is that of
// `planner_mcp/routing/problem.py`.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "problem_input.hpp"
#include "search_support.hpp"

namespace sisr {

inline constexpr Number NEVER = INT64_MAX / 8;
inline constexpr Number UNKNOWN = INT64_MAX;        // cost of a missing plan; all penalties may sum to 2^61
inline constexpr std::int32_t MAX_LEG = INT32_MAX;  // longer legs are clamped to this

// Travel between places. The last place stands for open ends of routes, at distance 0 from all.
class Matrix {
public:
    Matrix(const Number* cells, const std::vector<int>& order, const StopCriterion& stop_criterion)
        : size_(static_cast<int>(order.size()) + 1), own_(area(), 0), out_(own_.data()) {
        const int places = size_ - 1;
        for (int i = 0; i < places; ++i) {
            if (stop_criterion.over()) return;
            for (int j = 0; j < places; ++j) {
                const Number cell = cells[static_cast<std::size_t>(order[i]) * places + order[j]];
                own_[at(i, j)] = static_cast<std::int32_t>(std::min<Number>(cell, MAX_LEG));
            }
        }
        read_legs_into(stop_criterion);
    }

    // Cells of 32 bits with the last place, used where they are.
    Matrix(const std::int32_t* cells, int places, const StopCriterion& stop_criterion) : size_(places + 1), out_(cells) {
        read_legs_into(stop_criterion);
    }

    std::int32_t operator()(int from, int to) const { return out_[at(from, to)]; }
    const std::int32_t* out_of(int place) const { return out_ + at(place, 0); }
    const std::int32_t* into(int place) const { return into_.empty() ? out_of(place) : &into_[at(place, 0)]; }
    std::int32_t longest() const { return longest_; }
    bool is_whole() const { return is_whole_; }  // false: the time was up before it was read

private:
    static constexpr int BLOCK = 64;  // rows and columns that are compared while they are in the cache

    std::size_t area() const { return static_cast<std::size_t>(size_) * size_; }
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * size_ + j; }

    // The longest leg, and the legs into a place contiguous in memory, like those out of it, where they differ.
    void read_legs_into(const StopCriterion& stop_criterion) {
        std::int32_t longest = 0, differing = 0;
        for (int low = 0; low < size_; low += BLOCK) {
            if (stop_criterion.over()) return;
            for (int left = low; left < size_; left += BLOCK)
                for (int i = low; i < std::min(low + BLOCK, size_); ++i)
                    for (int j = left; j < std::min(left + BLOCK, size_); ++j) {
                        const std::int32_t there = out_[at(i, j)], back = out_[at(j, i)];
                        longest = std::max({longest, there, back});
                        differing |= there ^ back;
                    }
        }
        longest_ = longest;
        const bool symmetric = differing == 0;
        if (!symmetric) into_.resize(area());
        for (int low = 0; low < size_ && !symmetric; low += BLOCK) {
            if (stop_criterion.over()) return;
            for (int left = 0; left < size_; left += BLOCK)
                for (int i = low; i < std::min(low + BLOCK, size_); ++i)
                    for (int j = left; j < std::min(left + BLOCK, size_); ++j) into_[at(j, i)] = out_[at(i, j)];
        }
        is_whole_ = true;
    }

    int size_;
    bool is_whole_ = false;
    std::int32_t longest_ = 0;
    std::vector<std::int32_t> own_, into_;
    const std::int32_t* out_;
};

struct Window {
    Number open, close;
};
struct Break {
    Number open, close, duration;

    Number over() const { return open + duration; }  // at the earliest
};

struct Agent {
    int start, end, profile, type;
    int unlocked_type;  // the type without locked visits
    int max_stops, max_reloads;
    Number open, close, shift_end;  // close: with overtime
    Number fixed, per_distance, per_time, per_overtime, max_distance, max_duration;
    const Number *capacity, *least_load;
    std::vector<Break> break_list;  // by opening time
    std::vector<int> reloads, locked;
    double least_load_penalty = 0;  // what a route costs that serves almost `least_load`

    Number longest() const { return std::min(max_duration, close - open); }  // upper bound of a route's duration
};

enum class Kind : std::uint8_t {
    DELIVERY,
    PICKUP,
    SHIPMENT_PICKUP,
    SHIPMENT_DELIVERY
};  // SHIPMENT_*: the two tickets of a shipment

struct Ticket {
    int place, partner, item;
    Kind kind;
    Window reach;  // from the first opening to the last close
    Number service, setup, release, soft_close, lateness;
    Number load;  // demand in the first dimension
    const Number* demand;
    std::vector<Window> windows;  // never empty
    std::vector<int> incompatible;
    int preferred = -1;      // preferred agent; service by another …
    Number switch_cost = 0;  // … costs this
    Number forgone = 0;      // penalties of the shipments that its service, as one of several, leaves unserved

    bool is_any_time() const { return opens() <= -NEVER && closes() >= NEVER; }
    bool has_one_window() const { return windows.size() == 1; }
    Number opens() const { return reach.open; }
    Number closes() const { return reach.close; }

    // The window in which service starts after an arrival, or null when it is too late.
    const Window* window_from(Number arrival) const {
        if (has_one_window()) return arrival <= reach.close ? &reach : nullptr;
        for (const Window& window : windows)
            if (arrival <= window.close) return &window;
        return nullptr;
    }
    // The latest start of service up to `time`; -NEVER when there is none.
    Number last_start(Number time) const {
        if (has_one_window()) return time >= reach.open ? std::min(time, reach.close) : -NEVER;
        for (auto window = windows.rbegin(); window != windows.rend(); ++window)
            if (time >= window->open) return std::min(time, window->close);
        return -NEVER;
    }
};

// One way to serve an item: a ticket, or a shipment with its pickup (-1 without).
struct Option {
    int pickup, ticket;
};

struct Item {
    std::vector<Option> options;  // several only for a ONE_OF group
    Number penalty;
    int all_of = -1;            // all-or-none group, -1 without
    bool is_priced = true;      // leaving it out may be the better plan
    bool is_mandatory = false;  // required by locked visits; then `penalty` exceeds all others
};

class Problem {
public:
    Problem(const Input& in, const StopCriterion& stop_criterion)
        : dimensions(static_cast<int>(in.dimensions)), ticket_count(static_cast<int>(in.tickets)),
          span_cost(in.span_cost), backhaul(in.backhaul != 0), drops_short_routes(in.drops_short_routes != 0), input_(in) {
        read_travel(stop_criterion);
        read_agents();
        read_tickets();
        read_items();
        classify();
        price_least_loads();
        read_neighbours(stop_criterion);
        read_successors();
    }

    bool may_serve(int type, int ticket) const {
        return input_.allowed[static_cast<std::size_t>(type) * tickets.size() + ticket] != 0;
    }
    // What a service costs beside time and travel: the switch from another agent, and what is forgone by it.
    Number service_cost(int agent, int ticket) const {
        if (!has_service_costs) return 0;
        const Ticket& served = tickets[ticket];
        return (served.preferred != agent ? served.switch_cost : 0) + served.forgone;
    }
    // The setup time of a stop that is reached from a place: none at the place of the stop before.
    Number setup(int stop, int from, bool is_first) const {
        if (!setups || !is_ticket(stop)) return 0;
        const Ticket& ticket = tickets[stop];
        return is_first || ticket.place != from ? ticket.setup : 0;
    }
    bool may_stop(const Agent& agent, int stop) const {
        if (!is_reload(stop)) return may_serve(agent.type, stop);
        return std::find(agent.reloads.begin(), agent.reloads.end(), reload_place(stop)) != agent.reloads.end();
    }
    bool has_incompatible(int ticket, const auto& is_incompatible) const {
        const auto& others = tickets[ticket].incompatible;
        return std::any_of(others.begin(), others.end(), is_incompatible);
    }
    bool is_ticket(int stop) const { return stop >= 0 && stop < ticket_count; }
    bool is_reload(int stop) const { return stop >= ticket_count; }
    int reload_place(int stop) const { return stop - ticket_count; }
    int location(int place) const { return order_[place]; }
    int place(Number location) const {
        return location < 0 ? static_cast<int>(input_.locations) : place_of_[static_cast<std::size_t>(location)];
    }
    int stop_place(int stop, const Agent& agent) const {  // TERMINUS is the end of the route
        return is_ticket(stop) ? tickets[stop].place : is_reload(stop) ? reload_place(stop) : agent.end;
    }
    int reload_stop(int place) const { return ticket_count + place; }
    bool is_mixed(const Agent& agent) const { return mixed || agent.max_reloads > 0; }
    // Loaded and unloaded once: it departs with all deliveries and returns with all pickups.
    bool is_one_trip(const Agent& agent) const { return !paired && agent.max_reloads == 0; }
    // An insertion is evaluated by updating the stored values.
    bool is_plain(const Agent& agent) const {
        return (!needs_evaluation || uses_segments) && !releases && is_one_trip(agent);
    }
    const Matrix& distance(const Agent& agent) const { return *distances_[agent.profile]; }
    const Matrix& duration(const Agent& agent) const { return *durations_[agent.profile]; }

    int dimensions, ticket_count;
    Number span_cost;
    bool backhaul;
    bool drops_short_routes;  // see Input
    std::vector<Agent> agents;
    std::vector<Ticket> tickets;
    std::vector<Item> items;
    std::vector<std::vector<int>> all_of;      // tickets by all-or-none group
    std::vector<int> mandatory;                // items
    std::vector<int> reload_locked;            // agents that may reload among locked visits
    std::vector<std::vector<int>> neighbours;  // of a ticket, itself first, nearest first
    std::vector<std::vector<int>> successors;  // of a ticket, where times matter: tickets that may follow, best first
    std::vector<Number> remoteness;            // of a ticket: distance from the nearest start
    int types = 0;
    bool is_read = true;   // false: the time was up before the matrices were read, and no search is possible
    bool is_sound = true;  // false: locked visits contradict a group
    bool timed = false, mixed = false, setups = false, releases = false, needs_evaluation = false,
         uses_segments = false, estimates_by_segments = false, trips = false, optimizes_departure = false,
         priced = false, exchangeable = true, restricts_agents = false, any_incompatible = false,
         has_service_costs = false, forgoes = false, sums_durations = false, paired = false, reloads = false, deliveries_only = false,
         several_vehicle_types = false, has_least_loads = false;
    // timed: times can make a route infeasible; mixed: loads rise and fall;
    // needs_evaluation: only the evaluation of a route gives its cost;
    // uses_segments: needed for durations or trips of deliveries alone, for which concatenated segments are exact;
    // estimates_by_segments: segments are exact apart from breaks, lateness at later stops and multiple windows;
    // sums_durations: no waiting ever occurs, so a duration is the sum of travel and service, and times do not matter;
    // trips: a route may reload, or waits for the releases of its deliveries;
    // optimizes_departure: duration has a cost or limit, and a later departure may use other windows or add lateness;
    // priced: some items are optional; exchangeable: all agents are of one type;
    // several_vehicle_types: vehicles differ in capacity or price, not only in places and times;
    // has_least_loads: some agents serve nothing or at least so much;
    // restricts_agents: some tickets exclude agents; any_incompatible: some tickets exclude one another;
    // has_service_costs: some tickets have a preferred agent, or forgo something; forgoes: the latter;
    // paired: there are shipments; reloads: some vehicle may reload;
    // deliveries_only: deliveries with one window each, and nothing else that insertion must check

private:
    static constexpr int NEIGHBOURS = 150, SUCCESSORS = 30, TICKET_BITS = 21;
    // Assumed cost of waiting, relative to driving for the same time, where waiting costs nothing.
    static constexpr double WAITING = 0.2;
    static constexpr double LEAST_LOAD_SHARE = 0.25;  // of a mean penalty, for a route that serves almost its least load
    static constexpr double FURTHEST = 0x1p42;  // with TICKET_BITS it fills a word

    static Number limit(Number value) { return value < 0 ? NEVER : value; }
    std::vector<int> nearest_neighbour_order(const Number* cells) const;
    void read_travel(const StopCriterion& stop_criterion);
    void read_narrow_travel(const StopCriterion& stop_criterion);
    void read_agents();
    void read_tickets();
    void read_items();
    Number own_penalty(const Option& option) const;
    void note_forgone(const Item& item, Number own_penalties);
    void add_option(int item, int ticket);
    void read_groups();
    void demand(int item, int ticket);
    void classify();
    void price_least_loads();
    void read_neighbours(const StopCriterion& stop_criterion);
    void read_successors();

    Input input_;
    std::vector<std::shared_ptr<Matrix>> distances_, durations_;
    std::vector<int> order_, place_of_;  // locations by place, places by location
    std::vector<bool> is_locked_;        // by ticket
};

}  // namespace sisr
