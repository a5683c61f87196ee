#include "route_state.hpp"

#include "route_clock.hpp"
#include "departure_delays.hpp"

namespace sisr {
namespace {

// The latest release among the tickets of the trip that begins at a node.
Number trip_release(const Problem& problem, const Route& route, std::size_t node) {
    Number release = 0;
    for (std::size_t k = node + 1; k + 1 < route.nodes.size() && !problem.is_reload(route.nodes[k].stop); ++k)
        release = std::max(release, problem.tickets[route.nodes[k].stop].release);
    return release;
}

bool fits_simple(const Problem& problem, Route& route) {
    const int dimensions = problem.dimensions;
    route.load.assign(dimensions, 0);
    for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k)
        for (int d = 0; d < dimensions; ++d) route.load[d] += problem.tickets[route.nodes[k].stop].demand[d];
    for (int d = 0; d < dimensions; ++d)
        if (route.load[d] > problem.agents[route.agent].capacity[d]) return false;
    return true;
}

bool in_backhaul_order(const Problem& problem, Route& route) {
    const int last = static_cast<int>(route.nodes.size()) - 1;
    route.last_delivery = 0, route.first_pickup = last;
    bool has_pickup = false;
    for (int k = 1; k < last; ++k) {
        const int stop = route.nodes[k].stop;
        if (problem.is_reload(stop)) {
            has_pickup = false;
        } else if (problem.tickets[stop].kind == Kind::PICKUP) {
            has_pickup = true;
            route.first_pickup = std::min(route.first_pickup, k);
        } else if (problem.tickets[stop].kind == Kind::DELIVERY) {
            if (has_pickup) return false;
            route.last_delivery = k;
        }
    }
    return true;
}

// Loads that rise and fall, by trip. At a reload everything but shipments is unloaded.
bool fits_mixed(const Problem& problem, Route& route) {
    const std::size_t count = route.nodes.size();
    const int dimensions = problem.dimensions;
    route.leg.assign(count * dimensions, 0);
    for (int d = 0; d < dimensions; ++d) {
        const Number capacity = problem.agents[route.agent].capacity[d];
        Number carried = 0;  // shipments
        for (std::size_t k = 0, next; k + 1 < count; k = next) {
            Number load = carried;
            for (next = k + 1; next + 1 < count && !problem.is_reload(route.nodes[next].stop); ++next) {
                const Ticket& ticket = problem.tickets[route.nodes[next].stop];
                if (ticket.kind == Kind::DELIVERY) load += ticket.demand[d];
            }
            for (std::size_t j = k; j < next; ++j) {
                if (j > k) {
                    const Ticket& ticket = problem.tickets[route.nodes[j].stop];
                    const Number amount = ticket.demand[d];
                    load += ticket.kind == Kind::PICKUP || ticket.kind == Kind::SHIPMENT_PICKUP ? amount : -amount;
                    carried += ticket.kind == Kind::SHIPMENT_PICKUP     ? amount
                               : ticket.kind == Kind::SHIPMENT_DELIVERY ? -amount
                                                                        : 0;
                }
                route.leg[j * dimensions + d] = load;
                if (load > capacity) return false;
            }
        }
    }
    return !problem.backhaul || in_backhaul_order(problem, route);
}

// The largest load on board up to each node of a trip, and from it on.
void spread_loads(const Problem& problem, Route& route) {
    const std::size_t last = route.nodes.size() - 1;
    const int dimensions = problem.dimensions;
    const auto starts_trip = [&](std::size_t k) { return k == 0 || problem.is_reload(route.nodes[k].stop); };
    route.head = route.tail = route.leg;
    for (int d = 0; d < dimensions; ++d) {
        const auto at = [&](std::size_t k) { return k * dimensions + d; };
        for (std::size_t k = 1; k < last; ++k)
            if (!starts_trip(k)) route.head[at(k)] = std::max(route.head[at(k)], route.head[at(k - 1)]);
        for (std::size_t k = last - 1; k-- > 0;)
            if (!starts_trip(k + 1)) route.tail[at(k)] = std::max(route.tail[at(k)], route.tail[at(k + 1)]);
    }
}

bool schedule(const Problem& problem, Route& route, Clock& clock, BreakScheduler& breaks) {
    const Agent& agent = problem.agents[route.agent];
    const Matrix &distance = problem.distance(agent), &duration = problem.duration(agent);
    const std::size_t last = route.nodes.size() - 1;
    for (std::size_t k = 1; k <= last; ++k) {
        const Node& before = route.nodes[k - 1];
        Node& node = route.nodes[k];
        const bool is_reload = problem.is_reload(node.stop);
        const Ticket* ticket = problem.is_ticket(node.stop) ? &problem.tickets[node.stop] : nullptr;
        node.place = problem.stop_place(node.stop, agent);
        node.leg = distance(before.place, node.place), node.leg_time = duration(before.place, node.place);
        route.distance += node.leg;
        const Number setup = problem.setup(node.stop, before.place, k == 1);
        const Number release = is_reload && problem.releases ? trip_release(problem, route, k) : 0;
        const auto done = [&](Number arrival) {
            if (!ticket) return std::max(arrival, release);
            const Window* window = ticket->window_from(arrival + setup);
            return window ? std::max(arrival + setup, window->open) + ticket->service : NEVER;
        };
        if (!breaks.drive(clock, node.leg_time, static_cast<int>(k) - 1, done)) return false;
        if (ticket) {
            ++route.served;
            clock.now += setup;
            const Window* window = ticket->window_from(clock.now);
            if (!window) return false;
            clock.wait_until(window->open);
            clock.limit_slack(clock.now <= ticket->soft_close ? std::min(window->close, ticket->soft_close)
                                                              : clock.now);
            if (clock.now > ticket->soft_close) clock.lateness += (clock.now - ticket->soft_close) * ticket->lateness;
            clock.now += ticket->service;
        } else if (is_reload) {
            ++route.reloads;
            clock.wait_until(release);
        }
        node.finish = clock.now;
    }
    return clock.now <= agent.close;
}

// The latest start of service at a node that keeps the next one on time.
Number latest_at(const Problem& problem, const Route& route, std::size_t k) {
    const Node &node = route.nodes[k], &after = route.nodes[k + 1];
    const Number leave = after.latest - after.leg_time - problem.setup(after.stop, node.place, k == 0);
    if (!problem.is_ticket(node.stop)) return leave;
    const Ticket& ticket = problem.tickets[node.stop];
    return ticket.last_start(leave - ticket.service);
}

// The earliest end of service at a node that is reached on time.
Number finish_at(const Problem& problem, const Route& route, std::size_t k) {
    const Node &before = route.nodes[k - 1], &node = route.nodes[k];
    const Number arrival = before.finish + node.leg_time;
    if (!problem.is_ticket(node.stop)) return arrival;
    const Ticket& ticket = problem.tickets[node.stop];
    const Number ready = arrival + problem.setup(node.stop, before.place, k == 1);
    return std::max(ready, ticket.window_from(ready)->open) + ticket.service;
}

Number service_cost(const Problem& problem, const Route& route) {
    Number sum = 0;
    if (problem.has_service_costs)
        for (std::size_t k = 1; k + 1 < route.nodes.size(); ++k)
            if (problem.is_ticket(route.nodes[k].stop))
                sum += problem.service_cost(route.agent, route.nodes[k].stop);
    return sum;
}

// Schedule the route with a departure, without loads. `last` receives the latest departure that keeps the same windows,
// where that matters.
bool schedule_from(const Problem& problem, Route& route, Number begin, BreakScheduler& breaks, Number* last = nullptr) {
    const Agent& agent = problem.agents[route.agent];
    route.served = route.reloads = 0;
    route.distance = route.duration = route.cost = 0;
    Clock clock{begin};
    route.nodes[0].place = agent.start;
    route.nodes[0].finish = begin;
    if (!schedule(problem, route, clock, breaks)) return false;
    if (!route.is_used()) return true;
    route.idle = clock.waited - std::min(clock.waited, clock.slack);
    if (problem.optimizes_departure && route.idle > 0 && !breaks.has_any()) {
        const DepartureDelays delays(problem, route);
        const Number delay = delays.best(agent.per_time, clock.now - begin - agent.max_duration);
        clock.lateness += delays.lateness(delay);
        route.idle = clock.waited - delay;
        if (last) *last = begin + delays.most();
    }
    route.duration = clock.now - begin - clock.waited + route.idle;
    route.cost = agent.fixed + agent.per_distance * route.distance + agent.per_time * route.duration + clock.lateness +
                 agent.per_overtime * std::max<Number>(0, clock.now - agent.shift_end) +
                 service_cost(problem, route) + least_load_cost(problem, route);
    return route.distance <= agent.max_distance && route.duration <= agent.max_duration &&
           route.served <= agent.max_stops && route.reloads <= agent.max_reloads;
}

// The cheapest feasible one of several departures and break timings.
class DepartureChoice {
public:
    DepartureChoice(const Problem& problem, Route& route, Number begin, bool is_feasible)
        : problem_(problem), route_(route), begin_(begin), is_feasible_(is_feasible), best_(route), departure_(begin) {}

