#include "route_pricing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstring>
#include <numeric>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sisr {
namespace {

constexpr Number NO_END = INT64_MAX / 8;
constexpr int CHECK_EVERY = 512;  // labels between two looks at the clock
using Loads = std::array<Number, MAX_PRICED_DIMENSIONS>;

class Deadline {
public:
    explicit Deadline(double seconds)
        : ends_(Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}

    bool is_over() const { return Clock::now() >= ends_; }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point ends_;
};

constexpr int WORDS = 4;  // of a set of tickets or shipments
using Bits = std::array<std::uint64_t, WORDS>;

bool has(const Bits& bits, int number) { return (bits[number / 64] >> (number % 64) & 1) != 0; }
void add(Bits& bits, int number) { bits[number / 64] |= std::uint64_t{1} << (number % 64); }
void flip(Bits& bits, int number) { bits[number / 64] ^= std::uint64_t{1} << (number % 64); }
bool is_subset(const Bits& part, const Bits& whole) {
    for (int word = 0; word < WORDS; ++word)
        if ((part[word] & ~whole[word]) != 0) return false;
    return true;
}

// A partial route up to the start of service at its last ticket. Without waiting this start is `busy` after the
// departure. The departure is at `latest` or before, so the duration is at least max(busy, ready - latest).
struct Label {
    Number cost;        // reduced cost with paid time `busy`
    Number early_cost;  // reduced cost less the price of `latest`: plus the price of `ready` it is the other branch
    Number saved;       // discounts in both of them, less prices of subset-row cuts
    Number ready;       // earliest start of service
    Number busy, latest, distance;
    Loads most, picked;  // largest load so far if it leaves with all deliveries; sum of pickups
    Loads aboard;        // of shipments
    Bits memory;
    Bits open;       // shipments of which it has one half
    std::uint64_t odd;  // subset-row cuts of which it remembers an odd number of visits
    std::int32_t ticket, parent, stops;
    bool is_dominated;
};

// The windows and loads of a network in one direction. The reverse one leaves out what depends on the departure; its
// costs are lower bounds of how a route can end.
class Side {
public:
    explicit Side(const Network& network) : n(static_cast<int>(network.tickets)), dimensions(static_cast<int>(network.dimensions)) {
        const std::size_t nodes = n + 1;
        cost.assign(network.cost, network.cost + nodes * nodes);
        time.assign(network.time, network.time + nodes * nodes);
        distance.assign(network.distance, network.distance + nodes * nodes);
        shortest.assign(network.shortest, network.shortest + nodes * nodes);
        discount.assign(network.discount, network.discount + nodes * nodes);
        for (std::size_t arc = 0; arc < nodes * nodes; ++arc)
            if (cost[arc] < EXCLUDED) cost[arc] -= discount[arc];
        for (int ticket = 0; ticket < n; ++ticket) {
            windows.emplace_back();
            for (Number at = network.windows_at[ticket]; at < network.windows_at[ticket + 1]; ++at)
                windows.back().emplace_back(network.windows[2 * at], network.windows[2 * at + 1]);
            if (windows.back().empty()) windows.back().emplace_back(-NO_END, NO_END);
            soft_close.push_back(network.soft[2 * ticket] < 0 ? NO_END : network.soft[2 * ticket]);
            lateness.push_back(network.soft[2 * ticket + 1]);
            release.push_back(network.release[ticket]);
            for (int d = 0; d < dimensions; ++d) {
                delivery.push_back(network.delivery[ticket * dimensions + d]);
                pickup.push_back(network.pickup[ticket * dimensions + d]);
                shipped.push_back(network.shipped[ticket * dimensions + d]);
            }
            node_cost.push_back(network.node_cost[ticket]);
            shipment.push_back(static_cast<int>(network.half[2 * ticket]));
            is_opening.push_back(shipment.back() >= 0 && network.half[2 * ticket + 1] == 0);
            subsets.push_back(network.subsets[2 * ticket]), remembered.push_back(network.subsets[2 * ticket + 1]);
        }
        subset_price.assign(network.subset_price, network.subset_price + MAX_SUBSETS);
        capacity.assign(network.capacity, network.capacity + dimensions);
        find_closing();
        const Number* field = network.field;
        open = field[N_OPEN], close = field[N_CLOSE], shift_end = field[N_SHIFT_END];
        per_overtime = field[N_PER_OVERTIME], per_time = field[N_PER_TIME], fixed = field[N_FIXED];
        max_distance = field[N_MAX_DISTANCE] < 0 ? NO_END : field[N_MAX_DISTANCE];
        max_duration = field[N_MAX_DURATION] < 0 ? NO_END : field[N_MAX_DURATION];
        max_stops = field[N_MAX_STOPS];
        counts_stops = field[N_COUNTS_STOPS] != 0, is_timed = field[N_IS_TIMED] != 0;
        keeps_busy = max_duration < NO_END ||
                     std::any_of(release.begin(), release.end(), [](Number each) { return each > 0; });
    }

