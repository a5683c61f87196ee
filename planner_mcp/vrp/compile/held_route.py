"""Reckons the route of an agent that goes on from its past: when it ends, how long it is and how much is on board.

Owns these figures and changes nothing; what is laid on the day because of them is `compile/held.py`'s.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from planner_mcp.vrp.compile.past import Past
from planner_mcp.vrp.problem import AgentSpec, Break, Load, Problem, TicketSpec

_USUAL: Final = 1000
"""The factor of a rush that changes nothing."""


class RouteFigures:
    """Figures of routes on a day under construction, in its units.

    Args:
        problem: The day as the caller wrote it.
        tickets: The tickets as they stand when a figure is asked for: whoever lays pasts replaces them meanwhile.
        since: The hour before which nothing new begins.
    """

    def __init__(self, problem: Problem, tickets: Sequence[TicketSpec], since: int) -> None:
        self._day = problem
        self._tickets = tickets
        self._since = since
        self._drops = {each.pickup: n for n, each in enumerate(problem.tickets) if each.pickup is not None}
        factors = (_USUAL, *(rush.factor for rush in problem.rushes))
        self._quickest, self._slowest = min(factors), max(factors)

    def ends(self, agent: AgentSpec, past: Past, tickets: Sequence[int], now: int) -> int:
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
        for rest in self.ahead(agent, past):
            now += rest.duration if now > rest.window[1] else 0
        return now

    def aboard(self, tickets: Sequence[int]) -> list[int]:
        """Return the deliveries of what has been picked up and not yet delivered."""
        return [drop for ticket in tickets if (drop := self._drops.get(ticket, ticket)) not in tickets]

    def ahead(self, agent: AgentSpec, past: Past) -> list[Break]:
        """Return the breaks an agent has not begun, not before the hour; those whose time has passed are gone."""
        ahead, soonest = list(agent.breaks), max([self._since, *(visit.leave for visit in past.visits[-1:])])
        for begun in past.rests:
            start = begun.window[0]
            fits = (rest for rest in ahead if rest.window[0] <= start <= rest.window[1])
            if (taken := next(fits, ahead[0] if ahead else None)) is not None:
                ahead.remove(taken)
        return [
            replace(rest, window=(max(rest.window[0], self._since), rest.window[1]))
            for rest in ahead
            if rest.window[1] >= soonest and rest.window[0] + rest.duration > past.left
        ]

    def metres(self, agent: AgentSpec, tickets: Sequence[int]) -> int:
        """Return the length of a route through tickets in order, from the agent's start to its end."""
        places = [agent.start, *(self._tickets[ticket].location for ticket in tickets), agent.end]
        ways = [(a, b) for a, b in pairwise(places) if a is not None and b is not None]
        return sum(int(self._day.distances[agent.profile][way]) for way in ways)

    def is_short(self, agent: AgentSpec, tickets: Sequence[int]) -> bool:
        """Return whether tickets need more room than there is; never true of an agent that may reload."""
        return not agent.max_reloads and any(map(int.__gt__, self.peak(tickets), agent.capacity))

    def peak(self, tickets: Sequence[int]) -> list[int]:
        """Return the most that is on board on a trip of some tickets, by dimension."""
        specs = [self._tickets[ticket] for ticket in tickets]
        board = [0] * len(self._day.dimensions)
        for spec in specs:
            if spec.load is Load.DELIVERY and spec.pickup is None:
                board = [a + b for a, b in zip(board, spec.demand, strict=True)]
        peak = board
        for spec in specs:
            sign = 1 if spec.load is Load.PICKUP else -1
            board = [a + sign * b for a, b in zip(board, spec.demand, strict=True)]
            peak = list(map(max, peak, board))
        return peak

    def quickest(self, agent: AgentSpec, origin: int | None, target: int | None) -> int:
        """Return the time between two places at the quickest pace of the day; 0 where one of them is nowhere."""
        return self._travel(agent, origin, target, self._quickest)

    def _travel(self, agent: AgentSpec, origin: int | None, target: int | None, factor: int) -> int:
        if origin is None or target is None:
            return 0
        usual = int(self._day.durations[agent.profile][origin, target])
        return usual * factor // _USUAL if factor < _USUAL else -(-usual * factor // _USUAL)
