"""Pictures of a plan, judged by their structure (SPEC R1)."""

import copy
import re
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import anyio
import pytest

import planner_mcp.server.http
from planner_mcp.render import svg_rasterizer
from planner_mcp.render.plan_report import report_page
from planner_mcp.render.route_colours import ROUTE_COLOURS
from planner_mcp.render.standalone_map import map_svg
from planner_mcp.render.svg_rasterizer import png_of
from planner_mcp.routing.plan import Plan

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
            "travel_s": 0,
            "waiting_s": 0,
            "cost": 1.0,
            "visits": [
                {
                    "ticket_id": f"t-{n}",
                    "location": f"L{n}",
                    "kind": "ticket",
                    "arrival_s": 29_000,
                    "start_s": 29_100 + n * 60,
                    "departure_s": 29_160 + n * 60,
                    "distance_m": 0.0,
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
        "status": "partial",
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


def drawn_map(scenario: dict[str, Any], plan: dict[str, Any]) -> str:
    """Return the map of a plan given as JSON."""
    return map_svg(scenario, Plan.from_json(plan))


def report(scenario: dict[str, Any], plan: dict[str, Any]) -> str:
    """Return the report of a plan given as JSON."""
    return report_page(scenario, Plan.from_json(plan))


def renamed(scenario: dict[str, Any], plan: dict[str, Any], text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a day whose scenario, agents and tickets all bear one name."""
    scenario, plan = copy.deepcopy(scenario), copy.deepcopy(plan)
    scenario["name"] = text
    for record in (*scenario["agents"], *scenario["tickets"]):
        record["id"] = text
    for route in plan["routes"]:
        route["agent_id"] = text
        for visit in route["visits"]:
            visit["ticket_id"] = text
    for entry in plan["unassigned"]:
        entry["ticket_id"] = text
    return scenario, plan


def titles(drawn: str) -> list[str]:
    """Return what hovering tells."""
    return re.findall(r"<title>([^<]*)</title>", drawn)


def scale_of(drawn: str) -> str:
    """Return what the scale bar stands for."""
    return str(re.findall(r'class="small"[^>]*>([^<]*)<', drawn)[-1])


def test_a_map_shows_every_route_stop_depot_and_gap() -> None:
    """SPEC R1: one line a route, one dot a stop, one square a depot, one cross a ticket left out."""
    root = ElementTree.fromstring(drawn_map(*day())).find(f"{SVG}svg")  # noqa: S314 - our own picture
    assert root is not None
    counts = {
        "polyline": len(root.findall(f".//{SVG}polyline")),
        "stop": len(root.findall(f".//{SVG}circle[@class='stop']")),
        "depot": len(root.findall(f".//{SVG}rect[@class='depot']")),
        "cross": len(root.findall(f".//{SVG}path[@class='cross']")),
    }
    assert counts == {"polyline": 3, "stop": 15, "depot": 1, "cross": 2}
    points = [float(x) for x in re.findall(r'c[xy]="([\d.]+)"', drawn_map(*day()))]
    assert all(0 <= point <= 720 for point in points)


def test_stops_are_numbered_and_counted_as_in_every_other_form() -> None:
    """SPEC R1: a break has no place on the map, and keeps its number."""
    scenario, plan = day(agents=1, stops=3)
    visits = plan["routes"][0]["visits"]
    visits.insert(1, {**visits[0], "ticket_id": None, "location": None, "kind": "break"})
    words = "".join(titles(drawn_map(scenario, plan)))
    assert [number for number in "1234" if f"{number}. " in words] == ["1", "3", "4"]
    assert "4 stops, 12.0 km" in words


@pytest.mark.parametrize(
    ("places", "scale"),
    [
        ([(39.9, 116.4)] * 3, "20 m"),
        ([(39.9, 116.4), (39.9, 116.401)], "20 m"),
        ([(39.9, 116.4), (39.9, 116.5)], "1 km"),
        ([(-16.8, 179.9), (-16.7, -179.95), (-16.9, 179.8)], "5 km"),
        ([(0.0, 0.0), (0.0, 179.0)], "2000 km"),
    ],
)
def test_a_map_of_the_globe_spans_its_places_and_no_less_than_a_yard(
    places: list[tuple[float, float]], scale: str
) -> None:
    """SPEC R1: the scale is in numbers a person uses, also of one spot and across the 180th meridian."""
    scenario, plan = day(agents=1, stops=1)
    scenario["locations"] = [{"id": f"L{n}", "lat": lat, "lon": lon} for n, (lat, lon) in enumerate(places)]
    assert scale_of(drawn_map(scenario, plan)) == scale


@pytest.mark.parametrize(
    ("places", "scale"),
    [
        ([(0, 0)] * 3, "0.2 units"),
        ([(0, 0), (25, 19), (3, 4)], "5 units"),
        ([(0, 0), (0.2, 0.1), (0, 0)], "0.02 units"),
        ([(0, 0), (5e7, 0), (0, 0)], "10000000 units"),
    ],
)
def test_a_plane_is_shown_in_its_own_units(places: list[tuple[float, float]], scale: str) -> None:
    """SPEC R1: nobody said that they were metres."""
    scenario, plan = day(agents=1, stops=1)
    scenario["locations"] = [{"id": f"L{n}", "x": x, "y": y} for n, (x, y) in enumerate(places)]
    plan |= {"travel": {"source": "plane"}, "distance_m": 64.474}
    plan["routes"][0]["distance_m"] = 64.474
    drawn = drawn_map(scenario, plan)
    assert scale_of(drawn) == scale
    assert "1 stops, 64.5 units" in "".join(titles(drawn))
    assert ": 1 站, 64.5 单位</text>" in drawn, "the legend is in the language of the day"
    html = report(scenario, plan)
    assert "<b>64.5</b><span>里程, 单位</span>" in html
    assert '<th class="n">单位</th>' in html


def test_entries_of_the_legend_do_not_cover_each_other() -> None:
    """SPEC R1: also of names as long as the legend has them, 12 points high and about 7 wide a character."""
    drawn = drawn_map(*renamed(*day(agents=2), "veh-" + "8" * 20))
    entries = re.findall(r'class="legend" transform="translate\(([0-9.]+) .*?<text x="30">([^<]*)</text>', drawn)
    (left, text), (right, _) = entries[:2]
    assert float(right) - float(left) > 30 + 7 * len(text)


def test_a_small_cost_is_not_nothing() -> None:
    """SPEC T5: in a plane of one unit a day costs less than one, and cents are money."""
    scenario, plan = day(name="Berlin", agents=2)
    for cost, route in zip((0.37, 12.5), plan["routes"], strict=True):
        route["cost"] = cost
    html = report(scenario, plan | {"cost": 12.87})
    assert "<b>12.87</b><span>cost" in html
    for shown in ("0.37", "12.5", "12.87"):
        assert f'<td class="n">{shown}</td>' in html


def test_one_spot_lies_in_the_middle() -> None:
    """SPEC R1: not in a corner of what little the map spans."""
    scenario, plan = day(agents=1, stops=1)
    scenario["locations"] = [{**place, "lat": 39.9, "lon": 116.4} for place in scenario["locations"]]
    assert 'cx="360.0" cy="280.0"' in drawn_map(scenario, plan)


def test_routes_have_different_lines() -> None:
    """Our choice: as many routes as the legend names are told apart, by colour or by dashes."""
    lines = re.findall(r"\.r\d+ polyline,\.r\d+ line\{stroke:(#[0-9a-f]{6});([^}]*)\}", drawn_map(*day(agents=30)))
    assert len(set(lines)) == len(lines) == 30


def test_print_and_the_live_view_have_one_palette() -> None:
    """Our choice: a route has the same colour on the page, in the chat, in print and in a picture."""
    style = (Path(planner_mcp.server.http.__file__).parent / "dashboard" / "view" / "view.css").read_text()
    rule = r"\.r(\d+) \{ --r: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\); \}"
    found = {int(index): colours for index, *colours in re.findall(rule, style)}
    assert [tuple(found[index]) for index in range(len(found))] == list(ROUTE_COLOURS)
    assert ROUTE_COLOURS[1][0] in drawn_map(*day(agents=2))
    scenario, plan = day(agents=2)
    assert "light-dark({},{})".format(*ROUTE_COLOURS[1]) in report(scenario, plan)


def test_a_day_without_positions_says_so() -> None:
    """SPEC T1: the smallest call has a picture too."""
    scenario, plan = day()
    scenario["locations"] = []
    assert "没有已知的位置。" in drawn_map(scenario, plan)
    assert "No positions are known." in drawn_map({**scenario, "name": "day"}, plan)


def test_a_picture_says_what_it_shows() -> None:
    """SPEC R1: day, date and figures above, agents and signs below, each stop with its number."""
    scenario, plan = day(name="Round <1>", agents=40)
    words = [text for text in ElementTree.fromstring(drawn_map(scenario, plan)).itertext() if text.strip()]  # noqa: S314
    for phrase in ("\u2068Round <1>\u2069, 2025-07-15", "200 of 202 tickets served, 36.0 km, 40 agents", "and 10 more"):
        assert phrase in words, phrase
    assert "\u2068veh-0\u2069: 5 stops, 12.0 km" in words and "not served" in words
    assert [words.count(str(number)) for number in range(1, 6)] == [40] * 5
    crowd = ElementTree.fromstring(drawn_map(*day(agents=41)))  # noqa: S314
    assert crowd.findall(f".//{SVG}text[@class='number']") == []


def test_customers_and_depots_are_called_by_name() -> None:
    """SPEC T5: nobody outside knows the id of a location; a masked name is left out."""
    scenario, plan = day(agents=1)
    scenario["tickets"][0] |= {"name": "Ann & Son"}
    scenario["tickets"][1] |= {"name": "***"}
    scenario["locations"][0] |= {"name": "North depot"}
    drawn = drawn_map(scenario, plan)
    assert ">North depot</text>" in drawn
    words = titles(drawn)
    assert "1. \u2068t-1\u2069, \u2068Ann &amp; Son\u2069, 08:06" in words and "2. \u2068t-2\u2069, 08:07" in words
    html = report(scenario, plan)
    assert "<td><bdi>Ann &amp; Son</bdi></td>" in html and "***" not in html


@pytest.mark.parametrize(
    ("more", "written"),
    [
        ({"options": {"currency": "€"}, "agents": [{"cost_per_km": 1}]}, "cost, €"),
        ({"agents": [{"cost_per_km": None}]}, "cost"),
        ({}, "cost at 1 per metre, as no prices are given"),
    ],
)
def test_a_cost_says_what_it_is_in(more: dict[str, Any], written: str) -> None:
    """SPEC R1: in the currency of the scenario; a masked price was one."""
    scenario, plan = day(name="one day", agents=1)
    agents = [each | extra for each, extra in zip(scenario["agents"], more.get("agents", [{}]), strict=True)]
    assert f"<span>{written}</span>" in report({**scenario, **more, "agents": agents}, plan)


def test_the_table_of_agents_adds_up() -> None:
    """SPEC R1: tickets, length and cost; no column of costs that a reader may not see."""
    scenario, plan = day(name="one day", agents=2)
    row = '<tr class="total"><td>total</td><td class="n">10</td><td class="n">36.0</td><td></td>'
    assert f'{row}<td class="n">2</td><td></td></tr>' in report(scenario, plan)
    plan["routes"][0]["cost"] = None
    html = report(scenario, plan)
    assert f"{row}<td></td></tr>" in html and '<th class="n">cost</th>' not in html


def test_words_of_strangers_stay_words() -> None:
    """SPEC X3: nothing of a name is markup, in either picture."""
    scenario, plan = day(name=NASTY)
    plan["routes"][0]["agent_id"] = NASTY
    scenario["agents"][0]["id"] = NASTY
    ElementTree.fromstring(drawn_map(scenario, plan))  # noqa: S314 - our own picture
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, _attrs: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(report(scenario, plan))
    assert "script" not in tags
    assert tags.count("style") == 1


def test_text_from_right_to_left_leaves_what_stands_beside_it_in_order() -> None:
    """SPEC R1: every id is set apart, by an element in the page and by characters in the titles of shapes."""
    scenario, plan = renamed(*day(), text="شاحنة")
    apart = "\u2068شاحنة\u2069"
    for text in titles(drawn_map(scenario, plan)):
        assert text.count("شاحنة") == text.count(apart) or text == "شاحنة", text
    html = report(scenario, plan)
    assert "<summary><bdi>شاحنة</bdi>, 5 stops</summary>" in html
    inside = re.sub(r"<title>[^<]*</title>|<text[^>]*>[^<]*", "", html)
    assert inside.count("شاحنة") == inside.count("<bdi>شاحنة</bdi>")
    assert [text for text in titles(html.partition("<body>")[2]) if "شاحنة," in text] == []


def test_loads_are_read_without_hovering_and_without_colours() -> None:
    """SPEC R1: paper has neither; a printer that would leave grounds white is asked to keep these."""
    html = report(*day())
    words = re.sub(r"<[^>]*>", " ", html.partition("<body>")[2]).split()
    assert words.count("50%") == 3
    assert re.search(r"td i, \.bar, \.bar b \{[^}]* print-color-adjust: exact", html)


def test_a_long_id_does_not_widen_the_page() -> None:
    """SPEC R1: it breaks anywhere; a word that fits a column stays whole."""
    assert "<h1><bdi>one day</bdi></h1>" in report(*day(name="one day"))
    html = report(*day(name="N" * 100))
    assert f'<h1><bdi class="long">{"N" * 100}</bdi></h1>' in html
    assert "bdi.long { overflow-wrap: anywhere; }" in html


def test_paper_is_no_narrow_screen() -> None:
    """SPEC R1: what a screen lets its reader scroll, paper would cut off."""
    style = report(*day()).partition("<style>")[2].partition("</style>")[0]
    blocks = re.split(r"(?=@media)", style)
    assert {block.partition("(")[0].strip() for block in blocks if ".scroll" in block} == {"@media screen and"}


def test_the_report_fetches_nothing_and_prints() -> None:
    """SPEC R1: self-contained, with rules for paper and every stop open."""
    html = report(*day())
    assert not re.search(r"(?:src|href)=|url\(|@import|https?://", html)
    assert "@media print" in html
    assert html.count("<details open") == 3


@pytest.mark.anyio
async def test_a_picture_becomes_png_in_another_process() -> None:
    """ADR 10: 1080 points wide, the event loop free meanwhile."""
    svg, ticks = drawn_map(*day()), 0
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
    assert struct.unpack(">II", data[16:24]) == (1080, 1047)
    assert ticks > 3


@pytest.mark.anyio
async def test_a_broken_picture_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T8: and one that takes too long says when to come back."""
    with pytest.raises(svg_rasterizer.PlannerError):
        await png_of("<svg")
    monkeypatch.setattr(svg_rasterizer, "LONGEST_S", 0.0)
    with pytest.raises(svg_rasterizer.CapacityError):
        await png_of(drawn_map(*day()))


def test_a_line_along_roads_is_drawn_and_its_source_named() -> None:
    """SPEC O9: points too near to be seen apart are left out, and the map says whose roads they are."""
    scenario, plan = day(agents=1)
    line = [(39.9 + n * 1e-6, 116.4 + n * 1e-6) for n in range(50_000)]
    drawn = map_svg(scenario, Plan.from_json(plan), {"veh-0": line})
    (points,) = re.findall(r'<polyline points="([^"]*)"', drawn)
    assert 100 < len(points.split()) < 2000
    assert "© OpenStreetMap contributors" in drawn
    assert "OpenStreetMap" not in drawn_map(scenario, plan)
    ElementTree.fromstring(drawn)  # noqa: S314 — our own words