    Side reversed() const {
        Side back = *this;
        const int nodes = n + 1;
        for (int i = 0; i < nodes; ++i)
            for (int j = 0; j < nodes; ++j) {
                const std::size_t to = static_cast<std::size_t>(i) * nodes + j, from = static_cast<std::size_t>(j) * nodes + i;
                back.time[to] = time[from], back.distance[to] = distance[from];
                back.shortest[to] = shortest[from];
                back.discount[to] = discount[from];
                back.cost[to] = cost[from] >= EXCLUDED ? EXCLUDED : cost[from] + per_time * time[from];
            }
        for (int ticket = 0; ticket < n; ++ticket) {
            const Number first = std::max(windows[ticket].front().first, open);
            const Number last = std::min(windows[ticket].back().second, close);
            back.windows[ticket] = {{close - last, close - first}};
            back.soft_close[ticket] = NO_END, back.lateness[ticket] = 0, back.release[ticket] = 0;
            back.is_opening[ticket] = shipment[ticket] >= 0 && !is_opening[ticket];
        }
        back.find_closing();
        back.open = 0, back.close = back.shift_end = close - open;
        back.per_overtime = back.per_time = 0;
        back.max_duration = NO_END, back.keeps_busy = false, back.adds_loads = true;
        return back;
    }

    // Whether routes are searched from both ends: they are the sums of their halves where the reverse side leaves
    // nothing out. Where times matter, or no load ends a route, the bounds from the end are worth more than halves.
    bool is_two_way() const {
        const Number delivered = sum(delivery), picked = sum(pickup);
        return !is_timed && closing.empty() && (delivered == 0 || picked == 0) && delivered + picked > sum(capacity);
    }
    Number half_load() const { return sum(capacity) / 2; }

    static Number sum(const std::vector<Number>& each) { return std::accumulate(each.begin(), each.end(), Number{0}); }

    std::size_t arc(int from, int to) const { return static_cast<std::size_t>(from) * (n + 1) + to; }

    // Whether the other half of a shipment can still be visited in time after the start of service at a ticket.
    bool can_close(int from, Number ready, int shipment) const {
        const int to = closing[shipment];
        const Number last = windows[to].back().second;
        return ready + shortest[arc(from, to)] <= std::min(last, close - shortest[arc(to, n)]);
    }

    // The sum of the prices of some subset-row cuts.
    Number price_of(std::uint64_t cuts) const {
        Number sum = 0;
        for (; cuts != 0; cuts &= cuts - 1) sum += subset_price[std::countr_zero(cuts)];
        return sum;
    }

