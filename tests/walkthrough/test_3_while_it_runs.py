"""Chapter 3, while it runs: progress, another client, an end before the time is up.

You learn that a job belongs to you and not to your connection, and that its best plan is there at any moment. The day
is a ring of 119 tickets here, because the plan of a small one is proved optimal before anybody could watch it.
"""

from typing import Any

import anyio
import pytest
from mcp import Client

from examples.planner_server import PlannerServer
from tests.shared.scenarios.client_scenarios import ring, submit, use, wait_for

pytestmark = pytest.mark.anyio


async def first_cost(client: Client, job_id: str) -> float:
    """Wait for the first plan of a job and return its cost."""
    status = await use(client, "query_vrp_status", job_id=job_id)
    while status.get("cost") is None:
        status = await use(client, "query_vrp_status", job_id=job_id, wait_s=0.2)
    return float(status["cost"])


async def test_a_waiting_call_reports_progress(client: Client) -> None:
    """SPEC T3, J5: progress comes as notifications while a call is open; it never falls and never says 100 too soon."""
    progress_events: list[float] = []

    async def on_progress(progress: float, _total: float | None, _message: str | None) -> None:
        progress_events.append(progress)

    with anyio.fail_after(30):
        asked = {"job_id": await submit(client, ring(), "PT1S"), "wait_s": 20}
        status: dict[str, Any] = {"status": "QUEUED"}
        while status["status"] in ("QUEUED", "SOLVING"):
            result = await client.call_tool("query_vrp_status", asked, progress_callback=on_progress)
            status = result.structured_content
    assert status["status"] == "COMPLETED"
    assert len(progress_events) > 1
    assert progress_events == sorted(progress_events)
    assert all(progress < 100 for progress in progress_events[:-1])


async def test_another_client_finds_the_job_after_a_lost_connection(server: PlannerServer, client: Client) -> None:
    """SPEC J9, T5: a job outlives the client that asked for it; who lost its id finds it in the list."""
    async with Client(server.mcp) as first:
        job_id = await submit(first, ring(), "PT1S")
    with anyio.fail_after(30):
        jobs = await use(client, "list_jobs", size=1)
        assert [row[0] for row in jobs["rows"]] == [job_id]
        done = await wait_for(client, job_id, "COMPLETED")
    assert done["tickets_served"] == 119


async def test_cancelled_job_keeps_its_best_plan(client: Client) -> None:
    """SPEC T4, S3: a job that is stopped on its way leaves a plan that is no worse than the one you had seen."""
    with anyio.fail_after(30):
        job_id = await submit(client, ring(), "PT60S")
        seen = await first_cost(client, job_id)
        answer = await use(client, "cancel_vrp_job", job_id=job_id)
        await wait_for(client, job_id, "CANCELLED")
        plan = await use(client, "read_plan", job_id=job_id)
    assert answer["cancelled"]
    assert plan["tickets_served"] == 119
    assert plan["cost"] <= seen
