"""A changed day planned anew: what a price of switching buys (SPEC T5)."""

import time
from typing import Any

import pytest

from planner_mcp.routing.analysis.frozen_prefix import agent_assignments
from planner_mcp.routing.analysis.plan_comparison import compare
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.engine_names import AUTO
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Feature
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.scenario_patch import revise
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.engines.engine_interface import SearchLimits
from workers.engines.selection import engine_registry

ABLE = [
    AUTO,
    *(
        pytest.param(engine.name, marks=pytest.mark.slow)
        for engine in engine_registry.engines()
        if engine.is_available() and Feature.PREFERENCES in engine.features
    ),
]
"""Four searches take their whole time for each; the quick suite has them for `auto`."""
NOTHING, LITTLE, MUCH = 0.0, 30.0, 10_000.0


def solved(day: dict[str, Any], name: str, start: Plan | None = None) -> Plan:
    """Return the plan of a second's search, warm where there is a start."""
    problem = compiled(day)
    warm = None if start is None else repair(problem, candidate_of(problem, start))
    limits = SearchLimits(time.monotonic() + 1.0)
    best = engine_registry.choose(problem, name).solve(problem, limits, lambda _: None, lambda: False, warm).best
    assert best is not None
    plan = build_plan(problem, best)
    assert verify(problem, plan) == []
    return plan


@pytest.mark.slow
@pytest.mark.parametrize("name", ABLE)
def test_a_higher_price_of_switching_buys_fewer_moves(name: str) -> None:
    """SPEC T5: least change as a price: no move where it is high, and each that is made pays."""
    before = fleet_body(40)
    plan = solved(before, name)
    late = {entry["id"]: {"time_windows": [[500, 900]]} for entry in before["tickets"][::5]}
    after = revise(before, {"tickets": late})
    moved, driven = {}, {}
    for price in (NOTHING, LITTLE, MUCH):
        held, _ = agent_assignments(parse_scenario(after), plan, switch_cost=price)
        new = solved({**after, "held": held.as_json()}, name, plan)
        assert new.tickets_served == 40
        change = compare(plan, new)
        moved[price] = len(change.moved)
        driven[price] = new.distance_m
        assert new.cost == pytest.approx(new.distance_m + price * moved[price])
    assert moved[MUCH] <= moved[LITTLE] <= moved[NOTHING]
    assert driven[LITTLE] <= driven[MUCH]
