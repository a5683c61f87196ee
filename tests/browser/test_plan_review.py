"""A plan is reviewed on the page of its job, in a real browser on a real server."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from examples.planner_server import PlannerServer, running_server
from tests.browser.chat_host import ChatHost
from tests.browser.conftest import call, solved, submitted
from tests.browser.test_dashboard import SCRIPT, _url
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.workers.patient_lease import PATIENT_LEASE

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


@pytest.fixture(scope="module")
async def server(server: PlannerServer, server_dir: Path) -> AsyncIterator[PlannerServer]:
    """A second replica of the shared server, where plans are reviewed."""
    settings = {"PLANNER_APPROVAL": "on"} | PATIENT_LEASE
    log = server_dir / "reviews.log"
    async with running_server(server_dir, workers=0, log=log, settings=settings) as replica:
        yield replica


async def test_a_plan_is_rejected_then_approved_and_published(server: PlannerServer, page: Any) -> None:
    """SPEC A5: each state shows its own steps; a reason is text, and a step that somebody else took is told."""
    _, job_id = await submitted(server, ring(5))
    await page.goto(_url(server, f"jobs/{job_id}"))
    review = page.get_by_role("region", name="Review")
    await review.get_by_text("Draft", exact=True).wait_for(timeout=60_000)
    await review.get_by_role("button", name="Propose").click()
    await review.get_by_role("button", name="Reject").click()
    reason = review.get_by_label("Reason for a rejection")
    assert await reason.evaluate("input => input === document.activeElement && !input.validity.valid")
    await reason.fill(SCRIPT)
    await review.get_by_role("button", name="Reject").click()
    await review.get_by_text("Rejected", exact=False).first.wait_for()
    assert SCRIPT in await review.inner_text()
    assert await page.locator("img").count() == 0, "a reason is text, never markup"
    await page.get_by_role("link", name="To review").click()
    await page.get_by_role("heading", name="To review").wait_for()
    await page.get_by_text("None", exact=True).wait_for()
    assert await page.locator("tr", has_text=job_id).get_by_role("link").first.count() == 0
    await call(server, "propose_plan", job_id=job_id)
    await page.locator("tr", has_text=job_id).get_by_role("link").first.click()
    await review.get_by_role("button", name="Approve").wait_for()
    await call(server, "review_plan", job_id=job_id, decision="approve")
    await review.get_by_text("Approved", exact=True).wait_for(timeout=20_000)
    await review.get_by_role("button", name="Publish").click()
    await review.get_by_text("Published", exact=True).wait_for()
    assert await review.get_by_role("button").count() == 0
    assert (await call(server, "query_vrp_status", job_id=job_id))["review"]["state"] == "published"


async def test_a_draft_says_that_changes_start_from_the_approved_plan(server: PlannerServer, page: Any) -> None:
    """SPEC A5, T10: what a draft changed was lost in the next change, and said only afterwards."""
    _, job_id = await solved(server, ring(5))
    again = await call(server, "resolve_vrp", warm_from=job_id, cancelled_ticket=["t-1"], solve_time="PT1S")
    await call(server, "query_vrp_status", job_id=again["job_id"], wait_s=45)
    review = page.get_by_role("region", name="Review")
    await page.goto(_url(server, f"jobs/{again['job_id']}"))
    await review.get_by_text("Draft", exact=True).wait_for(timeout=60_000)
    assert await review.get_by_text("Another plan of this day is approved").count() == 0
    await call(server, "propose_plan", job_id=job_id)
    await call(server, "review_plan", job_id=job_id, decision="approve")
    await page.goto("about:blank")
    await page.goto(_url(server, f"jobs/{again['job_id']}"))
    await review.get_by_text("Another plan of this day is approved").wait_for()
    assert job_id.removeprefix("job-") in (await review.get_by_role("link").get_attribute("href") or "")
    await page.goto(_url(server, f"jobs/{job_id}"))
    await review.get_by_text("Approved", exact=True).wait_for()
    assert await review.get_by_text("Another plan of this day is approved").count() == 0


async def test_a_page_offers_the_steps_of_its_reader_alone(server: PlannerServer, page: Any) -> None:
    """SPEC A5, O2: who reviews the plan of somebody else is offered no change of it; a proposer of four eyes waits."""
    _, job_id = await solved(server, ring(5))
    await call(server, "propose_plan", job_id=job_id)
    shown: dict[str, Any] = {}

    async def answer(route: Any) -> None:
        body = await (await route.fetch()).json()
        await route.fulfill(
            json={**body, "is_own": shown["is_own"], "review": {**body["review"], "steps": shown["steps"]}}
        )

    await page.route(f"**/ui/read?uri=job%3A%2F%2F{job_id}", answer)
    review = page.get_by_role("region", name="Review")
    for is_own, steps, offered in ((True, ["propose"], []), (False, ["approve", "reject"], ["Approve", "Reject"])):
        shown |= {"is_own": is_own, "steps": steps}
        await page.goto("about:blank")
        await page.goto(_url(server, f"jobs/{job_id}"))
        await review.get_by_text("Proposed").wait_for()
        assert await review.get_by_role("button").all_inner_texts() == offered
        assert await review.get_by_text("somebody else decides").count() == (not offered)
        await page.locator("svg.map .stop").first.wait_for()
        for name in ("Solve again", "Share a link"):
            assert await page.get_by_role("button", name=name).count() == is_own
        assert await page.locator("summary", has_text="Change the day").count() == is_own


async def test_a_plan_is_reviewed_in_a_chat(chat: ChatHost) -> None:
    """SPEC A5, O2: the page in a chat has the same steps; a refusal is told, a reason is text."""
    await chat.start(toolsets="all")
    job_id = await chat.solve(ring(5), "PT1S")
    await chat.open(input={"job_id": job_id})
    await chat.app.get_by_text("Review: Draft").wait_for(timeout=60_000)
    await chat.app.get_by_role("button", name="Propose").click()
    await chat.app.get_by_role("button", name="Reject").click()
    assert "reason" in await chat.app.get_by_role("alert").inner_text()
    await chat.app.get_by_label("Reason for a rejection").fill(SCRIPT)
    await chat.app.get_by_role("button", name="Reject").click()
    await chat.app.get_by_text(f"Review: Rejected {SCRIPT}").wait_for()
    for step in ("Propose", "Approve", "Publish"):
        await chat.app.get_by_role("button", name=step).click()
    await chat.app.get_by_text("Review: Published").wait_for()
    assert await chat.app.locator("img").count() == 0, "a reason is text, never markup"
