#include "working_plan.hpp"

#include <numeric>

#include "locked_visits.hpp"

namespace sisr {

Plan::Plan(const Problem& problem, const StopCriterion& stop_criterion)
    : problem(problem),
      spare(problem.agents.size(), NEVER),
      spare_for_pickups(problem.agents.size(), NEVER),
      agent_of(problem.tickets.size(), -1),
      node(problem.tickets.size(), -1),
      active(static_cast<int>(problem.agents.size())),
      absent(static_cast<int>(problem.items.size())),
      is_touched_(static_cast<int>(problem.agents.size())),
      is_moved_(static_cast<int>(problem.items.size())) {
    const int agents = static_cast<int>(problem.agents.size());
    idle.assign(problem.types, IndexedSet(agents));
    for (int agent = 0; agent < agents; ++agent) {
        routes.emplace_back(agent) = locked_route(problem, agent, stop_criterion);
        idle[problem.agents[agent].type].set(agent, true);
        const auto& locked = problem.agents[agent].locked;
        is_sound = update_route(agent) && is_sound && std::none_of(locked.begin(), locked.end(), [&](int ticket) {
                       return problem.has_incompatible(ticket, [&](int other) { return agent_of[other] == agent; });
                   });
        if (!is_sound) return;  // no search is possible
    }
    for (int item = 0; item < static_cast<int>(problem.items.size()); ++item) {
        absent.set(item, true);
        penalties_ += problem.items[item].penalty;
    }
    reachable.resize(problem.tickets.size());
    std::iota(reachable.begin(), reachable.end(), 0);
    saved_ = routes;
}

void Plan::begin() {
    touched.clear(), moved_.clear();
    is_touched_.clear(), is_moved_.clear();
}

Number Plan::cost_now() {
    Number penalties = penalties_;
    for (int item : moved_) penalties += price(item) * (int{!is_served(item)} - int{absent.has(item)});
    return route_cost_ + penalties + problem.span_cost * longest();
}

Number Plan::keep() {
    for (int item : moved_) {
        penalties_ += price(item) * (int{!is_served(item)} - int{absent.has(item)});
        absent.set(item, !is_served(item));
    }
    return cost();
}

void Plan::undo() {
    for (int agent : touched) clear_positions(agent);
    for (int agent : touched) {
        route_cost_ += saved_[agent].cost - routes[agent].cost;
        served += saved_[agent].served - routes[agent].served;
        std::swap(routes[agent], saved_[agent]);
        index(agent);
    }
}

void Plan::clear_positions(int agent) {
    for (const Node& n : routes[agent].nodes)
        if (problem.is_ticket(n.stop)) agent_of[n.stop] = -1;
}

void Plan::replace_routes(const std::vector<Route>& others, const SubPlan* part) {
    std::fill(agent_of.begin(), agent_of.end(), -1);
    route_cost_ = penalties_ = served = 0;
    for (const Route& route : others) {
        if (part && !part->agents[route.agent]) {
            exclude(route.agent);
            continue;
        }
        routes[route.agent] = route;
        index(route.agent);
        route_cost_ += route.cost;
        served += route.served;
    }
    for (int item = 0; item < static_cast<int>(problem.items.size()); ++item)
        absent.set(item, !part && !is_served(item));
    if (part)
        for (int item : part->absent) absent.set(item, true);
    for (int item : absent) penalties_ += price(item);
    const auto is_absent = [&](int item) { return item >= 0 && absent.has(item); };
    reachable.clear();
    for (int ticket = 0; ticket < static_cast<int>(problem.tickets.size()); ++ticket)
        if (!part || agent_of[ticket] >= 0 || is_absent(item_at(ticket))) reachable.push_back(ticket);
}

void Plan::set_unassigned_prices(std::vector<Number> prices) {
    prices_ = std::move(prices);
    penalties_ = 0;
    for (int item : absent) penalties_ += price(item);
}

// Exclude the agent of another part.
void Plan::exclude(int agent) {
    routes[agent] = Route(agent);
    active.set(agent, false);
    idle[problem.agents[agent].type].set(agent, false);
}

void Plan::touch(int agent) {
    if (!is_touched_.add(agent)) return;
    saved_[agent] = routes[agent];
    touched.push_back(agent);
}

void Plan::restore(int agent) {
    route_cost_ += saved_[agent].cost - routes[agent].cost;
    served += saved_[agent].served - routes[agent].served;
    routes[agent] = saved_[agent];
    index(agent);
}

void Plan::index(int agent, std::size_t from) {
    const Route& route = routes[agent];
    for (std::size_t k = from; k + 1 < route.nodes.size(); ++k) {
        const int stop = route.nodes[k].stop;
        if (problem.is_reload(stop)) continue;
        agent_of[stop] = agent;
        node[stop] = static_cast<int>(k);
    }
    const Agent& driver = problem.agents[agent];
    if (problem.dimensions > 0 && problem.is_one_trip(driver) && route.cost < INFEASIBLE_COST) {
        spare[agent] = driver.capacity[0] - route.departs_with(problem, 0);
        spare_for_pickups[agent] = driver.capacity[0] - route.returns_with(problem, 0);
    }
    active.set(agent, route.is_used());
    idle[problem.agents[agent].type].set(agent, !route.is_used());
}

bool Plan::update_route(int agent) {
    Route& route = routes[agent];
    const Number cost = route.cost;
    const int count = route.served;
    const bool is_feasible = evaluate(problem, route);
    if (!is_feasible) route.cost = INFEASIBLE_COST;
    route_cost_ += route.cost - cost;
    served += route.served - count;
    if (is_feasible) compute_backward(problem, route);
    index(agent);
    return is_feasible;
}

void place(Route& route, const InsertionPosition& position) {
    const auto put = [&](int after, int stop) {
        if (stop != TERMINUS) route.nodes.insert(route.nodes.begin() + after + 1, Node{stop, 0, 0, 0, 0, 0});
    };
    put(position.option.pickup >= 0 ? position.delivery_after : position.after, position.reload_after);
    if (position.option.pickup >= 0) put(position.delivery_after, position.option.ticket);
    put(position.after, position.option.pickup >= 0 ? position.option.pickup : position.option.ticket);
    put(position.after, position.reload_before);
}

bool Plan::insert(const InsertionPosition& position) {
    touch(position.agent);
    place(routes[position.agent], position);
    const int item = item_at(position.option.ticket);
    if (is_moved_.add(item)) moved_.push_back(item);
    if (problem.is_plain(problem.agents[position.agent])) {
        Route& route = routes[position.agent];
        const Number cost = route.cost;
        update_after_insertion(problem, route, position.after + 1);
        route_cost_ += route.cost - cost;
        ++served;
        index(position.agent, position.after + 1);
        return true;
    }
    if (update_route(position.agent)) return true;
    remove(position.option.ticket);
    erase_gaps(position.agent);
    update_route(position.agent);
    return false;
}

void Plan::remove(int ticket) {
    const Ticket& t = problem.tickets[ticket];
    touch(agent_of[ticket]);
    agent_of[ticket] = -1;
    if (t.partner >= 0 && problem.tickets[t.partner].item == t.item) agent_of[t.partner] = -1;
    if (is_moved_.add(t.item)) moved_.push_back(t.item);
}

void Plan::erase_gaps(int agent) {
    std::vector<Node>& nodes = routes[agent].nodes;
    const auto is_gone = [&](const Node& n) { return problem.is_ticket(n.stop) && agent_of[n.stop] < 0; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), is_gone), nodes.end());
    const auto ends_trip = [&](const Node& n) { return !problem.is_ticket(n.stop); };
    for (std::size_t k = nodes.size() - 2; k > static_cast<std::size_t>(routes[agent].pinned); --k)  // empty trips
        if (problem.is_reload(nodes[k].stop) && (ends_trip(nodes[k - 1]) || ends_trip(nodes[k + 1])))
            nodes.erase(nodes.begin() + k);
}