    int n, dimensions;
    std::vector<Number> cost, time, distance, shortest, discount, soft_close, lateness, release, delivery, pickup, shipped, capacity, node_cost;
    std::vector<int> shipment;     // of each ticket, or -1
    std::vector<int> closing;      // of each shipment: the half that is visited last in this direction
    std::vector<bool> is_opening;  // whether a ticket is the half of its shipment that is visited first in this direction
    std::vector<Number> subset_price;
    std::vector<std::uint64_t> subsets, remembered;  // of each ticket: cuts
    std::vector<std::vector<std::pair<Number, Number>>> windows;
    Number open, close, shift_end, per_overtime, per_time, fixed, max_distance, max_duration, max_stops;
    bool counts_stops, is_timed, keeps_busy, adds_loads = false;

private:
    void find_closing() {
        for (int ticket = 0; ticket < n; ++ticket)
            if (shipment[ticket] >= 0 && !is_opening[ticket]) {
                if (static_cast<int>(closing.size()) <= shipment[ticket]) closing.resize(shipment[ticket] + 1);
                closing[shipment[ticket]] = ticket;
            }
    }
};

class Labels {
public:
    Labels(const Side& side, const std::uint64_t* memory) : side_(side), memory_(side.n) {
        for (int ticket = 0; ticket < side.n; ++ticket)
            for (int word = 0; word < WORDS; ++word) memory_[ticket][word] = memory[ticket * WORDS + word];
    }

    Label start() const {
        Label label{};
        label.cost = side_.fixed;
        label.early_cost = side_.fixed - side_.per_time * side_.close;
        label.ready = side_.open, label.latest = side_.close;
        label.ticket = side_.n, label.parent = -1;
        return label;
    }

    // Extend a route by a ticket; false where that is not possible. `next.memory` is that of `label` plus the ticket.
    bool extend(const Label& label, int ticket, Label& next) const {
        const std::size_t arc = side_.arc(label.ticket, ticket);
        if (side_.cost[arc] >= EXCLUDED || has(label.memory, ticket) || label.stops >= side_.max_stops) return false;
        next.busy = label.busy + side_.time[arc];
        next.ready = label.ready + side_.time[arc];
        if (side_.release[ticket] > 0) next.ready = std::max(next.ready, side_.release[ticket] + next.busy);
        const auto& windows = side_.windows[ticket];
        const auto window =
            std::find_if(windows.begin(), windows.end(), [&](const auto& each) { return next.ready <= each.second; });
        if (window == windows.end()) return false;
        next.ready = std::max(next.ready, window->first);
        if (next.ready > side_.close) return false;
        next.latest = std::min(label.latest, windows.back().second - next.busy);
        if (std::max(next.busy, next.ready - next.latest) > side_.max_duration) return false;
        next.distance = label.distance + side_.distance[arc];
        if (next.distance > side_.max_distance) return false;
        next.open = label.open, next.aboard = label.aboard;
        if (const int shipment = side_.shipment[ticket]; shipment >= 0) {
            const bool is_opening = side_.is_opening[ticket];
            if (has(next.open, shipment) == is_opening) return false;
            flip(next.open, shipment);
            for (int d = 0; d < side_.dimensions; ++d)
                next.aboard[d] += (is_opening ? 1 : -1) * side_.shipped[static_cast<std::size_t>(ticket) * side_.dimensions + d];
        }
        if (side_.is_timed)
            for (int word = 0; word < WORDS; ++word)
                for (std::uint64_t left = next.open[word]; left != 0; left &= left - 1)
                    if (!side_.can_close(ticket, next.ready, 64 * word + std::countr_zero(left))) return false;
        for (int d = 0; d < side_.dimensions; ++d) {
            const std::size_t at = static_cast<std::size_t>(ticket) * side_.dimensions + d;
            next.picked[d] = label.picked[d] + side_.pickup[at];
            next.most[d] = label.most[d] + side_.delivery[at];
            if (!side_.adds_loads) next.most[d] = std::max(next.most[d], next.picked[d] + next.aboard[d]);
            const Number ahead = side_.adds_loads ? next.most[d] + next.aboard[d] : next.most[d];
            if (std::max(ahead, next.picked[d]) > side_.capacity[d]) return false;
        }
        const Number late = std::max<Number>(0, next.ready - side_.soft_close[ticket]) * side_.lateness[ticket];
        const std::uint64_t odd = label.odd & side_.remembered[ticket];
        const Number priced = side_.price_of(odd & side_.subsets[ticket]);
        next.odd = odd ^ side_.subsets[ticket];
        const Number more = side_.cost[arc] + side_.node_cost[ticket] + late + priced;
        next.cost = label.cost + more + side_.per_time * side_.time[arc];
        next.early_cost = label.early_cost + more + side_.per_time * (label.latest - next.latest);
        next.saved = label.saved + side_.discount[arc] - priced;
        next.memory = label.memory;
        add(next.memory, ticket);
        next.ticket = ticket, next.stops = label.stops + 1, next.is_dominated = false;
        return true;
    }

