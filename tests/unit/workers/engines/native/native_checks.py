"""The engine's sources compiled with a check in C++: `NAME.cpp` beside this file, with a function `sisr_NAME`."""

import ctypes
from dataclasses import replace
from pathlib import Path

import pytest

from planner_mcp.arrays import Integers
from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.feasibility.route_violations import violations
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import Problem, Route
from planner_mcp.routing.verification.plan_verification import verify
from workers.engines.native import build, native_arrays


def native_check(name: str, folder: Path) -> ctypes.CDLL:
    """Compile into a folder and return the library; skip where there is no compiler, fail where it refuses the sources.

    The function takes a problem, a seed, the number of moves, an incumbent buffer with its size, and an array for its
    counts. It returns the number of wrong plans.
    """
    source = Path(__file__).with_name(f"{name}.cpp")
    try:
        build.command_here()
    except build.BuildError as error:
        pytest.skip(str(error))
    path = build.build(folder / f"{name}.so", ("-O0", "-I", str(build.FOLDER), str(source)))
    library = ctypes.CDLL(str(path))
    run = getattr(library, f"sisr_{name}")
    numbers, number = ctypes.POINTER(ctypes.c_int64), ctypes.c_int64
    run.restype = number
    run.argtypes = [ctypes.POINTER(native_arrays.Input), number, number, numbers, number, numbers]
    return library


def assert_last_plan_holds(problem: Problem, incumbent: Integers) -> None:
    """Verify the plan that a check left, if any, and its cost, without routes that serve too little: they cost more."""
    if not incumbent[native_arrays.SEQUENCE]:
        return
    end = native_arrays.INCUMBENT_HEADER + int(incumbent[native_arrays.LENGTH])
    last = native_arrays.decode(problem, incumbent[native_arrays.INCUMBENT_HEADER : end].tolist())
    kept = replace(last, routes=tuple(route for route in last.routes if not _serves_too_little(problem, route)))
    stated, cost = incumbent[native_arrays.COST], price(problem, last)
    assert verify(problem, build_plan(problem, kept)) == []
    assert stated == cost if kept == last else stated > cost


def _serves_too_little(problem: Problem, route: Route) -> bool:
    return any(each.limit is InfeasibilityReason.MIN_LOAD for each in violations(problem, route))
