"""The day by a clock that shows what can be driven, for an engine that knows no hours.

In a rush that clock runs slower, so travel takes the same at every hour, and what changes with the hour is how long a
service or a break takes by it. Owns the translation of a day: windows, shifts and releases to the moment the clock then
shows, services and breaks to the most they may take where they may lie. Rounded so that whoever is in time by this
clock is in time on the real one: each leg takes a unit more, for a real arrival is a whole unit. What hours cost is
translated at the mean of the day, so prices are estimates.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.time_dependent_travel import BASE_FACTOR, TravelSpeeds
from planner_mcp.routing.problem import AgentSpec, Break, Feature, Problem, TicketSpec, TravelPeriod

ALL_TRAVEL: Final = Fraction(1)
"""The share at which the clock counts every moment of a rush as driven."""

_Span = tuple[int, int]


def rescaled_problem(problem: Problem, share: Fraction = ALL_TRAVEL) -> Problem:
    """Return the day by the clock of what can be driven; agents, tickets and locations keep their numbers.

    Args:
        problem: A day with rushes.
        share: Of the time in a rush, how much is taken to be spent on the way, the rest with services. Below 1 that is
            a mean: what is in time by such a clock may be late on the real one.
    """
    clock = _RescaledClock(problem.travel_periods, share)
    opens = min(agent.shift[0] for agent in problem.agents)
    closes = max(agent.shift[1] + agent.overtime for agent in problem.agents)
    translation = _Translation(clock, (opens, max(opens, closes)), is_certain=share == ALL_TRAVEL)
    kinds = {agent.profile for agent in problem.agents}
    return replace(
        problem,
        agents=tuple(translation.agent(agent) for agent in problem.agents),
        tickets=tuple(translation.ticket(ticket) for ticket in problem.tickets),
        durations=tuple(np.where(table > 0, table + clock.unit, table) for table in problem.durations),
        span_cost=translation.rate(problem.span_cost),
        travel_periods=(),
        frozen_until=clock.after(problem.frozen_until),
        features=problem.features - {Feature.RUSH_HOURS} - ({Feature.PROFILES} if len(kinds) == 1 else set()),
    )


class _RescaledClock:
    """What can be driven since a moment of the day, in units of undisturbed travel."""

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
        self._shown_at_zero = 0
        self._shown_at_zero = self._work(0)
        self.unit = -(-max(self._speeds) // speeds.per_unit)
        """The most a unit of time counts, rounded up."""

    def after(self, moment: int) -> int:
        """Return what the clock shows, rounded up."""
        return -(-self._work(moment) // self._per_unit)

    def before(self, moment: int) -> int:
        """Return what the clock shows, rounded down."""
        return self._work(moment) // self._per_unit

    def most(self, duration: int, span: _Span) -> int:
        """Return the most that so long may take by the clock, rounded up, where it begins inside a span."""
        return -(-max(self._lengths(duration, span)) // self._per_unit)

    def least(self, duration: int, span: _Span) -> int:
        """Return the least that so long may take by the clock, rounded down, where it begins inside a span."""
        return min(self._lengths(duration, span)) // self._per_unit

    def _lengths(self, duration: int, span: _Span) -> list[int]:
        """Return what so long takes by the clock wherever that may be extreme, in work."""
        turns = {edge - before for edge in self.edges for before in (0, duration)}
        begun = [*span, *(turn for turn in turns if span[0] < turn < span[1])]
        return [self._work(moment + duration) - self._work(moment) for moment in begun]

    def _work(self, moment: int) -> int:
        at = bisect_right(self.edges, moment)
        return self._done[at] + self._speeds[at] * (moment - self._bases[at]) - self._shown_at_zero


class _Translation:
    """A day from one clock to the other.

    Args:
        clock: The other.
        day: From the first moment at which anybody may be out to the last.
        is_certain: Whether a service takes the most it may, else what it takes outside every rush.
    """

    def __init__(self, clock: _RescaledClock, day: _Span, *, is_certain: bool) -> None:
        self._clock = clock
        self._day = day
        self._is_certain = is_certain
        self._most = cache(clock.most)
        self._synonyms_of = Fraction(max(1, day[1] - day[0]), max(1, clock.before(day[1]) - clock.after(day[0])))

    def agent(self, agent: AgentSpec) -> AgentSpec:
        """Return an agent by the clock."""
        shift, over = self._span(agent.shift), agent.shift[1] + agent.overtime
        longest = agent.max_duration
        if longest is not None:
            longest = self._clock.least(longest, (agent.shift[0], max(agent.shift[0], over - longest)))
        return replace(
            agent,
            shift=shift,
            overtime=max(0, self._clock.before(over) - shift[1]),
            max_duration=longest,
            time_cost=self.rate(agent.time_cost),
            overtime_cost=self.rate(agent.overtime_cost),
            breaks=tuple(self._break(rest) for rest in agent.breaks),
        )

    def ticket(self, ticket: TicketSpec) -> TicketSpec:
        """Return a ticket by the clock."""
        opens, closes = (ticket.windows[0][0], ticket.windows[-1][1]) if ticket.windows else self._day
        return replace(
            ticket,
            windows=tuple(self._span(window) for window in ticket.windows),
            soft_close=None if ticket.soft_close is None else self._clock.before(ticket.soft_close),
            lateness_cost=self.rate(ticket.lateness_cost),
            service=self._taken(ticket.service, (opens, closes)),
            setup=self._taken(ticket.setup, (min(opens, self._day[0]), closes)),
            release=self._clock.after(ticket.release),
        )

    def rate(self, cost: int) -> int:
        """Return what a unit of time costs by the clock, of the mean of the day."""
        return max(1, round(cost * self._synonyms_of)) if cost else 0

    def _break(self, rest: Break) -> Break:
        return Break(self._span(rest.window), self._taken(rest.duration, rest.window))

    def _taken(self, duration: int, span: _Span) -> int:
        return self._most(duration, span) if duration and self._is_certain else duration

    def _span(self, span: _Span) -> _Span:
        """Return a span by the clock; one of a moment stays one."""
        opens = self._clock.after(span[0])
        return opens, max(opens, self._clock.before(span[1]))
