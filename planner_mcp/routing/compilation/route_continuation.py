"""Reckons the route of an agent that goes on from its past: when it ends, how long it is and how much is on board.

Owns these figures and changes nothing; what is laid on the day because of them is `compile/held.py`'s.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from planner_mcp.routing.compilation.executed_routes import ExecutedRoute
from planner_mcp.routing.problem import AgentSpec, Break, LoadKind, Problem, TicketSpec

_BASE_FACTOR: Final = 1000
"""The factor of a rush that changes nothing."""


class RouteFigures:
    """Figures of routes on a day under construction, in its units.

    Args:
        problem: The day as the caller wrote it.
        tickets: The tickets as they stand when a figure is asked for: whoever lays pasts replaces them meanwhile.
        since: The hour before which nothing new begins.
    """

    def __init__(self, problem: Problem, tickets: Sequence[TicketSpec], frozen_until: int) -> None:
        self._problem = problem
        self._tickets = tickets
        self._frozen_until = frozen_until
        self._drops = {each.pickup: n for n, each in enumerate(problem.tickets) if each.pickup is not None}
        factors = (_BASE_FACTOR, *(period.factor for period in problem.travel_periods))
        self._quickest, self._slowest = min(factors), max(factors)

    def ends(self, agent: AgentSpec, executed: ExecutedRoute, tickets: Sequence[int], now: int) -> int:
        """Return when an agent would be at its end if it left the last of some tickets at a given moment.

        On the way it delivers what it has on board, and takes the breaks that it cannot take at the end.
        """
        place: int | None = self._tickets[tickets[-1]].location
        for ticket in self.aboard(tickets):
            spec = self._tickets[ticket]
            now += self._travel(agent, place, spec.location, self._slowest) + spec.setup
            now = next((max(now, opens) for opens, closes in spec.windows if closes >= now), now) + spec.service
            place = spec.location
        now += self._travel(agent, place, agent.end, self._slowest)
        for break_spec in self.ahead(agent, executed):
            now += break_spec.duration if now > break_spec.window[1] else 0
        return now

    def aboard(self, tickets: Sequence[int]) -> list[int]:
        """Return the deliveries of what has been picked up and not yet delivered."""
        return [drop for ticket in tickets if (drop := self._drops.get(ticket, ticket)) not in tickets]

    def ahead(self, agent: AgentSpec, executed: ExecutedRoute) -> list[Break]:
        """Return the breaks an agent has not begun, not before the hour; those whose time has passed are gone."""
        ahead, soonest = list(agent.breaks), max([self._frozen_until, *(visit.leave for visit in executed.visits[-1:])])
        for begun in executed.breaks:
            start = begun.window[0]
            fits = (break_spec for break_spec in ahead if break_spec.window[0] <= start <= break_spec.window[1])
            if (taken := next(fits, ahead[0] if ahead else None)) is not None:
                ahead.remove(taken)
        return [
            replace(break_spec, window=(max(break_spec.window[0], self._frozen_until), break_spec.window[1]))
            for break_spec in ahead
            if break_spec.window[1] >= soonest and break_spec.window[0] + break_spec.duration > executed.left
        ]

    def metres(self, agent: AgentSpec, tickets: Sequence[int]) -> int:
        """Return the length of a route through tickets in order, from the agent's start to its end."""
        places = [agent.start, *(self._tickets[ticket].location for ticket in tickets), agent.end]
        legs = [(a, b) for a, b in pairwise(places) if a is not None and b is not None]
        return sum(int(self._problem.distances[agent.profile][leg]) for leg in legs)

    def exceeds_capacity(self, agent: AgentSpec, tickets: Sequence[int]) -> bool:
        """Return whether tickets need more room than there is; never true of an agent that may reload."""
        return not agent.max_reloads and any(map(int.__gt__, self.peak(tickets), agent.capacity))

    def peak(self, tickets: Sequence[int]) -> list[int]:
        """Return the most that is on board on a trip of some tickets, by dimension."""
        specs = [self._tickets[ticket] for ticket in tickets]
        on_board = [0] * len(self._problem.dimensions)
        for spec in specs:
            if spec.load is LoadKind.DELIVERY and spec.pickup is None:
                on_board = [a + b for a, b in zip(on_board, spec.demand, strict=True)]
        peak = on_board
        for spec in specs:
            sign = 1 if spec.load is LoadKind.PICKUP else -1
            on_board = [a + sign * b for a, b in zip(on_board, spec.demand, strict=True)]
            peak = list(map(max, peak, on_board))
        return peak

    def quickest(self, agent: AgentSpec, origin: int | None, target: int | None) -> int:
        """Return the time between two places at the quickest pace of the day; 0 where one of them is nowhere."""
        return self._travel(agent, origin, target, self._quickest)

    def _travel(self, agent: AgentSpec, origin: int | None, target: int | None, factor: int) -> int:
        if origin is None or target is None:
            return 0
        usual = int(self._problem.durations[agent.profile][origin, target])
        return usual * factor // _BASE_FACTOR if factor < _BASE_FACTOR else -(-usual * factor // _BASE_FACTOR)
