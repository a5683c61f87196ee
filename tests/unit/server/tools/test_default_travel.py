"""Where a day that says nothing of travel gets it from (SPEC O9)."""

from pathlib import Path
from typing import Any

import pytest

from planner_mcp.server.tools.arguments.day_reading import DayReader
from planner_mcp.server.tools.arguments.resolved_inputs import ResolvedInputs, ScenarioBounds, with_default_travel
from planner_mcp.server.tools.scenarios.validate_scenario import validation_report
from planner_mcp.settings import Settings

GLOBE = [{"id": "D", "lat": 60.17, "lon": 24.94}]
ROADS = ScenarioBounds.of(Settings(roads_pbf=Path("/data/city.osm.pbf")))
STRAIGHT = ScenarioBounds.of(Settings())


@pytest.mark.parametrize("travel", [{}, {"rush_hours": []}, {"crs": "gcj02"}])
def test_a_day_with_positions_goes_by_the_roads_of_the_server(travel: dict[str, Any]) -> None:
    """SPEC O9: by one setting, and what else the day says of travel stays."""
    body = {"locations": GLOBE, "travel": travel}
    assert with_default_travel(body, ROADS) == {"locations": GLOBE, "travel": {**travel, "router": "roads"}}
    assert with_default_travel({"locations": GLOBE}, ROADS)["travel"] == {"router": "roads"}


@pytest.mark.parametrize(
    "body",
    [
        {"locations": GLOBE, "travel": {"speed_kmh": 30}},
        {"locations": GLOBE, "travel": {"detour": 1}},
        {"locations": GLOBE, "travel": {"router": "lorry"}},
        {"locations": GLOBE, "travel": {"matrix": "mat-0-a"}},
        {"locations": GLOBE, "travel": {"durations": [[0]]}},
        {"locations": [*GLOBE, {"id": "A"}]},
        {"locations": [{"id": "D", "x": 1, "y": 2}]},
        {"locations": []},
        {"locations": "D"},
        {"locations": [1]},
        {"locations": GLOBE, "travel": None},
        {"locations": GLOBE, "travel": []},
        {},
        [],
        None,
    ],
)
def test_a_day_that_says_otherwise_or_has_no_positions_stays_as_it_is(body: Any) -> None:
    """SPEC O9: whoever states a source keeps it; wrong types are judged with the rest of the day."""
    assert with_default_travel(body, ROADS) is body


def test_without_roads_a_day_stays_as_it_is() -> None:
    """SPEC O9: then straight lines times 1.3."""
    body = {"locations": GLOBE}
    assert with_default_travel(body, STRAIGHT) is body


def test_a_day_that_is_only_validated_goes_by_the_roads_of_the_server_too() -> None:
    """SPEC O9, T2: `validate_scenario` without `travel` says what `create_scenario` would keep."""
    body = {
        "name": "day",
        "planning_date": "2025-07-16",
        "locations": [*GLOBE, {"id": "A", "lat": 60.18, "lon": 24.95}],
        "agents": [{"id": "v", "capacity": 1, "start_location": "D", "end_location": "D"}],
        "tickets": [{"id": "t", "location": "A", "demand": 1}],
    }
    by_roads, straight = (
        validation_report(body, {}, DayReader(bounds, lambda _body: ResolvedInputs())) for bounds in (ROADS, STRAIGHT)
    )
    assert (by_roads.valid, straight.valid) == (True, True)
    assert any("roads" in each for each in by_roads.assumptions or [])
    assert not any("roads" in each for each in straight.assumptions or [])
