#include "small_day_listing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proof_limits.hpp"

namespace proof::small {
namespace {

using Amounts = std::array<Int, MOST_DIMENSIONS>;

// A partial route for a range of departures: it departs at `leaves + x`, for each integer x from 0 to `span`.
//
// For a given departure every stop is served as early as possible, as nothing gets cheaper or sooner by waiting longer
// than a rule demands. A later departure is cheaper where time is paid, and delays what comes later or uses up what would
// be waiting. So a partial route is a few such ranges, and in each of them cost and time are linear.
struct Timing {
    Int cost;   // at x = 0: what was spent, less the price of time up to the departure
    Int slope;  // rise of `cost` with x
    Int ready;  // at x = 0: when the route goes on
    Int moves;  // rise of `ready` with x: 0 where the route waits anyway, otherwise 1
    Int leaves, span;

    // The departures from x = first to x = last.
    Timing part(Int first, Int last) const {
        return {cost + slope * first, slope, ready + moves * first, moves, leaves + first, last - first};
    }
    // The least cost so far, with the price of time up to `ready`.
    Int least(Int per_time) const { return cost + per_time * ready + std::min<Int>(0, (slope + per_time * moves) * span); }
};

// The rules of timing; each hands on what is left of a range, in parts.
class Clock {
public:
    // Whether a later departure may be better at the same cost and time: because of a limit of duration.
    explicit Clock(bool keeps_departure) : keeps_(keeps_departure) {}

    // The best departure alone where one is nowhere worse than the others.
    Timing settled(Timing each) const {
        if (each.moves == 0 && each.slope <= 0) each = each.part(each.span, each.span);
        if (each.slope >= 0 && !keeps_) each.span = 0;
        if (each.span == 0) each.moves = each.slope = 0;
        return each;
    }

    // Waits until a time.
    template <typename Next>
    void not_before(Timing each, Int time, Next&& next) const {
        const Int missing = time - each.ready;
        if (missing <= 0) return next(each);
        if (each.moves == 0 || missing > each.span) {
            each.ready = time, each.moves = 0;
            return next(settled(each));
        }
        if (each.slope > 0) {  // otherwise the earlier departures only wait longer
            Timing waiting = each.part(0, missing - 1);
            waiting.ready = time, waiting.moves = 0;
            next(settled(waiting));
        }
        next(settled(each.part(missing, each.span)));
    }

    // Leaves out what is ready after a time.
    template <typename Next>
    void not_after(const Timing& each, Int time, Next&& next) const {
        const Int left = time - each.ready;
        if (left >= 0) next(each.moves != 0 && left < each.span ? each.part(0, left) : each);
    }

    // Waits for the first window that is still open.
    template <typename Next>
    void within(Timing each, std::span<const WindowRow> windows, Next&& next) const {
        if (windows.empty()) return next(each);
        for (const WindowRow& window : windows) {
            not_after(each, window.closes, [&](const Timing& part) { not_before(part, window.opens, next); });
            const Int passed = window.closes + 1 - each.ready;
            if (passed <= 0) continue;
            if (each.moves == 0 || passed > each.span) return;
            each = each.part(passed, each.span);
        }
    }

    // Charges each unit of time that it is ready after a time.
    template <typename Next>
    void charged_after(Timing each, Int time, Int price, Next&& next) const {
        const Int early = time - each.ready;
        if (price == 0 || (early >= 0 && (each.moves == 0 || early >= each.span))) return next(each);
        if (early > 0) {
            next(settled(each.part(0, early)));
            each = each.part(early + 1, each.span);
        }
        each.cost += price * (each.ready - time), each.slope += price * each.moves;
        next(settled(each));
    }

    // Leaves out what takes longer than a duration.
    template <typename Next>
    void not_longer(const Timing& each, Int duration, Next&& next) const {
        const Int excess = each.ready - each.leaves - duration;
        if (excess <= 0) return next(each);
        if (each.moves == 0 && excess <= each.span) next(settled(each.part(excess, each.span)));
    }