    void forget(Label& label) const {
        for (int word = 0; word < WORDS; ++word) label.memory[word] &= memory_[label.ticket][word];
        add(label.memory, label.ticket);
    }

    // The reduced cost of the route that ends after its last ticket; EXCLUDED where it cannot.
    Number ended(const Label& label) const {
        const std::size_t arc = side_.arc(label.ticket, side_.n);
        if (side_.cost[arc] >= EXCLUDED || label.stops == 0 || label.open != Bits{}) return EXCLUDED;
        const Number end = label.ready + side_.time[arc], busy = label.busy + side_.time[arc];
        if (end > side_.close || std::max(busy, end - label.latest) > side_.max_duration) return EXCLUDED;
        if (label.distance + side_.distance[arc] > side_.max_distance) return EXCLUDED;
        const Number overtime = std::max<Number>(0, end - side_.shift_end) * side_.per_overtime;
        return side_.cost[arc] + overtime + std::max(label.cost + side_.per_time * side_.time[arc], label.early_cost + side_.per_time * end);
    }

    // Whether a label is nowhere worse than another of the same tickets, by what they cost without prices of cuts.
    bool replaces(Label a, Label b) const {
        for (Label* each : {&a, &b}) each->cost += each->saved, each->early_cost += each->saved, each->odd = 0;
        return dominates(a, b, false);
    }

    // Of labels with one half of the same shipments.
    bool dominates(const Label& a, const Label& b, bool is_heuristic) const {
        if (a.cost > b.cost || a.ready > b.ready) return false;
        for (int d = 0; d < side_.dimensions; ++d)
            if (a.most[d] > b.most[d] || a.picked[d] > b.picked[d]) return false;
        if (is_heuristic) return true;
        if (!is_subset(a.memory, b.memory)) return false;
        const Number owed = side_.price_of(a.odd & ~b.odd);  // at most this more on the same way on
        if (a.cost + owed > b.cost) return false;
        if (side_.per_time != 0 && a.early_cost + owed > b.early_cost) return false;
        if (side_.keeps_busy && (a.busy > b.busy || a.latest < b.latest)) return false;
        if (side_.max_distance < NO_END && a.distance > b.distance) return false;
        return !side_.counts_stops || a.stops <= b.stops;
    }

    // Labels are extended in the order of what only grows, so that few of them are dominated after they were extended.
    Number progress(const Label& label) const {
        if (side_.is_timed) return label.ready;
        Number sum = 0;
        for (int d = 0; d < side_.dimensions; ++d) sum += std::max(label.most[d], label.picked[d]);
        return sum;
    }

    const Side& side() const { return side_; }

private:
    const Side& side_;
    std::vector<Bits> memory_;
};

// Writes routes into the caller's buffer.
class RouteWriter {
public:
    RouteWriter(Number* out, Number size) : out_(out), size_(size) {}

    bool write(Number cost, const std::vector<int>& tickets) {
        if (used_ + 2 + static_cast<Number>(tickets.size()) > size_) return false;
        out_[used_++] = cost, out_[used_++] = static_cast<Number>(tickets.size());
        for (const int ticket : tickets) out_[used_++] = ticket;
        return true;
    }
    Number used() const { return used_; }

private:
    Number* out_;
    Number size_, used_ = 0;
};

std::vector<int> stops_of(const std::vector<Label>& labels, int at) {
    std::vector<int> tickets;
    for (; labels[at].parent >= 0; at = labels[at].parent) tickets.push_back(labels[at].ticket);
    std::reverse(tickets.begin(), tickets.end());
    return tickets;
}

class Endings;

struct WordsHash {
    std::size_t operator()(const auto& words) const {
        std::uint64_t mixed = 0x9e3779b97f4a7c15ULL;
        for (const std::uint64_t word : words) mixed = (mixed ^ word) * 0xbf58476d1ce4e5b9ULL, mixed ^= mixed >> 29;
        return static_cast<std::size_t>(mixed);
    }
};

// All labels that no other dominates, by ticket and open shipments, in ascending order of cost. Labels that no ending
// brings below the limit are left out.
class LabelSearch {
public:
    LabelSearch(const Labels& rules, const PricingOptions& options, const Endings* endings = nullptr,
                Number reach = NO_END)
        : rules_(rules),
          options_(options),
          endings_(endings),
          reach_(reach),
          deadline_(options.seconds),
          by_open_(rules.side().n) {}

