"""The cheapest plan of a small day by all routes of its agents, against the best of all plans."""

import time
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.evaluation.time_dependent_travel import fastest_durations
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.routing.problem import Candidate, Feature, Problem, TravelPeriod
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import needs_native, searched
from tests.shared.scenarios.plan_enumeration import cheapest
from tests.shared.scenarios.proof_days import proof_days
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.bounds.column_generation import ColumnGeneration
from workers.engines.bounds.day_enumeration import DayEnumeration
from workers.engines.bounds.plan_prover import PlanProver
from workers.engines.bounds.relaxed_networks import relaxed_problem

pytestmark = needs_native


def enumeration_of(day: Problem, target: int, seconds: float = 20) -> DayEnumeration:
    relaxed = relaxed_problem(day)
    assert relaxed is not None
    ends = time.monotonic() + 20
    generation = ColumnGeneration(relaxed, Candidate(()), 10**6, deadline=ends)
    generation.run()
    assert generation.best is not None
    return DayEnumeration(relaxed, generation.best, target, time.monotonic() + seconds)


def rich_day(seed: int) -> tuple[Problem, Candidate] | None:
    """Return a random day of 5 to 12 tickets and a plan of all wanted ones; None where the search found none."""
    day = random_problem(seed, tickets=5 + seed % 8)
    best = searched(day, 20_000, seed=1)
    if best is None:
        return None
    plan = build_plan(day, best)
    return (day, best) if plan.status is PlanStatus.FEASIBLE and not verify(day, plan) else None


def is_proved(day: Problem, plan: Candidate, seconds: float) -> bool:
    """Return whether the plan, or a better one that the proof finds, is called optimal."""
    plans = [plan]
    ends = time.monotonic() + seconds
    proof = PlanProver(day, plan, deadline=ends, on_proof=lambda _: None, on_improvement=plans.append).run()
    assert proof is not None
    assert round(proof.lower_bound * day.cost_scale) <= price(day, plans[-1])
    return proof.is_optimal


def test_the_best_plan_is_found_and_no_cheaper_one() -> None:
    """SPEC S2: on random days of all features."""
    for day in proof_days(1, 12):
        text = f"seed {day.seed}: {sorted(day.problem.features)}"
        proof = enumeration_of(day.problem, day.cost).prove()
        assert proof is not None and proof.bound == day.cost and proof.plan is None, text
        better = enumeration_of(day.problem, day.cost + 9).prove()
        assert better is not None and better.bound == day.cost and better.plan is not None, text
        assert price(day.problem, better.plan) == day.cost, text
        assert verify(day.problem, build_plan(day.problem, better.plan)) == [], text


def test_balance_and_rush_hours_have_the_bound_of_the_best_hour() -> None:
    """SPEC S2: where the plan that keeps it costs more in rush hours, the bound is told all the same."""
    gaps = 0
    for seed in range(1, 9):
        day = random_problem(seed, tickets=3, features=frozenset({Feature.BALANCE, Feature.TIME_WINDOWS}))
        rushed = replace(day, travel_periods=(TravelPeriod(0, 300, 2000), TravelPeriod(500, 700, 800)))
        best = cheapest(rushed)
        if build_plan(rushed, best).status is not PlanStatus.FEASIBLE:
            continue
        best_hour = replace(day, durations=fastest_durations(rushed))
        least, cost = price(best_hour, cheapest(best_hour)), price(rushed, best)
        proof = enumeration_of(rushed, cost).prove()
        assert proof is not None and proof.bound == least, seed
        gaps += least < cost
    assert gaps


def test_an_enumeration_without_time_proves_nothing() -> None:
    """SPEC J6: it ends soon, and without a bound."""
    day = random_problem(1, tickets=12, features=frozenset({Feature.TIME_COST, Feature.BALANCE}))
    assert enumeration_of(day, 10**6, seconds=0).prove() is None


@pytest.mark.slow
def test_a_rich_day_of_nine_tickets_is_proved() -> None:
    """SPEC S2: reloads, breaks, releases and shipments."""
    found = rich_day(3028)
    assert found is not None
    assert is_proved(*found, seconds=30)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_rich_days_of_up_to_twelve_tickets_are_proved() -> None:
    """SPEC S2: 99 in 100 of the days that have a plan of all wanted tickets; the longest takes 40 s of CPU."""
    found = [is_proved(*day, seconds=180) for day in map(rich_day, range(3000, 3060)) if day is not None]
    assert sum(found) >= 0.99 * len(found)