    // Whether for each departure of b there is one of a that is nowhere worse; false where that is not plain.
    bool no_worse(const Timing& a, const Timing& b) const {
        if (a.ready > b.ready) return false;
        if (a.moves != 0 && b.moves != 0 && no_worse_by_ready(a, b)) return true;
        const Timing early = a.moves == 0 ? a : a.part(0, std::min(a.span, b.ready - a.ready));  // ready before all of b
        const Int lowest = b.cost + std::min<Int>(0, b.slope * b.span), latest = b.leaves + b.span;
        const auto is_met = [&](Int x) { return early.cost + early.slope * x <= lowest; };
        if (!keeps_) return is_met(0) || is_met(early.span);
        if (early.leaves + early.span < latest) return false;
        return is_met(early.span) || (early.leaves >= latest && is_met(0)) || no_worse_by_departure(early, b);
    }

private:
    // Matches those that are ready at the same time, or the last of a; linear on both sides of the middle.
    bool no_worse_by_ready(const Timing& a, const Timing& b) const {
        const auto is_met = [&](Int ready) {
            const Int x = std::min(ready - a.ready, a.span), y = ready - b.ready;
            return a.cost + a.slope * x <= b.cost + b.slope * y && (!keeps_ || a.leaves + x >= b.leaves + y);
        };
        const Int last = b.ready + b.span;
        return is_met(b.ready) && is_met(std::clamp(a.ready + a.span, b.ready, last)) && is_met(last);
    }
    // Matches those that depart at the same time, or the first of a; linear on both sides of the middle.
    bool no_worse_by_departure(const Timing& a, const Timing& b) const {
        const auto is_met = [&](Int leaves) {
            const Int x = std::max(leaves - a.leaves, Int{0}), y = leaves - b.leaves;
            return a.cost + a.slope * x <= b.cost + b.slope * y;
        };
        const Int last = b.leaves + b.span;
        return is_met(b.leaves) && is_met(std::clamp(a.leaves, b.leaves, last)) && is_met(last);
    }

    bool keeps_;
};

// A route up to the start of service at its last ticket, or to the departure from its last place.
struct Partial {
    Timing timing;
    Int distance, reloads;
    Int releases;      // tickets of this trip may be released up to then: the trip leaves no sooner
    Amounts peak;      // the most that was on board on this trip, with all that it delivers so far
    Amounts on_board;  // now, without deliveries of the trip to come
};

// What partial routes have in common that are compared with one another.
struct State {
    Int served;  // bits of tickets
    Int last;    // row of `LegRow`
    Int breaks;  // bits of those taken, or before the route
    Int has_picked_up;  // on this trip: the backhaul rule admits no delivery any more

    bool operator==(const State&) const = default;
};

struct Hash {
    std::size_t operator()(const State& each) const {
        return static_cast<std::size_t>((((each.served << 8) + each.last) << 4) + (each.breaks << 1) + each.has_picked_up);
    }
};

using Fronts = std::unordered_map<State, std::vector<Partial>, Hash>;

// Breaks taken on one leg, in an order.
struct Pause {
    Int taken, length;
    Int latest;  // when the leg begins at the latest …
    Int until;   // … and when the last of the breaks ends at the earliest
};

bool no_more(const Amounts& a, const Amounts& b) {
    for (int d = 0; d < MOST_DIMENSIONS; ++d)
        if (a[d] > b[d]) return false;
    return true;
}

class Lister {
public:
    explicit Lister(const Request& request)
        : request_(request), agent_(*request.agent), edge_(agent_.tickets + agent_.places),
          clock_(agent_.max_duration < NO_LEG),
          limits_(request.seconds, request.most_partial), pauses_(std::size_t{1} << agent_.breaks) {
        for (Int taken = 0; taken < Int{1} << agent_.breaks; ++taken) {
            pauses_[taken].push_back({taken, 0, NO_LEG, -NO_LEG});
            add_pauses(pauses_[taken], pauses_[taken].front());
        }
        worth_.assign(std::size_t{1} << agent_.tickets, 0);
        for (Int ticket = 0; ticket < agent_.tickets; ++ticket) {
            if (at(ticket).may_serve != 0) mine_ |= Int{1} << ticket, releases_.insert(at(ticket).release);
            for (Int set = 0; set < Int{1} << ticket; ++set) worth_[set | Int{1} << ticket] = worth_[set] + at(ticket).price;
        }
    }

    std::map<Int, Int> run() {
        Fronts fresh;
        depart(fresh);
        while (!fresh.empty()) {
            longer_.clear();
            for (const auto& [state, partials] : fresh) {
                auto& kept = kept_[state];
                kept.insert(kept.end(), partials.begin(), partials.end());
            }
            for (const auto& [state, partials] : fresh)
                for (const Partial& each : partials) {
                    finish(state, each);
                    lengthen(state, each);
                }
            std::swap(fresh, longer_);
        }
        return std::move(found_);
    }

private:
    const TicketRow& at(Int ticket) const { return request_.tickets[ticket]; }
    const LegRow& leg(Int from, Int to) const { return request_.legs[from * (edge_ + 1) + to]; }
    std::span<const BreakRow> breaks() const { return {request_.breaks, static_cast<std::size_t>(agent_.breaks)}; }
    Int excess(const State& state, const Timing& timing) const {
        const Int rest = request_.rest[(state.last << agent_.tickets) + (mine_ & ~state.served)];
        return timing.least(agent_.per_time) - worth_[state.served] + rest;
    }

