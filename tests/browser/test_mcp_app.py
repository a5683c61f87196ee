"""The MCP App as hosts of a chat show it: official client and AppBridge, strict policy, a real server (SPEC O2)."""

from typing import Any

import pytest

from tests.browser.chat_host import ChatHost
from tests.browser.test_accessibility import AXE, RULES
from tests.shared.node import node_packages
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.tools.token_costs import tokens

pytestmark = [pytest.mark.anyio, pytest.mark.node]
SCRIPT = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
CONTEXT: dict[str, Any] = {
    "theme": "light",
    "displayMode": "inline",
    "availableDisplayModes": ["inline", "fullscreen"],
    "locale": "en-GB",
}
LONGEST_MS = 60_000


def hostile_day() -> dict[str, Any]:
    """Return a day with a script in every text, and a ticket that no agent can carry."""
    day = ring(12) | {"name": SCRIPT}
    day["tickets"][0] |= {"name": SCRIPT, "notes": SCRIPT}
    day["agents"][0] |= {"id": SCRIPT, "name": SCRIPT}
    day["tickets"].append({"id": f"{SCRIPT}😀京A12345的很长的编号", "location": "L1", "demand": 999})
    return day


@pytest.mark.slow
async def test_a_chat_shows_a_solve_from_its_call_to_its_plan(chat: ChatHost) -> None:
    """SPEC O2: live to the verified plan, whatever the names are; a selection costs the model at most 80 tokens."""
    await chat.start()
    job_id = await chat.solve(hostile_day(), "PT2S")
    opened = await chat.open(context=CONTEXT, input={"job_id": job_id})
    assert opened["mimeType"] == "text/html;profile=mcp-app"
    assert opened["length"] <= 100_000
    await chat.app.locator("svg.map .stop").first.wait_for(timeout=LONGEST_MS)
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    assert await chat.app.locator(".stamp").inner_text() == "✓ Verified"
    assert await chat.app.locator("svg.map .stop").count() == 11
    assert await chat.app.locator("h1").inner_text() == SCRIPT
    assert await chat.app.locator("img").count() == 0, "names are text, never markup"
    await chat.app.locator("svg.map .stop").nth(2).click()
    (context,) = await chat.until_seen("contexts")
    assert tokens(context["content"][0]["text"]) <= 80
    assert job_id in context["content"][0]["text"]
    for tab in ("Timeline", "Stops", "Not served (1)", "Best cost over time"):
        await chat.app.get_by_role("tab", name=tab).click()
        await chat.app.get_by_role("tabpanel", name=tab).wait_for()
    assert await chat.tear_down() == {}


@pytest.mark.slow
async def test_a_page_made_anew_needs_no_result(chat: ChatHost) -> None:
    """SPEC O2: a reload of a chat, in revision 2026-07-28: the input alone names the job."""
    await chat.start(modern=True)
    job_id = await chat.solve(ring(8), "PT1S")
    await chat.call("query_vrp_status", job_id=job_id, wait_s=30)
    await chat.open(context={}, input={"job_id": job_id})
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    await chat.app.get_by_text("Gap to lower bound").wait_for(timeout=LONGEST_MS)
    assert await chat.app.locator("svg.map .stop").count() == 7


@pytest.mark.slow
async def test_a_host_that_calls_no_tools_is_asked_in_words(chat: ChatHost) -> None:
    """SPEC O2: figures from the result, buttons as messages, no map."""
    await chat.start()
    job_id = await chat.solve(ring(8), "PT1S")
    result = await chat.call("query_vrp_status", job_id=job_id, wait_s=30)
    await chat.open(capabilities={"message": {}}, input={"job_id": job_id}, result=result)
    await chat.app.get_by_text("Completed").wait_for()
    assert await chat.app.get_by_text("7 of 7").count() == 1
    await chat.app.get_by_role("button", name="Solve again").click()
    (message,) = await chat.until_seen("messages")
    assert (message["role"], job_id in message["content"][0]["text"]) == ("user", True)


