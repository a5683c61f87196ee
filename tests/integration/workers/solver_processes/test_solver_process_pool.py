"""What a worker hears of its children, whatever becomes of those who wait for it (SPEC J6)."""

import asyncio
import os
import signal

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.jobs.conftest import StoreHarness
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S
from workers.attempts.job_attempt import JobAttempt
from workers.solver_processes.solver_process_pool import KILLED, SolverProcess, SolverProcessPool

pytestmark = pytest.mark.anyio


def _stop(process_pool: SolverProcessPool, signum: int) -> None:
    assert process_pool.pid is not None
    os.kill(process_pool.pid, signum)


async def _told_exit(child: SolverProcess) -> int:
    with anyio.fail_after(LONGEST_S):
        return (await asyncio.shield(child.exit)).code


async def test_a_job_that_ends_before_its_child_was_forked_leaves_the_nursery_hearing(
    harness: WorkerHarness, store: RedisStore
) -> None:
    """SPEC J6: on a busy machine a fork takes longer than a job that is handed back; later deaths are still told."""
    claim = await StoreHarness(store).solving()
    async with SolverProcessPool() as process_pool:
        _stop(process_pool, signal.SIGSTOP)
        late = await process_pool.acquire()
        attempt = JobAttempt(claim, late, store, harness.settings, trace_id="0" * 32)
        running = asyncio.create_task(attempt.run())
        with anyio.fail_after(LONGEST_S):
            while not attempt._watch_tasks:  # noqa: ASYNC110 - it tells nobody that it has begun to watch
                await anyio.sleep(0.01)
            await asyncio.sleep(0)
            attempt.hand_back()
            await running
        _stop(process_pool, signal.SIGCONT)
        assert await _told_exit(late) == KILLED.code
        next_one = await process_pool.acquire()
        with anyio.fail_after(LONGEST_S):
            os.kill(await next_one.pid, signal.SIGKILL)
        assert await _told_exit(next_one) == KILLED.code


@pytest.mark.parametrize("news", ["pid", "exit"])
async def test_news_that_nobody_waits_for_any_more_deafens_no_nursery(news: str) -> None:
    """SPEC J6: whoever awaits a child and is cancelled takes nothing from the children that come after."""
    async with SolverProcessPool() as process_pool:
        _stop(process_pool, signal.SIGSTOP)
        child = await process_pool.acquire()
        getattr(child, news).cancel()
        child.kill()
        _stop(process_pool, signal.SIGCONT)
        next_one = await process_pool.acquire()
        next_one.kill()
        assert await _told_exit(next_one) == KILLED.code
        assert process_pool.pid is not None