    void add_pauses(std::vector<Pause>& found, const Pause before) const {
        for (Int number = 0; number < agent_.breaks; ++number) {
            const BreakRow& rest = breaks()[number];
            if ((before.taken >> number & 1) != 0 || before.until > rest.closes) continue;
            found.push_back({before.taken | Int{1} << number, before.length + rest.duration,
                             std::min(before.latest, rest.closes - before.length),
                             std::max(before.until, rest.opens) + rest.duration});
            add_pauses(found, Pause(found.back()));
        }
    }

    // The empty route, once for each range of departures with the same releases and the same breaks before the route.
    void depart(Fronts& found) const {
        std::set<Int> starts{agent_.opens};
        for (const Int release : releases_) starts.insert(std::max(agent_.opens, release));
        for (const BreakRow& rest : breaks()) starts.insert(std::max(agent_.opens, rest.opens + rest.duration));
        for (auto start = starts.begin(); start != starts.end() && *start <= agent_.closes; ++start) {
            const auto next = std::next(start);
            const Int until = next == starts.end() ? agent_.closes : std::min(agent_.closes, *next - 1);
            const Timing timing{agent_.fixed - agent_.per_time * *start, -agent_.per_time, *start, 1, *start, until - *start};
            Int past = 0;
            for (Int number = 0; number < agent_.breaks; ++number)
                if (*start >= breaks()[number].opens + breaks()[number].duration) past |= Int{1} << number;
            found[{0, edge_, past, 0}].push_back({clock_.settled(timing), 0, 0, *start, {}, {}});
        }
    }

    void lengthen(const State& state, const Partial& partial) {
        for (Int ticket = 0; ticket < agent_.tickets; ++ticket)
            if (may_follow(state, partial, ticket)) serve(state, partial, ticket);
        if (partial.reloads < agent_.max_reloads)
            for (Int place = agent_.tickets; place < edge_; ++place) reload(state, partial, place);
    }

    bool may_follow(const State& state, const Partial& partial, Int ticket) const {
        const TicketRow& work = at(ticket);
        if ((mine_ >> ticket & 1) == 0 || (state.served >> ticket & 1) != 0 || (state.served & work.excludes) != 0) return false;
        if (std::popcount(static_cast<std::uint64_t>(state.served)) >= agent_.max_stops || work.release > partial.releases) return false;
        if (work.before >= 0 && (state.served >> work.before & 1) == 0) return false;
        for (Int number = 0; number < agent_.locked; ++number)
            if ((state.served >> request_.locked[number] & 1) == 0) {
                if (request_.locked[number] != ticket) return false;
                break;
            }
        return agent_.has_backhaul == 0 || work.load != DELIVERY || state.has_picked_up == 0;
    }

    // Hands on the breaks taken and the timing of the arrival, with each choice of breaks on the way.
    template <typename Next>
    void drive(const State& state, const Partial& partial, Int target, Next&& next) const {
        Timing timing = partial.timing;
        timing.ready += request_.service[state.last], timing.cost += leg(state.last, target).cost;
        for (const Pause& pause : pauses_[state.breaks])
            clock_.not_after(timing, pause.latest, [&](Timing each) {
                each.ready += leg(state.last, target).travel + pause.length;
                clock_.not_before(each, pause.until, [&](const Timing& arrival) { next(pause.taken, arrival); });
            });
    }

    template <typename Next>
    void limited(const Timing& timing, Next&& next) const {
        clock_.not_after(timing, agent_.closes, [&](const Timing& each) { clock_.not_longer(each, agent_.max_duration, next); });
    }

    void serve(const State& state, const Partial& partial, Int ticket) {
        const TicketRow& work = at(ticket);
        Partial after = partial;
        if ((after.distance += leg(state.last, ticket).distance) > agent_.max_distance || !load(after, work)) return;
        const Int picks_up = state.has_picked_up != 0 || (agent_.has_backhaul != 0 && work.load == PICKUP);
        const std::span windows(request_.windows + work.first_window, request_.windows + work.end_window);
        drive(state, partial, ticket, [&](Int breaks, Timing arrival) {
            arrival.ready += leg(state.last, ticket).setup, arrival.cost += work.cost;
            clock_.within(arrival, windows, [&](const Timing& start) {
                limited(start, [&](const Timing& each) {
                    clock_.charged_after(each, work.soft_close, work.lateness, [&](const Timing& charged) {
                        after.timing = charged;
                        keep({state.served | Int{1} << ticket, ticket, breaks, picks_up}, after);
                    });
                });
            });
        });
    }

    // Adds a ticket to the loads of a trip; false where there is no room.
    bool load(Partial& trip, const TicketRow& work) const {
        for (Int d = 0; d < agent_.dimensions; ++d) {
            if (work.load == DELIVERY)  // on board from the start of the trip
                trip.peak[d] += work.demand[d];
            else
                trip.on_board[d] += work.load == DELIVERY_OF_PICKUP ? -work.demand[d] : work.demand[d];
            trip.peak[d] = std::max(trip.peak[d], trip.on_board[d]);
            if (trip.peak[d] > agent_.capacity[d]) return false;
        }
        return true;
    }

