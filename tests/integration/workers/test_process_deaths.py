"""Everything that can die while a job is solved, and what becomes of the job."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from benchmarks.process_stats import descendants
from planner_mcp.jobs.job_events import EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from tests.integration.workers.conftest import OWNER, WorkerHarness, check_plans_improve, kinds, solver_of
from tests.shared.processes.process_tree import LONGEST_S, children, kill, until_gone
from tests.shared.processes.repeated_signal import until_taken
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.seeded_fleet import fleet_body
from workers.solver_processes.solve_command import OVERRUN_S
from workers.supervisor import environment_of

pytestmark = pytest.mark.anyio

HANDED_BACK_S = 2
"""What `PLANNER_SOLVE_DRAIN_S` promises."""
ONCE_MORE = [EventKind.QUEUED, EventKind.STARTED, EventKind.REQUEUED, EventKind.STARTED, EventKind.COMPLETED]


async def test_death_of_a_child_is_retried_at_once(running_harness: WorkerHarness) -> None:
    """SPEC J6: the job runs again without waiting for the lease, from its last plan."""
    job = await running_harness.submit(fleet_body(120), 20)
    await running_harness.until_planned(job)
    _, _, child = await solver_of(running_harness.supervisor)
    kill(child)
    await running_harness.until_attempt(job, 2)
    await running_harness.store.finish_now(OWNER, job.id)
    events = await running_harness.until_end(job)
    assert kinds(events) == ONCE_MORE
    check_plans_improve(events)


async def test_job_that_kills_three_children_ends_failed(running_harness: WorkerHarness) -> None:
    """SPEC J6: a job that keeps killing workers ends failed and says so."""
    job = await running_harness.submit(fleet_body(120), 20)
    for crash in range(1, 4):
        await running_harness.until_attempt(job, crash)
        killed = (await solver_of(running_harness.supervisor))[2]
        kill(killed)
        await until_gone([killed])
        with anyio.fail_after(LONGEST_S):
            while (await running_harness.job(job)).crashes < crash:  # noqa: ASYNC110 — a bounded wait
                await anyio.sleep(0.01)
    events = await running_harness.until_end(job)
    assert events[-1].kind is EventKind.FAILED
    assert events[-1].data.error.type == "PoisonedJob"


@pytest.mark.slow
async def test_death_of_the_warm_parent_takes_the_child_along_and_is_retried(running_harness: WorkerHarness) -> None:
    """SPEC J6: no child outlives its parent; the worker starts another."""
    job = await running_harness.submit(fleet_body(120), 2)
    await running_harness.until_planned(job)
    worker, fork_server, child = await solver_of(supervisor := running_harness.supervisor)
    kill(fork_server)
    await until_gone([fork_server, child])
    events = await running_harness.until_end(job)
    assert supervisor is not None
    assert supervisor.pids == [worker]
    assert kinds(events) == ONCE_MORE


@pytest.mark.slow
async def test_death_of_a_worker_leaves_no_process_and_no_job_behind(harness: WorkerHarness) -> None:
    """SPEC J6: a killed worker's job runs again elsewhere; its solver does not burn on."""
    lease_s = 3.0  # a worker starts beside the one that goes on, and must not find it silent
    async with harness.running_workers(2, lease_s=lease_s) as supervisor:
        job = await harness.submit(fleet_body(120), 2)
        await harness.until_planned(job)
        worker, fork_server, child = await solver_of(supervisor, await harness.holder(job))
        kill(worker)
        watch = Stopwatch()
        await until_gone([worker, fork_server, child])
        await harness.until(job, lambda event: event.kind is EventKind.REQUEUED)
        assert watch.spent_s < lease_s + 5
        events = await harness.until_end(job)
        with anyio.fail_after(LONGEST_S):
            while len(supervisor.pids) < 2:  # noqa: ASYNC110 — the supervisor starts another in its place
                await anyio.sleep(0.01)
    assert kinds(events) == ONCE_MORE


@pytest.mark.slow
async def test_child_that_ignores_its_limit_is_killed_and_its_plan_kept(harness: WorkerHarness) -> None:
    """Our choice: killed at limit + 5 s; the best verified plan completes the job."""
    async with harness.running_workers() as supervisor:
        job = await harness.submit(fleet_body(120), 1)
        await harness.until_planned(job)
        _, _, child = await solver_of(supervisor)
        os.kill(child, signal.SIGSTOP)
        watch = Stopwatch()
        events = await harness.until_end(job)
        assert watch.elapsed_s > 4.0
        assert watch.spent_s < 8.0
        await until_gone([child])
    assert events[-1].kind is EventKind.COMPLETED
    assert max(event.data.progress for event in events[:-1]) == 99


@pytest.mark.slow
async def test_child_without_a_plan_has_the_cpu_time_that_it_was_not_given(harness: WorkerHarness) -> None:
    """Our choice: a machine that gives a solve no CPU until after its limit costs it no plan."""
    async with harness.running_workers() as supervisor:
        job = await harness.submit(fleet_body(1500), 1)
        _, _, child = await solver_of(supervisor)
        os.kill(child, signal.SIGSTOP)
        assert (await harness.job(job)).plan_id is None
        await anyio.sleep(1 + OVERRUN_S + 1)
        os.kill(child, signal.SIGCONT)
        events = await harness.until_end(job)
    assert events[-1].kind is EventKind.COMPLETED
    assert (await harness.job(job)).progress.tickets_served == 1500