    bool has_feasible() const { return is_feasible_; }

    // Returns false when it is infeasible or no cheaper.
    bool try_departure(Number departure, BreakTiming timing, Number* last = nullptr) {
        BreakScheduler breaks(problem_.agents[route_.agent], departure, timing, nullptr);
        is_tried_ = true;
        if (!schedule_from(problem_, route_, departure, breaks, last)) return false;
        if (is_feasible_ && std::pair(route_.cost, route_.duration) >= std::pair(best_.cost, best_.duration))
            return false;
        is_feasible_ = true, best_ = route_, departure_ = departure, timing_ = timing;
        return true;
    }

    // Set the route to the best one. `finish` is set to its earliest values, so that an insertion may still require an
    // earlier departure.
    bool choose(std::vector<BreakTaken>* break_list) {
        if (!is_feasible_ || !is_tried_) return is_feasible_;
        if (break_list) {
            BreakScheduler breaks(problem_.agents[route_.agent], departure_, timing_, break_list);
            schedule_from(problem_, route_, departure_, breaks);
        }
        static_cast<Totals&>(route_) = best_;
        route_.nodes[0].finish = begin_;
        for (std::size_t k = 1; k < route_.nodes.size(); ++k) route_.nodes[k].finish = finish_at(problem_, route_, k);
        return true;
    }

private:
    const Problem& problem_;
    Route& route_;
    const Number begin_;
    bool is_feasible_, is_tried_ = false;
    Totals best_;
    Number departure_;
    BreakTiming timing_ = BreakTiming::FREE;
};

// Try earlier or later breaks, or breaks before the departure, where that may be cheaper or is the only feasible way.
bool improve_breaks(const Problem& problem, Route& route, Number begin, const BreakScheduler& first, bool is_feasible,
                    std::vector<BreakTaken>* break_list) {
    const Agent& agent = problem.agents[route.agent];
    const bool is_paid = agent.per_time > 0 || problem.span_cost > 0;
    DepartureChoice hours(problem, route, begin, is_feasible);
    for (BreakTiming timing : {BreakTiming::LATE, BreakTiming::EARLY})
        if (first.may_differ(timing) && (!hours.has_feasible() || is_paid)) hours.try_departure(begin, timing);
    for (const Break& break_spec : agent.break_list)
        if (break_spec.over() > begin && (!hours.has_feasible() || is_paid || break_spec.open < begin))
            hours.try_departure(break_spec.over(), BreakTiming::FREE);
    return hours.choose(break_list);
}

// Try later departures, which use other time windows, where that may be cheaper or is the only feasible way.
bool improve_departure(const Problem& problem, Route& route, Number begin, Number last, bool is_feasible,
                       std::vector<BreakTaken>* break_list) {
    DepartureChoice hours(problem, route, begin, is_feasible);
    const Number close = problem.agents[route.agent].close;
    for (Number departure = last + 1; departure <= close; departure = last + 1) {
        last = NEVER;
        hours.try_departure(departure, BreakTiming::FREE, &last);
    }
    return hours.choose(break_list);
}

// Requires `Route::from` to contain the segments of single stops.
void compute_trips(const Problem& problem, Route& route, const auto& travel) {
    const auto& nodes = route.nodes;
    const std::size_t last = nodes.size() - 1;
    route.trips.resize(nodes.size());
    for (std::size_t k = 0; k < last; ++k) {
        TripPosition& here = route.trips[k];
        if (!problem.is_ticket(nodes[k].stop)) {
            here = {static_cast<int>(k), 0, 0, ANYTIME};
            continue;
        }
        const TripPosition& before = route.trips[k - 1];
        const Number release = problem.tickets[nodes[k].stop].release;
        here = {before.begin, std::max(before.released, release), release,
                before.since.then(travel(k - 1), route.from[k])};
    }
    route.trips[last] = {static_cast<int>(last), 0, 0, ANYTIME};
    for (std::size_t k = last; k-- > 0;)
        if (problem.is_ticket(nodes[k + 1].stop))
            route.trips[k].to_come = std::max(route.trips[k].to_come, route.trips[k + 1].to_come);
}

// Time from the end of a stop to the start of service at the next.
Number travel_after(const Problem& problem, const Route& route, std::size_t k) {
    const Node& next = route.nodes[k + 1];
    return next.leg_time + problem.setup(next.stop, route.nodes[k].place, k == 0);
}

void join_segments(const Problem& problem, Route& route) {
    const Agent& agent = problem.agents[route.agent];
    const auto& nodes = route.nodes;
    const std::size_t last = nodes.size() - 1;
    const auto travel = [&](std::size_t k) { return travel_after(problem, route, k); };
    route.until.resize(nodes.size()), route.from.resize(nodes.size());
    route.until[0] = segment_of(problem, agent, TERMINUS, false);
    route.from[last] = segment_of(problem, agent, TERMINUS, true);
    for (std::size_t k = 1; k < last; ++k) route.from[k] = segment_of(problem, agent, nodes[k].stop, false);
    if (problem.trips) {
        compute_trips(problem, route, travel);
        route.until[0].opens = std::max(agent.open, route.trips[0].to_come);
        for (std::size_t k = 1; k < last; ++k)
            if (problem.is_reload(nodes[k].stop)) route.from[k].opens = route.trips[k].to_come;
    }
    for (std::size_t k = 0; k < last; ++k) route.until[k + 1] = route.until[k].then(travel(k), route.from[k + 1]);
    for (std::size_t k = last; k-- > 1;) route.from[k] = route.from[k].then(travel(k), route.from[k + 1]);
}

// Update the segments after the insertion of a stop at `at`.
void join_segments_at(const Problem& problem, Route& route, std::size_t at) {
    if (problem.trips) return join_segments(problem, route);
    const Agent& agent = problem.agents[route.agent];
    const auto travel = [&](std::size_t k) { return travel_after(problem, route, k); };
    const auto alone = [&](std::size_t k) {
        return segment_of(problem, agent, route.nodes[k].stop, k + 1 == route.nodes.size());
    };
    route.until.emplace(route.until.begin() + at), route.from.emplace(route.from.begin() + at);
    for (std::size_t k = at; k < route.nodes.size(); ++k)
        route.until[k] = route.until[k - 1].then(travel(k - 1), alone(k));
    for (std::size_t k = at + 1; k-- > 1;) route.from[k] = alone(k).then(travel(k), route.from[k + 1]);
}

}  // namespace

