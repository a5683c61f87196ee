"""Checks a proof of optimality independently of the code that found it.

Owns a second way from prices of tickets (dual values) to the statement that no plan costs less. It knows the definition
in `problem.py` and the prices, and shares no code with engines or evaluation. Prices may be any integers: they decide
whether the check succeeds, not whether it is right.

1. A plan that serves every wanted ticket costs at least the sum of the prices, each at most the penalty of its ticket,
   plus the reduced costs of its routes: their costs less the prices of their tickets.
2. `_Agent.least` finds a number that no reduced cost of an agent's routes is below, by extending routes ticket by
   ticket. It drops a partial route only where another one at the same place is nowhere worse.
3. What the plan costs above that sum is a budget. Every route within the budget is listed, backwards from its end.
4. A search over these routes shows that no choice of them, one for each ticket, stays below the budget.

Rules that concern more than the order, loads and times of one route are ignored: without them plans only get cheaper,
so success means the same. Agents that reload are not checked.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from planner_mcp.routing.problem import AgentSpec, GroupKind, LoadKind, Problem

_ENDLESS: Final = 2**62
_NEIGHBOURS: Final = 10
"""Tickets that a partial route remembers at each stop."""
MAX_STEPS: Final = 400_000
"""Choices that are tried in step 4."""
IsOver = Callable[[], bool]


@dataclass(frozen=True, slots=True)
class OptimalityCertificate:
    """Prices that prove a cost, in `1 / factor` cost units."""

    factor: int
    tickets: tuple[int, ...]
    """By ticket; 0 for the tickets of ONE_OF groups."""
    groups: tuple[int, ...]
    """By group; 0 for groups of which all or none are served."""


class _OutOfTimeError(Exception):
    """The check would take too long."""


def proves(problem: Problem, certificate: OptimalityCertificate, cost: int, is_over: IsOver) -> bool:
    """Return whether the certificate shows in time that no plan serving every wanted ticket costs less than `cost`.

    Args:
        problem: The problem.
        certificate: The prices.
        cost: In cost units, wanted tickets all served.
        is_over: Whether the time is up; asked often.
    """
    if any(agent.reload_at and agent.max_reloads for agent in problem.agents):
        return False
    try:
        return _Check(problem, certificate, is_over).is_least(cost)
    except _OutOfTimeError:
        return False


@dataclass(frozen=True, slots=True)
class _Row:
    """Tickets of which exactly one is served; left out at a penalty where there is one."""

    tickets: frozenset[int]
    price: int
    penalty: int | None

    @property
    def worth(self) -> int:
        return self.price if self.penalty is None else min(self.price, self.penalty)


@dataclass(frozen=True, slots=True)
class _Option:
    """A route within the budget."""

    kind: int
    tickets: frozenset[int]
    excess: int
    """Its reduced cost."""


class _Check:
    """One check. Costs are multiplied by the factor."""

    def __init__(self, problem: Problem, certificate: OptimalityCertificate, is_over: IsOver) -> None:
        self.problem = problem
        self.factor = certificate.factor
        self._is_over = is_over
        self._steps = 0
        self.rows = list(self._read_rows(certificate))
        self.price = [0] * len(problem.tickets)
        for row in self.rows:
            for ticket in row.tickets:
                self.price[ticket] += row.price
        self._kinds = list(self._read_kinds())

    def watch(self) -> None:
        """Raise once the time is up."""
        if self._is_over():
            raise _OutOfTimeError

    def _read_rows(self, certificate: OptimalityCertificate) -> Iterable[_Row]:
        tickets = self.problem.tickets
        choices = [each for each in enumerate(self.problem.groups) if each[1].kind is GroupKind.ONE_OF]
        chosen = {ticket for _, group in choices for ticket in group.tickets}
        for number, ticket in enumerate(tickets):
            if number not in chosen:
                must = not ticket.is_priced and ticket.penalty > 0
                penalty = None if must else ticket.penalty * self.factor
                yield _Row(frozenset({number}), certificate.tickets[number], penalty)
        for number, group in choices:
            must = group.penalty > 0 and not all(tickets[each].is_priced for each in group.tickets)
            yield _Row(
                frozenset(group.tickets), certificate.groups[number], None if must else group.penalty * self.factor
            )

    def _read_kinds(self) -> Iterable[tuple["_Agent", int]]:
        """Yield an agent of each kind, and how many there are: they differ in nothing but the id."""
        counts: dict[tuple[object, ...], list[int]] = {}
        for number, spec in enumerate(self.problem.agents):
            tickets = enumerate(self.problem.tickets)
            own = tuple((t.agents is None or number in t.agents, t.preferred == number) for _, t in tickets)
            values = tuple(getattr(spec, name) for name in AgentSpec.__slots__ if name != "id")
            counts.setdefault((values, own), []).append(number)
        for numbers in counts.values():
            yield _Agent(self, numbers[0]), len(numbers)

    def is_least(self, cost: int) -> bool:
        """Return whether no plan costs less."""
        least = [agent.least() for agent, _ in self._kinds]
        floor = sum(row.worth for row in self.rows)
        floor += sum(count * min(0, lowest) for (_, count), lowest in zip(self._kinds, least, strict=True))
        budget = cost * self.factor - floor
        if budget < self.factor:  # costs are whole units: what is less than one below the cost is the cost
            return True
        options = [
            _Option(kind, tickets, excess)
            for kind, ((agent, _), lowest) in enumerate(zip(self._kinds, least, strict=True))
            for tickets, excess in agent.within(budget + min(0, lowest)).items()
        ]
        return not self._is_cheaper(options, least, budget)

    def _is_cheaper(self, options: Sequence[_Option], least: Sequence[int], budget: int) -> bool:
        """Return whether a choice of routes serves every row for less than the budget, by trying all that could."""
        serving: list[list[tuple[int, _Option]]] = [[] for _ in self.rows]
        rows_of = [{at for at, row in enumerate(self.rows) if not row.tickets.isdisjoint(o.tickets)} for o in options]
        allowed = [min(0, lowest) for lowest in least]
        for number, option in enumerate(options):
            for row in rows_of[number]:
                serving[row].append((number, option))
        for choices in serving:
            choices.sort(key=lambda each: each[1].excess - allowed[each[1].kind])
        left = [count for _, count in self._kinds]

        def search(open_rows: frozenset[int], spent: int) -> bool:
            self._steps += 1
            if self._steps > MAX_STEPS:
                raise _OutOfTimeError
            if self._steps % 256 == 0:
                self.watch()
            if not open_rows:
                idle = sum(count * lowest for count, lowest in zip(left, allowed, strict=True))
                return spent - idle < budget  # idle agents take back what they were allowed
            fits = {
                row: [c for c in serving[row] if rows_of[c[0]] <= open_rows and left[c[1].kind]] for row in open_rows
            }
            row = min(open_rows, key=lambda each: len(fits[each]))
            penalty = self.rows[row].penalty
            if penalty is not None:
                more = penalty - self.rows[row].worth
                if spent + more < budget and search(open_rows - {row}, spent + more):
                    return True
            for number, option in fits[row]:
                more = option.excess - allowed[option.kind]
                for each in rows_of[number]:
                    more += self.rows[each].price - self.rows[each].worth
                if spent + more >= budget:
                    continue
                left[option.kind] -= 1
                found = search(open_rows - rows_of[number], spent + more)
                left[option.kind] += 1
                if found:
                    return True
            return False

        return search(frozenset(range(len(self.rows))), 0)


@dataclass(slots=True)
class _Partial:
    """A route from its start to a ticket, whose service begins as early as it can."""

    last: int
    ready: int
    busy: int
    """Time from the departure to `ready` without waiting."""
    leave: int
    """Latest departure."""
    spent: int
    """Reduced cost without the price of time."""
    driven: int
    stops: int
    peak: tuple[int, ...]
    picked: tuple[int, ...]
    seen: int
    """Bits of the tickets it remembers."""
    is_beaten: bool = False


class _Agent:
    """The routes of one agent."""

    def __init__(self, check: _Check, number: int) -> None:
        problem = check.problem
        self._check = check
        self._spec = problem.agents[number]
        self._tickets = problem.tickets
        self._count = len(problem.tickets)
        self._factor = check.factor
        self._hour = check.factor * self._spec.time_cost
        self._closes = self._spec.shift[1] + self._spec.overtime
        self._distance = problem.distances[self._spec.profile].tolist()
        factor = min([1000, *(period.factor for period in problem.travel_periods)])
        self._travel = [
            [leg * factor // 1000 for leg in legs] for legs in problem.durations[self._spec.profile].tolist()
        ]
        paired = {t.pickup for t in problem.tickets if t.pickup is not None}
        self._is_half = [i in paired or t.pickup is not None for i, t in enumerate(problem.tickets)]
        locked = {ticket for other, spec in enumerate(problem.agents) if other != number for ticket in spec.locked}
        self._own = [
            i for i, t in enumerate(problem.tickets) if (t.agents is None or number in t.agents) and i not in locked
        ]
        self._switch = [
            t.switch_cost * check.factor if t.preferred not in (None, number) else 0 for t in problem.tickets
        ]
        self._apart = {pair for low, high in problem.incompatible for pair in ((low, high), (high, low))}
        if problem.backhaul and not problem.partner_of:
            kinds = [ticket.load for ticket in problem.tickets]
            self._apart |= {
                (i, j)
                for i in self._own
                for j in self._own
                if kinds[i] is LoadKind.PICKUP and kinds[j] is LoadKind.DELIVERY
            }
        self._keeps_time = bool(self._hour) or self._spec.max_duration is not None
        self._keeps_time |= any(ticket.release for ticket in problem.tickets)
        self._reached: dict[int, list[_Partial]] = {ticket: [] for ticket in self._own}
        self._memory = {ticket: self._near(ticket) for ticket in self._own}

    def _near(self, ticket: int) -> int:
        at = self._tickets[ticket].location
        nearest = sorted(self._own, key=lambda other: self._distance[self._tickets[other].location][at])
        return sum(1 << other for other in {ticket, *nearest[:_NEIGHBOURS]})

    def _leg(self, last: int | None, ticket: int | None) -> tuple[int, int]:
        """Return distance and time from one start of service, or the departure, to the next, or the end."""
        before = None if last is None else self._tickets[last]
        place = self._spec.start if before is None else before.location
        after = None if ticket is None else self._tickets[ticket]
        target = self._spec.end if after is None else after.location
        distance = travel = 0
        if place is not None and target is not None:
            distance, travel = self._distance[place][target], self._travel[place][target]
        if before is not None:
            travel += before.service
        if after is not None and (before is None or place != target):
            travel += after.setup
        return distance, travel

    def _first(self) -> _Partial:
        none = (0,) * len(self._spec.capacity)
        fixed = self._spec.fixed_cost * self._factor
        return _Partial(-1, self._spec.shift[0], 0, self._closes, fixed, 0, 0, none, none, 0)

    def _after(self, route: _Partial, ticket: int) -> _Partial | None:
        """Return a route with one more ticket; None where that is not possible."""
        spec, work = self._spec, self._tickets[ticket]
        last = None if route.last < 0 else route.last
        if route.seen >> ticket & 1 or (route.last, ticket) in self._apart:
            return None
        if spec.max_stops is not None and route.stops >= spec.max_stops:
            return None
        distance, travel = self._leg(last, ticket)
        busy, driven = route.busy + travel, route.driven + distance
        ready = max(route.ready + travel, work.release + busy if work.release else 0)
        closes = work.windows[-1][1] if work.windows else _ENDLESS
        if work.windows:
            ready = next((max(ready, opens) for opens, until in work.windows if ready <= until), _ENDLESS)
        leave = min(route.leave, closes - busy)
        if ready > min(closes, self._closes) or (spec.max_distance is not None and driven > spec.max_distance):
            return None
        if spec.max_duration is not None and max(busy, ready - leave) > spec.max_duration:
            return None
        given, taken = self._load(ticket)
        picked = tuple(a + b for a, b in zip(route.picked, taken, strict=True))
        peak = tuple(max(a + b, c) for a, b, c in zip(route.peak, given, picked, strict=True))
        if any(load > room for load, room in zip(peak, spec.capacity, strict=True)):
            return None
        late = 0 if work.soft_close is None else work.lateness_cost * max(0, ready - work.soft_close)
        spent = route.spent + self._factor * (spec.distance_cost * distance + late)
        spent += self._switch[ticket] - self._check.price[ticket]
        seen = route.seen | 1 << ticket
        return _Partial(ticket, ready, busy, leave, spent, driven, route.stops + 1, peak, picked, seen)

    def _load(self, ticket: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return what a ticket delivers and picks up; nothing for half a shipment."""
        none = (0,) * len(self._spec.capacity)
        demand = self._tickets[ticket].demand
        if self._is_half[ticket]:
            return none, none
        return (demand, none) if self._tickets[ticket].load is LoadKind.DELIVERY else (none, demand)

    def _finished(self, route: _Partial) -> int | None:
        """Return the reduced cost of a route that ends here; None where it cannot."""
        distance, travel = self._leg(route.last, None)
        end = route.ready + travel
        duration = max(route.busy + travel, end - route.leave)
        spec, driven = self._spec, route.driven + distance
        if end > self._closes or (spec.max_distance is not None and driven > spec.max_distance):
            return None
        if spec.max_duration is not None and duration > spec.max_duration:
            return None
        over = spec.overtime_cost * max(0, end - spec.shift[1])
        return route.spent + self._hour * duration + self._factor * (spec.distance_cost * distance + over)

    def least(self) -> int:
        """Return a number that no reduced cost of a route is below."""
        queue: list[tuple[int, int, _Partial]] = []
        lowest, made = 0, 0
        first = self._first()
        pending = [first]
        while pending or queue:
            route = pending.pop() if pending else heapq.heappop(queue)[2]
            if route.is_beaten:
                continue
            made += 1
            if made % 64 == 0:
                self._check.watch()
            if route.stops and (cost := self._finished(route)) is not None:
                lowest = min(lowest, cost)
            for ticket in self._own:
                if (longer := self._after(route, ticket)) is None:
                    continue
                longer.seen = longer.seen & self._memory[ticket] | 1 << ticket
                if longer.stops <= self._count and self._is_kept(longer):
                    heapq.heappush(queue, (longer.ready, id(longer), longer))
        return lowest

    def _is_kept(self, route: _Partial) -> bool:
        """Keep a route unless another one is nowhere worse; what it beats is dropped."""
        others = self._reached[route.last]
        if any(self._beats(other, route) for other in others):
            return False
        for other in others:
            other.is_beaten = self._beats(route, other)
        self._reached[route.last] = [*(other for other in others if not other.is_beaten), route]
        return True

    def _beats(self, a: _Partial, b: _Partial) -> bool:
        if a.ready > b.ready or a.seen & ~b.seen or a.stops > b.stops:
            return False
        if a.spent + self._hour * a.busy > b.spent + self._hour * b.busy:
            return False
        if self._keeps_time:
            if a.spent - self._hour * a.leave > b.spent - self._hour * b.leave:
                return False
            if a.busy > b.busy or a.leave < b.leave:
                return False
        if self._spec.max_distance is not None and a.driven > b.driven:
            return False
        loads = zip((*a.peak, *a.picked), (*b.peak, *b.picked), strict=True)
        return all(load <= other for load, other in loads)

    def within(self, budget: int) -> dict[frozenset[int], int]:
        """Return the tickets and the least reduced cost of the routes below a budget. `least` comes first."""
        found: dict[frozenset[int], int] = {}
        for ticket in self._own:
            distance, travel = self._leg(ticket, None)
            cost = self._factor * self._spec.distance_cost * distance + self._hour * travel
            self._extend_back((ticket,), cost, self._closes - travel, budget, found)
        return found

    def _extend_back(
        self, tail: tuple[int, ...], cost: int, start_by: int, budget: int, found: dict[frozenset[int], int]
    ) -> None:
        """Record the route that consists of a tail, and go on with every ticket that could come before it.

        Args:
            tail: Its tickets.
            cost: Of the tail from the service of its first ticket on: travel, time, less the prices of the others.
            start_by: When the service of its first ticket has to begin at the latest for the rest to be in time.
            budget: Exclusive.
            found: Gets the route.
        """
        self._check.watch()
        first, rest = tail[0], tail[1:]
        latest = self._latest(first, start_by)
        if latest is None or not self._can_begin(first, rest, cost, latest, budget):
            return
        if (excess := self._reduced_cost(tail)) is not None and excess < budget:
            tickets = frozenset(tail)
            found[tickets] = min(excess, found.get(tickets, _ENDLESS))
        for ticket in self._own:
            if ticket in tail or (ticket, first) in self._apart:
                continue
            distance, travel = self._leg(ticket, first)
            more = self._factor * self._spec.distance_cost * distance + self._hour * travel
            more += self._switch[first] - self._check.price[first]
            self._extend_back((ticket, *tail), cost + more, latest - travel, budget, found)

    def _latest(self, ticket: int, start_by: int) -> int | None:
        """Return the latest start of a service up to a time; None where there is none."""
        windows = self._tickets[ticket].windows or ((-_ENDLESS, _ENDLESS),)
        return max((min(closes, start_by) for opens, closes in windows if opens <= start_by), default=None)

    def _can_begin(self, first: int, rest: Sequence[int], cost: int, latest: int, budget: int) -> bool:
        """Return whether some way to the first ticket fits the tail and leaves it below the budget."""
        others = sum(1 << ticket for ticket in rest)
        loads = [self._load(ticket) for ticket in rest]
        given = [sum(each) for each in zip(*(load[0] for load in loads), strict=True)] or [0] * len(self._spec.capacity)
        taken = [sum(each) for each in zip(*(load[1] for load in loads), strict=True)] or [0] * len(self._spec.capacity)
        for way in self._reached[first]:
            if way.spent + self._hour * way.busy + cost >= budget or way.ready > latest or way.seen & others:
                continue
            if all(
                peak + more <= room and picked + extra <= room
                for peak, more, picked, extra, room in zip(
                    way.peak, given, way.picked, taken, self._spec.capacity, strict=True
                )
            ):
                return True
        return False

    def _reduced_cost(self, tickets: Sequence[int]) -> int | None:
        """Return the reduced cost of a route; None where it is not possible."""
        route: _Partial | None = self._first()
        for ticket in tickets:
            if route is None:
                return None
            route = self._after(route, ticket)
        return None if route is None else self._finished(route)
