#include "proof_listing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <bitset>
#include <functional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "proof_limits.hpp"

namespace proof {
namespace {

using Set = std::bitset<MOST_TICKETS>;
using Amounts = std::array<Int, MOST_DIMENSIONS>;

// Tickets with one of them.
struct Spot {
    Set set;
    int ticket;
    bool operator==(const Spot&) const = default;
};

struct SpotHash {
    std::size_t operator()(const Spot& spot) const {
        return std::hash<Set>{}(spot.set) * 31 + static_cast<std::size_t>(spot.ticket);
    }
};

// The day as one agent sees it. Where it does not pair halves of shipments, they are tickets without load of any order.
struct Day {
    Day(const Request& request, bool is_paired)
        : agent(*request.agent), count(static_cast<int>(agent.tickets)), request(request), is_paired(is_paired),
          near(count), nearest(count) {
        for (int ticket = 0; ticket < count; ++ticket)
            for (int other = 0; other < count; ++other) {
                near[ticket][other] = (at(ticket).near[other / 64] >> (other % 64) & 1) != 0;
                nearest[ticket][other] = (at(ticket).nearest[other / 64] >> (other % 64) & 1) != 0;
            }
        for (int ticket = 0; ticket < count; ++ticket)
            if (shipment_of(ticket) >= 0 && shipment_of(ticket) != ticket) deliveries.push_back(ticket);
        if (!deliveries.empty()) find_spans();
    }

    const TicketRow& at(int ticket) const { return request.tickets[ticket]; }
    const LegRow& leg(int from, int to) const { return request.legs[from * (count + 1) + to]; }
    std::span<const WindowRow> windows(int ticket) const {
        return {request.windows + at(ticket).first_window, request.windows + at(ticket).end_window};
    }
    Int price_of(std::uint64_t cuts) const {
        Int sum = 0;
        for (; cuts != 0; cuts &= cuts - 1) sum += request.cut_price[std::countr_zero(cuts)];
        return sum;
    }
    // The latest start of a service up to a time; negative where there is none.
    Int latest(int ticket, Int until) const {
        if (windows(ticket).empty()) return until;
        Int found = -1;
        for (const WindowRow& window : windows(ticket))
            if (window.opens <= until) found = std::min(window.closes, until);
        return found;
    }
    Int earliest(int ticket) const { return windows(ticket).empty() ? 0 : windows(ticket).front().opens; }
    // The pickup of the shipment of which a ticket is half; -1 for others.
    int shipment_of(int ticket) const { return is_paired ? static_cast<int>(at(ticket).pickup) : -1; }
    // The least time between the starts of two services, whatever is served in between; the end is `count`.
    Int span(int from, int to) const { return spans[from * (count + 1) + to]; }

    const AgentRow& agent;
    int count;
    const Request& request;
    bool is_paired;
    std::vector<Set> near, nearest;
    std::vector<int> deliveries;  // of shipments
    std::vector<Int> deliver_by;  // latest start of service from which the end is reached in time, as `deliveries`

private:
    void find_spans() {
        const int size = count + 1;
        for (int each = 0; each < size * size; ++each) {
            const LegRow& leg = request.legs[each];
            spans.push_back(leg.cost < NO_LEG ? leg.time : NO_LEG);
        }
        for (int middle = 0; middle < count; ++middle)
            for (int from = 0; from < size; ++from)
                for (int to = 0; to < size; ++to)
                    spans[from * size + to] = std::min(span(from, to), span(from, middle) + span(middle, to));
        for (const int ticket : deliveries) deliver_by.push_back(latest(ticket, agent.closes - span(ticket, count)));
    }