Number missing_load_cost(const Problem& problem, const Route& route, const Option* inserted) {
    const auto sum = [&](const auto& amount) {
        Number total = 0;
        for (const Node& node : route.nodes)
            if (problem.is_ticket(node.stop)) total += amount(problem.tickets[node.stop]);
        if (inserted) total += amount(problem.tickets[inserted->ticket]);
        if (inserted && inserted->pickup >= 0) total += amount(problem.tickets[inserted->pickup]);
        return total;
    };
    const Agent& agent = problem.agents[route.agent];
    double missing = 0;  // the largest share
    for (int d = 0; d < problem.dimensions; ++d) {
        const auto load = [&](const Ticket& ticket) {
            return ticket.kind == Kind::SHIPMENT_DELIVERY ? 0 : ticket.demand[d];  // a shipment counts once
        };
        if (const Number least = agent.least_load[d]; least > 0)
            missing = std::max(missing, 1 - static_cast<double>(sum(load)) / static_cast<double>(least));
    }
    if (missing <= 0) return 0;
    const auto penalty = [&](const Ticket& ticket) {
        if (ticket.item < 0 || ticket.kind == Kind::SHIPMENT_PICKUP) return Number{0};
        const Item& item = problem.items[ticket.item];
        return item.is_priced || problem.drops_short_routes ? item.penalty : 0;
    };
    return 1 + sum(penalty) + static_cast<Number>(agent.least_load_penalty * (1 + missing));
}

