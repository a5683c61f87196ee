"""The population of plans: every child is consistent, costs what its evaluated routes cost, and is verified."""

import ctypes

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.native_search import native_plan, needs_native
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.native.native_checks import assert_last_plan_holds, native_check
from workers.engines.native import native_arrays

TICKETS = 6
ITERATIONS = (600 * TICKETS, 4000 * TICKETS, 8001 * TICKETS)
"""Iterations of a search that cools briefly first, of one whose population depends on its temperatures, and of one with
a population."""
SEARCHES = [
    pytest.param(feature, count, marks=[] if number % 3 == kind else pytest.mark.slow)
    for number, feature in enumerate(Feature)
    for kind, count in enumerate(ITERATIONS)
]
"""The quick suite has one length for each feature."""

MIXED: tuple[frozenset[Feature], ...] = (
    frozenset(),
    *(frozenset({feature}) for feature in Feature if feature is not Feature.GROUPS),
    frozenset({Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.MULTI_DEPOT, Feature.MULTI_CAPACITY}),
    frozenset({Feature.TIME_WINDOWS, Feature.HETEROGENEOUS, Feature.BREAKS, Feature.PICKUPS, Feature.OVERTIME}),
    frozenset({Feature.RELOAD, Feature.RELEASE, Feature.TIME_WINDOWS, Feature.LOCKS}),
    frozenset({Feature.SHIPMENTS, Feature.LOCKS, Feature.SKILLS, Feature.OPTIONAL}),
)


@needs_native
@pytest.mark.parametrize(("feature", "iterations"), SEARCHES)
def test_a_long_search_of_few_tickets_is_proved_and_repeats(feature: Feature, iterations: int) -> None:
    """SPEC S2, S3: long searches raise temperatures or use a population, whatever features the problem has."""
    problem = random_problem(3, tickets=TICKETS, features=frozenset({feature}))
    one, again = (native_plan(problem, iterations, seed=5) for _ in range(2))
    assert one == again
    assert verify(problem, build_plan(problem, one)) == []


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine compiled with a check of crossover."""
    return native_check("route_crossover_check", tmp_path_factory.mktemp("native"))


def crossover(library: ctypes.CDLL, problem: Problem, seed: int) -> int:
    """Cross pairs of plans; return the number of inherited routes, after asserting that each child is consistent."""
    flat, buffer = native_arrays.Arrays(problem), native_arrays.incumbent_buffer(problem)
    taken = ctypes.c_int64()
    cells = buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert library.sisr_route_crossover_check(flat.input, seed, 20, cells, len(buffer), ctypes.byref(taken)) == 0
    assert_last_plan_holds(problem, buffer)
    return taken.value


@pytest.mark.slow
@pytest.mark.timeout(300)  # compiling takes most of it
@pytest.mark.parametrize("features", MIXED, ids=lambda features: "+".join(sorted(features)) or "plain")
def test_a_child_costs_what_its_evaluated_routes_cost(library: ctypes.CDLL, features: frozenset[Feature]) -> None:
    """SPEC S2: a child of two plans is consistent and verified, at the cost the search states."""
    for seed in range(12):
        crossover(library, random_problem(seed, tickets=25, features=features), seed)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_children_have_routes_of_both_parents(library: ctypes.CDLL) -> None:
    """Our choice: the test above would hold for a child that is one of its parents."""
    for features in (set(), {Feature.TIME_WINDOWS}, {Feature.MULTI_DEPOT}, {Feature.SHIPMENTS}, {Feature.RELOAD}):
        days = [random_problem(seed, tickets=40, features=frozenset(features)) for seed in range(10)]
        assert sum(crossover(library, day, seed) for seed, day in enumerate(days)) >= 50, features
