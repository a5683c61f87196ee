"""What the view draws, in a real browser: the map beside the printed one, the time that is looked at, large plans."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from examples.planner_server import PlannerServer
from tests.browser.conftest import solved
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.scenarios.stored_plans import stored_plan

pytestmark = pytest.mark.anyio
DRAWINGS = (Path(__file__).parent / "drawings.js").read_text()


def whole_day() -> dict[str, Any]:
    """A day with breaks, windows, waiting, a depot with a name, and a ticket that nobody can serve.

    Six tickets are early and six late, three agents take five each: in every plan that serves them some agent has both,
    and its break between.
    """
    day = ring(14)
    day["agents"] = day["agents"][:3]
    breaks = [{"earliest": "09:05", "latest": "10:00", "duration_s": 1800}]
    for agent in day["agents"]:
        agent.update(capacity=5, shift_start="08:00", shift_end="18:00", breaks=breaks)
    for number, ticket in enumerate(day["tickets"]):
        window = ["08:00", "09:00"] if number in range(2, 13, 2) else ["10:30", "12:30"]
        ticket.update(service_time_s=600, time_windows=[window])
    day["tickets"][3]["demand"] = 50
    day["locations"][0]["name"] = "Main yard"
    return day


@pytest.fixture(scope="module")
async def job_id(server: PlannerServer) -> str:
    """The job of that day, once it has ended."""
    return (await solved(server, whole_day()))[1]


async def read(server: PlannerServer, job_id: str, form: str = "") -> str:
    """Read the plan of a job in a form as the page does."""
    uri = f"plan://{job_id.replace('job-', 'plan-')}{form}"
    async with http_client(base_url=server.url, timeout=60) as http:
        return (await http.get("/ui/read", params={"uri": uri})).text


async def run(page: Any, function: str, *arguments: Any) -> Any:
    """Run a function of `drawings.js` in a page."""
    return await page.evaluate(f"given => {{ {DRAWINGS}; return {function}(...given); }}", list(arguments))


async def test_the_view_and_print_draw_the_same_plan(server: PlannerServer, page: Any, job_id: str) -> None:
    """Our choice: routes, stop numbers, depots, tickets left out and bars of the timeline: one golden comparison."""
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    await page.locator("svg.times .row").first.wait_for(timeout=30_000)
    drawn = await run(page, "shapes")
    printed, report = await read(server, job_id, "/map.svg"), await read(server, job_id, "/report.html")
    routes = [part.partition("</g>")[0] for part in printed.split('<g class="route ')[1:]]
    numbers = [re.findall(r'class="number"[^>]*>(\d+)<', route) for route in routes]
    plan = json.loads(await read(server, job_id))
    agents = [route["agent_id"] for route in plan["routes"]]
    assert drawn["routes"] == [list(each) for each in zip(agents, numbers, strict=True)]
    assert sum(len(stops) for stops in numbers) == plan["tickets_served"] == 12
    depots = [name.strip("\u2068\u2069") for name in drawn["depots"]]
    assert depots == re.findall(r'class="depot-name"[^>]*>([^<]*)<', printed) == ["Main yard"]
    assert drawn["left"] == printed.count('class="cross"') - 1 == 1, "one is in the legend"
    assert drawn["arrows"] > 0 and 'class="arrow"' in printed
    timeline = report.partition('<svg class="timeline"')[2].partition("</svg>")[0]
    rows = re.split(r'<g class="route r\d+">', timeline)[1:]
    assert drawn["bars"] == [[row.count(f'class="{kind}"') for kind in ("service", "wait", "pause")] for row in rows]
    assert sum(bars[2] for bars in drawn["bars"]) > 0


@pytest.mark.slow
async def test_no_control_covers_a_place_on_the_map(server: PlannerServer, page: Any, job_id: str) -> None:
    """SPEC O2: at 390 px a stop in a corner can be seen and pressed."""
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    await page.locator("svg.map .stop").first.wait_for(timeout=30_000)
    edges = "box => [box.querySelector('svg.map').getBoundingClientRect().bottom, "
    edges += "...[...box.querySelectorAll('button')].map((each) => each.getBoundingClientRect().top)]"
    foot, *tops = await page.locator(".mapbox").evaluate(edges)
    assert tops and min(tops) >= foot


@pytest.mark.slow
async def test_the_curve_stays_when_the_events_of_a_job_are_read_anew(
    server: PlannerServer, page: Any, job_id: str
) -> None:
    """SPEC O2: after each connection the page would else jump up and down again, under the finger of its reader."""
    connected = asyncio.Event()

    async def later(route: Any) -> None:
        await connected.wait()
        await route.continue_()

    await page.route(f"{server.url}/events", later)
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    await page.locator("svg.curve").wait_for(timeout=30_000)
    await page.locator("svg.map").wait_for(timeout=30_000)
    await page.evaluate(
        "() => new MutationObserver((changes) => { "
        "window.isReadAnew ||= changes.some((each) => each.target.tagName === 'OL' && each.removedNodes.length); "
        "window.isLost ||= !document.querySelector('svg.curve'); "
        "}).observe(document.querySelector('main'), { childList: true, subtree: true })"
    )
    connected.set()
    await page.wait_for_function("() => window.isReadAnew")
    assert not await page.evaluate("() => window.isLost")


@pytest.mark.slow
async def test_a_fix_says_what_it_adds_to_the_cost_and_can_be_pressed_on_a_phone(
    server: PlannerServer, page: Any, job_id: str
) -> None:
    """SPEC T5, O2: a difference with its sign, and at 390 px a button that is in sight."""
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    await page.get_by_role("button", name="Find fixes").click(timeout=30_000)
    row = page.get_by_role("region", name="Proved fix").locator("tbody tr").first
    assert (await row.locator("td").last.inner_text()).startswith("+")
    button = await row.get_by_role("button", name="Apply and solve").bounding_box()
    assert button["x"] + button["width"] <= 390


async def test_the_curve_draws_a_bound_where_there_is_a_gap_to_it_and_goes_on_to_the_present(
    server: PlannerServer, page: Any
) -> None:
    """SPEC S2, J5, O2: a plan that leaves tickets out has none: the bound is of others, and may be below it."""
    await page.goto(f"{server.url}/ui#/import")
    drawn = "(await import('/ui/assets/view/curve.js')).costCurve([{at: 1, cost: 481, served: 9}], found, 960, 30)"
    for found, label, lines in (
        ({"lower_bound": 684}, "Best cost over time: 481 → 481", 0),
        ({"lower_bound": 480}, "Best cost over time: 481 → 481", 0),
        ({"lower_bound": 480, "gap": 0.003}, "Best cost over time: 481 → 481 · Lower bound −0.3 %", 1),
    ):
        seen = await page.evaluate(
            f"async (found) => {{ const svg = {drawn}; const texts = [...svg.querySelectorAll('text')]; "
            "return [svg.getAttribute('aria-label'), svg.querySelectorAll('.bound').length, "
            "texts.some((text) => text.textContent === '30 s')]; }",
            found,
        )
        assert seen == [label, lines, True]


@pytest.mark.slow
async def test_a_plan_in_which_nobody_drives_has_no_time_of_day(server: PlannerServer, page: Any) -> None:
    """Our choice: the page in a chat showed 00:01 on a slider without ends."""
    await page.goto(f"{server.url}/ui#/import")
    slider = "(await import('/ui/assets/view/moment.js')).timeSlider({ routes: [] }, { at: null, shows: {} })"
    assert await page.evaluate(f"async () => {slider}") is None


@pytest.mark.slow
async def test_the_scale_of_a_small_plane_is_not_nothing(server: PlannerServer, page: Any) -> None:
    """SPEC O2: a bar of 0.0002 units, or for ten millions, says so."""
    await page.goto(f"{server.url}/ui#/import")
    drawn = "async (x) => (await import('/ui/assets/view/map.js')).routeMap({ routes: [], unassigned: [] }, "
    drawn += "{ locations: [{ id: 'a', x: 0, y: 0 }, { id: 'b', x, y: 0 }] }).querySelector('.scale').textContent"
    scales = [await page.evaluate(drawn, x) for x in (0, 0.3, 5e7)]
    assert scales == ["0.0002", "0.02", "5000000"]


@pytest.mark.slow
async def test_a_time_is_chosen_by_keyboard_and_the_map_follows(server: PlannerServer, page: Any, job_id: str) -> None:
    """Our choice: the time cursor of the timeline shows on the map where each agent is then."""
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    slider = page.get_by_role("slider", name="Time of day")
    await slider.wait_for(timeout=30_000)
    agents = page.locator(".map .agent")
    assert await agents.count() == 0
    await slider.press("End")
    shown = await agents.locator("text").all_text_contents()
    assert shown, "every agent that drives has a sign"
    assert {text.partition(" · ")[2] for text in shown} == {"back"}
    places = "all => all.map((each) => each.getAttribute('transform'))"
    back = await agents.evaluate_all(places)
    for key in ("Home", "PageUp", "PageUp", "PageUp"):
        await slider.press(key)
    assert re.fullmatch(r"\d\d:\d\d", await slider.get_attribute("aria-valuetext") or "")
    assert await page.locator(".times .now:not(.hidden)").count() == 1
    assert await agents.evaluate_all(places) != back


@pytest.mark.slow
async def test_a_large_plan_is_drawn_on_a_canvas_and_moves(server: PlannerServer, page: Any) -> None:
    """Our choice: above 3,000 stops a canvas; keys enlarge it, lead to a stop and select it; names are text."""
    places = [
        {"id": f"LOC-{n}", "lat": 31 + n % 63 / 200, "lon": 121 + n // 63 / 200, "name": "</script><script>"}
        for n in range(4000)
    ]
    scenario = {"locations": [{"id": "depot", "lat": 31.1, "lon": 121.1}, *places], "tickets": []}
    await page.goto(f"{server.url}/ui#/import")
    await page.get_by_role("heading", name="Import").wait_for()
    found = await run(page, "largePlan", stored_plan(routes=80, visits=50), scenario)
    assert found["shapes"] == 0
    assert found["whole"] > 1000
    assert found["enlarged"] not in (0, found["whole"])
    assert re.sub("[\u2068\u2069]", "", found["hint"]).startswith("veh-0 · 1 · t-0")
    assert found["selected"] == ["t-0"]
    assert found["markup"] == 0


@pytest.mark.slow
async def test_a_gap_above_none_is_not_drawn_as_none(server: PlannerServer, page: Any) -> None:
    """SPEC S2, O2: the curve has the gap of the figures beside it, also where an optimal plan has a rounded bound."""
    await page.goto(f"{server.url}/ui#/import")
    drawn = "(await import('/ui/assets/view/curve.js')).costCurve([{at: 0, cost: 1000, served: 1}], found)"
    for share, gap in ((0.001, "−0.1 %"), (0, "−0.0 %")):
        found = {"lower_bound": 999.9, "gap": share}
        label = await page.evaluate(f"async (found) => ({drawn}).getAttribute('aria-label')", found)
        assert label.endswith(gap), label


@pytest.mark.slow
async def test_a_depot_whose_name_is_hidden_is_called_by_its_id(server: PlannerServer, page: Any) -> None:
    """SPEC R3: on the map of a shared plan no sign is called ***."""
    await page.goto(f"{server.url}/ui#/import")
    drawn = "(await import('/ui/assets/view/map.js')).routeMap(plan, { locations, tickets: [] })"
    for name, called in (("***", "depot"), (None, "depot"), ("仓库", "仓库")):
        depot = {"id": "depot", "lat": 31.1, "lon": 121.1, "name": name}
        shown = await page.evaluate(
            f"async ([plan, locations]) => ({drawn}).querySelector('.depot text').textContent",
            [stored_plan(routes=1, visits=0), [depot, {"id": "A", "lat": 31.2, "lon": 121.2}]],
        )
        assert re.sub("[\u2068\u2069]", "", shown) == called


@pytest.mark.slow
async def test_a_window_with_one_side_says_which(server: PlannerServer, page: Any) -> None:
    """SPEC O2: nobody wrote the 47:59 with which a window without an end is kept."""
    await page.goto(f"{server.url}/ui#/import")
    text = "async (window) => (await import('/ui/assets/view/format.js')).windowText(window, '2025-07-15')"
    for window, shown in (
        (["10:00", "47:59"], "from 10:00"),
        ([0, "12:00"], "until 12:00"),
        (["2025-07-15T08:00", "09:00"], "2025-07-15T08:00–09:00"),
    ):
        assert await page.evaluate(text, window) == shown


@pytest.mark.slow
async def test_a_page_that_is_made_wider_draws_anew(server: PlannerServer, page: Any, job_id: str) -> None:
    """SPEC O2: on a phone that is turned the text of drawings was twice as large."""
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.goto(f"{server.url}/ui#/jobs/{job_id}")
    drawn = page.locator("svg.map")
    await drawn.wait_for(timeout=60_000)
    await page.set_viewport_size({"width": 1180, "height": 800})
    await page.wait_for_function("() => document.querySelector('svg.map').viewBox.baseVal.width > 1000")


@pytest.mark.slow
async def test_a_plan_of_several_days_shows_its_dates(server: PlannerServer, page: Any) -> None:
    """Our choice: an hour alone would be of two days; windows are drawn in each form in which a scenario has them."""
    plan = stored_plan(routes=1, visits=3)
    for at, visit in enumerate(plan["routes"][0]["visits"]):
        begin = 30_000 + 86_400 * at
        visit.update(arrival_s=begin, start_s=begin, departure_s=begin + 1000)
    plan["routes"][0].update(start_s=29_000, end_s=31_000 + 2 * 86_400)
    windows = [["2026-11-25T08:00:00", "2026-11-25T12:00:00"], [1e5, "30:00:00"]]
    scenario = {"planning_date": "2026-11-24", "tickets": [{"id": "t-1", "time_windows": windows}], "locations": []}
    await page.goto(f"{server.url}/ui#/import")
    await page.get_by_role("heading", name="Import").wait_for()
    days, drawn = await run(page, "dates", plan, scenario)
    assert [re.sub(r"\W+", " ", text) for text in days] == ["Tue Nov 24", "Wed Nov 25", "Thu Nov 26"]
    assert drawn == 2


@pytest.mark.slow
async def test_many_agents_and_stops_are_shown_a_part_at_a_time(server: PlannerServer, page: Any) -> None:
    """Our choice: 100 rows of the timeline and 500 of a table, the rest when it is asked for."""
    await page.goto(f"{server.url}/ui#/import")
    await page.get_by_role("heading", name="Import").wait_for()
    first, then, agent = await run(page, "manyRows", stored_plan(routes=150, visits=6))
    assert (first, then, agent) == ([100, 500], [50, 1200], "veh-100")