@pytest.mark.slow
async def test_child_that_uses_no_cpu_and_has_no_plan_is_killed(harness: WorkerHarness) -> None:
    """SPEC J6: a solve that hangs ends failed and says so."""
    async with harness.running_workers() as supervisor:
        job = await harness.submit(fleet_body(1500), 1)
        _, _, child = await solver_of(supervisor)
        os.kill(child, signal.SIGSTOP)
        events = await harness.until_end(job)
        await until_gone([child])
    assert events[-1].kind is EventKind.FAILED
    assert events[-1].data.error.type == "EngineTimeout"


async def test_drain_lets_a_short_solve_finish(harness: WorkerHarness) -> None:
    """SPEC J7: SIGTERM stops claiming; the running solve ends as it would have."""
    async with harness.running_workers(solve_drain_s=20) as supervisor:
        job = await harness.submit(fleet_body(120), 1)
        await harness.until_planned(job)
        os.kill(supervisor.pids[0], signal.SIGTERM)
        events = await harness.until_end(job)
    assert kinds(events) == [EventKind.QUEUED, EventKind.STARTED, EventKind.COMPLETED]


@pytest.mark.slow
async def test_drain_hands_a_long_solve_back_without_a_crash(harness: WorkerHarness) -> None:
    """SPEC J7, O8: within 2 s the job is queued again, with its plan and no attempt burnt; another worker goes on."""
    async with harness.running_workers() as supervisor:
        job = await harness.submit(fleet_body(120), 60)
        await harness.until_planned(job)
        processes = [*supervisor.pids, *descendants(supervisor.pids[0])]
        watch = Stopwatch()
        supervisor.drain()
        events = await harness.until(job, lambda event: event.kind is EventKind.REQUEUED)
        assert watch.spent_s < HANDED_BACK_S
        await until_gone(processes)
    handed_back = await harness.job(job)
    assert handed_back.state is JobState.QUEUED
    assert handed_back.crashes == 0
    assert handed_back.plan_id is not None
    assert events[-1].data.progress < 100
    async with harness.running_workers():
        await harness.until_attempt(job, 2)
        await harness.store.finish_now(OWNER, job.id)
        events = await harness.until_end(job)
    check_plans_improve(events)
    assert events[-1].kind is EventKind.COMPLETED


async def test_second_sigterm_hands_back_at_once(harness: WorkerHarness) -> None:
    """SPEC J7: second SIGTERM is immediate."""
    async with harness.running_workers(solve_drain_s=60) as supervisor:
        job = await harness.submit(fleet_body(120), 60)
        await harness.until_planned(job)
        worker = supervisor.pids[0]
        os.kill(worker, signal.SIGTERM)
        await until_taken(worker)
        watch = Stopwatch()
        os.kill(worker, signal.SIGTERM)
        await harness.until(job, lambda event: event.kind is EventKind.REQUEUED)
        assert watch.spent_s < 5
        supervisor.drain()
    assert (await harness.job(job)).crashes == 0


@pytest.mark.slow
async def test_death_of_the_supervisor_ends_every_process_and_hands_back(harness: WorkerHarness) -> None:
    """SPEC J6: no process outlives its parent, however that went; and a job so lost burns no attempt."""
    settings = harness.settings.model_copy(update={"lease_s": 6.0})
    supervisor = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "planner_mcp", "worker", "--processes", "1"), env=environment_of(settings)
    )
    job = await harness.submit(fleet_body(120), 60)
    await harness.until_planned(job)
    processes = [*descendants(supervisor.pid)]
    assert len(processes) >= 3
    supervisor.kill()
    await harness.until(job, lambda event: event.kind is EventKind.REQUEUED)
    await until_gone(processes)
    await supervisor.wait()
    assert (await harness.job(job)).crashes == 0


@pytest.mark.slow
async def test_job_outlives_the_store_being_away(harness: WorkerHarness, tmp_path: Path) -> None:
    """SPEC J7: Redis away is no reason to fail; the solve goes on and is told when Redis is back."""
    server = EmbeddedServer(tmp_path / "store", appendfsync="always")
    settings = harness.settings.model_copy(update={"redis_url": await asyncio.to_thread(server.start), "lease_s": 6.0})
    try:
        async with connect(settings) as store:
            own = WorkerHarness(store, harness.feed, settings)
            async with own.running_workers():
                job = await own.submit(fleet_body(120), 2)
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
            kinds_seen = [event.kind for event in (await store.read_past(OWNER, job.id)).events]
            assert kinds_seen.count(EventKind.COMPLETED) == 1
            assert kinds_seen.count(EventKind.STARTED) == 1
    finally:
        await asyncio.to_thread(server.stop)


@pytest.mark.slow
async def test_process_of_a_long_solve_is_not_used_again(running_harness: WorkerHarness) -> None:
    """Our choice: its memory has been through a search; the next job gets a fresh fork."""
    job = await running_harness.submit(fleet_body(120), 2)
    await running_harness.until_planned(job)
    _, fork_server, child = await solver_of(running_harness.supervisor)
    await running_harness.until_end(job)
    await until_gone([child])
    await running_harness.until_end(await running_harness.submit(SMALLEST, 5))
    assert child not in children(fork_server)
