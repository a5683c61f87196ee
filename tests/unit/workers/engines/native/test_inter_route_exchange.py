"""Trades between routes: whatever they do to a plan, it costs what its routes cost laid out anew, and is proved."""

import ctypes

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.problem import Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.native.native_checks import native_check
from workers.engines.native import native_arrays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # compiling takes most of it

FEATURES: tuple[frozenset[Feature], ...] = (
    frozenset(),
    *(frozenset({feature}) for feature in Feature),
    frozenset({Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.MULTI_DEPOT, Feature.MULTI_CAPACITY}),
    frozenset({Feature.TIME_WINDOWS, Feature.HETEROGENEOUS, Feature.BREAKS, Feature.PICKUPS, Feature.OVERTIME}),
    frozenset({Feature.RELOAD, Feature.RELEASE, Feature.TIME_WINDOWS, Feature.LOCKS}),
    frozenset({Feature.SKILLS, Feature.HETEROGENEOUS, Feature.TIME_WINDOWS, Feature.RELOAD}),
)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine's sources and a driver that does nothing but trade."""
    return native_check("trades", tmp_path_factory.mktemp("native"))


def trade(library: ctypes.CDLL, problem: Problem, seed: int) -> tuple[int, int]:
    """Trade at random; return how many were kept and undone, after asserting that each left a whole plan."""
    flat, buffer = native_arrays.Arrays(problem), native_arrays.incumbent_buffer(problem)
    made = (ctypes.c_int64 * 2)()
    cells = buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert library.sisr_route_exchange_check(flat.input, seed, 300, cells, len(buffer), made) == 0
    length = int(buffer[native_arrays.LENGTH])
    best = native_arrays.decode(
        problem, buffer[native_arrays.INCUMBENT_HEADER : native_arrays.INCUMBENT_HEADER + length].tolist()
    )
    if buffer[native_arrays.SEQUENCE]:
        assert verify(problem, build_plan(problem, best)) == []
        assert price(problem, best) == buffer[native_arrays.COST]
    return made[0], made[1]


@pytest.mark.parametrize("features", FEATURES, ids=lambda features: "+".join(sorted(features)) or "plain")
def test_a_traded_plan_costs_what_its_routes_laid_out_anew_cost(
    library: ctypes.CDLL, features: frozenset[Feature]
) -> None:
    """SPEC S2: after a kept trade the verifier proves the plan, at the price the search believes."""
    for seed in range(15):
        trade(library, random_problem(seed, tickets=25, features=features), seed)


def test_trades_are_made_of_every_kind_of_day_they_are_meant_for(library: ctypes.CDLL) -> None:
    """Our choice: the test above would hold for a search that trades nothing."""
    alone = (Feature.TIME_WINDOWS, Feature.PICKUPS, Feature.BREAKS, Feature.MULTI_DEPOT, Feature.RELOAD, Feature.SKILLS)
    for features in (set(), *({feature} for feature in alone)):
        made = [
            trade(library, random_problem(seed, tickets=40, features=frozenset(features)), seed) for seed in range(10)
        ]
        assert sum(kept for kept, _ in made) >= 10, features
        assert sum(undone for _, undone in made) >= 10, features