bool evaluate(const Problem& problem, Route& route, std::vector<BreakTaken>* break_list) {
    const Agent& agent = problem.agents[route.agent];
    const Number begin = problem.releases ? std::max(agent.open, trip_release(problem, route, 0)) : agent.open;
    BreakScheduler breaks(agent, begin, BreakTiming::FREE, break_list);
    const bool is_idle = route.nodes.size() == 2;  // an unused agent violates no time limit
    Number last = NEVER;
    const bool is_feasible = schedule_from(problem, route, begin, breaks, &last) || is_idle;
    if (!(problem.is_mixed(agent) ? fits_mixed(problem, route) : fits_simple(problem, route))) return false;
    if (is_idle) return true;
    if (breaks.has_any()) return improve_breaks(problem, route, begin, breaks, is_feasible, break_list);
    return last < agent.close ? improve_departure(problem, route, begin, last, is_feasible, break_list) : is_feasible;
}

void compute_backward(const Problem& problem, Route& route) {
    const Agent& agent = problem.agents[route.agent];
    const std::size_t last = route.nodes.size() - 1;
    route.nodes[last].latest = agent.close;
    if (problem.timed)
        for (std::size_t k = last; k-- > 0;) route.nodes[k].latest = latest_at(problem, route, k);
    if (problem.uses_segments || problem.estimates_by_segments) join_segments(problem, route);
    if (problem.is_mixed(agent)) spread_loads(problem, route);
}

