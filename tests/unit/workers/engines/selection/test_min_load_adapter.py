"""Least loads in `auto`: an engine that does not know them searches first, the one that does goes on from there."""

import time
from dataclasses import replace

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.engines.scripted_engine import ScriptedEngine
from tests.shared.scenarios.seeded_fleet import fleet
from workers.engines.engine_interface import SearchLimits
from workers.engines.native.sisr_engine import SisrEngine
from workers.engines.selection import engine_registry
from workers.engines.selection.min_load_adapter import MinLoadAdapter


def day(least: int, tickets: int = 30) -> Problem:
    """Return a day of a fleet whose agents serve at least so much, or nothing."""
    base = fleet(tickets)
    agents = tuple(replace(agent, min_load=(least,)) for agent in base.agents)
    return replace(base, agents=agents, features=base.features | {Feature.MIN_LOAD})


def test_routes_that_serve_too_little_are_left_out() -> None:
    """SPEC S1, S2: what an engine finds without least loads is handed over without the routes that break them."""
    base = fleet(30)
    heavy = max(range(30), key=lambda number: base.tickets[number].demand)
    light = min(range(30), key=lambda number: base.tickets[number].demand)
    (least,) = base.tickets[heavy].demand
    engine = MinLoadAdapter(ScriptedEngine("sisr", Candidate.of_tickets({0: [light], 1: [heavy]})))
    found: list[Candidate] = []
    outcome = engine.solve(day(least), SearchLimits(time.monotonic() + 1), found.append, lambda: False)
    assert outcome.best == Candidate.of_tickets({1: [heavy]})
    assert found == [outcome.best]


def test_a_day_on_which_no_route_reaches_its_least_load_has_a_plan_without_routes() -> None:
    """SPEC S1, S2: it leaves all tickets out; without a plan the job would fail."""
    engine = MinLoadAdapter(ScriptedEngine("sisr", Candidate.of_tickets({0: [0]})))
    outcome = engine.solve(day(10**6), SearchLimits(time.monotonic() + 1), lambda _: None, lambda: False)
    assert outcome.best == Candidate(())


@pytest.mark.skipif(not SisrEngine().is_available(), reason="the native library is not built here")
def test_least_loads_do_not_keep_auto_from_its_strongest_engine() -> None:
    """SPEC S1, S2: the native engine takes part, and what it alone knows is no reason to refuse the day."""
    problem = day(20)
    found: list[Candidate] = []
    engine = engine_registry.choose(problem)
    outcome = engine.solve(problem, SearchLimits(time.monotonic() + 0.3), found.append, lambda: False)
    assert outcome.best is not None and "sisr" in outcome.best.found_by
    assert all(verify(problem, build_plan(problem, each)) == [] for each in found)
    assert engine_registry.choose(replace(problem, features=problem.features | {Feature.RELOAD})).name == "auto"