    std::vector<Int> spans;
};

// A route from its start to a ticket, whose service begins as early as it can.
struct Way {
    Set seen;
    Int ready, busy;  // start of service; the same without waiting, from the departure
    Int leave;        // latest departure
    Int spent;        // without the price of time
    Int saved;        // taken off by legs, less what subset cuts added
    std::uint64_t odd;  // subset cuts of which an odd number of stops is remembered
    Int driven, stops;
    Amounts peak, taken, shipped;  // most on board; picked up; of shipments on board
    Set aboard;  // pickups of the shipments that are on board after the last ticket
    int last;
};

Way departure(const Day& day) {
    Way way{};
    way.ready = day.agent.opens, way.leave = day.agent.closes, way.spent = day.agent.fixed, way.last = day.count;
    return way;
}

// Adds a ticket to a way; false where that is not possible.
bool visit(const Day& day, Way& way, int ticket) {
    const TicketRow& work = day.at(ticket);
    const LegRow& leg = day.leg(way.last, ticket);
    if (leg.cost >= NO_LEG || way.seen[ticket] || ++way.stops > day.agent.max_stops) return false;
    way.busy += leg.time, way.driven += leg.distance;
    way.ready = std::max(way.ready + leg.time, work.release > 0 ? work.release + way.busy : 0);
    if (const auto windows = day.windows(ticket); !windows.empty()) {
        const auto is_open = [&](const WindowRow& each) { return way.ready <= each.closes; };
        const auto window = std::find_if(windows.begin(), windows.end(), is_open);
        if (window == windows.end()) return false;
        way.ready = std::max(way.ready, window->opens);
        way.leave = std::min(way.leave, windows.back().closes - way.busy);
    }
    if (way.ready > day.agent.closes || way.driven > day.agent.max_distance) return false;
    if (std::max(way.busy, way.ready - way.leave) > day.agent.max_duration) return false;
    if (const int shipment = day.shipment_of(ticket); shipment >= 0) {
        if (way.aboard[shipment] == (shipment == ticket)) return false;
        way.aboard.flip(shipment);
    }
    for (int d = 0; d < day.agent.dimensions; ++d) {
        way.taken[d] += work.taken[d], way.shipped[d] += work.shipped[d];
        way.peak[d] = std::max(way.peak[d] + work.given[d], way.taken[d] + way.shipped[d]);
        if (way.peak[d] > day.agent.capacity[d]) return false;
    }
    way.odd &= work.kept;
    const Int added = day.price_of(way.odd & work.cuts);
    way.odd ^= work.cuts;
    way.saved += leg.saved - added;
    way.spent += leg.cost - leg.saved + added + work.cost + work.lateness * std::max<Int>(0, way.ready - work.soft_close);
    way.seen.set(ticket), way.last = ticket;
    return true;
}

// Whether each shipment on board could still be delivered in time if it were the only one.
bool can_deliver(const Day& day, const Way& way) {
    if (way.aboard.none()) return true;
    for (std::size_t each = 0; each < day.deliveries.size(); ++each) {
        const int ticket = day.deliveries[each];
        if (way.aboard[day.shipment_of(ticket)] && way.ready + day.span(way.last, ticket) > day.deliver_by[each]) return false;
    }
    return true;
}

// The cost of a route that ends after its last ticket; NO_LEG where it cannot.
Int finished(const Day& day, const Way& way) {
    if (way.aboard.any()) return NO_LEG;
    const LegRow& leg = day.leg(way.last, day.count);
    const Int end = way.ready + leg.time, duration = std::max(way.busy + leg.time, end - way.leave);
    if (leg.cost >= NO_LEG || end > day.agent.closes || duration > day.agent.max_duration) return NO_LEG;
    if (way.driven + leg.distance > day.agent.max_distance) return NO_LEG;
    return way.spent + leg.cost + day.agent.per_time * duration + day.agent.per_overtime * std::max<Int>(0, end - day.agent.shift_end);
}

// A route from the start of service at its first ticket to its end, and what its end costs at least.
struct Tail {
    Set seen;
    Int start_by;  // latest start of service
    Int cost;      // after the first ticket; without the price of time
    Int saved;     // taken off by legs, less what subset cuts added
    std::uint64_t odd;  // subset cuts of which an odd number of stops after the first is remembered there
    Int time;      // from the start of service to the end, without waiting
    Int end;       // earliest end
    Int driven, stops;
    Amounts given, peak, shipped;  // delivered; most on board after the first ticket; of shipments on board before it
    Set aboard;  // pickups of the shipments that have to be on board before the first ticket
    int first;
    int next;  // the tail without the first ticket
};

// Adds what a ticket that comes before a tail loads and unloads; false where that is not possible.
bool add_loads(const Day& day, Tail& tail, int ticket) {
    const TicketRow& work = day.at(ticket);
    const int shipment = day.shipment_of(ticket);
    if (shipment >= 0) {
        if (tail.aboard[shipment] != (shipment == ticket)) return false;
        tail.aboard.flip(shipment);
    }
    for (int d = 0; d < day.agent.dimensions; ++d) {
        tail.peak[d] = std::max(tail.peak[d], tail.given[d] + tail.shipped[d]) + work.taken[d];
        tail.given[d] += work.given[d];
        if (shipment >= 0) tail.shipped[d] -= work.shipped[d];
        if (std::max(tail.peak[d], tail.given[d] + tail.shipped[d]) > day.agent.capacity[d]) return false;
    }
    return true;
}

// The tail of the last ticket; false where there is none.
bool last_stop(const Day& day, int ticket, Tail& tail) {
    const LegRow& leg = day.leg(ticket, day.count);
    if (leg.cost >= NO_LEG) return false;
    tail = Tail{};
    tail.seen.set(ticket);
    tail.start_by = day.latest(ticket, day.agent.closes - leg.time);
    tail.cost = leg.cost, tail.time = leg.time, tail.end = day.earliest(ticket) + leg.time;
    tail.driven = leg.distance, tail.stops = 1, tail.first = ticket, tail.next = -1;
    return tail.start_by >= day.earliest(ticket) && add_loads(day, tail, ticket);
}

// Puts a ticket before a tail; false where that is not possible.
bool precede(const Day& day, Tail& tail, int ticket) {
    const LegRow& leg = day.leg(ticket, tail.first);
    if (leg.cost >= NO_LEG || tail.seen[ticket] || ++tail.stops > day.agent.max_stops) return false;
    tail.start_by = day.latest(ticket, tail.start_by - leg.time);
    if (tail.start_by < day.earliest(ticket)) return false;
    const TicketRow& after = day.at(tail.first);
    const Int added = day.price_of(tail.odd & after.cuts);
    tail.odd = (tail.odd ^ after.cuts) & day.at(ticket).kept;
    tail.cost += leg.cost - leg.saved + added + after.cost, tail.saved += leg.saved - added;
    tail.time += leg.time, tail.driven += leg.distance;
    tail.end = std::max(tail.end, day.earliest(ticket) + tail.time);
    if (tail.driven > day.agent.max_distance || tail.time > day.agent.max_duration) return false;
    if (!add_loads(day, tail, ticket)) return false;
    tail.seen.set(ticket), tail.first = ticket;
    return true;
}

// What the route of a way and a tail, which begins at the last ticket of the way with the same shipments on board, costs
// at least; NO_LEG where they do not fit.
Int joined(const Day& day, const Way& way, const Tail& tail) {
    if (way.ready > tail.start_by || way.stops + tail.stops - 1 > day.agent.max_stops) return NO_LEG;
    if ((way.seen & tail.seen).count() > 1) return NO_LEG;
    const TicketRow& work = day.at(tail.first);
    for (int d = 0; d < day.agent.dimensions; ++d)
        if (std::max(way.peak[d] + tail.given[d] - work.given[d], way.taken[d] - work.taken[d] + tail.peak[d]) > day.agent.capacity[d])
            return NO_LEG;
    const Int leave = std::min(way.leave, tail.start_by - way.busy);
    const Int end = std::max(way.ready + tail.time, tail.end);
    const Int duration = std::max(way.busy + tail.time, end - leave);
    if (duration > day.agent.max_duration || way.driven + tail.driven > day.agent.max_distance) return NO_LEG;
    const Int added = day.price_of(way.odd & tail.odd);
    return way.spent + tail.cost + added + day.agent.per_time * duration + day.agent.per_overtime * std::max<Int>(0, end - day.agent.shift_end);
}

bool no_more(const Amounts& a, const Amounts& b) {
    for (int d = 0; d < MOST_DIMENSIONS; ++d)
        if (a[d] > b[d]) return false;
    return true;
}

// Whether a way is nowhere worse than another one with the same shipments on board.
bool no_worse(const Day& day, const Way& a, const Way& b) {
    const Int spent = a.spent + day.price_of(a.odd & ~b.odd);
    if (a.ready > b.ready || spent + day.agent.per_time * a.busy > b.spent + day.agent.per_time * b.busy) return false;
    if (day.agent.per_time != 0 && spent - day.agent.per_time * a.leave > b.spent - day.agent.per_time * b.leave) return false;
    const bool keeps_time = day.agent.per_time != 0 || day.agent.max_duration < NO_LEG || day.agent.is_simple == 0;
    if (keeps_time && (a.busy > b.busy || a.leave < b.leave)) return false;
    if (day.agent.max_distance < NO_LEG && a.driven > b.driven) return false;
    if (day.agent.counts_stops != 0 && a.stops > b.stops) return false;
    return no_more(a.peak, b.peak) && no_more(a.taken, b.taken) && (a.seen & ~b.seen).none();
}

bool no_worse(const Day& day, const Tail& a, const Tail& b) {
    if (a.start_by < b.start_by || a.cost + day.price_of(a.odd & ~b.odd) > b.cost) return false;
    if (day.agent.per_time != 0 || day.agent.max_duration < NO_LEG || day.agent.per_overtime != 0)
        if (a.time > b.time || a.end > b.end) return false;
    if (day.agent.max_distance < NO_LEG && a.driven > b.driven) return false;
    if (day.agent.counts_stops != 0 && a.stops > b.stops) return false;
    return no_more(a.given, b.given) && no_more(a.peak, b.peak) && (a.seen & ~b.seen).none();
}

Int cost_of(const Day& day, const Way& way) { return way.spent + day.agent.per_time * way.busy; }
Int cost_of(const Day& day, const Tail& tail) { return tail.cost + day.agent.per_time * tail.time; }
Int order_of(const Way& way) { return way.ready + way.peak[0] + way.taken[0]; }
Int order_of(const Tail& tail) { return tail.given[0] + tail.peak[0] - tail.start_by; }

// Where a half can be joined with another one: the ticket, and the shipments on board before it.
Spot spot_of(const Day& day, const Way& way) {
    Spot spot{way.aboard, way.last};
    if (!day.is_paired)
        spot.set.reset();
    else if (const int shipment = day.shipment_of(way.last); shipment >= 0)
        spot.set.flip(shipment);
    return spot;
}
Spot spot_of(const Day&, const Tail& tail) { return {tail.aboard, tail.first}; }

// Partial routes, by the spot where they can be joined with another half: of each spot those that no other one beats, by
// cost.
template <typename Half>
class Halves {
public:
    Halves(const Day& day, Limits& limits) : day_(day), limits_(limits), empty_(day.count) {}

