"""Days so small that every plan can be tried.

Owns the enumeration: every choice of tickets, in every order, over every split among the agents. It needs no library
and mostly ends in milliseconds, so that the smallest job does not wait out its whole solve time. Where it would not end
in time it says so soon, and leaves the day to a search.
"""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations
from math import comb, factorial
from typing import Final

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.engine_interface import OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics.reinsertion_search import with_unassigned_inserted

NAME: Final = "enumeration"
"""Who found such a plan."""
MAX_PLANS: Final = 3000
"""Plans that are tried in a second or so; where the clock has rush hours to weigh, in many."""
AT_ONCE_S: Final = 0.1
"""From then on better plans are handed over, and one is made by insertion where none has been found that holds."""
LOOK: Final = 0.1
"""Share of the time after which the pace is believed."""
CHEAPER: Final = 0.5
"""What a plan may still cost of the mean so far: those that come later have fewer stops and are seldom proved."""
_NOT_ENUMERATED: Final = frozenset({Feature.BREAKS, Feature.RELOAD})
"""Features whose stops are not tickets."""


def is_enumerable(problem: Problem) -> bool:
    """Return whether every plan can be tried quickly, or no ticket fits any agent at all."""
    if problem.features & _NOT_ENUMERATED:
        return False
    return _plans(len(_servable(problem)), len(problem.agents)) <= MAX_PLANS


def solve(
    problem: Problem, limits: SearchLimits, on_improvement: OnImprovement, should_stop: ShouldStop
) -> SearchOutcome:
    """Try every plan, those that serve most first.

    The best one is handed over at the end; where that is not at once, so is each better one on the way. The reason is
    `TIME_LIMIT` also before the deadline, where by the pace so far the rest cannot be tried until then:
    `is_incomplete`.
    """
    servable = _servable(problem)
    progress = _Progress(_plans(len(servable), len(problem.agents)), limits.deadline)
    best = _BestFound(problem, on_improvement)
    reason = StopReason.EXHAUSTED
    for candidate in _candidates(servable, len(problem.agents)):
        progress.tried += 1
        best.offer(candidate)
        if progress.elapsed_s >= AT_ONCE_S:
            best.report(or_insert_until=lambda: should_stop() or progress.is_over())
        if should_stop() or progress.is_over() or progress.cannot_finish():
            reason = StopReason.STOPPED if should_stop() else StopReason.TIME_LIMIT
            break
    best.report()
    return SearchOutcome(best.candidate, reason, progress.tried)


def is_incomplete(outcome: SearchOutcome, limits: SearchLimits) -> bool:
    """Return whether not everything was tried, for lack of time, and there is still time for a search."""
    return outcome.reason is StopReason.TIME_LIMIT and time.monotonic() < limits.deadline


class _BestFound:
    """The cheapest plan that holds, and whether it was handed over."""

    def __init__(self, problem: Problem, on_improvement: OnImprovement) -> None:
        self._problem = problem
        self._on_improvement = on_improvement
        self._least: int | None = None
        self._reported: Candidate | None = None
        self._is_begun = False
        self.candidate: Candidate | None = None

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate if it is cheaper and holds."""
        cost = price(self._problem, candidate)
        if (self._least is None or cost < self._least) and not verify(
            self._problem, build_plan(self._problem, candidate)
        ):
            self.candidate, self._least = replace(candidate, found_by=(NAME,)), cost

    def report(self, *, or_insert_until: ShouldStop | None = None) -> None:
        """Hand over what is new; where there is nothing yet make a plan by insertion, once."""
        if self.candidate is None and or_insert_until is not None and not self._is_begun:
            self._is_begun = True
            self.offer(with_unassigned_inserted(self._problem, Candidate(()), or_insert_until))
        if self.candidate is not None and self.candidate is not self._reported:
            self._reported = self.candidate
            self._on_improvement(self.candidate)


class _Progress:
    """How fast plans are tried, and whether that is fast enough.

    Args:
        plans: How many there are.
        deadline: `time.monotonic()` until which they would have to be tried.
    """

    def __init__(self, plans: int, deadline: float) -> None:
        self._plans = plans
        self._deadline = deadline
        self._began = time.monotonic()
        self.tried = 0

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._began

    def is_over(self) -> bool:
        return time.monotonic() >= self._deadline

    def cannot_finish(self) -> bool:
        """Return whether the rest takes longer than there is time, even if each plan costs less than those before."""
        elapsed_s, span_s = self.elapsed_s, self._deadline - self._began
        remaining_s = elapsed_s / self.tried * (self._plans - self.tried)
        return elapsed_s >= LOOK * span_s and CHEAPER * remaining_s > span_s - elapsed_s


def _servable(problem: Problem) -> list[int]:
    """Return the tickets that some agent may serve and could carry."""
    found = []
    for number, ticket in enumerate(problem.tickets):
        allowed = range(len(problem.agents)) if ticket.agents is None else ticket.agents
        capacities = (problem.agents[agent].capacity for agent in allowed)
        if any(
            all(need <= capacity for need, capacity in zip(ticket.demand, capacities_, strict=True))
            for capacities_ in capacities
        ):
            found.append(number)
    return found


def _plans(tickets: int, agents: int) -> int:
    """Return how many plans there are; more than `MAX_PLANS` for anything not tiny."""
    if tickets > 8:
        return MAX_PLANS + 1
    return sum(comb(tickets, k) * factorial(k) * comb(k + agents - 1, k) for k in range(tickets + 1))


def _candidates(tickets: list[int], agents: int) -> Iterator[Candidate]:
    """Yield every plan, those that serve most tickets first."""
    for count in range(len(tickets), -1, -1):
        for chosen in combinations(tickets, count):
            for order in permutations(chosen):
                for cuts in combinations(range(count + agents - 1), agents - 1):
                    yield _split(order, cuts, agents)


def _split(order: tuple[int, ...], cuts: tuple[int, ...], agents: int) -> Candidate:
    """Cut an order into one route for each agent. Source: stars and bars, the cuts are the places of the bars."""
    ends = [cut - number for number, cut in enumerate(cuts)] + [len(order)]
    starts = [0, *ends]
    return Candidate.of_tickets({agent: list(order[starts[agent] : ends[agent]]) for agent in range(agents)})