@pytest.mark.slow
async def test_buttons_call_tools_where_they_are_on(chat: ChatHost) -> None:
    """SPEC O2, T4: `cancel_vrp_job` is called; `finish_vrp_job`, whose set is off, becomes a message."""
    await chat.start()
    job_id = await chat.solve(ring(), "PT60S")
    await chat.open(context=CONTEXT, input={"job_id": job_id})
    await chat.app.locator("svg.map").wait_for(timeout=LONGEST_MS)
    await chat.app.get_by_role("button", name="Finish now").click()
    (message,) = await chat.until_seen("messages")
    assert message["content"][0]["text"] == f"Finish {job_id} now with its best plan (finish_vrp_job)."
    await chat.app.get_by_role("button", name="Cancel", exact=True).click()
    await chat.app.get_by_role("dialog").get_by_role("button", name="Cancel the job").click()
    await chat.app.get_by_text("Cancelled").wait_for(timeout=LONGEST_MS)
    assert await chat.app.get_by_role("button", name="Finish now").count() == 0
    await chat.app.get_by_role("button", name="stops.xlsx").click()
    (download,) = await chat.until_seen("downloads")
    assert download["contents"][0]["uri"] == f"plan://{job_id.replace('job-', 'plan-')}/stops.xlsx"


@pytest.mark.slow
async def test_a_page_that_receives_no_data_offers_to_ask(chat: ChatHost) -> None:
    """SPEC O2, ext-apps#522: some hosts make a page anew without input or result."""
    await chat.start()
    await chat.open()
    await chat.app.get_by_role("button", name="Ask again").click(timeout=10_000)
    (message,) = await chat.until_seen("messages")
    assert "query_vrp_status" in message["content"][0]["text"]


@pytest.mark.slow
async def test_a_result_of_plan_day_names_the_job(chat: ChatHost) -> None:
    """SPEC T10: its arguments hold no job."""
    await chat.start()
    result = await chat.call("plan_day", scenario=ring(8), solve_time="PT1S")
    await chat.open(tool="plan_day", input={"scenario": ring(8)}, result=result)
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    assert await chat.app.locator("svg.map .stop").count() == 7


@pytest.mark.slow
async def test_refusals_are_shown(chat: ChatHost) -> None:
    """SPEC A2, T7: a job that nobody knows, and a call that failed."""
    await chat.start()
    await chat.open(input={"job_id": f"job-0-{'a' * 26}"})
    await chat.app.get_by_role("alert").wait_for()
    failed = await chat.call("query_vrp_status", job_id="no job")
    await chat.open(input={"job_id": "no job"}, result=failed)
    assert failed["structuredContent"]["message"] in await chat.app.get_by_role("alert").inner_text()


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark", None])
async def test_the_page_takes_the_look_of_its_host(chat: ChatHost, theme: str | None) -> None:
    """SPEC O2: theme, colours, language, room and insets, at 390 px without a horizontal scroll bar."""
    await chat.start()
    await chat.page.set_viewport_size({"width": 390, "height": 800})
    job_id = await chat.solve(hostile_day(), "PT1S")
    variables = {"--color-background-primary": "rgb(1, 2, 3)"} if theme else {}
    context = {
        "locale": "zh-CN",
        "styles": {"variables": variables},
        "safeAreaInsets": {"top": 7, "right": 0, "bottom": 0, "left": 0},
    }
    await chat.open(context=context | ({"theme": theme} if theme else {}), input={"job_id": job_id})
    await chat.app.get_by_text("已完成").wait_for(timeout=LONGEST_MS)
    await chat.app.get_by_role("tab", name="停靠点").click()
    root, body = chat.app.locator("html"), chat.app.locator("body")
    assert await root.evaluate("e => [e.lang, e.style.colorScheme]") == ["zh", theme or "light dark"]
    assert await root.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert await body.evaluate("e => getComputedStyle(e).paddingTop") == "7px"
    if theme:
        assert await body.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(1, 2, 3)"
    sizes = await chat.until_seen("sizes")
    assert 200 < sizes[-1]["height"] < 1000
    await chat.change(locale="en", theme="dark", containerDimensions={"maxHeight": 300}, displayMode="inline")
    await chat.app.get_by_role("tab", name="Stops").wait_for()
    assert await chat.app.locator("#app").evaluate("e => e.getBoundingClientRect().height") <= 300


