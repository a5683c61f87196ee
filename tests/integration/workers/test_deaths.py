"""Everything that can die while a job is solved, and what becomes of the job."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from planner_mcp.jobs.events import EventKind
from planner_mcp.jobs.lifecycle import JobState
from planner_mcp.store.connect import connect
from planner_mcp.store.embedded import EmbeddedStore
from tests.integration.workers.conftest import OWNER, Shop, kinds, solver_of
from tests.shared.fleet import fleet_body
from tests.shared.processes import LONGEST_S, children, descendants, kill, until_gone
from tests.shared.scenarios import SMALLEST
from tests.shared.signals import until_taken
from tests.shared.stopwatch import Stopwatch
from workers.pool import environment_of

pytestmark = [pytest.mark.anyio, pytest.mark.filterwarnings("ignore::ResourceWarning")]

ONCE_MORE = [EventKind.QUEUED, EventKind.STARTED, EventKind.REQUEUED, EventKind.STARTED, EventKind.COMPLETED]


async def test_death_of_a_child_is_retried_at_once(shop: Shop) -> None:
    """SPEC J6: the job runs again without waiting for the lease, from its last plan, with the time that is left."""
    async with shop.crew(lease_s=2 * LONGEST_S) as pool:
        job = await shop.submit(fleet_body(100), 2)
        await shop.until_planned(job)
        _, _, child = await solver_of(pool)
        kill(child)
        events = await shop.until_end(job)
    assert kinds(events) == ONCE_MORE
    best = [(event.data.get("penalty", 0), event.data["cost"]) for event in events if "cost" in event.data]
    assert best == sorted(best, reverse=True)


async def test_job_that_kills_three_children_ends_failed(shop: Shop) -> None:
    """SPEC J6: a job that keeps killing workers ends failed and says so."""
    async with shop.crew() as pool:
        job = await shop.submit(fleet_body(100), 20)
        for crash in range(1, 4):
            await shop.until_attempt(job, crash)
            killed = (await solver_of(pool))[2]
            kill(killed)
            await until_gone([killed])
            with anyio.fail_after(LONGEST_S):
                while (await shop.job(job)).crashes < crash:  # noqa: ASYNC110 — a bounded wait
                    await anyio.sleep(0.01)
        events = await shop.until_end(job)
    assert events[-1].kind is EventKind.FAILED
    assert events[-1].data["error"]["type"] == "PoisonedJob"


async def test_death_of_the_warm_parent_takes_the_child_along_and_is_retried(shop: Shop) -> None:
    """SPEC J6: no child outlives its parent; the worker starts another."""
    async with shop.crew() as pool:
        job = await shop.submit(fleet_body(100), 2)
        await shop.until_planned(job)
        worker, warm, child = await solver_of(pool)
        kill(warm)
        await until_gone([warm, child])
        events = await shop.until_end(job)
        assert pool.pids == [worker]
    assert kinds(events) == ONCE_MORE


async def test_death_of_a_worker_leaves_no_process_and_no_job_behind(shop: Shop) -> None:
    """SPEC J6: a killed worker's job runs again elsewhere; its solver does not burn on."""
    lease_s = 3.0  # a worker starts beside the one that goes on, and must not find it silent
    async with shop.crew(2, lease_s=lease_s) as pool:
        job = await shop.submit(fleet_body(100), 2)
        await shop.until_planned(job)
        worker, warm, child = await solver_of(pool, await shop.holder(job))
        kill(worker)
        watch = Stopwatch()
        await until_gone([worker, warm, child])
        await shop.until(job, lambda event: event.kind is EventKind.REQUEUED)
        assert watch.spent_s < lease_s + 5
        events = await shop.until_end(job)
        with anyio.fail_after(LONGEST_S):
            while len(pool.pids) < 2:  # noqa: ASYNC110 — the supervisor starts another in its place
                await anyio.sleep(0.01)
    assert kinds(events) == ONCE_MORE


@pytest.mark.slow
async def test_child_that_ignores_its_limit_is_killed_and_its_plan_kept(shop: Shop) -> None:
    """Issue 3: killed at limit + 5 s; the best verified plan completes the job."""
    async with shop.crew() as pool:
        job = await shop.submit(fleet_body(100), 1)
        await shop.until_planned(job)
        _, _, child = await solver_of(pool)
        os.kill(child, signal.SIGSTOP)
        watch = Stopwatch()
        events = await shop.until_end(job)
        assert watch.elapsed_s > 4.0
        assert watch.spent_s < 8.0
        await until_gone([child])
    assert events[-1].kind is EventKind.COMPLETED
    assert max(event.data["progress"] for event in events[:-1]) == 99


