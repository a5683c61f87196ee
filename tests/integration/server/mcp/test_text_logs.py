"""Logs as lines of text, where the design reads them (SPEC R1)."""

from datetime import UTC, datetime

import anyio
import pytest

from tests.integration.server.mcp.app_replicas import Caller, Two, Worker
from tests.integration.server.mcp.test_resource_methods import caller, complete, read

pytestmark = pytest.mark.anyio
__all__ = ["caller"]


async def test_a_job_has_a_log_of_its_events(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC R1, J1: one line an event, in order, with its time."""
    job_id = (await caller.solve(app_replicas[0]))["structuredContent"]["job_id"]
    claim = await worker.take()
    await worker.improve(claim, 40)
    await complete(worker, claim)
    contents = await read(caller, app_replicas[1], f"job://{job_id}/log.txt")
    assert contents["mimeType"] == "text/plain"
    kinds = [line.split()[1] for line in contents["text"].splitlines()]
    assert kinds == ["queued", "started", "progress", "completed"]
    assert all(line[:4].isdigit() for line in contents["text"].splitlines())


async def test_the_audit_log_of_a_day_is_text_too(app_replicas: Two, caller: Caller) -> None:
    """SPEC R1: `logs://vrp/{date}` as `text/plain` [D 2.3]; a line a call."""
    await caller.scenario(app_replicas[0])
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    lines: list[str] = []
    with anyio.fail_after(20):
        while not any(" create_scenario scn-" in line for line in lines):  # written behind the answer
            contents = await read(caller, app_replicas[0], f"logs://vrp/{today}.txt")
            lines = contents["text"].splitlines()
    assert contents["mimeType"] == "text/plain"