    bool run() {
        labels_.push_back(rules_.start());
        if (!extend_all(0)) return false;
        for (Number count = 0; !queue_.empty(); ++count) {
            if (count % CHECK_EVERY == 0 && deadline_.is_over()) return false;
            const auto [progress, at] = queue_.top();
            if (progress > reach_) break;
            queue_.pop();
            if (!labels_[at].is_dominated && !extend_all(at)) return false;
        }
        return true;
    }

    const std::vector<Label>& labels() const { return labels_; }

    // The labels at a ticket that have one half of some shipments.
    const std::vector<int>& kept(int ticket, const Bits& open) const {
        static const std::vector<int> none;
        const auto found = by_open_[ticket].find(open);
        return found == by_open_[ticket].end() ? none : found->second;
    }

private:
    bool extend_all(int at);

    bool keep(const Label& label) {
        auto& list = by_open_[label.ticket][label.open];
        std::size_t at = 0;
        for (; at < list.size() && labels_[list[at]].cost <= label.cost; ++at)
            if (rules_.dominates(labels_[list[at]], label, options_.is_heuristic != 0)) return false;
        std::size_t to = at;
        for (std::size_t from = at; from < list.size(); ++from) {
            if (rules_.dominates(label, labels_[list[from]], options_.is_heuristic != 0))
                labels_[list[from]].is_dominated = true;
            else
                list[to++] = list[from];
        }
        list.resize(to);
        list.insert(list.begin() + static_cast<std::ptrdiff_t>(at), static_cast<int>(labels_.size()));
        labels_.push_back(label);
        queue_.emplace(rules_.progress(label), static_cast<int>(labels_.size()) - 1);
        return true;
    }

    using Entry = std::pair<Number, int>;
    using ByOpen = std::unordered_map<Bits, std::vector<int>, WordsHash>;
    const Labels& rules_;
    const PricingOptions& options_;
    const Endings* endings_;
    Number reach_;
    Deadline deadline_;
    std::vector<Label> labels_;
    std::vector<ByOpen> by_open_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

// How routes can end, found in the reverse direction.
class Endings {
public:
    Endings(const Side& side, const std::uint64_t* memory, const PricingOptions& options, bool is_half = false)
        : side_(side),
          back_(side.reversed()),
          rules_(back_, memory),
          search_(rules_, options, nullptr, is_half ? back_.half_load() : NO_END) {}

    bool run() { return search_.run(); }

    // Whether some ending that fits brings the route below the limit.
    bool can_end(const Label& label, Number limit) const { return best_below(label, limit, true).second >= 0; }

    // The cost of the route with the cheapest ending that fits, or with any one below the limit, and this ending; -1
    // where none is below the limit.
    std::pair<Number, int> best_below(const Label& label, Number limit, bool takes_any = false) const {
        const Number node = side_.node_cost[label.ticket];
        const std::uint64_t own = side_.subsets[label.ticket], even = own & ~label.odd;
        const Number most_off = side_.price_of(even);
        std::pair<Number, int> best{limit, -1};
        Bits open = label.open;  // of the ending, which has the shared ticket too
        if (const int shipment = side_.shipment[label.ticket]; shipment >= 0) flip(open, shipment);
        for (const int at : search_.kept(label.ticket, open)) {
            const Label& ending = search_.labels()[at];
            Number cost = label.cost + ending.cost - side_.fixed - node;
            if (cost - most_off >= best.first) break;
            // both halves count the visit that they share: of two even numbers that is a pair too many
            cost += side_.price_of(label.odd & ending.odd & ~own) - side_.price_of(even & ~ending.odd);
            if (cost >= best.first || !fits(label, ending)) continue;
            best = {cost, at};
            if (takes_any) break;
        }
        return best;
    }

