"""Every set of tickets that one agent of a small day can serve, with its cheapest route, by all rules of the model.

Owns the growing of partial routes: by a ticket or a reload, with each choice of breaks on the way. One is kept unless
another with the same tickets and the same last stop is nowhere worse, or no end of it is below a limit. Travel takes
the time of the best hour of the day. The check of small days lists routes by code of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import Final, NamedTuple

import numpy as np

from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.feasibility.cheapest_legs import shortest_paths_over
from planner_mcp.routing.problem import GroupKind, LoadKind, Problem, Stop, StopKind
from workers.engines.bounds.departure_ranges import (
    DepartureRange,
    charged_after,
    is_no_worse,
    not_after,
    not_before,
    not_longer,
    settled,
    within,
)

MAX_PARTIAL: Final = 400_000
"""Partial routes that are kept: 300 MB or so."""
MOST_BREAKS: Final = 3
"""Further breaks take no time."""
_NEVER: Final = 2**60
_POLL: Final = 128
"""Partial routes between two looks at the clock."""

Amounts = tuple[int, ...]


class EnumeratedRoute(NamedTuple):
    """The cheapest route of a set of tickets; costs are multiplied by the factor."""

    cost: int
    stops: tuple[Stop, ...]


class _Group(NamedTuple):
    """What partial routes have in common that are compared with one another."""

    served: int
    """Bits of tickets."""
    last: int
    """A ticket, a place of reload after these, or the start."""
    breaks: int
    """Bits of breaks taken, or before the route."""
    picked_up: bool
    """Whether the trip has a pickup, after which the backhaul rule admits no delivery."""


class _PartialRoute(NamedTuple):
    """A route up to the start of service at its last ticket, or to the departure from its last reload."""

    timing: DepartureRange
    distance: int
    reloads: int
    releases: int
    """Tickets of this trip may be released up to then: the trip leaves no sooner."""
    peak: Amounts
    """The most that was on board on this trip, with all that it delivers so far."""
    on_board: Amounts
    """Now, without deliveries of the trip to come."""
    stops: tuple[Stop, ...]


class _Pause(NamedTuple):
    """Breaks taken on one leg, in an order."""

    taken: int
    length: int
    latest: int
    """Latest time at which the leg begins."""
    until: int
    """Earliest time at which the last of the breaks ends."""
    order: tuple[int, ...]


class EnumerationEndedError(Exception):
    """It was stopped, or would take too much memory."""


class RouteEnumeration:
    """The routes of one agent.

    Args:
        problem: A small one.
        agent: Its index.
        factor: Costs are multiplied by it.
        prices: By ticket: what a limit is raised by where it is served.
        is_over: Whether to stop.
    """

    def __init__(
        self,
        problem: Problem,
        agent: int,
        factor: int,
        prices: Sequence[int],
        is_over: Callable[[], bool],
    ) -> None:
        self._problem = problem
        self._agent = agent
        self._factor = factor
        self._prices = prices
        self._spec = spec = problem.agents[agent]
        self._is_over = is_over
        self._per_time = factor * spec.time_cost
        self._closes = spec.latest_end
        self._breaks = spec.breaks[:MOST_BREAKS]
        self._count = len(problem.tickets)
        self._edge = self._count + len(spec.reload_depots)
        self._distance, self._travel, self._setup = self._legs()
        self._tickets = [number for number in range(self._count) if self._may_serve(number)]
        self._mine = sum(1 << ticket for ticket in self._tickets)
        self._releases = sorted({0, *(problem.tickets[each].release for each in self._tickets)})
        self._excluded = self._excluded_by_ticket()
        self._pauses = [list(self._pauses_after(taken)) for taken in range(1 << len(self._breaks))]
        self._rest = self._least_rests()
        self._limit_duration(None)

    def _limit_duration(self, max_duration: int | None) -> None:
        """Begin a new enumeration of routes that take at most so long, besides the limit of the agent."""
        self._max_duration = min((n for n in (self._spec.max_duration, max_duration) if n is not None), default=None)
        self._is_limited = self._max_duration is not None
        self._kept: dict[_Group, list[_PartialRoute]] = {}
        self._steps = 0

    # ---- what it may serve

    def _may_serve(self, ticket: int) -> bool:
        is_held = any(n != self._agent and ticket in spec.locked for n, spec in enumerate(self._problem.agents))
        return self._problem.tickets[ticket].admits(self._agent) and not is_held

    def _excluded_by_ticket(self) -> list[int]:
        found = [0] * self._count
        pairs = [pair for low, high in self._problem.incompatible for pair in ((low, high), (high, low))]
        for group in self._problem.groups:
            if group.kind is GroupKind.ONE_OF:
                pairs += permutations(group.tickets, 2)
        for ticket, other in pairs:
            found[ticket] |= 1 << other
        return found

    def _may_follow(self, group: _Group, partial: _PartialRoute, ticket: int) -> bool:
        served, work, spec = group.served, self._problem.tickets[ticket], self._spec
        if served >> ticket & 1 or served & self._excluded[ticket] or work.release > partial.releases:
            return False
        if spec.max_stops is not None and served.bit_count() >= spec.max_stops:
            return False
        if work.pickup is not None and not served >> work.pickup & 1:
            return False
        if next((each for each in spec.locked if not served >> each & 1), ticket) != ticket:
            return False
        is_delivery = work.load is LoadKind.DELIVERY and ticket not in self._problem.partner_of
        return not (is_delivery and group.picked_up)

    def _is_complete(self, served: int) -> bool:
        """Return whether a route may serve these tickets and no other."""
        tickets, spec = self._problem.tickets, self._spec
        numbers = [number for number in range(self._count) if served >> number & 1]
        if not numbers or any(each not in numbers for each in spec.locked):
            return False
        if any(self._problem.partner_of.get(each, each) not in numbers for each in numbers):
            return False
        counted = [tickets[each].demand for each in numbers if tickets[each].pickup is None]
        return all(sum(each[d] for each in counted) >= least for d, least in enumerate(spec.min_load))

    # ---- legs, and the least that remains

    def _legs(self) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
        """Return distance, travel and setup from stop to stop, then from the start (row) and to the end (column)."""
        spec, tickets = self._spec, self._problem.tickets
        stops: list[int | None] = [*(ticket.location for ticket in tickets), *spec.reload_depots]
        tables = self._problem.distances[spec.profile], fastest_durations(self._problem)[spec.profile]
        origins, targets = [*stops, spec.start], [*stops, spec.end]
        distance, travel = (
            [[0 if i is None or j is None else int(table[i, j]) for j in targets] for i in origins] for table in tables
        )
        setup = [[tickets[n].setup if n < self._count and i != j else 0 for n, j in enumerate(targets)] for i in stops]
        setup.append([*(ticket.setup for ticket in tickets), *[0] * (self._edge + 1 - self._count)])
        return distance, travel, setup

    def _service(self, stop: int) -> int:
        return self._problem.tickets[stop].service if stop < self._count else 0

    def _least_rests(self) -> list[list[int]]:
        """Return by stop and set of tickets what a route costs at least from there on, less what it earns.

        It may serve any of the set and pass places of reload; loads, times and all limits are left out.
        """
        spec, count, edge = self._spec, self._count, self._edge
        ways = self._factor * spec.distance_cost * np.array(self._distance) + self._per_time * np.array(self._travel)
        ways = shortest_paths_over(ways, range(count, edge))
        setup = np.array(self._setup)
        for ticket in self._tickets:  # after a reload at its place there is none
            setup[:, ticket] *= self._problem.tickets[ticket].location not in spec.reload_depots
        ways += self._per_time * (setup + np.array([[self._service(stop)] for stop in range(edge + 1)]))
        sets = np.arange(1 << count)
        sizes = np.array([int(each).bit_count() for each in sets])
        rest = np.repeat(ways[:, [edge]], len(sets), axis=1)
        for size in range(1, len(self._tickets) + 1):
            for ticket in self._tickets:
                among = np.flatnonzero((sizes == size) & (sets >> ticket & 1 == 1))
                after = rest[ticket, among - (1 << ticket)] - self._prices[ticket]
                rest[:, among] = np.minimum(rest[:, among], ways[:, [ticket]] + after)
        return [row.tolist() for row in rest]

    def _worth(self, served: int) -> int:
        return sum(price for ticket, price in enumerate(self._prices) if served >> ticket & 1)

    # ---- the enumeration

    def below(self, limit: int, max_duration: int | None) -> dict[int, EnumeratedRoute]:
        """Return the cheapest route of each set of tickets, as bits, that costs less than a limit and its prices.

        Args:
            limit: Multiplied by the factor.
            max_duration: A limit besides that of the agent.

        Raises:
            EnumerationEndedError: It was stopped, or would take too much memory.
        """
        self._limit_duration(max_duration)
        found: dict[int, EnumeratedRoute] = {}
        fresh = self._departures()
        while fresh:
            for group, partials in fresh.items():
                self._kept.setdefault(group, []).extend(partials)
            longer: dict[_Group, list[_PartialRoute]] = {}
            for group, partials in fresh.items():
                is_complete, worth = self._is_complete(group.served), self._worth(group.served)
                for partial in partials:
                    self._count_step()
                    if is_complete:
                        self._finish(group, partial, limit + worth, found)
                    for target in self._targets(group, partial):
                        self._lengthen(group, partial, target, limit + worth, longer)
            fresh = longer
        return found

    def _count_step(self) -> None:
        self._steps += 1
        if self._steps > MAX_PARTIAL or (self._steps % _POLL == 0 and self._is_over()):
            raise EnumerationEndedError

    def _departures(self) -> dict[_Group, list[_PartialRoute]]:
        """Return the empty route, once for each range of departures with the same releases and breaks before it."""
        opens, found = self._spec.shift[0], dict[_Group, list[_PartialRoute]]()
        edges = [*self._releases, *(rest.earliest_end for rest in self._breaks)]
        starts = sorted({opens, *(each for each in edges if opens < each <= self._closes)})
        empty = (0,) * len(self._spec.capacity)
        for at, until in zip(starts, [*(each - 1 for each in starts[1:]), self._closes], strict=True):
            past = sum(1 << n for n, rest in enumerate(self._breaks) if at >= rest.earliest_end)
            cost = self._factor * self._spec.fixed_cost - self._per_time * at
            timing = DepartureRange(cost, -self._per_time, at, 1, at, until - at)
            timing = settled(timing, is_limited=self._is_limited)
            group = _Group(0, self._edge, past, picked_up=False)
            found.setdefault(group, []).append(_PartialRoute(timing, 0, 0, at, empty, empty, ()))
        return found

    def _targets(self, group: _Group, partial: _PartialRoute) -> Iterator[int]:
        for ticket in self._tickets:
            if self._may_follow(group, partial, ticket):
                yield ticket
        if partial.reloads < self._spec.max_reloads:
            yield from range(self._count, self._edge)

    def _lengthen(
        self,
        group: _Group,
        partial: _PartialRoute,
        target: int,
        limit: int,
        longer: dict[_Group, list[_PartialRoute]],
    ) -> None:
        """Keep what becomes of a partial route by one more stop, where it may cost less than the limit."""
        distance = partial.distance + self._distance[group.last][target]
        if self._spec.max_distance is not None and distance > self._spec.max_distance:
            return
        is_ticket = target < self._count
        served = group.served | (1 << target if is_ticket else 0)
        rest = self._rest[target][self._mine & ~served] - (self._prices[target] if is_ticket else 0)
        leg = self._factor * self._spec.distance_cost * self._distance[group.last][target]
        leg += self._per_time * (self._service(group.last) + self._travel[group.last][target])
        if partial.timing.least(self._per_time) + leg + rest >= limit:
            return
        for after, each in (
            self._served(group, partial, target) if is_ticket else self._reloaded(group, partial, target)
        ):
            if each.timing.least(self._per_time) + rest < limit:
                kept = each._replace(distance=0 if self._spec.max_distance is None else distance)
                self._keep(after, kept, longer)

    def _keep(self, group: _Group, partial: _PartialRoute, fresh: dict[_Group, list[_PartialRoute]]) -> None:
        rivals = fresh.setdefault(group, [])
        if any(self._beats(each, partial) for each in rivals):
            return
        if any(self._beats(each, partial) for each in self._kept.get(group, ())):
            return
        rivals[:] = [each for each in rivals if not self._beats(partial, each)]
        rivals.append(partial)

    def _beats(self, a: _PartialRoute, b: _PartialRoute) -> bool:
        return (
            a.distance <= b.distance
            and a.reloads <= b.reloads
            and a.releases >= b.releases
            and (a.peak == b.peak or all(map(int.__le__, a.peak, b.peak)))
            and (a.on_board == b.on_board or all(map(int.__le__, a.on_board, b.on_board)))
            and is_no_worse(a.timing, b.timing, is_limited=self._is_limited)
        )

    def _drives(self, group: _Group, partial: _PartialRoute, target: int) -> Iterator[tuple[_Pause, DepartureRange]]:
        """Yield the breaks taken and the arrival, with each choice of breaks on the way."""
        cost = self._factor * self._spec.distance_cost * self._distance[group.last][target]
        free, travel = partial.timing.later(self._service(group.last), cost), self._travel[group.last][target]
        for pause in self._pauses[group.breaks]:
            if not pause.length:
                yield pause, free.later(travel, 0)
            elif (early := not_after(free, pause.latest)) is not None:
                arrival = early.later(travel + pause.length, 0)
                for each in not_before(arrival, pause.until, is_limited=self._is_limited):
                    yield pause, each

    def _limited(self, timing: DepartureRange) -> DepartureRange | None:
        timely = not_after(timing, self._closes)
        return timely if timely is None or self._max_duration is None else not_longer(timely, self._max_duration)

    def _served(self, group: _Group, partial: _PartialRoute, ticket: int) -> Iterator[tuple[_Group, _PartialRoute]]:
        work, spec, factor = self._problem.tickets[ticket], self._spec, self._factor
        peak, on_board, picks_up = self._loaded(partial, ticket)
        if any(map(int.__gt__, peak, spec.capacity)):
            return
        setup = self._setup[group.last][ticket]
        switch = factor * work.switch_price(self._agent)
        price = 0 if work.soft_close is None else factor * work.lateness_cost
        has_picked_up = group.picked_up or (picks_up and self._problem.backhaul)
        for pause, arrival in self._drives(group, partial, ticket):
            after = _Group(group.served | 1 << ticket, ticket, pause.taken, has_picked_up)
            stops = self._stops(partial, pause, ticket)
            for start in within(arrival.later(setup, switch), work.windows, is_limited=self._is_limited):
                if (timely := self._limited(start)) is None:
                    continue
                for each in charged_after(timely, work.soft_close or 0, price, is_limited=self._is_limited):
                    yield after, _PartialRoute(each, 0, partial.reloads, partial.releases, peak, on_board, stops)

    def _loaded(self, partial: _PartialRoute, ticket: int) -> tuple[Amounts, Amounts, bool]:
        """Return peak and load after a ticket, and whether it is a pickup without a delivery on the route."""
        work, is_half = self._problem.tickets[ticket], ticket in self._problem.partner_of
        if work.load is LoadKind.DELIVERY and not is_half:
            return tuple(map(int.__add__, partial.peak, work.demand)), partial.on_board, False
        change = int.__sub__ if work.pickup is not None else int.__add__
        on_board = tuple(map(change, partial.on_board, work.demand))
        return tuple(map(max, partial.peak, on_board)), on_board, not is_half

    def _reloaded(self, group: _Group, partial: _PartialRoute, place: int) -> Iterator[tuple[_Group, _PartialRoute]]:
        """Yield the route up to a reload, once for each release that the next trip may await."""
        shipped = self._shipped(group.served)
        for pause, arrival in self._drives(group, partial, place):
            after = _Group(group.served, place, pause.taken, picked_up=False)
            stops = self._stops(partial, pause, place)
            passed = sum(each <= arrival.ready for each in self._releases)
            for release in self._releases[max(0, passed - 1) :]:
                for leaving in not_before(arrival, release, is_limited=self._is_limited):
                    if (each := self._limited(leaving)) is not None:
                        yield after, _PartialRoute(each, 0, partial.reloads + 1, release, shipped, shipped, stops)

    def _shipped(self, served: int) -> Amounts:
        """Return what is on board of shipments."""
        total = (0,) * len(self._spec.capacity)
        for delivery, ticket in enumerate(self._problem.tickets):
            if ticket.pickup is not None and served >> ticket.pickup & 1 and not served >> delivery & 1:
                total = tuple(map(int.__add__, total, ticket.demand))
        return total

    def _pauses_after(self, taken: int) -> Iterator[_Pause]:
        """Yield the choices of breaks on a leg of a route that needs some no more."""
        left = [number for number in range(len(self._breaks)) if not taken >> number & 1]
        for size in range(len(left) + 1):
            for order in permutations(left, size):
                latest, until, length, is_possible = _NEVER, -_NEVER, 0, True
                for rest in map(self._breaks.__getitem__, order):
                    is_possible &= until <= rest.window[1]
                    latest = min(latest, rest.window[1] - length)
                    until = max(until, rest.window[0]) + rest.duration
                    length += rest.duration
                if is_possible:
                    yield _Pause(taken | sum(1 << number for number in order), length, latest, until, order)

    def _finish(self, group: _Group, partial: _PartialRoute, limit: int, found: dict[int, EnumeratedRoute]) -> None:
        """Keep the route that ends here, where it is the cheapest of its tickets and below the limit."""
        spec, edge = self._spec, self._edge
        distance = partial.distance + self._distance[group.last][edge]
        if spec.max_distance is not None and distance > spec.max_distance:
            return
        for pause, arrival in self._drives(group, partial, edge):
            left = [rest.window[1] for n, rest in enumerate(self._breaks) if not pause.taken >> n & 1]
            timely = self._limited(arrival)
            end = None if timely is None else not_after(timely, min(left, default=_NEVER))  # before the other breaks
            if end is None:
                continue
            price = self._factor * spec.overtime_cost
            for each in charged_after(end, spec.shift[1], price, is_limited=self._is_limited):
                cost = each.least(self._per_time)
                if cost < limit and (group.served not in found or cost < found[group.served].cost):
                    found[group.served] = EnumeratedRoute(cost, self._stops(partial, pause, edge))

    def _stops(self, partial: _PartialRoute, pause: _Pause, target: int) -> tuple[Stop, ...]:
        """Return the stops up to a target; the end is none."""
        breaks = (Stop(StopKind.BREAK, number) for number in pause.order)
        if target == self._edge:
            return (*partial.stops, *breaks)
        if target < self._count:
            return (*partial.stops, *breaks, Stop(StopKind.TICKET, target))
        return (*partial.stops, *breaks, Stop(StopKind.RELOAD, self._spec.reload_depots[target - self._count]))
