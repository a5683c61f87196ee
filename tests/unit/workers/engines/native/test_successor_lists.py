"""Successors of a ticket: all near tickets that can follow it on time, and no others."""

import ctypes

import pytest

from planner_mcp.routing.problem import Feature, Problem
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.native.native_checks import native_check
from workers.engines.native import native_arrays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # compiling takes most of it


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine's sources and a check of the lists."""
    return native_check("successor_list_check", tmp_path_factory.mktemp("native"))


def successors(library: ctypes.CDLL, problem: Problem) -> tuple[int, int]:
    """Return how many successors are listed and how many are too late, after asserting that no list is wrong."""
    flat, buffer = native_arrays.Arrays(problem), native_arrays.incumbent_buffer(problem)
    counts = (ctypes.c_int64 * 2)()
    cells = buffer.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))
    assert library.sisr_successor_list_check(flat.input, 1, 1, cells, len(buffer), counts) == 0
    return counts[0], counts[1]


@pytest.mark.parametrize(
    "features",
    [
        frozenset({Feature.TIME_WINDOWS}),
        frozenset({Feature.TIME_WINDOWS, Feature.MULTI_DEPOT, Feature.BREAKS}),
        frozenset({Feature.TIME_WINDOWS, Feature.SOFT_WINDOWS, Feature.SETUP, Feature.LOCKS}),
        frozenset({Feature.TIME_WINDOWS, Feature.SKILLS, Feature.RELOAD}),
    ],
    ids=lambda features: "+".join(sorted(features)),
)
def test_successors_are_the_tickets_that_can_follow_on_time(library: ctypes.CDLL, features: frozenset[Feature]) -> None:
    """SPEC S3: exchanges use these lists, so a late ticket would waste a move and a missing one never be tried."""
    counts = [successors(library, random_problem(seed, tickets=60, features=features)) for seed in range(8)]
    assert all(listed > 0 < late for listed, late in counts)


def test_without_time_constraints_there_are_no_successor_lists(library: ctypes.CDLL) -> None:
    """SPEC S3: the neighbour lists are used there."""
    assert successors(library, random_problem(1, tickets=60, features=frozenset())) == (0, 0)
