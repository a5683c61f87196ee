"""Random days of all features that are small enough to try every plan, and the best plan of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.plan_enumeration import every_plan
from tests.shared.scenarios.random_problems import random_problem

_MOST_PLANS = 1500


@dataclass(frozen=True, slots=True)
class ProofDay:
    """A day and its best plan, which serves every wanted ticket."""

    seed: int
    problem: Problem
    best: Candidate
    cost: int
    """In cost units."""


def proof_days(first_seed: int, count: int) -> Iterator[ProofDay]:
    """Yield days from a first seed on, without those of too many plans or with wanted tickets that no plan serves."""
    return islice(filter(None, map(_day, range(first_seed, first_seed + 100 * count))), count)


def _day(seed: int) -> ProofDay | None:
    problem = random_problem(seed, tickets=1 + seed % 4)
    plans = list(islice(every_plan(problem), _MOST_PLANS))
    if len(plans) == _MOST_PLANS:
        return None
    for plan in sorted(plans, key=lambda each: price(problem, each)):
        built = build_plan(problem, plan)
        if verify(problem, built) == []:
            return ProofDay(seed, problem, plan, price(problem, plan)) if built.status is PlanStatus.FEASIBLE else None
    return None