void update_after_insertion(const Problem& problem, Route& route, std::size_t at) {
    const Agent& agent = problem.agents[route.agent];
    const Matrix &distance = problem.distance(agent), &duration = problem.duration(agent);
    Node &node = route.nodes[at], &next = route.nodes[at + 1];
    const Ticket& ticket = problem.tickets[node.stop];
    const int before = route.nodes[at - 1].place;
    node.place = ticket.place;
    route.distance -= next.leg, route.duration -= problem.sums_durations && route.is_used() ? next.leg_time : 0;
    node.leg = distance(before, node.place), node.leg_time = duration(before, node.place);
    next.leg = distance(node.place, next.place), next.leg_time = duration(node.place, next.place);
    route.distance += Number{node.leg} + next.leg;
    route.duration += problem.sums_durations ? ticket.service + node.leg_time + next.leg_time : 0;
    ++route.served;
    if (problem.is_mixed(agent))
        fits_mixed(problem, route), spread_loads(problem, route);
    else
        for (int d = 0; d < problem.dimensions; ++d) route.load[d] += ticket.demand[d];
    if (problem.timed) {
        for (std::size_t k = at; k < route.nodes.size(); ++k) {
            const Number finish = finish_at(problem, route, k);
            if (k > at && finish == route.nodes[k].finish) break;
            route.nodes[k].finish = finish;
        }
        for (std::size_t k = at + 1; k-- > 0;) {
            const Number latest = latest_at(problem, route, k);
            if (k < at && latest == route.nodes[k].latest) break;
            route.nodes[k].latest = latest;
        }
    }
    if (problem.uses_segments) {
        join_segments_at(problem, route, at);
        route.duration = route.until.back().duration;
    }
    route.cost = agent.fixed + agent.per_distance * route.distance + agent.per_time * route.duration +
                 service_cost(problem, route) + least_load_cost(problem, route);
}

}  // namespace sisr
