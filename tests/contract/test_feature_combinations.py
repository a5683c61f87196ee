"""Random mixtures of what an engine claims: each plan holds, and costs what the engine believes (SPEC S1, S2)."""

import time
from collections.abc import Iterator
from itertools import count, islice
from random import Random

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import is_thorough
from tests.shared.scenarios.random_problems import random_problem
from workers.engines.engine_interface import Engine, SearchLimits
from workers.engines.pyvrp.pyvrp_engine import PyvrpEngine
from workers.engines.pyvrp.pyvrp_model import PyvrpModel
from workers.engines.selection import engine_registry

OTHERS = [engine for engine in engine_registry.engines() if engine.name != "sisr" and engine.is_available()]
"""Our own engine has mixtures of its own (`tests/unit/workers/engines/native/test_sisr_engine.py`)."""
SET_UP_AGAIN = frozenset({Feature.SETUP, Feature.RELOAD})
"""With these PyVRP spends a setup after a reload on the spot, and so believes in a dearer plan than it has."""
DAYS = 20 if is_thorough() else 8
SHORT_S = 0.08


def mixtures(engine: Engine) -> Iterator[Problem]:
    """Yield days the engine claims, of up to nine tickets and few or most of its features."""
    for seed in count():
        draw = Random(seed)
        share = draw.choice((0.1, 0.3, 0.6))
        features = frozenset(feature for feature in Feature if feature in engine.features and draw.random() < share)
        problem = random_problem(seed, tickets=draw.randint(2, 9), features=features)
        if not engine.missing(problem):
            yield problem


def found(engine: Engine, problem: Problem, seconds: float = SHORT_S) -> list[Candidate]:
    """Return everything a search hands over."""
    candidates: list[Candidate] = []
    engine.solve(problem, SearchLimits(time.monotonic() + seconds), candidates.append, lambda: False)
    return candidates


@pytest.mark.parametrize("engine", OTHERS, ids=lambda engine: engine.name)
def test_every_plan_of_a_mixture_keeps_every_promise(engine: Engine) -> None:
    """SPEC S1, S2: features an engine claims one by one it respects together."""
    days = list(islice(mixtures(engine), DAYS))
    plans = [(problem, candidate) for problem in days for candidate in found(engine, problem)]
    assert len(plans) >= DAYS // 2
    for problem, candidate in plans:
        assert verify(problem, build_plan(problem, candidate)) == []


def test_what_pyvrp_minimizes_is_what_the_model_charges() -> None:
    """SPEC S1: its objective and the price of a plan that leaves out nothing but what has a price are one number."""
    compared = 0
    for problem in islice(mixtures(PyvrpEngine()), DAYS):
        day = PyvrpModel(problem)
        for candidate in found(PyvrpEngine(), problem):
            solution = day.solution_of(candidate)
            if solution.is_feasible():
                dearer = day.cost_of(solution) - price(problem, candidate)
                assert dearer >= 0 if problem.features >= SET_UP_AGAIN else dearer == 0
                compared += 1
    assert compared >= DAYS // 2


def test_a_shipment_that_closes_before_it_opens_costs_the_others_nothing() -> None:
    """SPEC S2: PyVRP refuses such windows, which once ended the search; a day that cannot be served is a result."""
    draw = frozenset({Feature.SHIPMENTS, Feature.TIME_WINDOWS})
    days = (random_problem(seed, tickets=9, features=draw) for seed in count())
    problem = next(day for day in days if any(_is_lost(day, number) for number in range(9)))
    (lost, *_) = [number for number in range(9) if _is_lost(problem, number)]
    plan = build_plan(problem, found(PyvrpEngine(), problem, seconds=0.3)[-1])
    assert verify(problem, plan) == []
    assert problem.tickets[lost].id in {left.ticket_id for left in plan.unassigned}


def _is_lost(problem: Problem, number: int) -> bool:
    ticket = problem.tickets[number]
    pickup = None if ticket.pickup is None else problem.tickets[ticket.pickup]
    if pickup is None or not (pickup.windows and ticket.windows):
        return False
    return ticket.windows[0][1] < pickup.windows[0][0]