async def test_drain_lets_a_short_solve_finish(shop: Shop) -> None:
    """SPEC J7: SIGTERM stops claiming; the running solve ends as it would have."""
    async with shop.crew() as pool:
        job = await shop.submit(fleet_body(60), 2)
        await shop.until_planned(job)
        os.kill(pool.pids[0], signal.SIGTERM)
        events = await shop.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]


async def test_drain_hands_a_long_solve_back_without_a_crash(shop: Shop) -> None:
    """SPEC J7: after `drain_s` the job is queued again, with its plan and no attempt burnt."""
    async with shop.crew(drain_s=0.2) as pool:
        job = await shop.submit(fleet_body(60), 60)
        await shop.until_planned(job)
        processes = [*pool.pids, *descendants(pool.pids[0])]
        pool.drain()
        events = await shop.until(job, lambda event: event.kind is EventKind.REQUEUED)
        await until_gone(processes)
    handed_back = await shop.job(job)
    assert handed_back.state is JobState.QUEUED
    assert handed_back.crashes == 0
    assert handed_back.plan_id is not None
    assert events[-1].data["progress"] < 100


async def test_second_sigterm_hands_back_at_once(shop: Shop) -> None:
    """SPEC J7: second SIGTERM is immediate."""
    async with shop.crew(drain_s=60) as pool:
        job = await shop.submit(fleet_body(60), 60)
        await shop.until_planned(job)
        worker = pool.pids[0]
        os.kill(worker, signal.SIGTERM)
        await until_taken(worker)
        watch = Stopwatch()
        os.kill(worker, signal.SIGTERM)
        await shop.until(job, lambda event: event.kind is EventKind.REQUEUED)
        assert watch.spent_s < 5
        pool.drain()
    assert (await shop.job(job)).crashes == 0


async def test_death_of_the_supervisor_ends_every_process_and_hands_back(shop: Shop) -> None:
    """SPEC J6: no process outlives its parent, however that went; and a job so lost burns no attempt."""
    settings = shop.settings.model_copy(update={"lease_s": 6.0})
    supervisor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "planner_mcp", "worker", "--processes", "1"), env=environment_of(settings)
    )
    job = await shop.submit(fleet_body(60), 60)
    await shop.until_planned(job)
    processes = descendants(supervisor.pid)
    assert len(processes) >= 3
    supervisor.kill()
    await shop.until(job, lambda event: event.kind is EventKind.REQUEUED)
    await until_gone(processes)
    await supervisor.wait()
    assert (await shop.job(job)).crashes == 0


async def test_job_outlives_the_store_being_away(shop: Shop, tmp_path: Path) -> None:
    """SPEC J7: Redis away is no reason to fail; the solve goes on and is told when Redis is back."""
    server = EmbeddedStore(tmp_path / "store", appendfsync="always")
    settings = shop.settings.model_copy(update={"redis_url": await asyncio.to_thread(server.start), "lease_s": 6.0})
    try:
        async with connect(settings) as store:
            own = Shop(store, shop.feed, settings)
            async with own.crew():
                job = await own.submit(fleet_body(60), 2)
                with anyio.fail_after(LONGEST_S):
                    while (await own.job(job)).progress.cost is None:  # noqa: ASYNC110 — a feed would not outlive the store
                        await anyio.sleep(0.05)
                kill(server.pid)
                await anyio.sleep(2.5)
                await asyncio.to_thread(server.start)
                with anyio.fail_after(LONGEST_S):
                    while not (await own.job(job)).is_terminal:  # noqa: ASYNC110 — the same
                        await anyio.sleep(0.05)
            done = await own.job(job)
            assert done.state is JobState.COMPLETED
            assert done.crashes == 0
            kinds_seen = [event.kind for event in await store.read_events(OWNER, job.id)]
            assert kinds_seen.count(EventKind.COMPLETED) == 1
            assert kinds_seen.count(EventKind.STARTED) == 1
    finally:
        await asyncio.to_thread(server.stop)


async def test_process_of_a_long_solve_is_not_used_again(shop: Shop) -> None:
    """Our choice: its memory has been through a search; the next job gets a fresh fork."""
    async with shop.crew() as pool:
        job = await shop.submit(fleet_body(60), 2)
        await shop.until_planned(job)
        _, warm, child = await solver_of(pool)
        await shop.until_end(job)
        await until_gone([child])
        await shop.until_end(await shop.submit(SMALLEST, 5))
        assert child not in children(warm)
