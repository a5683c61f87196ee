"""Adapts an engine without time-dependent travel to problems with travel periods.

Owns the sequence of surrogate problems, all with constant travel times. First the engine solves a conservative
surrogate: time rescaling with services at their longest (`workers/engines/time_dependent/time_rescaling.py`), or, with
long travel periods and short legs, worst-case speeds (`workers/engines/time_dependent/worst_case_speeds.py`). A plan
that is feasible there is feasible in the problem itself. Then it solves an optimistic surrogate, which rescales time
only by the share of travel in the first plan. Tickets that are late in the problem itself are removed, and an
intermediate surrogate looks for positions for them. Last, tickets that are still unassigned, or cheaper elsewhere, are
inserted with exact travel times (`workers/engines/heuristics/reinsertion_search.py`).
"""

import time
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from planner_mcp.routing.evaluation.plan_builder import price
from planner_mcp.routing.evaluation.route_legs import legs_of
from planner_mcp.routing.feasibility.route_violations import violations
from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import Engine, OnImprovement, SearchLimits, SearchOutcome, ShouldStop, StopReason
from workers.engines.heuristics import enumeration
from workers.engines.heuristics.best_verified import is_feasible
from workers.engines.heuristics.reinsertion_search import reinserted, with_locked, with_unassigned_inserted
from workers.engines.heuristics.warm_start_repair import repaired
from workers.engines.time_dependent.time_rescaling import ALL_TRAVEL, rescaled_problem
from workers.engines.time_dependent.worst_case_speeds import worst_case_problem

LOCKED_SHARE: Final = 0.9
"""Share of the time for worst-case speeds, where locked visits are infeasible in every other surrogate."""
SAFE_SHARE: Final = 0.5
"""Share of the time for the conservative surrogate, whose plans are feasible, everywhere else."""
OPTIMISTIC_SHARE: Final = 0.25
"""Share of the time for the optimistic surrogate."""
INTERMEDIATE_SHARE: Final = 0.15
"""Share of the time for the intermediate surrogate; the rest is for reinsertion with exact travel times."""
INSERTION_SHARE: Final = 0.05
"""Share of the time for inserting the unassigned tickets of one of these plans, before plans are compared."""
OPTIMISTIC_MARGIN: Final = Fraction(1, 8)
"""Position of the optimistic surrogate between the mean travel share (0) and the conservative surrogate (1)."""
INTERMEDIATE_MARGIN: Final = Fraction(3, 8)
"""Position of the intermediate surrogate on the same scale."""
MIN_CAPACITY_RATIO: Final = Fraction(11, 10)
"""Ratio of estimated capacity from which worst-case speeds are preferred to time rescaling."""
NEAREST: Final = 4
"""Nearest neighbours from which a ticket is assumed to be reached."""
MANY_TICKETS: Final = 400
"""Tickets from which on the optimistic surrogate starts from the plan before: there is no time for a fresh start."""