    // The tickets after that of the ending, in the order of the route.
    std::vector<int> stops_after(int at) const {
        std::vector<int> tickets = stops_of(search_.labels(), search_.labels()[at].parent);
        std::reverse(tickets.begin(), tickets.end());
        return tickets;
    }

private:
    bool fits(const Label& label, const Label& ending) const {
        if (label.ready > side_.close - ending.ready || label.stops + ending.stops - 1 > side_.max_stops) return false;
        if (label.distance + ending.distance > side_.max_distance) return false;
        Bits others = ending.memory;
        others[label.ticket / 64] &= ~(std::uint64_t{1} << (label.ticket % 64));
        for (int word = 0; word < WORDS; ++word)
            if ((others[word] & label.memory[word]) != 0) return false;
        for (int d = 0; d < side_.dimensions; ++d) {
            const std::size_t at = static_cast<std::size_t>(label.ticket) * side_.dimensions + d;
            if (label.most[d] + ending.most[d] - side_.delivery[at] > side_.capacity[d]) return false;
            if (label.picked[d] + ending.picked[d] - side_.pickup[at] > side_.capacity[d]) return false;
        }
        return true;
    }

    const Side& side_;
    Side back_;
    Labels rules_;
    LabelSearch search_;
};

bool LabelSearch::extend_all(int at) {
    Label next{};
    for (int ticket = 0; ticket < rules_.side().n; ++ticket) {
        if (!rules_.extend(labels_[at], ticket, next)) continue;
        rules_.forget(next);
        if (endings_ != nullptr && !endings_->can_end(next, 0)) continue;
        next.parent = at;
        if (!keep(next)) continue;
        if (static_cast<Number>(labels_.size()) >= options_.max_labels) return false;
    }
    return true;
}

// A route of `price`: its cost, its label, and the ending that follows it or -1.
struct Found {
    Number cost;
    int label, ending;
    auto operator<=>(const Found&) const = default;
};

Pricing price(const Network& network, const PricingOptions& options, RouteWriter& writer, Number* least) {
    const Side side(network);
    const Labels rules(side, network.memory);
    const bool is_exact = options.is_heuristic == 0, is_two_way = is_exact && side.is_two_way();
    // two-way: both searches stop after the first half of what only grows, and each of their routes meets an ending
    const Number half = is_two_way ? side.half_load() : NO_END;
    Endings endings(side, is_two_way ? network.memory : network.coarse, options, is_two_way);
    *least = 0;
    if (is_exact && !endings.run()) return Pricing::LIMITED;
    LabelSearch search(rules, options, is_exact && !is_two_way ? &endings : nullptr, half);
    const bool is_complete = search.run();
    std::vector<Found> best;  // of each ticket
    std::vector<Found> others;
    for (int ticket = 0; ticket < side.n; ++ticket) {
        Found first{EXCLUDED, -1, -1};
        for (const int at : search.kept(ticket, {})) {
            const Label& label = search.labels()[at];
            Found route{rules.ended(label), at, -1};
            if (is_two_way && rules.progress(label) > half) std::tie(route.cost, route.ending) = endings.best_below(label, 0);
            if (route.cost < 0) others.push_back(route);
            first = std::min(first, route);
        }
        if (first.label >= 0) best.push_back(first);
    }
    std::sort(best.begin(), best.end());
    if (!best.empty()) *least = std::min<Number>(0, best.front().cost);
    std::sort(others.begin(), others.end());
    Number written = 0;
    for (const auto* list : {&best, &others})
        for (const auto& [cost, at, ending] : *list) {
            if (cost >= 0 || written >= options.max_routes) break;
            std::vector<int> stops = stops_of(search.labels(), at);
            if (ending >= 0) {
                const std::vector<int> after = endings.stops_after(ending);
                stops.insert(stops.end(), after.begin(), after.end());
            }
            if (writer.write(cost, stops)) ++written;
        }
    return is_complete ? Pricing::COMPLETE : Pricing::LIMITED;
}

// Every elementary route below a limit: labels that visit the same tickets are compared, no others. They are compared by
// cost without discounts: a plan may have the cheapest route of each set of tickets, which then is below the limit.
class Enumeration {
public:
    Enumeration(const Network& network, const PricingOptions& options)
        : options_(options),
          deadline_(options.seconds),
          side_(network),
          rules_(side_, network.memory),
          endings_(side_, network.memory, options) {}