    // Keeps a half unless another one is nowhere worse.
    void add(const Half& half) {
        const Spot spot = spot_of(day_, half);
        auto& front = spot.set.none() ? empty_[spot.ticket] : laden_[spot];
        const Int cost = cost_of(day_, half);
        auto place = front.begin();
        for (; place != front.end() && place->cost <= cost; ++place)
            if (no_worse(day_, halves_[place->number], half)) return;
        auto keep = place;
        for (auto each = place; each != front.end(); ++each)
            if (no_worse(day_, half, halves_[each->number]))
                is_beaten_[each->number] = true;
            else
                *keep++ = *each;
        const auto at = place - front.begin();
        front.erase(keep, front.end());
        limits_.count_partial();
        const int number = static_cast<int>(halves_.size());
        front.insert(front.begin() + at, {cost, number});
        halves_.push_back(half), is_beaten_.push_back(false);
        queue_.emplace(order_of(half), number);
    }

    // Takes the next half that was not beaten since; false where there is none.
    bool take(Half& half) {
        while (!queue_.empty()) {
            const int number = queue_.top().second;
            queue_.pop();
            half = halves_[number];
            if (!is_beaten_[number]) return true;
        }
        return false;
    }

    template <typename Other>
    bool can_be_route(const Other& other) const {
        const Int own = cost_of(day_, other);
        const Front* front = front_at(spot_of(day_, other));
        if (front == nullptr) return false;
        for (const auto& [cost, number] : *front) {
            limits_.watch();
            if (own + cost >= day_.request.limit) return false;
            if (joined(other, halves_[number]) < day_.request.limit) return true;
        }
        return false;
    }

private:
    struct Place {
        Int cost;
        int number;
    };
    using Front = std::vector<Place>;
    const Front* front_at(const Spot& spot) const {
        if (spot.set.none()) return &empty_[spot.ticket];
        const auto found = laden_.find(spot);
        return found == laden_.end() ? nullptr : &found->second;
    }
    Int joined(const Way& way, const Tail& tail) const { return proof::joined(day_, way, tail); }
    Int joined(const Tail& tail, const Way& way) const { return proof::joined(day_, way, tail); }

