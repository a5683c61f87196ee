"""An engine on a day whose travel depends on the hour, which no engine knows of.

Owns the way round that, in turns. First the engine plans by a clock that shows what can be driven, with services as
long as they may be by it (`workers/engines/driven_day.py`), or, where rushes are long and ways short, at the slowest
pace of each shift (`workers/engines/slow_day.py`): such a plan keeps every promise on the day itself. Then it plans by
a milder clock, which takes a rush as spent on the way only as far as that first plan is; what is too late on the real
clock is left out, and a clock between the two looks for room for it. Last, what is still left out, or costs less
elsewhere, is put where the real clock has room (`workers/engines/refill.py`).
"""

import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from planner_mcp.vrp.advice.fits import obstacles
from planner_mcp.vrp.layout.legs import legs_of
from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.problem import Candidate, Feature, Problem
from planner_mcp.vrp.proof.verify import verify
from workers.engines import tiny
from workers.engines.base import Engine, Limits, OnImprovement, Outcome, ShouldStop, StopReason
from workers.engines.driven_day import DRIVING, driven_day
from workers.engines.mending import mended
from workers.engines.refill import filled, refilled, with_locked
from workers.engines.slow_day import slow_day

LOCKED_SHARE: Final = 0.9
"""Of the time the engine has, for the only clock there is where locked visits fit no other …"""
SAFE_SHARE: Final = 0.5
"""… and elsewhere for plans that hold as they are found …"""
MILD_SHARE: Final = 0.25
"""… for those by a milder clock …"""
MEAN_SHARE: Final = 0.15
"""… and for those by one between; the rest is for the real clock."""
FILL_SHARE: Final = 0.05
"""Of the time, for what one of these plans leaves out; what then is missing makes it dear."""
MILD_MARGIN: Final = Fraction(1, 8)
"""How far from the mean time on the way to all of a rush the milder clock is …"""
MEAN_MARGIN: Final = Fraction(3, 8)
"""… and that between."""
ROOMIER: Final = Fraction(11, 10)
"""How much more room the slowest pace must leave by a guess to be planned first."""
NEAR: Final = 4
"""Neighbours of a ticket from which it may be reached."""
MANY_TICKETS: Final = 400
"""Tickets from which on the second turn, too, goes on from the plan before: to begin anew there is too little time."""