bool Plan::close_gaps(int agent) {
    erase_gaps(agent);
    if (update_route(agent)) return true;
    clear_positions(agent);
    restore(agent);  // without the triangle inequality, removal may violate a limit
    return false;
}

// Put reloads among the locked visits as in `stops`; returns the number of stops used, 0 where they differ.
std::size_t Plan::apply_locked_reloads(Route& route, const std::vector<int>& stops) const {
    const Agent& agent = problem.agents[route.agent];
    std::vector<Node> nodes{route.nodes[0]};
    std::size_t k = 0;
    for (auto locked = agent.locked.begin(); locked != agent.locked.end(); ++k) {
        if (k == stops.size()) return 0;
        const bool is_reload = problem.is_reload(stops[k]) && problem.may_stop(agent, stops[k]);
        if (is_reload ? problem.is_reload(nodes.back().stop) : stops[k] != *locked++) return 0;
        nodes.push_back({stops[k], 0, 0, 0, 0, 0});
    }
    route.pinned = static_cast<int>(nodes.size()) - 1;
    nodes.push_back({TERMINUS, 0, 0, 0, 0, 0});
    route.nodes.swap(nodes);
    return k;
}

bool Plan::set_idle_route(int agent, const std::vector<int>& stops) {
    Route route = routes[agent];
    const std::size_t begin = apply_locked_reloads(route, stops);
    route.nodes.resize(route.pinned + 1);
    const auto is_here = [&](int ticket) {
        return std::any_of(route.nodes.begin(), route.nodes.end(), [&](const Node& n) { return n.stop == ticket; });
    };
    for (std::size_t k = begin; k < stops.size(); ++k) {
        const int stop = stops[k];
        if (problem.is_reload(stop)) {
            if (problem.may_stop(problem.agents[agent], stop)) route.nodes.push_back({stop, 0, 0, 0, 0, 0});
            continue;
        }
        const Ticket& t = problem.tickets[stop];
        const bool is_whole = t.kind == Kind::SHIPMENT_PICKUP
                                  ? std::find(stops.begin(), stops.end(), t.partner) != stops.end()
                                  : t.kind != Kind::SHIPMENT_DELIVERY || is_here(t.partner);
        const bool is_open = t.item >= 0 && agent_of[stop] < 0 &&
                             (!is_served(t.item) || (t.kind == Kind::SHIPMENT_DELIVERY && is_here(t.partner)));
        const bool is_allowed =
            problem.may_serve(problem.agents[agent].type, stop) && !problem.has_incompatible(stop, is_here);
        if (is_whole && is_open && is_allowed && !is_here(stop)) route.nodes.push_back({stop, 0, 0, 0, 0, 0});
    }
    route.nodes.push_back({TERMINUS, 0, 0, 0, 0, 0});
    if (!evaluate(problem, route)) return false;
    touch(agent);
    routes[agent].nodes.swap(route.nodes);
    routes[agent].pinned = route.pinned;
    for (const Node& n : routes[agent].nodes)
        if (problem.is_ticket(n.stop) && item_at(n.stop) >= 0 && is_moved_.add(item_at(n.stop)))
            moved_.push_back(item_at(n.stop));
    return update_route(agent);
}

