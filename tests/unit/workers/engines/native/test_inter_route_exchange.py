"""Inter-route exchanges: after each one the plan costs what its evaluated routes cost, and is verified."""

import ctypes

import pytest

from planner_mcp.routing.problem import Feature, Problem
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.native.native_checks import assert_last_plan_holds, native_check
from workers.engines.native import native_arrays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # compiling takes most of it

FEATURES: tuple[frozenset[Feature], ...] = (
    frozenset(),
    *(frozenset({feature}) for feature in Feature),
    frozenset({Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.MULTI_DEPOT, Feature.MULTI_CAPACITY}),
    frozenset({Feature.TIME_WINDOWS, Feature.HETEROGENEOUS, Feature.BREAKS, Feature.PICKUPS, Feature.OVERTIME}),
    frozenset({Feature.BACKHAUL, Feature.PICKUPS, Feature.TIME_WINDOWS, Feature.MULTI_CAPACITY, Feature.LOCKS}),
    frozenset({Feature.RELOAD, Feature.RELEASE, Feature.TIME_WINDOWS, Feature.LOCKS}),
    frozenset({Feature.SKILLS, Feature.HETEROGENEOUS, Feature.TIME_WINDOWS, Feature.RELOAD}),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine compiled with a check of exchanges."""
    return native_check("route_exchange_check", tmp_path_factory.mktemp("native"))


def exchange(library: ctypes.CDLL, problem: Problem, seed: int) -> tuple[int, int]:
    """Exchange at random; return how many were kept and undone, after asserting that every plan is consistent."""
    flat, buffer = native_arrays.Arrays(problem), native_arrays.incumbent_buffer(problem)
    made = (ctypes.c_int64 * 2)()
    cells = buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert library.sisr_route_exchange_check(flat.input, seed, 300, cells, len(buffer), made) == 0
    assert_last_plan_holds(problem, buffer)
    return made[0], made[1]


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: "+".join(sorted(features)) or "plain")
def test_a_plan_after_exchanges_costs_what_its_evaluated_routes_cost(
    library: ctypes.CDLL, features: frozenset[Feature]
) -> None:
    """SPEC S2: after every exchange that is kept the plan is verified, at the cost the search states."""
    for seed in range(15):
        exchange(library, random_problem(seed, tickets=25, features=features), seed)


def test_exchanges_occur_in_every_kind_of_problem_they_apply_to(library: ctypes.CDLL) -> None:
    """Our choice: the test above would hold for a search without exchanges."""
    alone = (Feature.TIME_WINDOWS, Feature.PICKUPS, Feature.BREAKS, Feature.MULTI_DEPOT, Feature.RELOAD, Feature.SKILLS)
    for features in (set(), *({feature} for feature in alone)):
        made = [
            exchange(library, random_problem(seed, tickets=40, features=frozenset(features)), seed)
            for seed in range(10)
        ]
        assert sum(kept for kept, _ in made) >= 10, features
        assert sum(undone for _, undone in made) >= 10, features
