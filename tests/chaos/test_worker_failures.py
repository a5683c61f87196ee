"""Workers die, freeze and stay away while jobs are under way; none is lost, doubled or written by a stranger.

The quick suite runs small sizes, `make chaos` long ones; `KILL_JOBS`, `REAL_JOBS`, `STOPS`, `AWAY_S` and `CHAOS_SEED`
set others.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
import redis

from planner_mcp.jobs.job_lifecycle import MAX_CRASHES
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.chaos.job_driver import CLIENT, SubmittingClients, beside, repeated_faults
from tests.chaos.worker_processes import Member, WorkerProcesses, fleet_of, real_worker
from tests.shared.processes.wait_until import until
from tests.shared.store.chaos_results import keep, size_of, sizes
from tests.shared.store.store_audit import Audit, Orphan, audit, orphans_of, seats_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(3600), pytest.mark.filterwarnings("ignore::ResourceWarning")]
FaultPlan = tuple[RedisStore, Settings]
FLEET = 4
TEAM_FLEET = 6
"""Workers for two teams at once."""
PATIENCE_S = 1800.0
THERE_WITHIN_S = 60.0
FREEZABLE = 8
FREEZERS = 4
"""Of these workers, how many may be frozen at the same time."""


@dataclass
class Killer:
    """Strikes workers of a fleet and remembers what they held."""

    fleet: WorkerProcesses
    store: RedisStore
    dice: random.Random
    strikes: int = 0
    orphans: list[Orphan] = field(default_factory=list)

    async def held_by(self, member: Member, at_s: float) -> list[Orphan]:
        """Return what a worker that was lost held."""
        while True:
            with suppress(redis.exceptions.TimeoutError):  # of a store that many workers keep busy
                return await orphans_of(self.store.redis, member.pid, at_s, pools=range(self.store.script_client.pools))

    async def kill(self) -> None:
        """Kill a worker and start another."""
        if (member := self.fleet.pick(self.dice)) is None:
            return
        at_s = time.time()
        self.fleet.kill(member)
        self.strikes += 1
        self.orphans += await self.held_by(member, at_s)
        self.fleet.restart_ended()

    async def freeze(self) -> None:
        """Stop a worker that holds a job for three leases, then let it go on."""
        if (member := self.fleet.pick(self.dice)) is None:
            return
        at_s = time.time()
        self.fleet.stop(member)
        if held := await self.held_by(member, at_s):
            self.orphans += held
            self.strikes += 1
            await asyncio.sleep(3 * self.fleet.settings.lease_s)
        self.fleet.resume(member)


def refusals(log: Path) -> int:
    """Return how often workers say that the store refused them because they hold their job no more."""
    lines = log.read_text().splitlines()
    return sum("attempt ended: lost" in line or "job settled elsewhere" in line for line in lines)


async def run_jobs(
    crowd: SubmittingClients, jobs: int, strike: Callable[[], Awaitable[None]], *, every_s: float, per_s: float = 1e9
) -> None:
    """Submit jobs and see them end while something strikes."""
    async with beside(repeated_faults(every_s, strike)):
        await crowd.submit(range(jobs), per_s=per_s)
        await crowd.until_ended(jobs, PATIENCE_S)


async def verdict(crowd: SubmittingClients, killer: Killer) -> Audit:
    """Return what the store says."""
    redis, made = crowd.store.redis, crowd.acknowledged.values()
    return await audit(redis, made, principal=CLIENT, orphans=killer.orphans, pools=crowd.among)


@sizes("KILL_JOBS", quick=150, long=3000)
async def test_killed_workers_lose_nothing_and_complete_nothing_twice(
    storm_store: FaultPlan, seed: int, tmp_path: Path, size: int
) -> None:
    """SPEC J1, J6, W3: a random worker dies every two seconds; each orphan runs again within a lease and 5 s."""
    (store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    every_s = 2.0 if size > 500 else 0.5
    crowd = SubmittingClients(store, dice)
    await crowd.open()
    with fleet_of(settings, FLEET, tmp_path) as fleet:
        killer = Killer(fleet, store, dice)
        await run_jobs(crowd, size, killer.kill, every_s=every_s)
    found = await verdict(crowd, killer)
    keep("SIGKILL of workers", seed=seed, began=began, every_s=every_s, kills=killer.strikes, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] + found.states["failed"] == size
    assert found.orphans == len(killer.orphans)
    assert found.slowest_rerun_s <= settings.lease_s + 5


@pytest.mark.chaos
async def test_killed_workers_with_their_solvers_lose_nothing(
    storm_store: FaultPlan, seed: int, tmp_path: Path
) -> None:
    """SPEC J6: the same with whole workers: fork servers, solver processes, webhook dispatchers.

    They take seconds to start, so the next is killed when all are there: an orphan needs a worker to run again.
    """
    (store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    jobs, every_s = size_of("REAL_JOBS", 200), 5.0
    crowd = SubmittingClients(store, dice, long_share=0.25, is_light=False)
    await crowd.open()
    with fleet_of(settings, 3, tmp_path, real_worker) as fleet:
        killer = Killer(fleet, store, dice)

        async def kill_one_of_all() -> None:
            await until(partial(_are_there, store, 3), THERE_WITHIN_S)
            await killer.kill()

        await run_jobs(crowd, jobs, kill_one_of_all, every_s=every_s, per_s=5)
    found = await verdict(crowd, killer)
    keep("SIGKILL of whole workers", seed=seed, began=began, every_s=every_s, kills=killer.strikes, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] + (found.crashes // MAX_CRASHES) >= jobs
    assert found.orphans == len(killer.orphans) > 0
    assert found.slowest_rerun_s <= settings.lease_s + 5


@sizes("TEAM_KILLS", quick=12, long=200)
async def test_killed_owners_and_seats_of_teams_lose_nothing(
    storm_store: FaultPlan, seed: int, tmp_path: Path, size: int
) -> None:
    """SPEC J1, J6, O8: an owner or a seat dies in mid-solve, in turn: every job ends once, and no seat stays behind."""
    (store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    crowd = SubmittingClients(store, dice, long_share=1.0, cores=3)
    await crowd.open()
    jobs = seats = 0
    with fleet_of(settings, TEAM_FLEET, tmp_path) as fleet:
        killer = Killer(fleet, store, dice)
        while killer.strikes < size:
            jobs += TEAM_FLEET
            await crowd.submit(range(jobs - TEAM_FLEET, jobs))
            seats += await _strike_team(killer, is_seat=bool(killer.strikes % 2))
        await crowd.until_ended(jobs, PATIENCE_S)
        await until(partial(_is_empty, store, crowd.among), THERE_WITHIN_S)
    found = await verdict(crowd, killer)
    keep("SIGKILL in teams", seed=seed, began=began, kills=killer.strikes, seats=seats, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] + found.states["failed"] == jobs
    assert seats == size // 2
    assert found.orphans == len(killer.orphans) >= size - seats


async def _strike_team(killer: Killer, *, is_seat: bool) -> bool:
    """Kill the worker of a seat, or the owner of a team that has one; start another, and return which it was."""
    redis, pools = killer.store.redis, range(killer.store.script_client.pools)
    while True:
        seats = await seats_of(redis, pools=pools)
        for member in list(killer.fleet.members):
            held = {orphan.job_id for orphan in await orphans_of(redis, member.pid, time.time(), pools=pools)}
            is_owner = any(name.partition("/")[0] in held for name in seats.values())
            if member.pid in seats if is_seat else is_owner:
                at_s = time.time()
                killer.fleet.kill(member)
                lost = await killer.held_by(member, at_s)
                killer.fleet.restart_ended()
                if is_seat or lost:  # else its job had ended before
                    killer.orphans += lost
                    killer.strikes += 1
                    return is_seat
        await asyncio.sleep(0.01)


async def _is_empty(store: RedisStore, pools: Sequence[int]) -> bool:
    return not any([await store.redis.xlen(f"{{p{shard}}}:ready") for shard in pools])


async def _are_there(store: RedisStore, workers: int) -> bool:
    return (await store.stats()).live_workers >= workers


@sizes("STOPS", quick=2, long=60)
async def test_frozen_workers_write_nothing_when_they_wake(
    storm_store: FaultPlan, seed: int, tmp_path: Path, size: int
) -> None:
    """SPEC J6: SIGSTOP for three leases, SIGCONT: no stale write, no second end, no second outbox entry."""
    (store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    settings = settings.model_copy(update={"lease_s": 1.0})
    crowd = SubmittingClients(store, dice, long_share=0.3)
    await crowd.open()
    with fleet_of(settings, FREEZABLE, tmp_path) as fleet:
        killer = Killer(fleet, store, dice)
        jobs = 0
        async with beside(*(repeated_faults(0.05, killer.freeze) for _ in range(FREEZERS))):
            while killer.strikes < size:
                await crowd.submit(range(jobs, jobs + 10))
                jobs += 10
                await crowd.until_ended(jobs - 5, PATIENCE_S)
            await until(partial(_none_is_stopped, fleet), 60)
        await crowd.until_ended(jobs, PATIENCE_S)
        await asyncio.sleep(settings.lease_s)
    found = await verdict(crowd, killer)
    refused = refusals(fleet.log)
    keep("SIGSTOP for three leases", seed=seed, began=began, stops=killer.strikes, refused=refused, **found.as_json())
    assert found.faults == []
    assert refused >= 1


async def _none_is_stopped(fleet: WorkerProcesses) -> bool:
    return not fleet.stopped


@sizes("AWAY_S", quick=3, long=60)
async def test_when_all_workers_die_the_queue_waits_for_others(
    storm_store: FaultPlan, seed: int, tmp_path: Path, size: int
) -> None:
    """SPEC J6, J7: nothing is lost, submits go on, and the backlog drains when workers are back."""
    (store, settings), began, dice = storm_store, time.monotonic(), random.Random(seed)
    crowd = SubmittingClients(store, dice)
    await crowd.open()
    jobs = 60 + 10 * size
    with fleet_of(settings, FLEET, tmp_path) as fleet:
        killer = Killer(fleet, store, dice)
        await crowd.submit(range(60))
        for member in list(fleet.members):
            at_s = time.time()
            fleet.kill(member)
            killer.orphans += await killer.held_by(member, at_s + size)
        gone = time.monotonic()
        await crowd.submit(range(60, jobs), per_s=10)
        await asyncio.sleep(max(0.0, gone + size - time.monotonic()))
        backlog = len(crowd.acknowledged) - await crowd.ended()
        fleet.restart_ended()
        back = time.monotonic()
        await crowd.until_ended(jobs, PATIENCE_S)
        drained_s = round(time.monotonic() - back, 1)
    found = await verdict(crowd, killer)
    figures = {"away_s": size, "backlog": backlog, "drained_s": drained_s}
    keep("all workers die", seed=seed, began=began, **figures, **found.as_json())
    assert found.faults == []
    assert found.states["completed"] == jobs