class Cautious:
    """Runs an engine on days without hours whose plans hold on the day with them, or nearly.

    Args:
        engine: Respects every other feature of the day.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name
        self.features = engine.features | {Feature.RUSH_HOURS}
        self.is_deterministic = engine.is_deterministic

    def is_available(self) -> bool:
        """Return whether the engine is."""
        return self.engine.is_available()

    def version(self) -> str:
        """Return the version of the engine."""
        return self.engine.version()

    def solve(
        self,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> Outcome:
        """Search by clocks an engine understands, then on the real one; try everything where there is time for it."""
        if not tiny.is_tiny(problem):
            return _Search(self.engine, problem, limits, on_improvement, should_stop).run(warm_start)
        tried = tiny.solve(problem, limits, on_improvement, should_stop)
        if not tiny.is_given_up(tried, limits):
            return tried
        start = _cheapest(problem, tried.best, warm_start)
        search = _Search(self.engine, problem, replace(limits, asked_s=None), on_improvement, should_stop)
        outcome = search.run(start)
        return replace(outcome, best=_cheapest(problem, tried.best, outcome.best))


class _Search:
    """The turns of one solve."""

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        limits: Limits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
    ) -> None:
        self._engine = engine
        self._problem = problem
        self._limits = limits
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._began = time.monotonic()
        self._spent = 0.0
        self._iterations = 0
        self._reason = StopReason.TIME_LIMIT

    def run(self, warm_start: Candidate | None) -> Outcome:
        """Search in turns; the cheapest that holds is handed over on the way and returned."""
        problem, driven = self._problem, driven_day(self._problem)
        locked = with_locked(problem, Candidate(()), self._is_over).routes
        slow, has_milder = slow_day(problem, locked), not any(obstacles(driven, route) for route in locked)
        share, day = (SAFE_SHARE, _roomier(problem, driven, slow)) if has_milder else (LOCKED_SHARE, slow)
        found = self._turn(share, day, warm_start, self._on_improvement)
        reason = self._reason
        first = self._mended(problem, found or Candidate((), (self._engine.name,)), self._limits.deadline)
        best = found if found == first else self._better(None, first)
        if warm_start is not None:
            best = self._better(best, filled(problem, warm_start, self._soon()))
        if best is not None and has_milder and not self._is_over():
            best = self._by_milder_clocks(best)
        better = refilled(problem, best or first, self._limits.seed, self._is_over)
        best = self._better(best, better) or found
        return Outcome(best, StopReason.STOPPED if self._reason is StopReason.STOPPED else reason, self._iterations)

    def _by_milder_clocks(self, best: Candidate) -> Candidate:
        """Search by a clock as mild as a plan suggests, then by one between; return the best there is after that."""
        problem, on_the_way = self._problem, share_on_the_way(self._problem, best)
        start = best if len(problem.tickets) >= MANY_TICKETS else None
        for share, margin in ((MILD_SHARE, MILD_MARGIN), (MEAN_SHARE, MEAN_MARGIN)):
            day = driven_day(problem, on_the_way + margin * (DRIVING - on_the_way))
            found = self._turn(share, day, start, _tell_nobody)
            if found is None:
                break
            start = self._mended(problem, found, self._limits.deadline)
            best = self._better(best, filled(problem, start, self._soon())) or best
        return best

    def _turn(
        self, share: float, day: Problem, start: Candidate | None, on_improvement: OnImprovement
    ) -> Candidate | None:
        """Let the engine search a day without hours for a share of the time."""
        limits, self._spent = self._limits, self._spent + share
        until = self._began + self._spent * (limits.deadline - self._began)
        if self._spent > share and (self._is_over() or time.monotonic() >= until):
            return None
        asked_s = None if limits.asked_s is None else share * limits.asked_s
        turn = replace(limits, deadline=until, asked_s=asked_s)
        start = None if start is None else self._mended(day, start, until)
        outcome = self._engine.solve(day, turn, on_improvement, self._should_stop, start)
        self._iterations += outcome.iterations
        self._reason = outcome.reason
        return outcome.best

    def _mended(self, day: Problem, candidate: Candidate, until: float) -> Candidate:
        return mended(day, candidate, until, self._should_stop)

    def _better(self, best: Candidate | None, other: Candidate) -> Candidate | None:
        """Return another candidate where it holds and costs less, and tell of it; else the best."""
        if best is not None and (other == best or price(self._problem, other) >= price(self._problem, best)):
            return best
        if verify(self._problem, lay_out(self._problem, other)):
            return best
        self._on_improvement(other)
        return other

    def _soon(self) -> ShouldStop:
        """Return whether the time to fill one of several plans is up."""
        until = time.monotonic() + FILL_SHARE * (self._limits.deadline - self._began)
        return lambda: self._is_over() or time.monotonic() >= until

    def _is_over(self) -> bool:
        return self._should_stop() or time.monotonic() >= self._limits.deadline


def share_on_the_way(problem: Problem, candidate: Candidate) -> Fraction:
    """Return how much of their busy time the agents of a plan would spend on the way if there were no rush."""
    legs = [leg for route in candidate.routes for leg in legs_of(problem, route)]
    travel, rest = sum(leg.travel for leg in legs), sum(leg.setup + leg.service for leg in legs)
    return Fraction(round(100 * travel / max(1, travel + rest)), 100)


def _guessed_share_on_the_way(problem: Problem) -> Fraction:
    """Return the same before there is a plan: a ticket is reached from one of those near to it."""
    places = [ticket.location for ticket in problem.tickets]
    table = problem.durations[problem.agents[0].profile][np.ix_(places, places)]
    near = min(NEAR, len(places) - 1)
    travel = int(np.partition(table, near)[:, 1 : near + 1].mean(axis=1).sum()) if near else 0
    rest = sum(ticket.setup + ticket.service for ticket in problem.tickets)
    return Fraction(travel, max(1, travel + rest))


def _roomier(problem: Problem, driven: Problem, slow: Problem) -> Problem:
    """Return which of two days whose plans hold on the real one has more room by a guess."""
    on_the_way = _guessed_share_on_the_way(problem)
    is_slow_roomier = room(problem, slow, on_the_way) > ROOMIER * room(problem, driven, on_the_way)
    return slow if is_slow_roomier else driven


def room(problem: Problem, day: Problem, on_the_way: Fraction) -> Fraction:
    """Return how many of a plan's hours fit into its shifts on a day without hours, for one hour on the day itself."""

    def hours(each: Problem) -> tuple[int, int, int]:
        shifts = sum(agent.shift[1] + agent.overtime - agent.shift[0] for agent in each.agents)
        kinds = Counter(agent.profile for agent in each.agents)
        ways = sum(count * int(each.durations[profile].sum()) for profile, count in kinds.items())
        return max(1, shifts), max(1, ways), max(1, sum(ticket.service + ticket.setup for ticket in each.tickets))

    shifts, ways, services = (Fraction(*pair) for pair in zip(hours(day), hours(problem), strict=True))
    return shifts / (on_the_way * ways + (1 - on_the_way) * services)


def _tell_nobody(candidate: Candidate) -> None:
    """Leave a candidate that may not hold."""


def _cheapest(problem: Problem, *candidates: Candidate | None) -> Candidate | None:
    """Return the cheapest of those there are."""
    found = [candidate for candidate in candidates if candidate is not None]
    return min(found, key=lambda candidate: price(problem, candidate), default=None)