// Necessary conditions for an agent to drive another's route, with a lower bound of its cost.
bool Plan::may_drive(int agent, const Route& route, Number& least) const {
    if (!route.is_used()) return true;
    const Agent &driver = problem.agents[agent], &other = problem.agents[route.agent];
    const bool is_loaded_once = !problem.is_mixed(driver) && !problem.is_mixed(other);
    for (int d = 0; d < problem.dimensions && is_loaded_once; ++d)
        if (route.load[d] > driver.capacity[d]) return false;
    if (driver.profile != other.profile) return true;
    const Matrix& distance = problem.distance(driver);
    const auto& nodes = route.nodes;
    const std::size_t last = nodes.size() - 1;
    const Number length = route.distance - nodes[1].leg - nodes[last].leg + distance(driver.start, nodes[1].place) +
                          distance(nodes[last - 1].place, driver.end);
    least += driver.fixed + driver.per_distance * length;
    return length <= driver.max_distance;
}

bool Plan::exchange(int one, int other, bool at_any_price) {
    const auto cost_if_driven = [&](int agent, int stops, Number& cost) {
        Route route = routes[stops];
        route.agent = agent;
        for (const Node& n : route.nodes)
            if (n.stop != TERMINUS && !problem.may_stop(problem.agents[agent], n.stop)) return false;
        const bool is_feasible = evaluate(problem, route);
        cost += route.cost;
        return is_feasible;
    };
    Number cost = 0, least = 0;
    if (!may_drive(one, routes[other], least) || !may_drive(other, routes[one], least)) return false;
    if (!at_any_price && least >= routes[one].cost + routes[other].cost) return false;
    if (routes[one].pinned > 0 || routes[other].pinned > 0 || !cost_if_driven(one, other, cost) ||
        !cost_if_driven(other, one, cost))
        return false;
    if (!at_any_price && cost >= routes[one].cost + routes[other].cost) return false;
    touch(one), touch(other);
    routes[one].nodes.swap(routes[other].nodes);
    update_route(one), update_route(other);
    return true;
}

