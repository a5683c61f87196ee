"""The worker of a running product is killed in the middle of a solve, and the client notices nothing but a wait."""

from pathlib import Path

import anyio
import pytest
from mcp import Client

from benchmarks.process_stats import descendants
from examples.planner_server import running_server
from tests.shared.processes.process_tree import children, kill, until_gone
from tests.shared.scenarios.client_scenarios import ring, submit, use, wait_for

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_job_of_a_killed_worker_completes_once_on_another(tmp_path: Path) -> None:
    """SPEC J6, O1: its job runs again within seconds, `serve` starts the worker anew, no solver burns on."""
    async with running_server(tmp_path, workers=2) as server, Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT5S", fresh=True)
        with anyio.fail_after(60):
            while (status := await use(client, "query_vrp_status", job_id=job_id, wait_s=0.2)).get("cost") is None:
                assert status["status"] in ("QUEUED", "SOLVING")
        worker = await _solving_worker(server.pid)
        lost = [worker, *descendants(worker)]

        kill(worker)

        await until_gone(lost)
        done = await wait_for(client, job_id, "COMPLETED")
        assert done["progress"] == 100
        with anyio.fail_after(60):
            while len(_workers(server.pid)) < 2:  # noqa: ASYNC110 — the supervisor starts another in its place
                await anyio.sleep(0.05)


def _workers(supervisor: int) -> list[int]:
    return [pid for pid in children(supervisor) if b"workers" in Path(f"/proc/{pid}/cmdline").read_bytes()]


async def _solving_worker(supervisor: int) -> int:
    """Return the worker whose child uses the most CPU."""
    with anyio.fail_after(60):
        while True:
            used = {_cpu_ticks(fork): worker for worker in _workers(supervisor) for fork in _forks(worker)}
            if used and max(used) > 20:
                return used[max(used)]
            await anyio.sleep(0.05)


def _forks(worker: int) -> list[int]:
    return [fork for warm in children(worker) for fork in children(warm)]


def _cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
