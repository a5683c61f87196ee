"""A worker on a host that starts no solver process."""

import asyncio
import errno
import os
import socket
import subprocess
import sys
from typing import Any, NoReturn

import anyio
import pytest

from planner_mcp.errors import EngineCrashedError
from planner_mcp.jobs.job_events import EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from tests.integration.jobs.conftest import StoreHarness
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.workers.stub_solver_worker import StubSolverPool, StubSolverProcess
from workers.attempts.job_attempt import JobAttempt
from workers.solver_processes import solver_process_pool
from workers.solver_processes.solver_process_pool import SolverProcessPool
from workers.worker import Worker

pytestmark = pytest.mark.anyio


class NoSolverPool(StubSolverPool):
    """A pool on a host without a free process."""

    async def acquire(self) -> StubSolverProcess:
        """Refuse."""
        raise EngineCrashedError


async def test_a_worker_that_starts_no_solver_leaves_jobs_to_others(harness: WorkerHarness) -> None:
    """SPEC J6: one such host would end all that waits as failed, three crashes in a moment for each job."""
    without = Worker(harness.store, NoSolverPool(), harness.settings, worker_id="host-1-a")
    healthy = Worker(harness.store, StubSolverPool(), harness.settings, worker_id="host-2-b")
    with anyio.fail_after(LONGEST_S):
        job = await harness.submit({"busy_s": 0}, 30)
        working = [asyncio.create_task(without.run())]
        await harness.until(job, lambda event: event.kind is EventKind.REQUEUED)
        working.append(asyncio.create_task(healthy.run()))
        await harness.until_end(job)
        without.drain()
        healthy.drain()
        await asyncio.gather(*working)
    ended = await harness.job(job)
    assert (ended.state, ended.crashes) == (JobState.COMPLETED, 1)


async def test_a_host_without_a_free_process_is_a_solver_that_crashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J6: the job runs again; it ended as failed at once, by an error that nobody foresaw."""

    def refuse(*_args: Any) -> NoReturn:
        raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(solver_process_pool, "_spawn_fork_server", refuse)
    async with SolverProcessPool() as process_pool:
        with pytest.raises(EngineCrashedError, match="No solver process can be started"):
            await process_pool.acquire()


_FORKS_NOTHING = """
import socket, sys
from workers import message_frames
control = socket.socket(fileno=int(sys.argv[1]))
message_frames.send(control, {"ready": True})
control.recv(1)
"""


async def test_a_fork_server_that_cannot_fork_is_a_host_without_a_solver(
    harness: WorkerHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J6: it starts while one process is free and dies of the next, so each job had three crashes in seconds."""

    def spawn(control: socket.socket) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", _FORKS_NOTHING, str(control.fileno())]
        return subprocess.Popen(command, pass_fds=[control.fileno()])

    monkeypatch.setattr(solver_process_pool, "_spawn_fork_server", spawn)
    claim = await StoreHarness(harness.store).solving()
    async with SolverProcessPool() as process_pool:
        attempt = JobAttempt(claim, process_pool, harness.store, harness.settings, trace_id="0" * 32)
        with anyio.fail_after(LONGEST_S):
            await attempt.run()
    assert attempt.lacked_solver
