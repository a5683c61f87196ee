"""The page's event stream in a real browser: it is live, it is one, and it survives the death of a replica."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from examples.planner_server import PlannerServer, running_server
from tests.browser.conftest import call
from tests.browser.test_view import run
from tests.shared.http.http_clients import http_client
from tests.shared.http.load_balancer import balancing
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.workers.patient_lease import PATIENT_LEASE

pytestmark = pytest.mark.anyio


async def _solving(server: PlannerServer, seconds: int = 60) -> str:
    scenario_id = (await call(server, "create_scenario", **ring()))["scenario_id"]
    solved = await call(server, "solve_vrp", scenario_id=scenario_id, solve_time=f"PT{seconds}S", fresh=True)
    return str(solved["job_id"])


async def _shown_and_kept(page: Any, url: str, job_id: str) -> tuple[int, int]:
    """Return how many events of a job the page shows, and how many are kept."""
    async with http_client() as http:
        answer = await http.get(f"{url}/jobs/{job_id}/events", headers={"accept": "application/json"})
    return await page.locator("ol.scroll li").count(), len(answer.json()["events"])


@pytest.mark.slow
async def test_the_page_goes_on_at_another_replica(server: PlannerServer, server_dir: Path, browser: Any) -> None:
    """SPEC O2, J4: a replica is killed in mid-stream; the page says so, resumes elsewhere and misses no event."""
    second = running_server(server_dir, workers=0, log=server_dir / "second.log", settings=PATIENT_LEASE)
    async with second as dying, balancing(dying.url, server.url, failover=True) as (url, _balancer):
        page = await browser.new_page()
        resumed: list[str] = []
        page.on(
            "request",
            lambda asked: asked.url.endswith("/events") and resumed.append(asked.headers.get("last-event-id", "")),
        )
        await page.goto(f"{url}/ui#/jobs")
        await page.locator("main table, main p.quiet").first.wait_for()
        job_id = await _solving(server)
        await page.locator("tr", has_text=job_id).get_by_role("link").first.click()  # the list learns of it by an event
        await page.locator("svg.map").wait_for(timeout=60_000)
        os.kill(dying.pid, signal.SIGKILL)
        await page.get_by_text("Connection lost").wait_for(timeout=30_000)
        await page.get_by_text("Connection lost").wait_for(state="hidden", timeout=30_000)
        await call(server, "finish_vrp_job", job_id=job_id)
        await page.get_by_text("Completed", exact=True).wait_for(timeout=30_000)
        shown, kept = await _shown_and_kept(page, server.url, job_id)
        assert shown == kept
        assert "-" in resumed[-1]
        await page.close()


async def test_the_list_changes_by_itself_over_one_stream(server: PlannerServer, page: Any) -> None:
    """SPEC O2: no page asks again and again; a job that is started elsewhere appears, and ends, in the list."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(f"{server.url}/ui#/jobs")
    await page.get_by_role("heading", name="Jobs").wait_for()
    job_id = await _solving(server, 1)
    row = page.locator("tr", has_text=job_id)
    await row.get_by_text("Completed").wait_for(timeout=30_000)
    assert sum(url.endswith("/events") for url in asked) == 1
    assert sum("jobs%3A%2F%2F" in url for url in asked) <= 4, "the rows change by events, not by reading the list again"


@pytest.mark.slow
async def test_what_happens_while_the_list_is_read_is_in_it(server: PlannerServer, page: Any) -> None:
    """SPEC O2, J4: an end between the answer of the server and its arrival is not lost."""
    job_id, has_ended = await _solving(server), asyncio.Event()

    async def late(route: Any) -> None:
        answer = await route.fetch()
        await has_ended.wait()
        await route.fulfill(response=answer)

    async with page.expect_response("**/events"):
        await page.goto(f"{server.url}/ui#/import")
    await page.route("**/ui/read?uri=jobs*", late)
    async with page.expect_request("**/ui/read?uri=jobs*"):
        await page.evaluate("location.hash = '#/jobs'")
    await page.evaluate(
        "async (id) => { const { events } = await import('/ui/assets/page.js'); "
        "const onEvent = (event) => { window.hasEnded ||= event.job_id === id && event.status === 'COMPLETED'; }; "
        "events.listen({ onEvent }, new AbortController().signal); }",
        job_id,
    )
    await call(server, "finish_vrp_job", job_id=job_id)
    await page.wait_for_function("() => window.hasEnded")
    has_ended.set()
    await page.locator("tr", has_text=job_id).get_by_text("Completed").wait_for(timeout=10_000)


@pytest.mark.slow
async def test_a_place_that_is_left_before_it_is_drawn_asks_for_nothing_more(server: PlannerServer, page: Any) -> None:
    """SPEC O2: it would else be read again every ten seconds and with each event, as often as somebody passed by."""
    is_left, asked = asyncio.Event(), list[str]()

    async def late(route: Any) -> None:
        asked.append(route.request.url)
        await is_left.wait()
        await route.continue_()

    await page.clock.install()
    await page.route("**/ui/read?uri=limits*", late)
    async with page.expect_request("**/ui/read?uri=limits*"):
        await page.goto(f"{server.url}/ui#/system")
    async with page.expect_response("**/readyz"):  # the last that the place reads
        await page.evaluate("location.hash = '#/import'")
        is_left.set()
    await page.get_by_role("heading", name="Import").wait_for()
    for _ in range(2):
        await page.evaluate("async () => (await fetch('/readyz')).text()")
        await page.clock.fast_forward(11_000)
    assert len(asked) == 1


@pytest.mark.slow
async def test_a_lost_stream_is_tried_again_after_growing_pauses_of_chance(server: PlannerServer, page: Any) -> None:
    """Our choice: 0.5 to 10 s, half as long to half as long again, so that the pages of a fleet do not come at once."""
    await page.goto(f"{server.url}/ui#/import")
    await page.get_by_role("heading", name="Import").wait_for()
    middle = [500, 1000, 2000, 4000, 8000, 10000, 10000, 10000]
    assert await run(page, "retries", [0.5]) == middle
    assert await run(page, "retries", [0]) == [0.5 * pause for pause in middle]
    assert (await run(page, "retries", [0.25, 0.75]))[:2] == [375, 1250]
