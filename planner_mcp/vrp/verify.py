"""The independent proof of a plan.

Owns a second reading of the model in `vrp/problem.py`, written from that definition alone: it shares no helper with
`vrp/schedule.py`, `vrp/timeline.py` or any engine, so that one mistake cannot hide in both. It takes the plan in the
caller's units, as anybody would read it, and recomputes every number.

Tolerance: each number of a plan is read as the nearest unit (half a unit of `1 / scale` either way), and from there on
all arithmetic is exact in integers. Costs beyond 2^52 units may differ by the precision of a float.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

from planner_mcp.vrp.plan import Plan, PlannedRoute, PlanStatus, Visit
from planner_mcp.vrp.problem import AgentSpec, Break, GroupKind, Load, Problem, TicketSpec


def verify(problem: Problem, plan: Plan) -> list[str]:
    """Return every way in which the plan breaks the problem or misstates itself; empty when it is proved.

    Sentences name agents and tickets by id.
    """
    if not _is_finite(plan):
        return ["The plan has a number that is not finite."]
    book = _Book(problem)
    unknown = list(_unknown_names(book, plan))
    if unknown:
        return unknown
    found: list[str] = []
    walks = []
    for route in plan.routes:
        walk = _Walk(book, route)
        found.extend(walk.faults())
        walks.append(walk)
    found.extend(_fleet_faults(book, plan))
    found.extend(_choice_faults(book, plan))
    found.extend(_summary_faults(book, plan, walks))
    return found


def _is_finite(plan: Plan) -> bool:
    numbers: list[object] = [getattr(plan, field.name) for field in fields(plan)]
    for route in plan.routes:
        numbers += [getattr(route, field.name) for field in fields(route)]
        for visit in route.visits:
            numbers += [getattr(visit, field.name) for field in fields(visit)]
            numbers += visit.load.values()
    return all(math.isfinite(number) for number in numbers if isinstance(number, float))


class _Book:
    """The problem by name."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.agents = {agent.id: index for index, agent in enumerate(problem.agents)}
        self.tickets = {ticket.id: index for index, ticket in enumerate(problem.tickets)}
        self.locations = {name: index for index, name in enumerate(problem.locations)}
        self.delivery_of = {t.pickup: index for index, t in enumerate(problem.tickets) if t.pickup is not None}

    def units(self, value: float) -> int:
        """Return a time or length in integer units."""
        return round(value * self.problem.scale)

    def is_shipment(self, ticket: int) -> bool:
        """Return whether the ticket is either half of a shipment."""
        return self.problem.tickets[ticket].pickup is not None or ticket in self.delivery_of


def _unknown_names(book: _Book, plan: Plan) -> Iterator[str]:
    """Say which names the problem does not have; nothing more can be said of such a plan."""
    for route in plan.routes:
        if route.agent_id not in book.agents:
            yield f"Agent {route.agent_id} does not exist."
        for visit in route.visits:
            if visit.kind not in ("ticket", "reload", "break"):
                yield f"A visit is of no known kind: {visit.kind}."
            if visit.kind == "ticket" and visit.ticket_id not in book.tickets:
                yield f"Ticket {visit.ticket_id} does not exist."
            if visit.kind == "reload" and visit.location not in book.locations:
                yield f"A reload happens at {visit.location}, which does not exist."
            if set(visit.load) != set(book.problem.dimensions):
                yield f"A visit of {route.agent_id} states loads of other dimensions than the problem has."
    for entry in plan.unassigned:
        if entry.ticket_id not in book.tickets:
            yield f"Unassigned ticket {entry.ticket_id} does not exist."


@dataclass(slots=True)
class _Sums:
    """What a route adds up to, in units."""

    distance: int = 0
    travel: int = 0
    busy: int = 0
    late_cost: int = 0
    cost: int = 0
    duration: int = 0


