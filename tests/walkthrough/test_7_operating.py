"""Chapter 7, operating: is it well, what does it do, and how it grows.

You learn the pages that whoever runs the planner looks at, and the one command that gives it more hands.
"""

import os
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
from mcp import Client
from prometheus_client.parser import text_string_to_metric_families

from examples.planner_server import PlannerServer
from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use, wait_for
from tests.shared.workers.patient_lease import PATIENT_LEASE

pytestmark = pytest.mark.anyio


async def test_health_and_readiness_are_two_questions(
    server: PlannerServer, client: Client, http: httpx.AsyncClient
) -> None:
    """SPEC O3: `/healthz` says that the process lives, `/readyz` that its store answers and who would do the work."""
    with anyio.fail_after(30):  # a server answers before its worker has started; once a job has ended, it has
        await wait_for(client, await submit(client, SMALLEST, "PT1S"), "COMPLETED")
    alive = await http.get(f"{server.url}/healthz")
    ready = await http.get(f"{server.url}/readyz")
    assert (alive.status_code, alive.json()["status"]) == (200, "ok")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert ready.json()["live_workers"] >= 1


async def test_metrics_count_what_was_asked(server: PlannerServer, client: Client, http: httpx.AsyncClient) -> None:
    """SPEC O3: Prometheus reads `/metrics`: calls by tool and outcome, what answers cost, how long the queue is."""

    async def refusals() -> float:
        text = (await http.get(f"{server.url}/metrics")).text
        samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
        assert "planner_jobs_queued" in {sample.name for sample in samples}
        wanted = ("planner_tool_calls_total", {"tool": "create_scenario", "outcome": "error"})
        return sum(sample.value for sample in samples if (sample.name, sample.labels) == wanted)

    before = await refusals()
    await client.call_tool("create_scenario", {"name": "nobody to drive"})
    assert await refusals() == before + 1


@pytest.mark.slow
async def test_second_worker_takes_what_waits(
    server: PlannerServer, server_dir: Path, client: Client, http: httpx.AsyncClient
) -> None:
    """SPEC O1: `planner-mcp worker` on the same store solves what the busy one has no hand free for."""
    command = [sys.executable, "-m", "planner_mcp", "worker", "--data-dir", str(server_dir)]
    # All workers of a store must agree on how long one may be silent before its job is another's.
    settings = os.environ | PATIENT_LEASE
    with anyio.fail_after(100):
        async with await anyio.open_process(command, stdout=None, stderr=subprocess.DEVNULL, env=settings) as worker:
            try:
                while await live_workers(server, http) < 2:  # noqa: ASYNC110 — the page has no event
                    await anyio.sleep(0.1)
                busy = await submit(client, ring(), "PT60S")
                await wait_for(client, busy, "SOLVING")
                waiting = await submit(client, SMALLEST, "PT1S")
                await wait_for(client, waiting, "COMPLETED")
                assert (await use(client, "query_vrp_status", job_id=busy))["status"] == "SOLVING"
                await use(client, "cancel_vrp_job", job_id=busy)
            finally:
                worker.terminate()
            assert await worker.wait() == 0, "it drains, then ends"


async def live_workers(server: PlannerServer, http: httpx.AsyncClient) -> int:
    """Return how many workers the planner knows to be there."""
    return int((await http.get(f"{server.url}/readyz")).json()["live_workers"])
