"""A data folder is copied while the planner runs, and read again elsewhere; stores of earlier versions are read."""

import asyncio
from pathlib import Path
from typing import Final

import pytest
from mcp import Client

from examples.planner_server import running_server
from planner_mcp.jobs.store import data_folder_backup
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use, wait_for

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
STORE_0_1: Final = Path(__file__).parent / "stores" / "store-0.1.tar.gz"
"""Written by `planner-mcp serve` 0.1.0: one day of ten customers, a job that completed, one still queued, and an API
key. Its records expire in a hundred years."""
SCENARIO: Final = "scn-0-4cxeg6fryivw7u3nrc7xpoj2an"
COMPLETED: Final = "job-0-rxzyrvqm4jr2qm4axwaagsl7ce"
QUEUED: Final = "job-0-b3rzgdmzmu6gvgvjlgpgm4ozkz"


async def test_jobs_go_on_from_a_backup_taken_while_the_planner_ran(tmp_path: Path) -> None:
    """SPEC O7, J7: what was acknowledged before the copy began is solved or read in the new folder."""
    archive, new = tmp_path / "planner.tar.gz", tmp_path / "new"
    async with running_server(tmp_path / "old", workers=1) as server, Client(server.mcp) as client:
        done = await submit(client, SMALLEST, "PT1S")
        await wait_for(client, done, "COMPLETED")
        running = await submit(client, ring(), "PT30S")
        await asyncio.to_thread(data_folder_backup.back_up, tmp_path / "old", archive)
        await use(client, "cancel_vrp_job", job_id=running)
    data_folder_backup.restore(archive, new)
    async with running_server(new, workers=1) as server, Client(server.mcp) as client:
        assert (await use(client, "query_vrp_status", job_id=done))["status"] == "COMPLETED"
        assert (await use(client, "read_plan", job_id=done))["routes"]
        assert (await use(client, "query_vrp_status", job_id=running))["status"] in ("QUEUED", "SOLVING")
        await use(client, "cancel_vrp_job", job_id=running, keep_best=True)
        assert (await wait_for(client, running, "CANCELLED", "COMPLETED"))["job_id"] == running


async def test_a_store_of_0_1_is_read_and_its_queue_is_solved(tmp_path: Path) -> None:
    """SPEC O7: an upgrade keeps scenarios, plans, keys and jobs that wait."""
    data_folder_backup.restore(STORE_0_1, tmp_path / "data")
    async with running_server(tmp_path / "data", workers=1) as server, Client(server.mcp) as client:
        assert (await wait_for(client, QUEUED, "COMPLETED"))["job_id"] == QUEUED
        status = await use(client, "query_vrp_status", job_id=COMPLETED)
        assert (status["status"], status["result"]["tickets_served"]) == ("COMPLETED", 10)
        plan = await use(client, "read_plan", job_id=COMPLETED, view="visits")
        assert all(f"t-{number}" in str(plan) for number in range(10))
        again = await use(client, "solve_vrp", scenario_id=SCENARIO, solve_time="PT1S", fresh=True)
        assert (await wait_for(client, again["job_id"], "COMPLETED"))["job_id"] == again["job_id"]


async def test_a_backup_leaves_the_running_store_as_it_was(tmp_path: Path) -> None:
    """Our choice: the log is rewritten again once the copy is made."""
    with EmbeddedServer(tmp_path / "data") as server, server._client() as client:
        before = client.config_get("auto-aof-rewrite-percentage")
        await asyncio.to_thread(data_folder_backup.back_up, tmp_path / "data", tmp_path / "a.tar.gz")
        assert client.config_get("auto-aof-rewrite-percentage") == before
