"""Evaluates the continuation of an executed route: when it ends, its length and its load.

Owns these figures and changes nothing; `compilation/frozen_prefix_compilation.py` applies them.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, permutations
from math import ceil
from typing import Final

from planner_mcp.routing.compilation.executed_routes import ExecutedRoute
from planner_mcp.routing.problem import AgentSpec, BreakSpec, LoadKind, Problem, TicketSpec

_MAX_ORDERED: Final = 5
"""Deliveries on board of which every order is tried."""
_BASE_FACTOR: Final = 1000
"""The factor of normal travel, in thousandths."""

_SetUp = Callable[[AgentSpec, int | None, TicketSpec, int], int]
"""Takes an agent, where and when it leaves, and its next ticket; returns when its service may begin."""


class RouteFigures:
    """Figures of executed routes, in units of the problem.

    Args:
        problem: The problem without the frozen prefix.
        tickets: The current tickets; the caller replaces elements between calls.
        frozen_until: The time before which no new visit begins.
    """

    def __init__(self, problem: Problem, tickets: Sequence[TicketSpec], frozen_until: int) -> None:
        self._problem = problem
        self._tickets = tickets
        self._frozen_until = frozen_until
        self._delivery_of = {each.pickup: n for n, each in enumerate(problem.tickets) if each.pickup is not None}
        factors = (_BASE_FACTOR, *(period.factor for period in problem.travel_periods))
        self._fastest_factor, self._slowest_factor = min(factors), max(factors)

    def end_time(self, agent: AgentSpec, executed: ExecutedRoute, tickets: Sequence[int], now: int) -> int:
        """Return an upper bound of the arrival at the end of a route that leaves the last of some tickets at `now`.

        On the way the agent delivers what is on board, in the best order of a few, and takes the breaks that it cannot
        take at the end.
        """
        place, owed = self._tickets[tickets[-1]].location, self.undelivered(tickets)
        orders = permutations(owed) if len(owed) <= _MAX_ORDERED else [owed]
        remaining = self.remaining(agent, executed)
        arrival = self._latest_arrival if remaining else self.arrival  # a break may put travel off into a slow hour

        def is_set_up(agent: AgentSpec, origin: int | None, spec: TicketSpec, left: int) -> int:
            return arrival(agent, origin, spec.location, left) + spec.setup

        ends = []
        for order in orders:
            late, last, left = self._delivered(agent, place, now, order, is_set_up)
            ends.append((len(late), arrival(agent, last, agent.end, left)))
        _, now = min(ends)
        for break_spec in remaining:
            now += break_spec.duration if now > break_spec.window[1] else 0
        return now

    def late_deliveries(self, agent: AgentSpec, place: int | None, now: int, tickets: Sequence[int]) -> Sequence[int]:
        """Return those of some tickets that come after their last windows, from a place and a time on, at best.

        They are the fewest, where all orders are tried.
        """
        if len(tickets) > _MAX_ORDERED:
            return [each for each in tickets if self._delivered(agent, place, now, [each], self._soonest)[0]]
        orders = permutations(tickets)
        return min((self._delivered(agent, place, now, order, self._soonest)[0] for order in orders), key=len)

    def _soonest(self, agent: AgentSpec, origin: int | None, spec: TicketSpec, left: int) -> int:
        return self.arrival(agent, origin, spec.location, left) + (spec.setup if origin != spec.location else 0)

    def _delivered(
        self, agent: AgentSpec, place: int | None, now: int, tickets: Iterable[int], is_set_up: _SetUp
    ) -> tuple[Sequence[int], int | None, int]:
        """Return which of some tickets are late in their order, and where and when the last of them has its service."""
        late: list[int] = []
        for ticket in tickets:
            spec = self._tickets[ticket]
            now = is_set_up(agent, place, spec, now)
            start = spec.start_from(now)
            late += [ticket] if start is None else []
            now = (now if start is None else start) + spec.service
            place = spec.location
        return late, place, now

    def arrival(self, agent: AgentSpec, origin: int | None, target: int | None, now: int) -> int:
        """Return when a leg ends that is left at a time and has no break."""
        left = Fraction(self._travel(agent, origin, target, _BASE_FACTOR))
        for period in self._problem.travel_periods:
            if left <= max(0, period.start - now):
                break
            if period.end > now:
                begun = max(now, period.start)
                done = Fraction((period.end - begun) * _BASE_FACTOR, period.factor)
                left -= begun - now
                if left <= done:
                    return begun + ceil(left * period.factor / _BASE_FACTOR)
                left, now = left - done, period.end
        return now + ceil(left)

    def _latest_arrival(self, agent: AgentSpec, origin: int | None, target: int | None, now: int) -> int:
        return now + self.slowest_travel(agent, origin, target)

    def undelivered(self, tickets: Sequence[int]) -> list[int]:
        """Return the deliveries of shipments that are on board after some tickets."""
        known = {*tickets}
        return [delivery for ticket in tickets if (delivery := self._delivery_of.get(ticket, ticket)) not in known]

    def remaining(self, agent: AgentSpec, executed: ExecutedRoute) -> list[BreakSpec]:
        """Return the breaks an agent has not begun and can still take, from the freeze time on."""
        soonest = self._free_at(executed)
        return [
            replace(break_spec, window=(max(break_spec.window[0], self._frozen_until), break_spec.window[1]))
            for break_spec in self._ahead(agent, executed)
            if break_spec.window[1] >= soonest
        ]

    def missed(self, agent: AgentSpec, executed: ExecutedRoute) -> list[BreakSpec]:
        """Return the breaks an agent has not begun and can take no more: it was not free by their latest start."""
        soonest = self._free_at(executed)
        return [break_spec for break_spec in self._ahead(agent, executed) if break_spec.window[1] < soonest]

    def _free_at(self, executed: ExecutedRoute) -> int:
        return max([self._frozen_until, *(visit.departure for visit in executed.visits[-1:])])

    def _ahead(self, agent: AgentSpec, executed: ExecutedRoute) -> list[BreakSpec]:
        """Return the breaks an agent has not begun, without those that were over when it departed."""
        ahead = list(agent.breaks)
        for begun in executed.breaks:
            start = begun.window[0]
            fits = (break_spec for break_spec in ahead if break_spec.window[0] <= start <= break_spec.window[1])
            if (taken := next(fits, ahead[0] if ahead else None)) is not None:
                ahead.remove(taken)
        return [break_spec for break_spec in ahead if break_spec.earliest_end > executed.departed_at]

    def exceeds_distance(self, agent: AgentSpec, executed: ExecutedRoute | None, tickets: Sequence[int]) -> bool:
        """Return whether a route through tickets in order is longer than its agent may drive."""
        return agent.max_distance is not None and self.distance(agent, executed, tickets) > agent.max_distance

    def distance(self, agent: AgentSpec, executed: ExecutedRoute | None, tickets: Sequence[int]) -> int:
        """Return the distance of a route through tickets and recorded reloads, from its start to its end, in units."""
        stops: list[int | None] = [self._tickets[ticket].location for ticket in tickets]
        for place, after in reversed(self.reloads(agent, executed)):
            stops.insert(after, place)
        places = [agent.start, *stops, agent.end]
        legs = [(a, b) for a, b in pairwise(places) if a is not None and b is not None]
        return sum(int(self._problem.distances[agent.profile][leg]) for leg in legs)

    def exceeds_capacity(self, agent: AgentSpec, executed: ExecutedRoute | None, tickets: Sequence[int]) -> bool:
        """Return whether tickets exceed the capacity; False where the agent may reload and no reloads are recorded."""
        if agent.max_reloads and (executed is None or executed.reloads is None):
            return False
        return any(map(int.__gt__, self.peak_load(agent, executed, tickets), agent.capacity))

    def peak_load(self, agent: AgentSpec, executed: ExecutedRoute | None, tickets: Sequence[int]) -> list[int]:
        """Return the largest load on a trip of some tickets, by dimension; shipments stay on board in a reload."""
        shipped = peak_load = [0] * len(self._problem.dimensions)
        cuts = [after for _, after in self.reloads(agent, executed)]
        for begin, end in pairwise([0, *cuts, len(tickets)]):
            on_board = shipped
            for spec in (self._tickets[ticket] for ticket in tickets[begin:end]):
                if spec.load is LoadKind.DELIVERY and spec.pickup is None:
                    on_board = [a + b for a, b in zip(on_board, spec.demand, strict=True)]
            peak_load = list(map(max, peak_load, on_board))
            for ticket in tickets[begin:end]:
                spec = self._tickets[ticket]
                sign = 1 if spec.load is LoadKind.PICKUP else -1
                on_board = [a + sign * b for a, b in zip(on_board, spec.demand, strict=True)]
                peak_load = list(map(max, peak_load, on_board))
                if ticket in self._problem.partner_of:
                    shipped = [a + sign * b for a, b in zip(shipped, spec.demand, strict=True)]
        return peak_load

    def reloads(self, agent: AgentSpec, executed: ExecutedRoute | None) -> list[tuple[int, int]]:
        """Return the recorded reloads, place and visits before, at places where the agent may still reload."""
        recorded = () if executed is None else executed.reloads or ()
        return [reload for reload in recorded if reload[0] in agent.reload_depots]

    def fastest_travel(self, agent: AgentSpec, origin: int | None, target: int | None) -> int:
        """Return the travel time between two places at the fastest speed; 0 where one of them is None."""
        return self._travel(agent, origin, target, self._fastest_factor)

    def slowest_travel(self, agent: AgentSpec, origin: int | None, target: int | None) -> int:
        """Return the travel time between two places at the slowest speed; 0 where one of them is None."""
        return self._travel(agent, origin, target, self._slowest_factor)

    def _travel(self, agent: AgentSpec, origin: int | None, target: int | None, factor: int) -> int:
        if origin is None or target is None:
            return 0
        usual = int(self._problem.durations[agent.profile][origin, target])
        return usual * factor // _BASE_FACTOR if factor < _BASE_FACTOR else -(-usual * factor // _BASE_FACTOR)