    using Entry = std::pair<Int, int>;
    const Day& day_;
    Limits& limits_;
    std::vector<Front> empty_;  // by ticket, with no shipment on board
    std::unordered_map<Spot, Front, SpotHash> laden_;
    std::vector<Half> halves_;
    std::vector<bool> is_beaten_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// How routes can end, with what is nearest remembered. Shipments are not paired: with those that are on board, tails
// would be many.
Halves<Tail> all_tails(const Day& day, Limits& limits) {
    Halves<Tail> found(day, limits);
    Tail tail{}, rest{};
    for (int ticket = 0; ticket < day.count; ++ticket)
        if (last_stop(day, ticket, tail)) found.add(tail);
    while (found.take(rest))
        for (int ticket = 0; ticket < day.count; ++ticket) {
            limits.watch();
            tail = rest;
            if (!precede(day, tail, ticket)) continue;
            tail.seen &= day.nearest[ticket];
            tail.seen.set(ticket);
            found.add(tail);
        }
    return found;
}

// How routes below the limit can begin, with what is near remembered.
Halves<Way> all_ways(const Day& day, const Halves<Tail>& tails, Limits& limits) {
    Halves<Way> found(day, limits);
    Way way = departure(day);
    do {
        for (int ticket = 0; ticket < day.count; ++ticket) {
            limits.watch();
            Way longer = way;
            if (!visit(day, longer, ticket)) continue;
            longer.seen &= day.near[ticket];
            longer.seen.set(ticket);
            if (can_deliver(day, longer) && tails.can_be_route(longer)) found.add(longer);
        }
    } while (found.take(way));
    return found;
}

// The least costs of the routes of a set of tickets, with prices of cuts and without.
struct Costs {
    Int cost, full;
};

// Every route below the limit, from its end on: tails of one more ticket in each round.
class Lister {
public:
    Lister(const Day& day, const Halves<Way>& ways, Limits& limits) : day_(day), ways_(ways), limits_(limits) {}

