"""Time rescaling: a surrogate problem with constant travel times, on a time axis measured in work driven.

On the rescaled axis a unit of time is the time in which one unit of travel is driven. Travel then takes the same at
every time, while the lengths of services and breaks depend on the time. Owns the translation of a problem: windows,
shifts and releases are mapped to the new axis, services and breaks take the longest they can inside their windows.
Rounding is conservative, so that a plan on time on the new axis is on time in the problem: each leg takes one unit
more, because a real arrival is a whole unit. Costs per time are translated by a mean rate, so prices are estimates.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.time_dependent_travel import BASE_FACTOR, TravelSpeeds
from planner_mcp.routing.problem import AgentSpec, BreakSpec, Feature, Problem, TicketSpec, TravelPeriod

ALL_TRAVEL: Final = Fraction(1)
"""The travel share at which all of a travel period counts as driven; the surrogate is then conservative."""

_Span = tuple[int, int]


def rescaled_problem(problem: Problem, share: Fraction = ALL_TRAVEL) -> Problem:
    """Return the surrogate on the rescaled time axis; indexes of agents, tickets and locations are unchanged.

    Args:
        problem: A problem with travel periods.
        share: Assumed share of driving in the time inside travel periods. Below 1 it is a mean: a plan on time in the
            surrogate may be late in the problem.
    """
    time_map = _TimeMap(problem.travel_periods, share)
    opens = min(agent.shift[0] for agent in problem.agents)
    closes = max(agent.latest_end for agent in problem.agents)
    translation = _ProblemTranslation(time_map, (opens, max(opens, closes)), is_certain=share == ALL_TRAVEL)
    profiles = {agent.profile for agent in problem.agents}
    return replace(
        problem,
        agents=tuple(translation.agent(agent) for agent in problem.agents),
        tickets=tuple(translation.ticket(ticket) for ticket in problem.tickets),
        durations=tuple(np.where(table > 0, table + time_map.unit, table) for table in problem.durations),
        span_cost=translation.rate(problem.span_cost),
        travel_periods=(),
        frozen_until=time_map.ceil(problem.frozen_until),
        features=problem.features - {Feature.RUSH_HOURS} - ({Feature.PROFILES} if len(profiles) == 1 else set()),
    )


class _TimeMap:
    """Maps times to the rescaled axis: the work driven since time 0, in units of normal travel."""

    def __init__(self, travel_periods: Iterable[TravelPeriod], share: Fraction) -> None:
        scaled = [
            replace(period, factor=max(1, BASE_FACTOR + round(share * (period.factor - BASE_FACTOR))))
            for period in travel_periods
        ]
        speeds = TravelSpeeds(scaled)
        self.edges = speeds.edges
        self._per_unit = speeds.per_unit
        self._bases = [speeds.edges[0], *speeds.edges]
        self._done = [0, *(speeds.done(speeds.edges[0], edge) for edge in speeds.edges)]
        self._speeds = [speeds.per_unit, *(speeds.done(edge, edge + 1) for edge in speeds.edges)]
        self._work_at_zero = 0
        self._work_at_zero = self._work(0)
        self.unit = -(-max(self._speeds) // speeds.per_unit)
        """The most work done in one unit of time, rounded up to units."""

    def ceil(self, time: int) -> int:
        """Return the rescaled time, rounded up."""
        return -(-self._work(time) // self._per_unit)

    def floor(self, time: int) -> int:
        """Return the rescaled time, rounded down."""
        return self._work(time) // self._per_unit

    def most(self, duration: int, span: _Span) -> int:
        """Return the longest rescaled length of a duration that begins inside a span, rounded up."""
        return -(-max(self._lengths(duration, span)) // self._per_unit)

    def shortest(self, duration: int, span: _Span) -> int:
        """Return the shortest rescaled length of a duration that begins inside a span, rounded down."""
        return min(self._lengths(duration, span)) // self._per_unit

    def _lengths(self, duration: int, span: _Span) -> list[int]:
        """Return the rescaled lengths of a duration at the begins where they may be extreme, in work."""
        extremes = {edge - floor for edge in self.edges for floor in (0, duration)}
        begins = [*span, *(turn for turn in extremes if span[0] < turn < span[1])]
        return [self._work(time + duration) - self._work(time) for time in begins]

    def _work(self, time: int) -> int:
        at = bisect_right(self.edges, time)
        return self._done[at] + self._speeds[at] * (time - self._bases[at]) - self._work_at_zero


class _ProblemTranslation:
    """Translates a problem to the rescaled axis.

    Args:
        time_map: The map of times.
        planning_span: From the first shift start to the last shift end, in units.
        is_certain: Whether services take the longest they may; otherwise they keep their length.
    """

    def __init__(self, time_map: _TimeMap, planning_span: _Span, *, is_certain: bool) -> None:
        self._time_map = time_map
        self._planning_span = planning_span
        self._is_certain = is_certain
        self._longest = cache(time_map.most)
        self._mean_rate = Fraction(
            max(1, planning_span[1] - planning_span[0]),
            max(1, time_map.floor(planning_span[1]) - time_map.ceil(planning_span[0])),
        )

    def agent(self, agent: AgentSpec) -> AgentSpec:
        """Return an agent on the rescaled axis."""
        shift, over = self._span(agent.shift), agent.latest_end
        longest = agent.max_duration
        if longest is not None:
            longest = self._time_map.shortest(longest, (agent.shift[0], max(agent.shift[0], over - longest)))
        return replace(
            agent,
            shift=shift,
            overtime=max(0, self._time_map.floor(over) - shift[1]),
            max_duration=longest,
            time_cost=self.rate(agent.time_cost),
            overtime_cost=self.rate(agent.overtime_cost),
            breaks=tuple(self._break(break_spec) for break_spec in agent.breaks),
        )

    def ticket(self, ticket: TicketSpec) -> TicketSpec:
        """Return a ticket on the rescaled axis."""
        opens, closes = (ticket.windows[0][0], ticket.windows[-1][1]) if ticket.windows else self._planning_span
        return replace(
            ticket,
            windows=tuple(self._span(window) for window in ticket.windows),
            soft_close=None if ticket.soft_close is None else self._time_map.floor(ticket.soft_close),
            lateness_cost=self.rate(ticket.lateness_cost),
            service=self._length(ticket.service, (opens, closes)),
            setup=self._length(ticket.setup, (min(opens, self._planning_span[0]), closes)),
            release=self._time_map.ceil(ticket.release),
        )

    def rate(self, cost: int) -> int:
        """Return a cost per unit of rescaled time, by the mean rate of the planning span."""
        return max(1, round(cost * self._mean_rate)) if cost else 0

    def _break(self, break_spec: BreakSpec) -> BreakSpec:
        return BreakSpec(self._span(break_spec.window), self._length(break_spec.duration, break_spec.window))

    def _length(self, duration: int, span: _Span) -> int:
        return self._longest(duration, span) if duration and self._is_certain else duration

    def _span(self, span: _Span) -> _Span:
        """Return a span on the rescaled axis, not empty."""
        opens = self._time_map.ceil(span[0])
        return opens, max(opens, self._time_map.floor(span[1]))