class TimeDependentAdapter:
    """Runs an engine on surrogate problems without travel periods.

    Args:
        engine: Supports every other feature of the problem.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.name = engine.name

    def versions(self) -> dict[str, str]:
        """Return the versions of the engine."""
        return self.engine.versions()

    def solve(
        self,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
        warm_start: Candidate | None = None,
    ) -> SearchOutcome:
        """Search surrogate problems, then the problem itself; enumerate all plans of tiny problems."""
        if not enumeration.is_enumerable(problem):
            return _AdapterRun(self.engine, problem, limits, on_improvement, should_stop).run(warm_start)
        enumerated = enumeration.solve(problem, limits, on_improvement, should_stop)
        if not enumeration.is_incomplete(enumerated, limits):
            return enumerated
        start = _cheapest(problem, enumerated.best, warm_start)
        search = _AdapterRun(self.engine, problem, replace(limits, asked_s=None), on_improvement, should_stop)
        outcome = search.run(start)
        return replace(outcome, best=_cheapest(problem, enumerated.best, outcome.best))


class _AdapterRun:
    """The searches of one solve."""

    def __init__(
        self,
        engine: Engine,
        problem: Problem,
        limits: SearchLimits,
        on_improvement: OnImprovement,
        should_stop: ShouldStop,
    ) -> None:
        self._engine = engine
        self._problem = problem
        self._limits = replace(limits, on_proof=None)  # a bound for a surrogate is none for the problem
        self._on_improvement = on_improvement
        self._should_stop = should_stop
        self._began = time.monotonic()
        self._share_used = 0.0
        self._iterations = 0
        self._reason = StopReason.TIME_LIMIT

    def run(self, warm_start: Candidate | None) -> SearchOutcome:
        """Run the searches in sequence; report improvements on the way and return the cheapest feasible plan."""
        problem, rescaled = self._problem, rescaled_problem(self._problem)
        locked = with_locked(problem, Candidate(()), self._is_over).routes
        worst_case = worst_case_problem(problem, locked)
        allows_rescaling = not any(violations(rescaled, route) for route in locked)
        share, surrogate = (
            (SAFE_SHARE, _less_restrictive(problem, rescaled, worst_case))
            if allows_rescaling
            else (LOCKED_SHARE, worst_case)
        )
        plan = self._search_surrogate(share, surrogate, warm_start, self._on_improvement)
        reason = self._reason
        first = self._repaired(problem, plan or Candidate((), (self._engine.name,)), self._limits.deadline)
        best = plan if plan == first else self._better(None, first)
        if warm_start is not None:
            best = self._better(best, with_unassigned_inserted(problem, warm_start, self._insertion_deadline()))
        if best is not None and allows_rescaling and not self._is_over():
            best = self._search_optimistic_surrogates(best)
        better = reinserted(problem, best or first, self._limits.seed, self._is_over)
        best = self._better(best, better) or plan
        return SearchOutcome(
            best, StopReason.STOPPED if self._reason is StopReason.STOPPED else reason, self._iterations
        )

    def _search_optimistic_surrogates(self, best: Candidate) -> Candidate:
        """Search the optimistic surrogate that fits the best plan, then the intermediate one; return the best plan."""
        problem, travel_share = self._problem, travel_time_share(self._problem, best)
        start = best if len(problem.tickets) >= MANY_TICKETS else None
        for share, margin in ((OPTIMISTIC_SHARE, OPTIMISTIC_MARGIN), (INTERMEDIATE_SHARE, INTERMEDIATE_MARGIN)):
            surrogate = rescaled_problem(problem, travel_share + margin * (ALL_TRAVEL - travel_share))
            plan = self._search_surrogate(share, surrogate, start, _discard)
            if plan is None:
                break
            start = self._repaired(problem, plan, self._limits.deadline)
            best = self._better(best, with_unassigned_inserted(problem, start, self._insertion_deadline())) or best
        return best

    def _search_surrogate(
        self, share: float, surrogate: Problem, start: Candidate | None, on_improvement: OnImprovement
    ) -> Candidate | None:
        """Run the engine on a surrogate problem for a share of the time."""
        limits, self._share_used = self._limits, self._share_used + share
        until = self._began + self._share_used * (limits.deadline - self._began)
        if self._share_used > share and (self._is_over() or time.monotonic() >= until):
            return None
        asked_s = None if limits.asked_s is None else share * limits.asked_s
        search_limits = replace(limits, deadline=until, asked_s=asked_s)
        start = None if start is None else self._repaired(surrogate, start, until)
        outcome = self._engine.solve(surrogate, search_limits, on_improvement, self._should_stop, start)
        self._iterations += outcome.iterations
        self._reason = outcome.reason
        return outcome.best

    def _repaired(self, surrogate: Problem, candidate: Candidate, until: float) -> Candidate:
        return repaired(surrogate, candidate, until, self._should_stop)

    def _better(self, best: Candidate | None, other: Candidate) -> Candidate | None:
        """Return the other candidate, and report it, where it is feasible and cheaper; else the best so far."""
        if best is not None and (other == best or price(self._problem, other) >= price(self._problem, best)):
            return best
        if not is_feasible(self._problem, other):
            return best
        self._on_improvement(other)
        return other

    def _insertion_deadline(self) -> ShouldStop:
        """Return a check whether the time for inserting tickets into one of several plans is up."""
        until = time.monotonic() + INSERTION_SHARE * (self._limits.deadline - self._began)
        return lambda: self._is_over() or time.monotonic() >= until

    def _is_over(self) -> bool:
        return self._should_stop() or time.monotonic() >= self._limits.deadline


def travel_time_share(problem: Problem, candidate: Candidate) -> Fraction:
    """Return the share of travel in the busy time of a plan's agents, at normal speed."""
    legs = [leg for route in candidate.routes for leg in legs_of(problem, route)]
    travel, busy = sum(leg.travel for leg in legs), sum(leg.setup + leg.service for leg in legs)
    return Fraction(round(100 * travel / max(1, travel + busy)), 100)


def _estimated_travel_time_share(problem: Problem) -> Fraction:
    """Return an estimate of the travel share without a plan: each ticket is reached from one of its neighbours."""
    places = [ticket.location for ticket in problem.tickets]
    table = problem.durations[problem.agents[0].profile][np.ix_(places, places)]
    near = min(NEAREST, len(places) - 1)
    travel = int(np.partition(table, near)[:, 1 : near + 1].mean(axis=1).sum()) if near else 0
    busy = sum(ticket.setup + ticket.service for ticket in problem.tickets)
    return Fraction(travel, max(1, travel + busy))


def _less_restrictive(problem: Problem, rescaled: Problem, worst_case: Problem) -> Problem:
    """Return the conservative surrogate with the larger estimated capacity."""
    travel_share = _estimated_travel_time_share(problem)
    prefers_worst_case = relative_capacity(problem, worst_case, travel_share) > MIN_CAPACITY_RATIO * relative_capacity(
        problem, rescaled, travel_share
    )
    return worst_case if prefers_worst_case else rescaled


def relative_capacity(problem: Problem, surrogate: Problem, travel_share: Fraction) -> Fraction:
    """Return the capacity of a surrogate relative to the problem: hours of a plan that fit into the shifts."""

    def hours(each: Problem) -> tuple[int, int, int]:
        shifts = sum(agent.latest_end - agent.shift[0] for agent in each.agents)
        kinds = Counter(agent.profile for agent in each.agents)
        travel_times = sum(count * int(each.durations[profile].sum()) for profile, count in kinds.items())
        return (
            max(1, shifts),
            max(1, travel_times),
            max(1, sum(ticket.service + ticket.setup for ticket in each.tickets)),
        )

    shifts, travel_times, services = (Fraction(*pair) for pair in zip(hours(surrogate), hours(problem), strict=True))
    return shifts / (travel_share * travel_times + (1 - travel_share) * services)


def _discard(candidate: Candidate) -> None:
    """Ignore a candidate that may be infeasible."""


def _cheapest(problem: Problem, *candidates: Candidate | None) -> Candidate | None:
    """Return the cheapest of the given candidates, None without any."""
    plan = [candidate for candidate in candidates if candidate is not None]
    return min(plan, key=lambda candidate: price(problem, candidate), default=None)