@pytest.mark.slow
async def test_the_page_asks_for_the_full_screen(chat: ChatHost) -> None:
    """SPEC O2, ext-apps 2026-01-26: only modes that the host offers."""
    await chat.start()
    job_id = await chat.solve(ring(8), "PT1S")
    await chat.open(context=CONTEXT, input={"job_id": job_id})
    await chat.app.get_by_role("button", name="Full screen").click(timeout=LONGEST_MS)
    await chat.app.get_by_role("button", name="Back to the chat").click()
    assert await chat.until_seen("modes", 2) == ["fullscreen", "inline"]
    await chat.open(context=CONTEXT | {"availableDisplayModes": ["inline"]}, input={"job_id": job_id})
    await chat.app.get_by_role("button", name="Solve again").wait_for(timeout=LONGEST_MS)
    assert await chat.app.get_by_role("button", name="Full screen").count() == 0


@pytest.mark.slow
async def test_a_frame_without_an_origin_will_do(chat: ChatHost) -> None:
    """SPEC O2: some hosts give the page an opaque origin, where there is no storage."""
    await chat.start()
    job_id = await chat.solve(ring(8), "PT1S")
    await chat.open(sandbox="allow-scripts", input={"job_id": job_id})
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    assert await chat.app.locator("svg.map .stop").count() == 7


@pytest.mark.slow
async def test_an_end_in_the_middle_of_a_call_is_quiet(chat: ChatHost) -> None:
    """SPEC O2, ext-apps 2026-01-26: teardown is answered, the open call is given up, nothing is asked after it."""
    await chat.start()
    job_id = await chat.solve(ring(), "PT30S")
    await chat.open(context=CONTEXT, input={"job_id": job_id})
    await chat.app.locator("svg.map").wait_for(timeout=LONGEST_MS)
    assert await chat.tear_down() == {}
    asked: list[str] = []
    chat.page.on("request", lambda request: asked.append(request.url))
    await chat.page.wait_for_timeout(3000)
    assert asked == []
    await chat.call("cancel_vrp_job", job_id=job_id)


@pytest.mark.slow
async def test_a_server_that_is_away_is_waited_for(chat: ChatHost) -> None:
    """SPEC J4: a banner, then the view goes on from its position."""
    await chat.start()
    job_id = await chat.solve(ring(), "PT8S")
    await chat.open(context=CONTEXT, input={"job_id": job_id})
    await chat.app.locator("svg.map").wait_for(timeout=LONGEST_MS)
    await chat.page.context.route("**/mcp?*", lambda route: route.fulfill(status=503, body="away"))
    await chat.app.get_by_text("Connection lost").wait_for(timeout=LONGEST_MS)
    await chat.page.context.unroute("**/mcp?*")
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    chat.wrong[:] = [line for line in chat.wrong if "503" not in line]


@pytest.mark.slow
async def test_a_large_plan_is_drawn(chat: ChatHost) -> None:
    """SPEC O2: a hundred routes and a thousand stops, each a shape."""
    await chat.start()
    day = ring(1000)
    day["agents"] = [{**day["agents"][0], "id": f"veh-{n}", "capacity": 12} for n in range(100)]
    job_id = await chat.solve(day, "PT3S")
    await chat.open(context=CONTEXT, input={"job_id": job_id})
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    assert await chat.app.locator("svg.map .stop").count() >= 900


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_the_page_has_no_serious_violation(chat: ChatHost, theme: str) -> None:
    """SPEC O2: WCAG 2.2 AA, as far as a program can judge it, on every panel."""
    node_packages.install()
    await chat.start()
    job_id = await chat.solve(hostile_day(), "PT1S")
    await chat.open(context=CONTEXT | {"theme": theme}, input={"job_id": job_id})
    await chat.app.get_by_text("Completed").wait_for(timeout=LONGEST_MS)
    frame = chat.page.frames[-1]
    await frame.evaluate(AXE.read_text())
    for tab in await chat.app.get_by_role("tab").all():
        await tab.click()
        found = await frame.evaluate(f"axe.run({{runOnly: {RULES}}})")
        serious = [each for each in found["violations"] if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []
