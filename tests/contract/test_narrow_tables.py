"""Tables of travel of 32 bits, which days of many places have."""

import time
from typing import Any

import numpy as np
import pytest

from planner_mcp.routing import problem as problem_module
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.cheapest_legs import cheapest_legs
from planner_mcp.routing.problem import Candidate, Problem, empty_table, is_narrow
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import compiled
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.engines.engine_interface import SearchLimits, SearchOutcome
from workers.engines.selection import engine_registry

TICKETS = 60


def _with_matrix() -> dict[str, Any]:
    """Return the fleet with lengths that differ from one place to another and back."""
    day = fleet_body(TICKETS)
    draw = np.random.default_rng(1)
    lengths = draw.integers(1, 100, (TICKETS + 1, TICKETS + 1))
    np.fill_diagonal(lengths, 0)
    names = [place["id"] for place in day["locations"]]
    travel = {"distances": lengths.tolist(), "durations": lengths.T.tolist(), "matrix_locations": names}
    return day | {"travel": travel}


def _on_the_globe() -> dict[str, Any]:
    day = fleet_body(TICKETS)
    places = [
        {"id": place["id"], "lat": 48 + place["y"] / 1e5, "lon": 11 + place["x"] / 1e5} for place in day["locations"]
    ]
    return day | {"locations": places}


DAYS = {
    "plane": fleet_body(TICKETS),
    "globe": _on_the_globe(),
    "matrix": _with_matrix(),
    "no positions": fleet_body(TICKETS) | {"locations": []},
}


def _compiled(body: dict[str, Any], monkeypatch: pytest.MonkeyPatch, narrow_from: int) -> Problem:
    monkeypatch.setattr(problem_module, "NARROW_FROM", narrow_from)
    return compiled(body)


def _searched(day: Problem, engine: str) -> SearchOutcome:
    """Return what an engine finds in a tenth of a second, or in three until there is a plan."""
    began, found = time.monotonic(), list[Candidate]()
    limits = SearchLimits(began + 0.3)
    return engine_registry.choose(day, engine).solve(
        day, limits, found.append, lambda: bool(found) and time.monotonic() > began + 0.1
    )


@pytest.mark.parametrize("name", DAYS)
def test_a_narrow_table_says_what_a_wide_one_does(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T1: how many places a day has does not change its travel."""
    wide, narrow = (_compiled(DAYS[name], monkeypatch, narrow_from) for narrow_from in (1000, 1))
    for one, other in zip((*wide.distances, *wide.durations), (*narrow.distances, *narrow.durations), strict=True):
        assert (one.dtype, other.dtype) == (np.int64, np.int32)
        assert is_narrow(other)
        assert not is_narrow(one)
        assert np.array_equal(one, other)
    assert np.array_equal(cheapest_legs(wide).table, cheapest_legs(narrow).table)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        pytest.param(name, engine, marks=[] if "auto" in engine or name == "matrix" else pytest.mark.slow)
        for name in DAYS
        for engine in ("sisr", "pyvrp", "ortools", "auto")
    ],
)
def test_every_engine_plans_on_narrow_tables(name: str, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC S2: the verifier accepts what engines make of them."""
    day = _compiled(DAYS[name], monkeypatch, 1)
    outcome = _searched(day, engine)
    assert outcome.best is not None
    assert len(outcome.best.tickets) > TICKETS // 2
    assert not verify(day, build_plan(day, outcome.best))


def _dear() -> dict[str, Any]:
    """Return the fleet with a price of a metre beyond 32 bits."""
    day = fleet_body(TICKETS)
    return day | {
        "agents": [{**driver, "cost_per_km": 999_999_999.75} for driver in day["agents"]],
        "travel": {"decimals": 0},
    }


def _long() -> dict[str, Any]:
    """Return the fleet with shifts of a month, in milliseconds, and a ticket that few may serve."""
    day = fleet_body(TICKETS)
    first, *others = day["tickets"]
    agents = [{**driver, "shift_end": 3_000_000} for driver in day["agents"]]
    return day | {"agents": agents, "tickets": [{**first, "agents": [agents[0]["id"]]}, *others]}


@pytest.mark.parametrize("engine", ["pyvrp", "ortools"])
@pytest.mark.parametrize("body", [_dear(), _long()], ids=["a dear metre", "a long shift"])
def test_costs_and_times_may_be_larger_than_the_cells_of_narrow_tables(
    body: dict[str, Any], engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC S2: no engine counts them in 32 bits."""
    day = _compiled(body, monkeypatch, 1)
    assert max(day.agents[0].distance_cost, 2 * day.agents[0].shift[1]) > 2**31
    outcome = _searched(day, engine)
    assert outcome.best is not None
    assert not verify(day, build_plan(day, outcome.best))


def test_cells_that_do_not_fit_make_a_wide_table() -> None:
    """SPEC T1: no length is cut."""
    assert empty_table(problem_module.NARROW_FROM, 2**31 - 1).dtype == np.int32
    assert empty_table(problem_module.NARROW_FROM, 2**31).dtype == np.int64
