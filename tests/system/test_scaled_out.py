"""Servers and workers as commands of their own, with nothing but a URL in common."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp import Client

from examples.planner_server import running_server
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, use, wait_for
from tests.shared.store.redis_cluster import IS_CLUSTER

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(IS_CLUSTER, reason="a line to one server is what is shown"),
]


async def test_a_redis_url_and_a_worker_scale_the_deployment_out(database_url: str, tmp_path: Path) -> None:
    """SPEC O1: two servers without workers, one `planner-mcp worker`; asked at one, answered at the other."""
    shared = ("--redis-url", database_url)
    command = [sys.executable, "-m", "planner_mcp", "worker", *shared, "--data-dir", str(tmp_path / "worker")]
    async with (
        running_server(tmp_path / "one", workers=0, options=shared) as one,
        running_server(tmp_path / "two", workers=0, options=shared) as two,
        Client(one.mcp) as asking,
        Client(two.mcp) as reading,
    ):
        job_id = await submit(asking, SMALLEST, "PT5S")
        assert (await use(reading, "query_vrp_status", job_id=job_id))["status"] == "QUEUED"
        async with await anyio.open_process(command, stdout=None, stderr=subprocess.DEVNULL) as worker:
            try:
                assert (await wait_for(reading, job_id, "COMPLETED"))["progress"] == 100
            finally:
                worker.terminate()
            with anyio.fail_after(60):
                assert await worker.wait() == 0