    std::unordered_map<Set, Costs> run() {
        Tail tail{};
        std::vector<int> round;
        for (int ticket = 0; ticket < day_.count; ++ticket)
            if (last_stop(day_, ticket, tail)) keep(tail, round);
        while (!round.empty()) {
            tails_of_.clear();
            std::vector<int> next;
            for (const int at : round) {
                if (tails_[at].first < 0) continue;  // beaten
                record(at);
                for (int ticket = 0; ticket < day_.count; ++ticket) {
                    limits_.watch();
                    tail = tails_[at];
                    tail.next = at;
                    if (precede(day_, tail, ticket)) keep(tail, next);
                }
            }
            round = std::move(next);
        }
        return std::move(found_);
    }

private:
    void keep(const Tail& tail, std::vector<int>& round) {
        if (!ways_.can_be_route(tail) || (day_.agent.is_simple != 0 && is_beaten(tail))) return;
        limits_.count_partial();
        round.push_back(static_cast<int>(tails_.size()));
        tails_.push_back(tail);
    }

    // Compares a tail with those of the same tickets and the same first one; on simple days its cost says all.
    bool is_beaten(const Tail& tail) {
        auto& rivals = tails_of_[{tail.seen, tail.first}];  // so the same shipments are on board before it
        const Tail own = without_cuts(tail);
        for (const int at : rivals)
            if (no_worse(day_, without_cuts(tails_[at]), own)) return true;
        std::erase_if(rivals, [&](int at) {
            const bool is_worse = no_worse(day_, own, without_cuts(tails_[at]));
            if (is_worse) tails_[at].first = -1;
            return is_worse;
        });
        rivals.push_back(static_cast<int>(tails_.size()));
        return false;
    }

    static Tail without_cuts(Tail tail) {
        tail.cost += tail.saved, tail.odd = 0;
        return tail;
    }

    void record(int at) {
        Way way = departure(day_);
        const Set seen = tails_[at].seen;
        for (; at >= 0; at = tails_[at].next)
            if (!visit(day_, way, tails_[at].first)) return;
        const Int cost = finished(day_, way);
        if (cost >= day_.request.limit) return;
        Costs& least = found_.try_emplace(seen, Costs{NO_LEG, NO_LEG}).first->second;
        least.cost = std::min(least.cost, cost), least.full = std::min(least.full, cost + way.saved);
    }

    const Day& day_;
    const Halves<Way>& ways_;
    Limits& limits_;
    std::vector<Tail> tails_;
    std::unordered_map<Spot, std::vector<int>, SpotHash> tails_of_;
    std::unordered_map<Set, Costs> found_;
};

bool write(const std::unordered_map<Set, Costs>& found, Int* out, Int size, Int* used) {
    for (const auto& [tickets, least] : found) {
        const Int count = static_cast<Int>(tickets.count());
        if (*used + 3 + count > size) return false;
        out[(*used)++] = least.cost, out[(*used)++] = least.full, out[(*used)++] = count;
        for (int ticket = 0; ticket < MOST_TICKETS; ++ticket)
            if (tickets[ticket]) out[(*used)++] = ticket;
    }
    return true;
}

}  // namespace

Listing list_routes(const Request& request, Int* out, Int size, Int* used) {
    *used = 0;
    try {
        const Day unpaired(request, false), day(request, true);
        Limits limits(request.seconds, request.most_partial);
        const Halves<Tail> tails = all_tails(unpaired, limits);
        const Halves<Way> ways = all_ways(day, tails, limits);
        return write(Lister(day, ways, limits).run(), out, size, used) ? Listing::COMPLETE : Listing::LIMITED;
    } catch (const OutOfRoom&) {
        return Listing::LIMITED;
    }
}

}  // namespace proof
