"""Plans searched apart and their children: each is whole, costs what its routes cost laid out anew, and is proved."""

import ctypes
import time

import pytest

from planner_mcp.vrp.layout.schedule import lay_out, price
from planner_mcp.vrp.problem import Feature, Problem
from planner_mcp.vrp.proof.verify import verify
from tests.shared.random_days import random_day
from tests.unit.workers.engines.drivers import driver
from workers.engines.base import Limits
from workers.engines.native import arrays
from workers.engines.sisr import SisrEngine

TICKETS = 6
BREEDS = 8001 * TICKETS
"""Iterations from which on such a day is searched by several plans."""

MIXED: tuple[frozenset[Feature], ...] = (
    frozenset(),
    *(frozenset({feature}) for feature in Feature if feature is not Feature.GROUPS),
    frozenset({Feature.TIME_WINDOWS, Feature.SHIFTS, Feature.MULTI_DEPOT, Feature.MULTI_CAPACITY}),
    frozenset({Feature.TIME_WINDOWS, Feature.HETEROGENEOUS, Feature.BREAKS, Feature.PICKUPS, Feature.OVERTIME}),
    frozenset({Feature.RELOAD, Feature.RELEASE, Feature.TIME_WINDOWS, Feature.LOCKS}),
    frozenset({Feature.SHIPMENTS, Feature.LOCKS, Feature.SKILLS, Feature.OPTIONAL}),
)


@pytest.mark.skipif(not SisrEngine().is_available(), reason="the native library is not built here")
@pytest.mark.parametrize("feature", list(Feature))
def test_a_long_search_of_few_tickets_is_proved_and_repeats(feature: Feature) -> None:
    """SPEC S2, S3: where the time is long several plans are searched and crossed, whatever the day asks for."""
    problem = random_day(3, tickets=TICKETS, features=frozenset({feature}))
    engine = SisrEngine(max_iterations=BREEDS)
    one, again = (
        engine.solve(problem, Limits(time.monotonic() + 60, 5), lambda _: None, lambda: False).best for _ in range(2)
    )
    assert one == again
    assert one is not None
    assert verify(problem, lay_out(problem, one)) == []


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine's sources and a driver that does little but cross."""
    return driver("crossings", tmp_path_factory.mktemp("native"))


def cross(library: ctypes.CDLL, problem: Problem, seed: int) -> int:
    """Cross pairs of plans; return how many routes were handed on, after asserting that each child is whole."""
    flat, board = arrays.Arrays(problem), arrays.board_for(problem)
    taken = ctypes.c_int64()
    cells = board.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert library.sisr_crossings(flat.input, seed, 20, cells, len(board), ctypes.byref(taken)) == 0
    length = int(board[arrays.LENGTH])
    last = arrays.decode(problem, board[arrays.BOARD_HEADER : arrays.BOARD_HEADER + length].tolist())
    if board[arrays.SEQUENCE]:
        assert verify(problem, lay_out(problem, last)) == []
        assert price(problem, last) == board[arrays.COST]
    return taken.value


@pytest.mark.slow
@pytest.mark.timeout(300)  # compiling takes most of it
@pytest.mark.parametrize("features", MIXED, ids=lambda features: "+".join(sorted(features)) or "plain")
def test_a_child_costs_what_its_routes_laid_out_anew_cost(library: ctypes.CDLL, features: frozenset[Feature]) -> None:
    """SPEC S2: a plan with routes of two is whole, proved, and costs what the search believes."""
    for seed in range(12):
        cross(library, random_day(seed, tickets=25, features=features), seed)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_children_have_routes_of_both_parents(library: ctypes.CDLL) -> None:
    """Our choice: the test above would hold for a child that is one of its parents."""
    for features in (set(), {Feature.TIME_WINDOWS}, {Feature.MULTI_DEPOT}, {Feature.SHIPMENTS}, {Feature.RELOAD}):
        days = [random_day(seed, tickets=40, features=frozenset(features)) for seed in range(10)]
        assert sum(cross(library, day, seed) for seed, day in enumerate(days)) >= 50, features