class _Walk:
    """One route, walked stop by stop with a clock."""

    def __init__(self, book: _Book, route: PlannedRoute) -> None:
        self.book = book
        self.route = route
        self.index = book.agents[route.agent_id]
        self.agent: AgentSpec = book.problem.agents[self.index]
        self.sums = _Sums()
        self.tickets = [book.tickets[v.ticket_id] for v in route.visits if v.ticket_id is not None]
        self._place: int | None = self.agent.start
        self._clock = book.units(route.start_s)
        self._left = self._clock
        self._rested = 0
        self._has_stopped = False

    def faults(self) -> Iterator[str]:
        """Yield everything wrong with the route by itself."""
        yield from self._ends()
        for visit in self.route.visits:
            yield from self._break(visit) if visit.kind == "break" else self._stop(visit)
        yield from self._home()
        yield from self._limits()
        yield from self._breaks()
        yield from self._loads()
        yield from self._order()
        yield from self._kpis()

    def _say(self, text: str) -> str:
        return f"Agent {self.agent.id}: {text}"

    def _name(self, location: int | None) -> str | None:
        return None if location is None else self.book.problem.locations[location]

    def _ends(self) -> Iterator[str]:
        if self.route.start_location != self._name(self.agent.start):
            yield self._say("the route does not start where the agent starts.")
        if self.route.end_location != self._name(self.agent.end):
            yield self._say("the route does not end where the agent ends.")
        if self._clock < self.agent.shift[0]:
            yield self._say("leaves before the shift starts.")

    def _break(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.book.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        if not self._clock <= arrival <= start <= departure:
            yield self._say("a break begins before the visit in front of it is over.")
        if visit.distance_m != 0 or visit.location is not None or visit.ticket_id is not None:
            yield self._say("a break claims a place or a distance.")
        self._rested += departure - start
        self.sums.busy += departure - start
        self._clock = departure

    def _leg(self, place: int | None) -> tuple[int, int]:
        """Return distance and time from where the agent is."""
        if self._place is None or place is None:
            return 0, 0
        problem, profile = self.book.problem, self.agent.profile
        distance, travel = (
            problem.distances[profile][self._place, place],
            problem.durations[profile][self._place, place],
        )
        return int(distance), int(travel)

    def _arrive(self, place: int | None, arrival: int, what: str) -> Iterator[str]:
        """Judge the way to a place; the breaks on it lengthen it."""
        distance, travel = self._leg(place)
        if arrival < self._left + travel + self._rested or arrival < self._clock:
            yield self._say(f"{what} is reached sooner than travel and breaks allow.")
        self.sums.distance += distance
        self.sums.travel += travel
        self._rested = 0

    def _stop(self, visit: Visit) -> Iterator[str]:
        arrival, start, departure = map(self.book.units, (visit.arrival_s, visit.start_s, visit.departure_s))
        ticket = self.book.problem.tickets[self.book.tickets[visit.ticket_id]] if visit.ticket_id is not None else None
        place = ticket.location if ticket is not None else self.book.locations[visit.location or ""]
        what = f"ticket {ticket.id}" if ticket is not None else f"reload at {visit.location}"
        if (ticket is None) != (visit.kind == "reload"):
            yield self._say("a visit names a ticket where its kind has none, or none where it has one.")
        if visit.location != self._name(place):
            yield self._say(f"{what} is visited at another place than its own.")
        before = self.sums.distance
        yield from self._arrive(place, arrival, what)
        if self.book.units(visit.distance_m) != self.sums.distance - before:
            yield self._say(f"{what} states a wrong distance.")
        setup = ticket.setup if ticket is not None and (not self._has_stopped or place != self._place) else 0
        service = ticket.service if ticket is not None else 0
        if start < arrival + setup:
            yield self._say(f"{what} begins before arrival and setup are over.")
        if departure < start + service:
            yield self._say(f"{what} is left before its service is over.")
        self.sums.busy += setup + service
        yield from self._ticket(visit, ticket, start) if ticket is not None else self._reload(place)
        self._place, self._clock, self._left, self._has_stopped = place, departure, departure, True

    def _ticket(self, visit: Visit, ticket: TicketSpec, start: int) -> Iterator[str]:
        if ticket.windows and not any(opens <= start <= closes for opens, closes in ticket.windows):
            yield self._say(f"ticket {ticket.id} is served outside its windows.")
        if ticket.agents is not None and self.index not in ticket.agents:
            yield self._say(f"may not serve ticket {ticket.id}.")
        late = 0 if ticket.soft_close is None else max(0, start - ticket.soft_close)
        if self.book.units(visit.late_s) != late:
            yield self._say(f"ticket {ticket.id} states a wrong lateness.")
        self.sums.late_cost += late * ticket.lateness_cost

    def _reload(self, place: int) -> Iterator[str]:
        if place not in self.agent.reload_at:
            yield self._say(f"may not reload at {self._name(place)}.")

    def _home(self) -> Iterator[str]:
        yield from self._arrive(self.agent.end, self.book.units(self.route.end_s), "the end")

    def _limits(self) -> Iterator[str]:
        agent, end = self.agent, self.book.units(self.route.end_s)
        duration = end - self.book.units(self.route.start_s)
        reloads = sum(visit.kind == "reload" for visit in self.route.visits)
        overtime = max(0, end - agent.shift[1])
        if overtime > agent.overtime:
            yield self._say("ends after the shift and its overtime.")
        if agent.max_distance is not None and self.sums.distance > agent.max_distance:
            yield self._say("drives farther than max_distance.")
        if agent.max_duration is not None and duration > agent.max_duration:
            yield self._say("is longer on the way than max_duration.")
        if agent.max_stops is not None and len(self.tickets) > agent.max_stops:
            yield self._say("serves more tickets than max_tickets.")
        if reloads > agent.max_reloads:
            yield self._say("reloads more often than max_reloads.")
        running = agent.distance_cost * self.sums.distance + agent.time_cost * duration
        self.sums.duration = duration
        self.sums.cost = agent.fixed_cost + running + agent.overtime_cost * overtime + self.sums.late_cost

    def _breaks(self) -> Iterator[str]:
        taken = [
            (self.book.units(v.start_s), self.book.units(v.departure_s)) for v in self.route.visits if v.kind == "break"
        ]
        if not self._can_match(taken, list(self.agent.breaks)):
            yield self._say("a break is missing, too short, or outside its window.")

    def _can_match(self, taken: Sequence[tuple[int, int]], asked: list[Break]) -> bool:
        """Return whether each break taken is one asked for, and each left over can be rested outside the route."""
        if not taken:
            return all(self._is_off_duty(rest) for rest in asked)
        (start, end), others = taken[0], taken[1:]
        return any(
            rest.window[0] <= start <= rest.window[1]
            and end - start == rest.duration
            and self._can_match(others, asked[:index] + asked[index + 1 :])
            for index, rest in enumerate(asked)
            if rest not in asked[:index]
        )

    def _is_off_duty(self, rest: Break) -> bool:
        starts, ends = self.book.units(self.route.start_s), self.book.units(self.route.end_s)
        return ends <= rest.window[1] or starts >= rest.window[0] + rest.duration

    def _trips(self) -> list[list[int]]:
        """Return the tickets between reloads."""
        trips: list[list[int]] = [[]]
        for visit in self.route.visits:
            if visit.kind == "reload":
                trips.append([])
            elif visit.ticket_id is not None:
                trips[-1].append(self.book.tickets[visit.ticket_id])
        return trips

    def _leavings(self) -> list[int]:
        """Return when each trip leaves: the start, then each reload."""
        reloads = [self.book.units(visit.departure_s) for visit in self.route.visits if visit.kind == "reload"]
        return [self.book.units(self.route.start_s), *reloads]

    def _loads(self) -> Iterator[str]:
        for dimension, name in enumerate(self.book.problem.dimensions):
            yield from self._loads_of(dimension, name)

    def _loads_of(self, dimension: int, name: str) -> Iterator[str]:
        book, capacity = self.book, self.agent.capacity[dimension]
        trips = iter(self._trips())
        shipped, brought, collected = 0, self._brought(next(trips), dimension), 0
        if brought > capacity:
            yield self._say(f"leaves with more {name} than its capacity.")
        for visit in self.route.visits:
            if visit.kind == "reload":
                brought, collected = self._brought(next(trips), dimension), 0
            elif visit.ticket_id is not None:
                index = book.tickets[visit.ticket_id]
                ticket = book.problem.tickets[index]
                amount = ticket.demand[dimension]
                if book.is_shipment(index):
                    shipped += amount if ticket.pickup is None else -amount
                elif ticket.load is Load.PICKUP:
                    collected += amount
                else:
                    brought -= amount
            load = shipped + brought + collected
            if not 0 <= load <= capacity:
                yield self._say(f"carries {name} beyond its capacity after {visit.ticket_id or visit.kind}.")
            if round(visit.load[name] * book.problem.amount_scale) != load:
                yield self._say(f"states a wrong load of {name} after {visit.ticket_id or visit.kind}.")

    def _brought(self, trip: Sequence[int], dimension: int) -> int:
        tickets = (self.book.problem.tickets[index] for index in trip if not self.book.is_shipment(index))
        return sum(ticket.demand[dimension] for ticket in tickets if ticket.load is Load.DELIVERY)

    def _order(self) -> Iterator[str]:
        problem, tickets = self.book.problem, self.tickets
        if not tickets:
            yield self._say("has a route without tickets.")
        if tuple(tickets[: len(self.agent.locked)]) != self.agent.locked:
            yield self._say("does not serve its locked tickets first and in order.")
        yield from self._shipments()
        served = set(tickets)
        for low, high in sorted(pair for pair in problem.incompatible if served.issuperset(pair)):
            yield self._say(
                f"serves {problem.tickets[low].id} and {problem.tickets[high].id}, which exclude each other."
            )
        for trip, leaving in zip(self._trips(), self._leavings(), strict=True):
            for index in trip:
                if problem.tickets[index].release > leaving:
                    yield self._say(f"leaves before ticket {problem.tickets[index].id} is released.")
            if problem.backhaul:
                yield from self._backhaul(trip)

    def _shipments(self) -> Iterator[str]:
        position = {index: at for at, index in enumerate(self.tickets)}
        for index in self.tickets:
            ticket = self.book.problem.tickets[index]
            if ticket.pickup is not None and position.get(ticket.pickup, len(position)) > position[index]:
                yield self._say(f"delivers {ticket.id} without having picked it up.")
            if index in self.book.delivery_of and self.book.delivery_of[index] not in position:
                yield self._say(f"picks up {ticket.id} and never delivers it.")

    def _backhaul(self, trip: Sequence[int]) -> Iterator[str]:
        single = [self.book.problem.tickets[index] for index in trip if not self.book.is_shipment(index)]
        for before, after in pairwise(single):
            if before.load is Load.PICKUP and after.load is Load.DELIVERY:
                yield self._say(f"picks up {before.id} before delivering {after.id} on a backhaul day.")

    def _kpis(self) -> Iterator[str]:
        waiting = self.sums.duration - self.sums.travel - self.sums.busy
        stated = {
            "distance_m": (self.route.distance_m, self.sums.distance),
            "travel_s": (self.route.travel_s, self.sums.travel),
            "waiting_s": (self.route.waiting_s, waiting),
        }
        for name, (value, truth) in stated.items():
            if self.book.units(value) != truth:
                yield self._say(f"states a wrong {name}.")
        if not _is_cost(self.book.problem, self.route.cost, self.sums.cost):
            yield self._say("states a wrong cost.")


def _is_cost(problem: Problem, stated: float, truth: int) -> bool:
    """Return whether a stated cost is the true one to half a unit, or to float precision beyond 2^52."""
    return abs(stated * problem.cost_scale - truth) <= max(0.499, abs(truth) * 2.0**-51)


def _fleet_faults(book: _Book, plan: Plan) -> Iterator[str]:
    """Yield what is wrong between routes: agents twice, locks that nobody keeps."""
    counts = Counter(route.agent_id for route in plan.routes)
    for agent, count in counts.items():
        if count > 1:
            yield f"Agent {agent} has {count} routes."
    for spec in book.problem.agents:
        if spec.locked and spec.id not in counts:
            yield f"Agent {spec.id}: does not serve its locked tickets."


def _served(plan: Plan) -> Counter[str]:
    return Counter(v.ticket_id for route in plan.routes for v in route.visits if v.ticket_id is not None)


def _choice_faults(book: _Book, plan: Plan) -> Iterator[str]:
    """Yield what is wrong with the choice of tickets: served twice, lost, against a group."""
    served, left = _served(plan), Counter(entry.ticket_id for entry in plan.unassigned)
    for ticket, count in served.items():
        if count > 1:
            yield f"Ticket {ticket} is served {count} times."
    for spec in book.problem.tickets:
        if left[spec.id] != (0 if served[spec.id] else 1):
            yield f"Ticket {spec.id} must be either served or listed once as unassigned."
    for entry in plan.unassigned:
        if not entry.code:
            yield f"Unassigned ticket {entry.ticket_id} has no reason."
    for group in book.problem.groups:
        members = [book.problem.tickets[index].id for index in group.tickets]
        count = sum(served[member] > 0 for member in members)
        if group.kind is GroupKind.ONE_OF and count > 1:
            yield f"More than one ticket of the group of {members[0]} is served."
        if group.kind is GroupKind.ALL and 0 < count < len(set(members)):
            yield f"Only some tickets of the group of {members[0]} are served."


def _summary_faults(book: _Book, plan: Plan, walks: Sequence[_Walk]) -> Iterator[str]:
    """Yield what the plan misstates about itself as a whole."""
    served = set(_served(plan))
    stated = {
        "distance_m": (book.units(plan.distance_m), sum(walk.sums.distance for walk in walks)),
        "duration_s": (book.units(plan.duration_s), sum(walk.sums.duration for walk in walks)),
        "agents_used": (plan.agents_used, len(walks)),
        "tickets_served": (plan.tickets_served, len(served)),
        "tickets_total": (plan.tickets_total, len(book.problem.tickets)),
        "status": (plan.status, _status(book.problem, served)),
    }
    for name, (value, truth) in stated.items():
        if value != truth:
            yield f"The plan states a wrong {name}."
    missed, wanted = _missing(book.problem, served)
    span = book.problem.span_cost * max((walk.sums.duration for walk in walks), default=0)
    if not _is_cost(book.problem, plan.cost, sum(walk.sums.cost for walk in walks) + missed + span):
        yield "The plan states a wrong cost."
    if not _is_cost(book.problem, plan.penalty, wanted):
        yield "The plan states a wrong penalty."


def _missing(problem: Problem, served: set[str]) -> tuple[int, int]:
    """Return what it costs to leave out what is left out: at the caller's price, and at that of wanted tickets."""
    sums = {True: 0, False: 0}
    for ticket in problem.tickets:
        if ticket.id not in served:
            sums[ticket.is_priced] += ticket.penalty
    for group in problem.groups:
        members = [problem.tickets[index] for index in group.tickets]
        if group.kind is GroupKind.ONE_OF and not any(member.id in served for member in members):
            sums[all(member.is_priced for member in members)] += group.penalty
    return sums[True], sums[False]


def _status(problem: Problem, served: set[str]) -> PlanStatus:
    """Return FEASIBLE where every ticket that is neither priced nor replaced by an alternative is served."""
    excused = {index for index, ticket in enumerate(problem.tickets) if ticket.is_priced or ticket.id in served}
    for group in problem.groups:
        if group.kind is GroupKind.ONE_OF and any(problem.tickets[index].id in served for index in group.tickets):
            excused.update(group.tickets)
    return PlanStatus.FEASIBLE if len(excused) == len(problem.tickets) else PlanStatus.PARTIAL
