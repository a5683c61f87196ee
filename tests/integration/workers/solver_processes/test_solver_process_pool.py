"""The pool of solver processes: it reports every death, and holds memory only while there is work (SPEC J6)."""

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.jobs.conftest import StoreHarness
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S, exit_code, until_gone
from workers.attempts.job_attempt import JobAttempt
from workers.solver_processes import solver_process_pool
from workers.solver_processes.solver_process_pool import KILLED, SolverProcess, SolverProcessPool

pytestmark = pytest.mark.anyio


@asynccontextmanager
async def started_pool() -> AsyncIterator[SolverProcessPool]:
    """A pool whose fork server is running."""
    async with SolverProcessPool() as process_pool:
        first = await process_pool.acquire()
        process_pool.release(first, is_reusable=False)
        yield process_pool


@pytest.fixture(scope="module")
async def shared_pool() -> AsyncIterator[SolverProcessPool]:
    """A pool whose fork server is running, for the tests that it outlives."""
    async with started_pool() as process_pool:
        yield process_pool


def _signal_fork_server(process_pool: SolverProcessPool, signum: int) -> None:
    assert process_pool.pid is not None
    os.kill(process_pool.pid, signum)


class SlowPool:
    """A pool whose fork server is stopped once a process was asked for."""

    def __init__(self, process_pool: SolverProcessPool) -> None:
        self._process_pool = process_pool
        self.requested: asyncio.Future[SolverProcess] = asyncio.get_running_loop().create_future()

    async def acquire(self) -> SolverProcess:
        """Return a process that is not forked before the fork server goes on."""
        _signal_fork_server(self._process_pool, signal.SIGSTOP)
        child = await self._process_pool.acquire()
        self.requested.set_result(child)
        return child


async def test_a_job_that_ends_before_its_child_was_forked_does_not_stop_the_reports_of_the_fork_server(
    harness: WorkerHarness, store: RedisStore, shared_pool: SolverProcessPool
) -> None:
    """SPEC J6: on a busy machine a fork takes longer than a job that is handed back."""
    claim = await StoreHarness(store).solving()
    slow: Any = SlowPool(shared_pool)
    attempt = JobAttempt(claim, slow, store, harness.settings, trace_id="0" * 32)
    running = asyncio.create_task(attempt.run())
    with anyio.fail_after(LONGEST_S):
        late = await slow.requested
        await asyncio.sleep(0)
        attempt.hand_back()
        await running
    _signal_fork_server(shared_pool, signal.SIGCONT)
    assert await exit_code(late) == KILLED.code
    next_one = await shared_pool.acquire()
    with anyio.fail_after(LONGEST_S):
        os.kill(await next_one.pid, signal.SIGKILL)
    assert await exit_code(next_one) == KILLED.code


@pytest.mark.parametrize("future", ["pid", "exit"])
async def test_a_future_that_a_waiter_cancelled_does_not_stop_the_reports_of_the_fork_server(
    shared_pool: SolverProcessPool, future: str
) -> None:
    """SPEC J6: a cancelled waiter takes nothing from the processes that come after."""
    _signal_fork_server(shared_pool, signal.SIGSTOP)
    child = await shared_pool.acquire()
    getattr(child, future).cancel()
    child.kill()
    _signal_fork_server(shared_pool, signal.SIGCONT)
    next_one = await shared_pool.acquire()
    next_one.kill()
    assert await exit_code(next_one) == KILLED.code
    assert shared_pool.pid is not None


async def test_the_fork_server_is_started_with_the_first_job_and_stopped_after_a_time_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Our choice: an idle worker does not hold the solvers in memory."""
    monkeypatch.setattr(solver_process_pool, "IDLE_S", 0.01)
    async with SolverProcessPool() as process_pool:
        assert process_pool.pid is None
        child = await process_pool.acquire()
        fork_server = process_pool.pid
        assert fork_server is not None
        process_pool.release(child, is_reusable=True)
        await until_gone([fork_server])
        again = await process_pool.acquire()
        assert again is not child
        again.kill()
        assert await exit_code(again) == KILLED.code


async def test_a_process_asked_of_a_fork_server_that_dies_meanwhile_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC J6: a worker waited for that end for ever, and held its job all the while."""
    async with started_pool() as process_pool:
        connect = SolverProcess.open

        async def open_as_it_dies(child: SolverProcess, sock: socket.socket) -> None:
            await connect(child, sock)
            _signal_fork_server(process_pool, signal.SIGKILL)
            while process_pool.pid is not None:  # noqa: ASYNC110 its listener sends no event
                await asyncio.sleep(0.01)

        monkeypatch.setattr(SolverProcess, "open", open_as_it_dies)
        child = await process_pool.acquire()
        with anyio.fail_after(5):
            assert await asyncio.shield(child.exit) == KILLED
        process_pool.release(child, is_reusable=False)


async def test_a_solver_yields_to_the_processes_that_report_its_plans(shared_pool: SolverProcessPool) -> None:
    """SPEC J6: where a solve takes every core, heartbeats, events and calls come first."""
    child = await shared_pool.acquire()
    with anyio.fail_after(LONGEST_S):
        pid, own = await child.pid, os.getpriority(os.PRIO_PROCESS, 0)
        while os.getpriority(os.PRIO_PROCESS, pid) == own:  # noqa: ASYNC110 it sends no event
            await asyncio.sleep(0.01)
    assert os.getpriority(os.PRIO_PROCESS, pid) > own
    child.kill()
    assert await exit_code(child) == KILLED.code
