"""The words of the model spelt out for a whole timed plan, as plainly as they can be: what verified plans are held to.

Written from the docstring of `problem.py`; it shares nothing with the verifier or the layout. Breaks, rushes and prices
of lateness have definitions of their own in the tests beside this. One unit is one second, one metre, one coin.
"""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

from planner_mcp.routing.plan import Plan, PlannedRoute, PlanStatus, Visit
from planner_mcp.routing.problem import AgentSpec, GroupKind, LoadKind, Problem, TicketSpec


def is_right(day: Problem, plan: Plan) -> bool:
    """Return whether the plan breaks no rule and every figure in it is true."""
    return is_allowed(day, plan) and plan == honest(day, plan)


def is_allowed(day: Problem, plan: Plan) -> bool:
    """Return whether the plan breaks no rule, whatever it says of itself."""
    served = [name for route in plan.routes for name in _names(route)]
    left = [entry.ticket_id for entry in plan.unassigned]
    agents = [route.agent_id for route in plan.routes]
    return (
        Counter(served + left) == Counter(ticket.id for ticket in day.tickets)
        and len(set(agents)) == len(agents)
        and all(_keeps_group(day, kind, members, set(served)) for kind, members in _groups(day))
        and all(spec.id in agents for spec in day.agents if spec.locked)
        and all(
            _keeps_time(day, route) and _keeps_order(day, route) and _keeps_room(day, route) for route in plan.routes
        )
    )


def honest(day: Problem, plan: Plan) -> Plan:
    """Return the plan with every figure as it follows from its routes and times."""
    served = {name for route in plan.routes for name in _names(route)}
    routes = tuple(_honest_route(day, route) for route in plan.routes)
    alternatives = [group for group in day.groups if group.kind is GroupKind.ONE_OF]
    missed = {True: 0, False: 0}
    for ticket in day.tickets:
        missed[ticket.is_priced] += 0 if ticket.id in served else ticket.penalty
    for group in alternatives:
        is_met = any(day.tickets[member].id in served for member in group.tickets)
        missed[day.tickets[group.tickets[0]].is_priced] += 0 if is_met else group.penalty
    excused = {
        day.tickets[member].id
        for group in alternatives
        for member in group.tickets
        if any(day.tickets[other].id in served for other in group.tickets)
    }
    is_whole = all(ticket.is_priced or ticket.id in served | excused for ticket in day.tickets)
    return replace(
        plan,
        status=PlanStatus.FEASIBLE if is_whole else PlanStatus.PARTIAL,
        routes=routes,
        cost=sum(route.cost for route in routes) + missed[True],
        penalty=float(missed[False]),
        distance_m=sum(route.distance_m for route in routes),
        duration_s=sum(route.end_s - route.start_s for route in routes),
        agents_used=len(routes),
        tickets_served=len(served),
        tickets_total=len(day.tickets),
    )


def _groups(day: Problem) -> list[tuple[GroupKind, set[str]]]:
    return [(group.kind, {day.tickets[member].id for member in group.tickets}) for group in day.groups]


def _keeps_group(day: Problem, kind: GroupKind, members: set[str], served: set[str]) -> bool:
    count = len(members & served)
    return count <= 1 if kind is GroupKind.ONE_OF else count in (0, len(members))


def _agent(day: Problem, route: PlannedRoute) -> AgentSpec:
    return next(spec for spec in day.agents if spec.id == route.agent_id)


def _ticket(day: Problem, visit: Visit) -> TicketSpec | None:
    return next((ticket for ticket in day.tickets if ticket.id == visit.ticket_id), None)


def _names(route: PlannedRoute) -> list[str]:
    return [visit.ticket_id for visit in route.visits if visit.ticket_id is not None]


def _tickets(day: Problem, route: PlannedRoute) -> list[TicketSpec]:
    return [ticket for visit in route.visits if (ticket := _ticket(day, visit)) is not None]


