"""Pictures of a plan, judged by their structure (SPEC R1)."""

import re
import struct
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import anyio
import pytest

from planner_mcp.picture import raster
from planner_mcp.picture.chart import map_svg
from planner_mcp.picture.raster import png_of
from planner_mcp.picture.report import page

SVG = "{http://www.w3.org/2000/svg}"
NASTY = '</style><script>alert("1")</script>&'


def day(name: str = "北京", agents: int = 3, stops: int = 5) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a scenario and its plan: a depot, routes of some stops each, two tickets left out."""
    places = [{"id": f"L{n}", "lat": 39.9 + n * 0.01, "lon": 116.4 + (n % 7) * 0.02} for n in range(agents * stops + 3)]
    tickets = [{"id": f"t-{n}", "location": f"L{n}", "demand": 1} for n in range(1, len(places))]
    routes = [
        {
            "agent_id": f"veh-{agent}",
            "start_location": "L0",
            "end_location": "L0",
            "start_s": 28_800,
            "end_s": 36_000,
            "distance_m": 12_000.0,
            "waiting_s": 0,
            "visits": [
                {
                    "ticket_id": f"t-{n}",
                    "location": f"L{n}",
                    "kind": "ticket",
                    "arrival_s": 29_000,
                    "start_s": 29_100 + n * 60,
                    "departure_s": 29_160 + n * 60,
                    "load": {"load": float((agent + 1) * stops - n)},
                }
                for n in range(1 + agent * stops, 1 + (agent + 1) * stops)
            ],
        }
        for agent in range(agents)
    ]
    missing = [{"ticket_id": ticket["id"], "code": "NO_CAPACITY", "detail": ""} for ticket in tickets[-2:]]
    scenario = {
        "name": name,
        "planning_date": "2025-07-15",
        "agents": [{"id": f"veh-{n}", "capacity": 10} for n in range(agents)],
        "tickets": tickets,
        "locations": places,
    }
    plan = {
        "routes": routes,
        "unassigned": missing,
        "cost": 1.0,
        "distance_m": 36_000.0,
        "duration_s": 21_600,
        "agents_used": agents,
        "tickets_served": agents * stops,
        "tickets_total": len(tickets),
        "engine": "tiny",
        "seed": 0,
        "versions": {},
        "input_hash": "",
    }
    return scenario, plan


def test_a_map_shows_every_route_stop_depot_and_gap() -> None:
    """SPEC R1: one line a route, one dot a stop, one square a depot, one cross a ticket left out."""
    root = ElementTree.fromstring(map_svg(*day()))  # noqa: S314 - our own picture
    counts = {
        "polyline": len(root.findall(f".//{SVG}polyline")),
        "stop": len(root.findall(f".//{SVG}circle[@class='stop']")),
        "depot": len(root.findall(f".//{SVG}rect[@class='depot']")),
        "cross": len(root.findall(f".//{SVG}path[@class='cross']")),
    }
    assert counts == {"polyline": 3, "stop": 15, "depot": 1, "cross": 2}
    points = [float(x) for x in re.findall(r'c[xy]="([\d.]+)"', map_svg(*day()))]
    assert all(0 <= point <= 720 for point in points)


def test_neighbouring_routes_have_different_colours() -> None:
    """Our choice: forty routes are told apart."""
    colours = re.findall(r"\.r\d+ polyline\{stroke:(#[0-9a-f]{6})\}", map_svg(*day(agents=40)))
    assert len(set(colours)) == 40


def test_a_day_without_positions_says_so() -> None:
    """SPEC T1: the smallest call has a picture too."""
    scenario, plan = day()
    scenario["locations"] = []
    assert "No positions are known." in map_svg(scenario, plan)


def test_words_of_strangers_stay_words() -> None:
    """SPEC X3: nothing of a name is markup, in either picture."""
    scenario, plan = day(name=NASTY)
    plan["routes"][0]["agent_id"] = NASTY
    scenario["agents"][0]["id"] = NASTY
    ElementTree.fromstring(map_svg(scenario, plan))  # noqa: S314 - our own picture
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(page(scenario, plan))
    assert "script" not in tags
    assert tags.count("style") == 1


def test_the_report_fetches_nothing_and_prints() -> None:
    """SPEC R1: self-contained, with rules for paper and every stop open."""
    html = page(*day())
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", html)
    assert "@media print" in html
    assert html.count("<details open") == 3


@pytest.mark.anyio
async def test_a_picture_becomes_png_in_another_process() -> None:
    """ADR 10: 1080 points wide, the event loop free meanwhile."""
    svg, ticks = map_svg(*day()), 0
    async with anyio.create_task_group() as tasks:

        async def tick() -> None:
            nonlocal ticks
            while True:
                await anyio.sleep(0.01)
                ticks += 1

        tasks.start_soon(tick)
        data = await png_of(svg)
        tasks.cancel_scope.cancel()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24]) == (1080, 840)
    assert ticks > 3


@pytest.mark.anyio
async def test_a_broken_picture_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T8: and one that takes too long says when to come back."""
    with pytest.raises(raster.PlannerError):
        await png_of("<svg")
    monkeypatch.setattr(raster, "LONGEST_S", 0.0)
    with pytest.raises(raster.CapacityError):
        await png_of(map_svg(*day()))