    // What was picked up to be delivered on the same route, and is on board.
    Amounts shipped(Int served) const {
        Amounts total{};
        for (Int ticket = 0; ticket < agent_.tickets; ++ticket) {
            const TicketRow& work = at(ticket);
            const Int sign = work.load == PICKUP_TO_DELIVER ? 1 : work.load == DELIVERY_OF_PICKUP ? -1 : 0;
            if ((served >> ticket & 1) != 0)
                for (Int d = 0; d < agent_.dimensions; ++d) total[d] += sign * work.demand[d];
        }
        return total;
    }

    // The next trip awaits the releases of its tickets, so there is one partial route for each release that it may await.
    void reload(const State& state, const Partial& partial, Int place) {
        Partial after = partial;
        if ((after.distance += leg(state.last, place).distance) > agent_.max_distance) return;
        after.reloads += 1, after.peak = after.on_board = shipped(state.served);
        drive(state, partial, place, [&](Int breaks, const Timing& arrival) {
            for (auto release = releases_.begin(); release != releases_.end(); ++release) {
                if (const auto next = std::next(release); next != releases_.end() && *next <= arrival.ready) continue;
                after.releases = *release;
                clock_.not_before(arrival, *release, [&](const Timing& leaving) {
                    limited(leaving, [&](const Timing& each) {
                        after.timing = each;
                        keep({state.served, place, breaks, 0}, after);
                    });
                });
            }
        });
    }

    bool beats(const Partial& a, const Partial& b) const {
        return a.distance <= b.distance && a.reloads <= b.reloads && a.releases >= b.releases &&
               clock_.no_worse(a.timing, b.timing) && no_more(a.peak, b.peak) && no_more(a.on_board, b.on_board);
    }

    void keep(const State& state, Partial& partial) {
        limits_.watch();
        if (excess(state, partial.timing) >= request_.limit) return;
        if (agent_.max_distance >= NO_LEG) partial.distance = 0;  // compared no more
        const auto is_beaten = [&](const Partial& each) { return beats(each, partial); };
        if (const auto kept = kept_.find(state); kept != kept_.end() && std::ranges::any_of(kept->second, is_beaten)) return;
        auto& rivals = longer_[state];
        if (std::ranges::any_of(rivals, is_beaten)) return;
        std::erase_if(rivals, [&](const Partial& each) { return beats(partial, each); });
        limits_.count_partial();
        rivals.push_back(partial);
    }

    // Records the route that ends here, where it may.
    void finish(const State& state, const Partial& partial) {
        if (request_.may_end[state.served] == 0) return;
        if (partial.distance + leg(state.last, edge_).distance > agent_.max_distance) return;
        drive(state, partial, edge_, [&](Int breaks, const Timing& arrival) {
            limited(arrival, [&](const Timing& end) { record(end, breaks, state.served); });
        });
    }

    // Records a route that ends before every break that it did not take.
    void record(const Timing& end, Int breaks, Int served) {
        Int latest = NO_LEG;
        for (Int number = 0; number < agent_.breaks; ++number)
            if ((breaks >> number & 1) == 0) latest = std::min(latest, this->breaks()[number].closes);
        clock_.not_after(end, latest, [&](const Timing& each) { record(each, served); });
    }

    void record(const Timing& end, Int served) {
        clock_.charged_after(end, agent_.shift_end, agent_.per_overtime, [&](const Timing& charged) {
            const Int cost = charged.least(agent_.per_time);
            if (cost - worth_[served] >= request_.limit) return;
            const auto [place, is_new] = found_.try_emplace(served, cost);
            if (!is_new) place->second = std::min(place->second, cost);
        });
    }

    const Request& request_;
    const AgentRow& agent_;
    const Int edge_;
    const Clock clock_;
    Limits limits_;
    std::vector<std::vector<Pause>> pauses_;  // by breaks taken before
    std::vector<Int> worth_;                  // by set of tickets
    Int mine_ = 0;
    std::set<Int> releases_{0};
    Fronts kept_, longer_;  // partial routes of fewer stops, and those of one stop more
    std::map<Int, Int> found_;
};

}  // namespace

Listing list_routes(const Request& request, Int* out, Int size, Int* used) {
    *used = 0;
    try {
        for (const auto& [served, cost] : Lister(request).run()) {
            if (*used + 2 > size) return Listing::LIMITED;
            out[(*used)++] = cost, out[(*used)++] = served;
        }
        return Listing::COMPLETE;
    } catch (const OutOfRoom&) {
        return Listing::LIMITED;
    }
}

}  // namespace proof::small
