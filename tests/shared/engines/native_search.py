"""Searches of the native engine that end after a number of iterations, so that a seed repeats them."""

import time

import pytest

from planner_mcp.routing.problem import Candidate, Problem
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine

LONGEST_S = 60
needs_native = pytest.mark.skipif(not SisrEngine().is_available(), reason="the native library is not built here")


def searched(
    problem: Problem, iterations: int = 200, *, seed: int = 0, cores: int = 1, start: Candidate | None = None
) -> Candidate | None:
    """Return the plan that a search finds, None where it finds none."""
    limits = SearchLimits(time.monotonic() + LONGEST_S, seed, cores)
    return SisrEngine(max_iterations=iterations).solve(problem, limits, lambda _: None, lambda: False, start).best


def native_plan(problem: Problem, iterations: int = 200, *, seed: int = 0, cores: int = 1) -> Candidate:
    """Return the plan of a search that has to find one."""
    best = searched(problem, iterations, seed=seed, cores=cores)
    assert best is not None
    return best