def _places(day: Problem, route: PlannedRoute) -> list[int | None]:
    """Return where the route leads, its two ends included."""
    spec = _agent(day, route)
    found: list[int | None] = [spec.start]
    for visit in route.visits:
        ticket = _ticket(day, visit)
        found.append(day.locations.index(visit.location or "") if ticket is None else ticket.location)
    return [*found, spec.end]


def _way(day: Problem, route: PlannedRoute, kind: str) -> list[int]:
    """Return `distances` or `durations` of the legs."""
    table = getattr(day, kind)[_agent(day, route).profile]
    return [0 if a is None or b is None else int(table[a, b]) for a, b in pairwise(_places(day, route))]


def _setups(day: Problem, route: PlannedRoute) -> list[int]:
    places, found = _places(day, route), []
    for at, visit in enumerate(route.visits, start=1):
        ticket = _ticket(day, visit)
        is_new = at == 1 or places[at] != places[at - 1]
        found.append(ticket.setup if ticket is not None and is_new else 0)
    return found


def _services(day: Problem, route: PlannedRoute) -> list[int]:
    return [0 if (ticket := _ticket(day, visit)) is None else ticket.service for visit in route.visits]


def _trips(route: PlannedRoute) -> list[tuple[float, list[str]]]:
    """Return when each trip leaves, and the tickets it serves."""
    found: list[tuple[float, list[str]]] = [(route.start_s, [])]
    for visit in route.visits:
        if visit.ticket_id is None:
            found.append((visit.departure_s, []))
        else:
            found[-1][1].append(visit.ticket_id)
    return found


def _keeps_time(day: Problem, route: PlannedRoute) -> bool:
    """Return whether nobody is hurried, and no window, shift, limit or release is broken."""
    spec, ways = _agent(day, route), _way(day, route, "durations")
    free = [route.start_s, *(visit.departure_s for visit in route.visits)]
    reached = [*(visit.arrival_s for visit in route.visits), route.end_s]
    releases = {ticket.id: ticket.release for ticket in day.tickets}
    duration = route.end_s - route.start_s
    return (
        all(until >= since + way for since, way, until in zip(free, ways, reached, strict=True))
        and all(v.start_s >= v.arrival_s + s for v, s in zip(route.visits, _setups(day, route), strict=True))
        and all(v.departure_s >= v.start_s + s for v, s in zip(route.visits, _services(day, route), strict=True))
        and all(_is_open(_ticket(day, visit), visit.start_s) for visit in route.visits)
        and spec.shift[0] <= route.start_s
        and route.end_s <= spec.shift[1] + spec.overtime
        and (spec.max_duration is None or duration <= spec.max_duration)
        and (spec.max_distance is None or sum(_way(day, route, "distances")) <= spec.max_distance)
        and all(leaving >= releases[name] for leaving, names in _trips(route) for name in names)
    )


def _is_open(ticket: TicketSpec | None, start: float) -> bool:
    return ticket is None or not ticket.windows or any(opens <= start <= closes for opens, closes in ticket.windows)


def _keeps_order(day: Problem, route: PlannedRoute) -> bool:
    """Return whether this agent may serve these tickets together, in this order."""
    spec, names = _agent(day, route), _names(route)
    ids = [ticket.id for ticket in day.tickets]
    pickups = {t.id: day.tickets[t.pickup].id for t in day.tickets if t.pickup is not None}
    number = day.agents.index(spec)
    reloads = [visit.location for visit in route.visits if visit.ticket_id is None]
    return (
        len(names) > 0
        and all(ticket.agents is None or number in ticket.agents for ticket in _tickets(day, route))
        and (spec.max_stops is None or len(names) <= spec.max_stops)
        and all(served >= least for served, least in zip(_served(day, route), spec.min_load, strict=False))
        and names[: len(spec.locked)] == [ids[locked] for locked in spec.locked]
        and not any(tuple(sorted(map(ids.index, pair))) in day.incompatible for pair in combinations(names, 2))
        and all((here in names) == (there in names) for here, there in pickups.items())
        and all(names.index(there) < names.index(here) for here, there in pickups.items() if here in names)
        and len(reloads) <= spec.max_reloads
        and all(place in [day.locations[allowed] for allowed in spec.reload_at] for place in reloads)
        and (not day.backhaul or all(_delivers_first(day, trip) for _, trip in _trips(route)))
    )