bool Plan::exchange_segments(int one, Span mine, int other, Span theirs) {
    touch(one), touch(other);
    auto &a = routes[one].nodes, &b = routes[other].nodes;
    const std::vector<Node> moved(a.begin() + mine.begin, a.begin() + mine.end);
    a.erase(a.begin() + mine.begin, a.begin() + mine.end);
    a.insert(a.begin() + mine.begin, b.begin() + theirs.begin, b.begin() + theirs.end);
    b.erase(b.begin() + theirs.begin, b.begin() + theirs.end);
    b.insert(b.begin() + theirs.begin, moved.begin(), moved.end());
    if (problem.reloads) erase_gaps(one), erase_gaps(other);
    const bool one_fits = update_route(one), other_fits = update_route(other);
    return one_fits && other_fits;
}

bool Plan::reverse_segment(int agent, std::size_t from, std::size_t to) {
    touch(agent);
    auto& nodes = routes[agent].nodes;
    std::reverse(nodes.begin() + from, nodes.begin() + to + 1);
    return update_route(agent);
}

void Plan::drop_unprofitable(int item) {
    const auto& options = problem.items[item].options;
    const int ticket =
        std::find_if(options.begin(), options.end(), [&](const Option& o) { return agent_of[o.ticket] >= 0; })->ticket;
    const int agent = agent_of[ticket];
    Route route = routes[agent];
    std::erase_if(route.nodes, [&](const Node& n) { return problem.is_ticket(n.stop) && item_at(n.stop) == item; });
    if (!evaluate(problem, route) || route.cost + price(item) >= routes[agent].cost) return;
    remove(ticket);
    erase_gaps(agent);
    update_route(agent);
}

// Whether the loads of the trips before and after a reload fit into one trip; only evaluation decides the rest.
static bool may_join_trips(const Problem& problem, const Route& route, int reload) {
    if (problem.mixed) return true;
    int begin = reload - 1;
    while (problem.is_ticket(route.nodes[begin].stop)) --begin;
    for (int d = 0; d < problem.dimensions; ++d) {
        const auto load = [&](int node) { return route.leg[node * problem.dimensions + d]; };
        if (load(begin) + load(reload) > problem.agents[route.agent].capacity[d]) return false;
    }
    return true;
}

bool Plan::drop_reloads(int agent) {
    bool has_dropped = false;
    for (int k = static_cast<int>(routes[agent].nodes.size()) - 2; k > 0 && routes[agent].reloads > 0; --k) {
        if (!problem.is_reload(routes[agent].nodes[k].stop) || !may_join_trips(problem, routes[agent], k)) continue;
        Route route = routes[agent];
        route.nodes.erase(route.nodes.begin() + k);
        if (!evaluate(problem, route) || route.cost > routes[agent].cost) continue;
        touch(agent);
        routes[agent].nodes.swap(route.nodes);
        if (k < routes[agent].pinned) --routes[agent].pinned;
        update_route(agent);
        has_dropped = true;
    }
    return has_dropped;
}

bool Plan::reload_among_locked(int agent, int after, int stop) {
    Route route = routes[agent];
    auto& nodes = route.nodes;
    const auto is_reload = [&](const Node& n) { return problem.is_reload(n.stop); };
    const auto beside = std::find_if(nodes.begin() + after, nodes.begin() + after + 2, is_reload);
    if (beside != nodes.begin() + after + 2) {
        beside->stop = stop;
    } else {
        if (route.reloads == problem.agents[agent].max_reloads) {
            const auto next = std::find_if(nodes.begin() + after, nodes.end(), is_reload);
            const auto other = next != nodes.end() ? next : std::find_if(nodes.begin(), next, is_reload);
            const int at = static_cast<int>(other - nodes.begin());
            nodes.erase(other);
            route.pinned -= at < route.pinned, after -= at < after;
        }
        nodes.insert(nodes.begin() + after + 1, Node{stop, 0, 0, 0, 0, 0});
        ++route.pinned;
    }
    if (!evaluate(problem, route)) return false;
    touch(agent);
    routes[agent].nodes.swap(nodes);
    routes[agent].pinned = route.pinned;
    return update_route(agent);
}

bool Plan::is_served(int item) const {
    for (const Option& option : problem.items[item].options)
        if (agent_of[option.ticket] >= 0) return true;
    return false;
}

bool Plan::is_on_short_route(int ticket) const {
    return agent_of[ticket] >= 0 && least_load_cost(problem, routes[agent_of[ticket]]) > 0;
}

Number Plan::longest() const {
    Number longest = 0;
    if (problem.span_cost > 0)
        for (int agent : active) longest = std::max(longest, routes[agent].duration);
    return longest;
}

}  // namespace sisr
