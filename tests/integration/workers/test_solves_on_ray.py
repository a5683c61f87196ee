"""Jobs whose solves run on a Ray cluster: lease, fence and reports are the worker's as ever (SPEC O8)."""

import asyncio
from pathlib import Path

import anyio
import pytest

from benchmarks.process_stats import descendants, is_alive
from planner_mcp.jobs.job_events import EventKind
from tests.integration.workers.conftest import WorkerHarness, kinds
from tests.shared.processes.process_tree import LONGEST_S, kill, until_gone
from tests.shared.scenarios.seeded_fleet import fleet_body
from tests.shared.workers.ray_cluster import ray_cluster

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def _searching(root: int) -> list[int]:
    return [
        pid for pid in descendants(root) if is_alive(pid) and "fork_server" in Path(f"/proc/{pid}/cmdline").read_text()
    ]


async def test_a_killed_worker_leaves_no_solver_on_the_cluster_and_its_job_goes_on_there(
    harness: WorkerHarness,
) -> None:
    """SPEC J6, O8: the actor dies with its worker; another worker goes on from the best plan under a new fence."""
    with ray_cluster() as cluster:
        settings = {"ray_address": cluster.address, "lease_s": 3.0}
        async with harness.running_workers(2, **settings):
            job = await harness.submit(fleet_body(120), 20)
            await harness.until_planned(job)
            searching = _searching(cluster.pid)
            assert len(searching) >= 2
            kill(await harness.holder(job))
            await until_gone(searching)
            await harness.until_attempt(job, 2)
            assert _searching(cluster.pid)
            await harness.store.finish_now("local", job.id)
            events = await harness.until_end(job)
        with anyio.fail_after(LONGEST_S):
            while _searching(cluster.pid):  # noqa: ASYNC110 — a stranger's death sends no event
                await asyncio.sleep(0.05)
    assert kinds(events) == [
        EventKind.QUEUED,
        EventKind.STARTED,
        EventKind.REQUEUED,
        EventKind.STARTED,
        EventKind.COMPLETED,
    ]
