"""Followers of a ticket: all that the clock lets be served right behind it and that lie near, and no other."""

import ctypes

import pytest

from planner_mcp.routing.problem import Feature, Problem
from tests.shared.scenarios.random_problems import random_problem
from tests.unit.workers.engines.native.native_checks import native_check
from workers.engines.native import native_arrays

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]  # compiling takes most of it


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The engine's sources and a driver that judges the lists."""
    return native_check("followers", tmp_path_factory.mktemp("native"))


def followers(library: ctypes.CDLL, problem: Problem) -> tuple[int, int]:
    """Return how many followers are listed and how many the clock forbids, after asserting that no list is wrong."""
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
def test_a_ticket_is_followed_by_those_in_time_and_by_no_other(
    library: ctypes.CDLL, features: frozenset[Feature]
) -> None:
    """SPEC S3: trades are drawn towards them, so one that is late would be looked at in vain, one that lacks never."""
    counts = [followers(library, random_problem(seed, tickets=60, features=features)) for seed in range(8)]
    assert all(listed > 0 < forbidden for listed, forbidden in counts)


def test_where_the_clock_forbids_nothing_nobody_is_listed(library: ctypes.CDLL) -> None:
    """SPEC S3: neighbours serve there, without a second table of all pairs."""
    assert followers(library, random_problem(1, tickets=60, features=frozenset())) == (0, 0)
