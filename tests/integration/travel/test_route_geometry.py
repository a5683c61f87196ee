"""Lines of routes, asked of a road engine, and going without (SPEC O9)."""

from typing import Any

import pytest

from planner_mcp.routing.plan import Plan
from planner_mcp.settings import Settings
from planner_mcp.travel import route_geometry
from planner_mcp.travel.route_geometry import RouteGeometry
from tests.integration.travel.conftest import routers
from tests.integration.travel.fake_routing_servers import RoadEngine
from tests.shared.scenarios.stored_plans import stored_plan

pytestmark = pytest.mark.anyio
PLACES = {"D": (39.9, 116.4), "A": (39.91, 116.41), "B": (39.92, 116.43)}


def plan(*stops: str, travel: dict[str, Any] | None = None) -> Plan:
    """Return a plan of one route over some stops."""
    visit = {"kind": "ticket", "ticket_id": "t", "arrival_s": 0, "start_s": 0, "departure_s": 0, "load": {}}
    visits = [{**visit, "location": name, "distance_m": 0} for name in stops]
    route = {"agent_id": "v", "visits": visits, "start_location": "D", "end_location": "D", "start_s": 0, "end_s": 0}
    route |= {"distance_m": 0, "travel_s": 0, "waiting_s": 0, "cost": 0}
    facts = {"source": "osrm", "router": "car"} if travel is None else travel
    return Plan.from_json({**stored_plan(routes=1, visits=1), "routes": [route], "travel": facts})


def geometry(engine: RoadEngine) -> RouteGeometry:
    return RouteGeometry(Settings(routers=routers(engine)))


@pytest.mark.parametrize("router", ["car", "lorry"])
async def test_a_line_goes_over_the_stops_in_order_and_is_asked_once(engine: RoadEngine, router: str) -> None:
    """SPEC O9: what was asked for one map is kept for the next; a stop at the same place asks for no way."""
    lines, day = geometry(engine), plan("A", "A", "B", travel={"router": router})
    found = await lines.lines("plan-1", day, PLACES)
    corners = [(39.91, 116.4), (39.92, 116.41), (39.9, 116.43)]
    stops = [PLACES[name] for name in "DABD"]
    expected = [point for a, corner, b in zip(stops, corners, stops[1:], strict=False) for point in (a, corner, b)]
    assert found == {"v": expected}
    assert await lines.lines("plan-1", day, PLACES) == found
    assert engine.asked == [(4, 0)]


async def test_a_better_plan_of_the_same_job_has_lines_of_its_own(engine: RoadEngine) -> None:
    """SPEC O9: a map that was looked at while the job was solved showed the first plan's roads under the last one."""
    lines = geometry(engine)
    first = await lines.lines("plan-1", plan("A", "B"), PLACES)
    better = await lines.lines("plan-1", plan("B", "A"), PLACES)
    assert (first["v"][2], better["v"][2]) == (PLACES["A"], PLACES["B"])


@pytest.mark.parametrize("travel", [{}, {"source": "haversine"}, {"source": "osrm", "router": "gone"}])
async def test_a_plan_whose_travel_comes_from_elsewhere_has_no_lines(
    engine: RoadEngine, travel: dict[str, Any]
) -> None:
    """SPEC O9: nothing is asked, and the map is drawn straight."""
    assert await geometry(engine).lines("plan-1", plan("A", travel=travel), PLACES) == {}
    assert engine.asked == []


@pytest.mark.parametrize("mood", ["refuses", "garbage", "short", "redirects"])
async def test_an_engine_that_makes_no_sense_costs_a_map_its_lines_and_nothing_else(
    engine: RoadEngine, mood: str
) -> None:
    """SPEC O9: the map stands without them, and they are asked for again with the next."""
    lines = geometry(engine)
    engine.mood = mood
    assert await lines.lines("plan-1", plan("A", "B"), PLACES) == {}
    engine.mood = ""
    assert set(await lines.lines("plan-1", plan("A", "B"), PLACES)) == {"v"}


async def test_legs_points_and_time_are_bounded(engine: RoadEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O9: a plan of thousands of legs, or an engine that hangs, holds up no map."""
    long = plan(*"AB" * 1001)
    assert await geometry(engine).lines("plan-1", long, PLACES) == {}
    assert engine.asked == []
    monkeypatch.setattr(route_geometry, "MAX_POINTS", 5)
    assert await geometry(engine).lines("plan-1", plan("A", "B"), PLACES) == {}
    monkeypatch.setattr(route_geometry, "_TOTAL_S", 0.2)
    engine.mood = "hangs"
    assert await geometry(engine).lines("plan-1", plan("A"), PLACES) == {}


@pytest.mark.parametrize(("router", "parts"), [("car", [100, 53]), ("lorry", [20, 20, 20, 20, 20, 5, 20, 20, 15])])
async def test_a_long_route_is_asked_in_parts(engine: RoadEngine, router: str, parts: list[int]) -> None:
    """SPEC O9: as many places in one question as the engine takes, each part beginning where the last one ended."""
    found = await geometry(engine).lines("plan-1", plan(*"AB" * 75, travel={"router": router}), PLACES)
    assert [count for count, _ in engine.asked] == parts
    assert len(found["v"]) == 3 * 151
