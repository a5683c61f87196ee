"""Leases while the store was away: nobody loses a job for a renewal that could not be sent."""

from typing import Any

import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from workers.lease_reaper import LONGEST_OUTAGE_LEASES, LeaseReaper

pytestmark = pytest.mark.anyio
LEASE_S = 6.0


class Clock:
    """Time that passes when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_after_an_outage_each_worker_has_one_lease_to_come_back(harness: Any) -> None:
    """SPEC J6: no attempt is burnt by a store that was away; a worker that stays silent loses its job all the same."""
    clock, claim = Clock(), await harness.solving()
    reaper = LeaseReaper(harness.store, LEASE_S, clock=clock)
    reaper.set_store_available(is_store_available=False)
    await harness.let_lease_lapse(claim)
    clock.now += 3 * LEASE_S
    reaper.set_store_available(is_store_available=True)
    for _sweep in range(4):
        await reaper.sweep()
        assert await harness.state(claim.job.id) is JobState.SOLVING
        clock.now += LEASE_S / 4
    await reaper.sweep()
    assert await harness.state(claim.job.id) is JobState.QUEUED


async def test_a_store_that_stays_away_spares_nobody_for_ever(harness: Any) -> None:
    """SPEC J6: one node of a cluster that is down does not hold up what waits on the others."""
    clock, claim = Clock(), await harness.solving()
    reaper = LeaseReaper(harness.store, LEASE_S, clock=clock)
    await harness.let_lease_lapse(claim)
    for _lease in range(LONGEST_OUTAGE_LEASES):
        reaper.set_store_available(is_store_available=False)
        await reaper.sweep()
        assert await harness.state(claim.job.id) is JobState.SOLVING
        clock.now += LEASE_S
    await reaper.sweep()
    assert await harness.state(claim.job.id) is JobState.QUEUED


async def test_sweeps_that_an_outage_skips_are_logged_once(
    harness: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC O3: and once more when the store goes away again."""
    reaper, reap = LeaseReaper(harness.store, LEASE_S, clock=Clock()), harness.store.reap

    async def unavailable() -> int:
        raise StoreUnavailableError

    for answer in (unavailable, unavailable, reap, unavailable, unavailable):
        monkeypatch.setattr(harness.store, "reap", answer)
        await reaper.sweep()
    assert sum("sweeps are skipped" in record.message for record in caplog.records) == 2


async def test_a_worker_that_was_held_up_itself_takes_no_job_from_its_neighbours(harness: Any) -> None:
    """SPEC J6: a machine that slept, or was overrun, wakes all its workers at once; none had renewed."""
    clock, claim = Clock(), await harness.solving()
    reaper = LeaseReaper(harness.store, LEASE_S, clock=clock)
    await harness.let_lease_lapse(claim)
    reaper.note_pause(2 * LEASE_S)
    await reaper.sweep()
    assert await harness.state(claim.job.id) is JobState.SOLVING
    clock.now += LEASE_S
    reaper.note_pause(LEASE_S / 4)
    await reaper.sweep()
    assert await harness.state(claim.job.id) is JobState.QUEUED


async def test_a_clock_of_the_store_that_is_set_ends_no_lease(
    harness: Any, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J6: all ran out at once, and each job lost an attempt; a silent worker loses its job a lease later."""
    clock, claim, set_by_ms = Clock(), await harness.solving(), 0
    script_client = harness.store.script_client
    store, step = RedisStore(script_client, settings, clock=clock), script_client.step

    async def stepping(name: str, *args: Any) -> Any:
        word, *rest = await step(name, *args)
        return [word, rest[0] + set_by_ms] if name == "register" else [word, *rest]

    monkeypatch.setattr(script_client, "step", stepping)
    assert await store.reap() == 0
    await harness.let_lease_lapse(claim)
    set_by_ms = 600_000
    assert await store.reap() == 0
    clock.now += settings.lease_s
    set_by_ms += int(settings.lease_s * 1000)
    assert await store.reap() == 1