    bool run(RouteWriter& writer) {
        if (!endings_.run()) return false;
        labels_.push_back(rules_.start());
        std::vector<int> layer{0};
        while (!layer.empty()) {
            ByVisits<std::vector<int>> found;
            for (const int at : layer)
                if (!extend_all(at, found)) return false;
            layer.clear();
            for (const auto& [key, list] : found) layer.insert(layer.end(), list.begin(), list.end());
            std::sort(layer.begin(), layer.end());
            if (!end_all(layer, writer)) return false;
        }
        return true;
    }

private:
    // By the tickets that a label has visited, and a last word: its last ticket, or 0 for all of them.
    using Visits = std::array<std::uint64_t, WORDS + 1>;
    template <typename Value>
    using ByVisits = std::unordered_map<Visits, Value, WordsHash>;

    static Visits visits(const Label& label, int last) {
        Visits key{};
        std::copy(label.memory.begin(), label.memory.end(), key.begin());
        key[WORDS] = static_cast<std::uint64_t>(last);
        return key;
    }

    bool extend_all(int at, ByVisits<std::vector<int>>& found) {
        Label next{};
        for (int ticket = 0; ticket < side_.n; ++ticket) {
            if (++steps_ % CHECK_EVERY == 0 && deadline_.is_over()) return false;
            if (!rules_.extend(labels_[at], ticket, next) || !endings_.can_end(next, options_.limit)) continue;
            next.parent = at;
            auto& list = found[visits(next, ticket)];
            const auto is_better = [&](int other) { return rules_.replaces(labels_[other], next); };
            if (std::any_of(list.begin(), list.end(), is_better)) continue;
            std::erase_if(list, [&](int other) { return rules_.replaces(next, labels_[other]); });
            list.push_back(static_cast<int>(labels_.size()));
            labels_.push_back(next);
            if (static_cast<Number>(labels_.size()) >= options_.max_labels) return false;
        }
        return true;
    }

    // Write the cheapest route of each set of tickets in a layer, without discounts.
    bool end_all(const std::vector<int>& layer, RouteWriter& writer) {
        ByVisits<std::pair<Number, int>> cheapest;
        for (const int at : layer)
            if (const Number cost = rules_.ended(labels_[at]); cost < options_.limit) {
                const std::pair<Number, int> route{cost + labels_[at].saved, at};
                const auto [place, is_new] = cheapest.try_emplace(visits(labels_[at], 0), route);
                if (!is_new) place->second = std::min(place->second, route);
            }
        for (const auto& [key, route] : cheapest) {
            if (++written_ > options_.max_routes) return false;
            if (!writer.write(route.first, stops_of(labels_, route.second))) return false;
        }
        return true;
    }

    const PricingOptions& options_;
    Deadline deadline_;
    Side side_;
    Labels rules_;
    Endings endings_;
    std::vector<Label> labels_;
    Number steps_ = 0, written_ = 0;
};

}  // namespace

Pricing price_routes(const Network& network, const PricingOptions& options, Number* out, Number size, Number* used,
                     Number* least) {
    RouteWriter writer(out, size);
    const Pricing end = price(network, options, writer, least);
    *used = writer.used();
    return end;
}

Pricing enumerate_routes(const Network& network, const PricingOptions& options, Number* out, Number size, Number* used) {
    RouteWriter writer(out, size);
    Enumeration enumeration(network, options);
    const Pricing end = enumeration.run(writer) ? Pricing::COMPLETE : Pricing::LIMITED;
    *used = writer.used();
    return end;
}

}  // namespace sisr
