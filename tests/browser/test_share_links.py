"""A shared plan in a real browser: the same view, without a name in the page or on the network."""

from typing import Any

import pytest

from examples.planner_server import PlannerServer
from tests.browser.conftest import call, solved
from tests.browser.test_dashboard import _url
from tests.shared.scenarios.client_scenarios import ring

pytestmark = pytest.mark.anyio
NAME = "Ada Lovelace"


@pytest.mark.slow
async def test_a_shared_plan_comes_with_the_connection(server: PlannerServer, browser: Any) -> None:
    """SPEC O2: a driver on the road read "Failed to fetch", and nothing came when the telephone was connected again."""
    _, job_id = await solved(server, ring(8))
    link = (await call(server, "share_plan", job_id=job_id.replace("job-", "plan-")))["url"]
    context = await browser.new_context(locale="en-GB")
    guest = await context.new_page()
    await guest.route("**/plan", lambda route: route.abort())
    await guest.goto(link)
    await guest.get_by_role("alert").get_by_text("The server does not answer.").wait_for()
    await guest.unroute("**/plan")
    await context.set_offline(True)
    await context.set_offline(False)
    await guest.locator("svg.map .stop").first.wait_for()
    await context.close()


@pytest.mark.slow
async def test_a_plan_is_shared_from_its_page_and_revoked(server: PlannerServer, browser: Any, page: Any) -> None:
    """SPEC O2, R3: the link opens without an account and shows map, timeline and stops; ended, it shows nothing."""
    day = ring(8)
    for ticket in day["tickets"]:
        ticket |= {"name": NAME, "notes": f"ring for {NAME}"}
    _, job_id = await solved(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_role("button", name="Share a link").click()
    link = await page.get_by_label("Link to the plan").input_value()

    context = await browser.new_context(locale="en-GB")
    guest, bodies, wrong = await context.new_page(), [], []

    async def keep(answer: Any) -> None:
        bodies.append(await answer.text())

    guest.on("response", keep)
    guest.on("console", lambda message: message.type in ("error", "warning") and wrong.append(message.text))
    await guest.goto(link)
    await guest.locator("svg.map .stop").first.wait_for(timeout=30_000)
    assert await guest.get_by_role("region", name="Stops").locator("tbody tr").count() >= 7
    assert await guest.get_by_role("button", name="Solve again").count() == 0
    assert await guest.get_by_text("Link until").count() == 1
    await guest.get_by_text("Names, addresses, notes and prices are hidden").wait_for()
    await guest.wait_for_load_state("networkidle")
    assert wrong == []
    assert len(bodies) >= 5
    assert not [body for body in [*bodies, await guest.content()] if NAME in body]

    guest.remove_listener("response", keep)
    await page.get_by_role("button", name="End all links").click()
    await page.get_by_role("dialog").get_by_role("button", name="End all links").click()
    await page.get_by_text("No link to this plan works any more.").wait_for()
    ended = await guest.goto(link)
    assert ended.status == 410
    await guest.get_by_role("alert").get_by_text("This link was revoked").wait_for()
    assert await guest.locator("svg").count() == 0
    await context.close()
