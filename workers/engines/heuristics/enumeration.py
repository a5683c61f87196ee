"""Solves tiny problems by enumerating every plan.

Owns the enumeration: every subset of tickets, in every order, split among the agents in every way. It needs no library
and mostly ends in milliseconds, so that the smallest jobs need not use up their solve time. Where it cannot finish in
time it returns early, and a search takes over.
"""

import time
from collections.abc import Iterator
from itertools import combinations, islice, permutations
from math import comb, factorial
from typing import Final

from planner_mcp.routing.feasibility.unservable_tickets import fits
from planner_mcp.routing.problem import Candidate, Feature, Problem
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics.best_verified import BestVerified
from workers.engines.heuristics.reinsertion_search import with_unassigned_inserted

NAME: Final = "enumeration"
"""Name of the finder in plans found by enumeration."""
MAX_PLANS: Final = 3000
"""Plans that are evaluated within about a second, or within several with travel periods."""
_MOST_TICKETS: Final = 8
"""More tickets make more plans than that, even of one agent."""
REPORT_AFTER_S: Final = 0.1
"""Seconds after which improvements are reported; without a feasible plan by then, one is built by insertion."""
PROJECTION_SHARE: Final = 0.1
"""Share of the time after which the remaining time is projected."""
REMAINING_TIME_RATIO: Final = 0.5
"""Assumed time of a remaining plan, relative to the mean so far: later plans have fewer stops."""
_NOT_ENUMERATED: Final = frozenset({Feature.BREAKS, Feature.RELOAD})
"""Features whose stops are not tickets."""


def is_enumerable(problem: Problem) -> bool:
    """Return whether every plan can be tried quickly, or no ticket fits any agent at all."""
    if problem.features & _NOT_ENUMERATED:
        return False
    few = list(islice(_servable(problem), _MOST_TICKETS + 1))
    return _plan_count(len(few), len(problem.agents)) <= MAX_PLANS


def solve(
    problem: Problem, limits: SearchLimits, on_improvement: OnImprovement, should_stop: ShouldStop
) -> SearchOutcome:
    """Try every plan, those with most tickets first.

    The best plan is reported at the end; in longer runs each better plan is reported on the way. The reason is
    `TIME_LIMIT` also before the deadline, where the projection says that the enumeration cannot finish in time; see
    `is_incomplete`.
    """
    servable = list(_servable(problem))
    progress = _Progress(_plan_count(len(servable), len(problem.agents)), limits.deadline)
    best = _BestFound(problem, on_improvement)
    reason = StopReason.EXHAUSTED
    for candidate in _candidates(servable, len(problem.agents)):
        progress.tried += 1
        best.offer(candidate, by=NAME)
        if progress.elapsed_s >= REPORT_AFTER_S:
            best.report(or_insert_until=lambda: should_stop() or progress.is_over())
        if should_stop() or progress.is_over() or progress.cannot_finish():
            reason = StopReason.STOPPED if should_stop() else StopReason.TIME_LIMIT
            break
    best.report()
    return SearchOutcome(best.candidate, reason, progress.tried)


def is_incomplete(outcome: SearchOutcome, limits: SearchLimits) -> bool:
    """Return whether enumeration ended early for lack of time, with time left for a search."""
    return outcome.reason is StopReason.TIME_LIMIT and time.monotonic() < limits.deadline


class _BestFound(BestVerified):
    """The cheapest feasible plan, and whether it was reported."""

    def __init__(self, problem: Problem, on_improvement: OnImprovement) -> None:
        super().__init__(problem, lambda _: None)
        self._report = on_improvement
        self._reported: Candidate | None = None
        self._has_inserted = False

    def report(self, *, or_insert_until: ShouldStop | None = None) -> None:
        """Report a new best plan; where there is none yet, build one by insertion, once."""
        if self.settle() is None and or_insert_until is not None and not self._has_inserted:
            self._has_inserted = True
            self.offer(with_unassigned_inserted(self._problem, Candidate(()), or_insert_until), by=NAME)
        if (best := self.settle()) is not None and best is not self._reported:
            self._reported = best
            self._report(best)


class _Progress:
    """The speed of the enumeration, and whether it suffices.

    Args:
        plans: Number of plans to try.
        deadline: `time.monotonic()` by which to finish.
    """

    def __init__(self, plans: int, deadline: float) -> None:
        self._plan_count = plans
        self._deadline = deadline
        self._began = time.monotonic()
        self.tried = 0

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._began

    def is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def cannot_finish(self) -> bool:
        """Return whether the rest takes too long, even if each plan costs less time than those before."""
        elapsed_s, span_s = self.elapsed_s, self._deadline - self._began
        remaining_s = elapsed_s / self.tried * (self._plan_count - self.tried)
        return elapsed_s >= PROJECTION_SHARE * span_s and REMAINING_TIME_RATIO * remaining_s > span_s - elapsed_s


def _servable(problem: Problem) -> Iterator[int]:
    """Yield the tickets that some agent may serve and has the capacity for."""
    for number, ticket in enumerate(problem.tickets):
        allowed = range(len(problem.agents)) if ticket.agents is None else ticket.agents
        if any(fits(ticket.demand, problem.agents[agent].capacity) for agent in allowed):
            yield number


def _plan_count(tickets: int, agents: int) -> int:
    """Return the number of plans, or `MAX_PLANS + 1` for more than `_MOST_TICKETS`."""
    if tickets > _MOST_TICKETS:
        return MAX_PLANS + 1
    return sum(comb(tickets, k) * factorial(k) * comb(k + agents - 1, k) for k in range(tickets + 1))


def _candidates(tickets: list[int], agents: int) -> Iterator[Candidate]:
    """Yield every plan, those with most tickets first."""
    for count in range(len(tickets), -1, -1):
        for chosen in combinations(tickets, count):
            for order in permutations(chosen):
                for cuts in combinations(range(count + agents - 1), agents - 1):
                    yield _split(order, cuts, agents)


def _split(order: tuple[int, ...], cuts: tuple[int, ...], agents: int) -> Candidate:
    """Split an order into one route for each agent, at the given positions. Source: stars and bars."""
    ends = [cut - number for number, cut in enumerate(cuts)] + [len(order)]
    starts = [0, *ends]
    return Candidate.of_tickets({agent: list(order[starts[agent] : ends[agent]]) for agent in range(agents)})