def _served(day: Problem, route: PlannedRoute) -> list[int]:
    """Return what a route serves, by dimension; a shipment counts once."""
    once = [ticket.demand for ticket in _tickets(day, route) if ticket.pickup is None]
    return [sum(amounts) for amounts in zip(*once, strict=True)]


def _halves(day: Problem) -> set[str]:
    """Return the tickets that are one end of a shipment."""
    whole = [ticket for ticket in day.tickets if ticket.pickup is not None]
    return {t.id for t in whole} | {day.tickets[t.pickup].id for t in whole if t.pickup is not None}


def _delivers_first(day: Problem, trip: list[str]) -> bool:
    kinds = {ticket.id: ticket.load for ticket in day.tickets if ticket.id not in _halves(day)}
    loads = [kinds[name] for name in trip if name in kinds]
    return not any(a is LoadKind.PICKUP and b is LoadKind.DELIVERY for a, b in combinations(loads, 2))


def _load(day: Problem, route: PlannedRoute, after: int) -> list[int]:
    """Return what is on board after a visit, by dimension; -1 stands for the start."""
    trips = [0]
    for visit in route.visits:
        trips.append(trips[-1] + (visit.ticket_id is None))
    here, total = trips[after + 1], [0] * len(day.dimensions)
    names = [visit.ticket_id for visit in route.visits]
    ends = {day.tickets[t.pickup].id: t.id for t in day.tickets if t.pickup is not None}
    for at, visit in enumerate(route.visits):
        ticket = _ticket(day, visit)
        if ticket is None or ticket.pickup is not None:
            continue
        if ticket.id in ends:
            is_aboard = at <= after and ends[ticket.id] in names[after + 1 :]
        elif ticket.load is LoadKind.DELIVERY:
            is_aboard = at > after and trips[at + 1] == here
        else:
            is_aboard = at <= after and trips[at + 1] == here
        total = [sum_ + amount * is_aboard for sum_, amount in zip(total, ticket.demand, strict=True)]
    return total


def _keeps_room(day: Problem, route: PlannedRoute) -> bool:
    capacity = _agent(day, route).capacity
    loads = [_load(day, route, after) for after in range(-1, len(route.visits))]
    return all(amount <= room for load in loads for amount, room in zip(load, capacity, strict=True))


def _honest_route(day: Problem, route: PlannedRoute) -> PlannedRoute:
    spec, ways, drives = _agent(day, route), _way(day, route, "distances"), _way(day, route, "durations")
    names = [None if place is None else day.locations[place] for place in _places(day, route)]
    duration = route.end_s - route.start_s
    visits = tuple(
        replace(
            visit,
            location=names[at + 1],
            distance_m=float(ways[at]),
            load=dict(zip(day.dimensions, map(float, _load(day, route, at)), strict=True)),
            late_s=0.0,
        )
        for at, visit in enumerate(route.visits)
    )
    return replace(
        route,
        visits=visits,
        start_location=names[0],
        end_location=names[-1],
        distance_m=float(sum(ways)),
        travel_s=float(sum(drives)),
        waiting_s=duration - sum(drives) - sum(_setups(day, route)) - sum(_services(day, route)),
        cost=spec.fixed_cost
        + spec.distance_cost * sum(ways)
        + spec.time_cost * duration
        + spec.overtime_cost * max(0.0, route.end_s - spec.shift[1]),
        overtime_s=max(0.0, route.end_s - spec.shift[1]),
    )
