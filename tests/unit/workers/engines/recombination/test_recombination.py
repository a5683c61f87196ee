"""Recombination: the best plan of the routes that are there, judged by the enumeration of all plans."""

import threading
import time
from collections.abc import Sequence

import pytest
from ortools.math_opt.python import mathopt

from planner_mcp.errors import EngineError
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.plan import Plan, RecombinationRecord
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.scripted_engine import ScriptedEngine
from tests.shared.scenarios.plan_enumeration import every_plan
from tests.shared.scenarios.random_problems import random_problem
from tests.shared.scenarios.seeded_fleet import fleet
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.recombination.recombination import MAX_CANDIDATES, NAME, Recombination
from workers.engines.recombination.route_pool import RoutePool, route_log
from workers.engines.selection import engine_registry, time_allocation
from workers.engines.selection.portfolio import Portfolio

LONG_S = 30.0
EXACT = frozenset(Feature) - {Feature.RUSH_HOURS, Feature.MIN_LOAD, Feature.BALANCE, Feature.BREAKS, Feature.RELOAD}
"""Without a price of the span the cheapest of routes that serve the same tickets is the best; breaks and reloads
concern one route alone and multiply the plans to enumerate."""


def plans_of(problem: Problem) -> list[Candidate]:
    """Return every plan that the verifier accepts, the cheapest first."""
    feasible = (plan for plan in every_plan(problem) if not verify(problem, build_plan(problem, plan)))
    return sorted(feasible, key=lambda plan: price(problem, plan))


def recombined(problem: Problem, pool: Sequence[Candidate], start: Candidate) -> Candidate:
    """Return what recombination makes of the routes of some plans, from a plan that serves the same tickets."""
    recombination = Recombination(problem)
    for first in range(0, len(pool), MAX_CANDIDATES):
        for plan in pool[first : first + MAX_CANDIDATES]:
            recombination.add(plan)
        start = recombination.improved(start, time.monotonic() + LONG_S, lambda: False)
    return start


def dearest_like(problem: Problem, plans: Sequence[Candidate]) -> Candidate:
    """Return the dearest plan that leaves out no wanted ticket that the best one serves."""
    best = build_plan(problem, plans[0])
    return [plan for plan in plans if build_plan(problem, plan).penalty == best.penalty][-1]


SLOW_SEEDS = [pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 60) if seed != 37]
"""Without 37, on which nobody can keep the locks."""


@pytest.mark.parametrize("seed", [*range(6), *SLOW_SEEDS])
def test_of_all_routes_the_best_plan_is_found(seed: int) -> None:
    """SPEC S2: OR-Tools recombines the routes that searches found; brute force says what is best."""
    problem = random_problem(seed, tickets=3, features=_some(EXACT, seed))
    plans = plans_of(problem)
    found = recombined(problem, plans, dearest_like(problem, plans))
    assert verify(problem, build_plan(problem, found)) == []
    assert price(problem, found) == price(problem, plans[0])


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 20))])
def test_with_a_price_on_the_longest_route_no_plan_gets_dearer(seed: int) -> None:
    """SPEC S1, balance: the model knows the span, and what it chooses is priced exactly."""
    problem = random_problem(seed, tickets=3, features=_some(EXACT, seed) | {Feature.BALANCE})
    plans = plans_of(problem)
    start = dearest_like(problem, plans)
    found = recombined(problem, plans, start)
    assert verify(problem, build_plan(problem, found)) == []
    assert price(problem, plans[0]) <= price(problem, found) <= price(problem, start)


def _some(features: frozenset[Feature], seed: int) -> frozenset[Feature]:
    """Return a third of the features, another one for each seed."""
    return frozenset(sorted(features)[seed % 3 :: 3])


