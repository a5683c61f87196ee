"""Without a C++ compiler the planner plans on, and says what it lacks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import planner_mcp
from workers.engines.engine_interface import version_of

CHILD = """
import asyncio, sys, time
from pathlib import Path
from workers.engines.native import sisr_engine
sisr_engine.LIBRARY = Path(sys.argv[1])
from planner_mcp.cli.commands.doctor import examine
from planner_mcp.errors import UnsupportedFeatureError
from planner_mcp.settings import Settings
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.engines.selection import engine_registry
from workers.engines.engine_interface import SearchLimits

def said(body):
    problem = compile_scenario(parse_scenario(body))
    try:
        engine = engine_registry.choose(problem)
    except UnsupportedFeatureError as error:
        return error.message
    whole = []
    limits = SearchLimits(time.monotonic() + 20)
    best = engine.solve(problem, limits, lambda plan: whole.append(len(plan.tickets) == 12), lambda: any(whole)).best
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    able = ", ".join(f"{name} {version}" for name, version in engine.versions().items())
    return f"{plan.tickets_served} by {plan.engine}, able: {able}"

async def engines():
    return next(found.detail for found in [found async for found in examine(Settings())] if found.name == "engines")

plain = fleet_body(12)
rest = {"breaks": [{"earliest": 100, "latest": 300, "duration_s": 20}]}
reload = {"reload_locations": ["D"], "max_reloads": 1}
for more in ({}, rest, {**rest, **reload}):
    print(said({**plain, "agents": [{**agent, **more} for agent in plain["agents"]]}))
print(asyncio.run(engines()))
try:
    engine_registry.choose(compile_scenario(parse_scenario(plain)), "sisr")
except UnsupportedFeatureError as error:
    print(error.message)
"""
REMEDY = "install a C++ compiler or the package ziglang, and run python -m workers.engines.native.build"


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return what a process says that never had the library: of three days, of its engines, and asked for `sisr`."""
    folder = tmp_path_factory.mktemp("bare")
    root = Path(planner_mcp.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root), "PLANNER_DATA_DIR": str(folder), "PLANNER_PORT": "0"}
    child = [sys.executable, "-c", CHILD, str(folder / "absent.so")]
    done = subprocess.run(child, capture_output=True, text=True, timeout=60, env=environment, cwd=root, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_plain_day_and_day_with_breaks_are_planned(said: list[str]) -> None:
    """SPEC S2: the plain day by PyVRP and OR-Tools, the one with breaks by OR-Tools."""
    plain, breaks = said[:2]
    assert plain.startswith("12 by pyvrp")
    assert breaks.startswith("12 by ortools")
    assert "sisr" not in plain + breaks


def test_day_only_the_native_engine_can_plan_is_refused_with_the_way_to_get_it(said: list[str]) -> None:
    """SPEC S2: breaks and reloads together; the message names what is missing and how to get it."""
    assert "lacks" in said[2]
    assert f"'sisr' is not here: {REMEDY}." in said[2]


def test_doctor_lists_the_engines_and_how_to_get_the_others(said: list[str]) -> None:
    """SPEC O3: versions of those that are here."""
    assert said[3].startswith(f"pyvrp {version_of('pyvrp')}, ortools {version_of('ortools')}")
    assert f"; no sisr: {REMEDY}" in said[3]


def test_engine_that_is_not_here_is_not_among_those_there_are(said: list[str]) -> None:
    """SPEC T7: the names in the message can be used."""
    refusal = "Engine 'sisr' is not installed; installed are auto, pyvrp, ortools."
    assert said[4] == f"{refusal} 'sisr' is not here: {REMEDY}."