def test_native_search_logs_routes_as_they_are() -> None:
    """Our choice: what the native engine logs is feasible and costs what it says, also when its buffer is reused."""
    problem, log = fleet(40), route_log()[: 2 * 2000]
    SisrEngine(max_iterations=20_000).solve(
        problem, SearchLimits(time.monotonic() + LONG_S, route_log=log), lambda _: None, lambda: False
    )
    pool = RoutePool(problem)
    pool.add_logged(log)
    assert len(pool) > 50
    for column in pool.columns:
        alone = Candidate((column.route(problem),))
        assert verify(problem, build_plan(problem, alone)) == []
        exact = RoutePool(problem).add_candidate(alone)[0]
        assert (column.type, column.tickets, column.cost) == (exact.type, exact.tickets, exact.cost)
    assert not log[[0, 2000]].any()


def test_of_equal_routes_the_cheaper_stays_and_the_pool_is_bounded() -> None:
    """Our choice: dominated routes are dropped, and so are the oldest."""
    problem = fleet(5)
    pool = RoutePool(problem)
    orders = ([0, 1, 2], [1, 0, 2], [2, 0, 1])
    columns = [pool.add_candidate(Candidate.of_tickets({0: list(order)}))[0] for order in orders]
    assert len(pool) == 1
    assert columns[-1].cost == min(column.cost for column in columns)
    pool.add_candidate(Candidate.of_tickets({0: [3]}))
    pool.keep_newest(1)
    assert [column.tickets for column in pool.columns] == [(3,)]


def test_stop_is_noticed_while_a_solver_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engine contract: a cancel waits for no solver."""
    problem, release, is_solving = fleet(5), threading.Event(), threading.Event()

    def solve(*_: object, **__: object) -> None:
        is_solving.set()
        release.wait(LONG_S)

    monkeypatch.setattr(mathopt, "solve", solve)
    start = Candidate.of_tickets({0: [0, 1, 2]})
    try:
        found = Recombination(problem).improved(start, time.monotonic() + LONG_S, is_solving.is_set)
        assert found is start
        assert not release.is_set()
    finally:
        release.set()


def test_a_solver_that_fails_costs_no_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S3: the plan before it stays; the fault is an `EngineError`, whatever the library raises."""

    def fail(*_: object, **__: object) -> None:
        raise AttributeError("a status nobody knows")

    monkeypatch.setattr(mathopt, "solve", fail)
    problem = fleet(12)
    start = Candidate.of_tickets({0: [0]})
    with pytest.raises(EngineError):
        Recombination(problem).improved(start, time.monotonic() + LONG_S, lambda: False)
    outcome = Portfolio([ScriptedEngine("scripted", start)]).solve(
        problem, SearchLimits(time.monotonic() + 2.5), lambda _: None, lambda: False
    )
    assert outcome.best == start
    assert outcome.recombination is None


def test_auto_recombines_routes_and_says_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: OR-Tools takes part in the default path, here in a fifth of a second, and the plan records it."""
    monkeypatch.setattr(time_allocation, "RECOMBINATION_FROM_S", 0.5)
    monkeypatch.setattr(time_allocation, "RECOMBINATION_SHARE", 0.2)
    problem = fleet(60)
    engine = engine_registry.choose(problem)
    outcome = engine.solve(problem, SearchLimits(time.monotonic() + 1.0), lambda _: None, lambda: False)
    record = outcome.recombination
    assert record is not None
    assert record.columns > 0
    assert record.solves > 0
    assert record.seconds > 0
    assert "ortools" in engine.versions()
    assert outcome.best is not None
    assert set(outcome.best.found_by) <= {NAME, *engine.versions()}


def test_plan_keeps_its_record() -> None:
    """SPEC S3: the plan records what made it; a plan without recombination says nothing of it."""
    problem = fleet(5)
    plan = build_plan(problem, Candidate.of_tickets({0: [0]}))
    assert "recombination" not in plan.as_json()
    from dataclasses import replace

    recorded = replace(plan, recombination=RecombinationRecord(100, 3, 0.2, 0.5))
    assert recorded.as_json()["recombination"] == {"columns": 100, "solves": 3, "seconds": 0.2, "gain_percent": 0.5}
    assert Plan.from_json(recorded.as_json()) == recorded
