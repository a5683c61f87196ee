"""A desk at which a test plays caller and worker."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from tests.shared.scenarios.empty_plan import empty_plan

PLAN = empty_plan(2)
HALF = Progress(percent=50, cost=10.0, tickets_served=2, tickets_total=2, improvements=1, elapsed_s=0.5)


@dataclass
class StoreHarness:
    """Short words for what callers and workers do. Every job differs from the others by its seed."""

    store: RedisStore
    scenarios: dict[str, str] = field(default_factory=dict)
    seeds: "count[int]" = field(default_factory=count)

    async def scenario(self, principal: str = "ann") -> str:
        """Return the one scenario of a principal."""
        if principal not in self.scenarios:
            name = ids.random_id("scn", 0)
            kept = StoredScenario(name, principal, {"name": "a day"}, datetime.now(UTC), "hash")
            await self.store.put_scenario(kept)
            self.scenarios[principal] = name
        return self.scenarios[principal]

    async def request(self, principal: str = "ann", **args: Any) -> SolveRequest:
        """Return a solve of the principal's scenario, 30 s unless said otherwise."""
        return SolveRequest(await self.scenario(principal), **{"solve_time_s": 30, "seed": next(self.seeds), **args})

    async def submit(self, principal: str = "ann", **args: Any) -> Job:
        """Queue a job."""
        request = await self.request(principal, **args)
        return await self.store.submit(principal, request, ids.random_id("job", 0))

    async def workers(self, slots: int = 1, name: str = "w1") -> None:
        """Have a worker."""
        await self.store.register(name, slots)

    async def claim(self, worker: str = "w1", wait_s: float = 1.0) -> Claim:
        """Take the next job."""
        claim = await self.store.claim(worker, wait_s)
        assert claim is not None
        return claim

    async def solving(self, principal: str = "ann", **args: Any) -> Claim:
        """Have a job in state solving."""
        await self.workers()
        await self.submit(principal, **args)
        return await self.claim()

    async def ended(self, state: JobState) -> Claim:
        """Have a job in a terminal state, and the claim that brought it there."""
        claim = await self.solving()
        if state is JobState.COMPLETED:
            await self.store.complete(claim, HALF, PLAN)
        elif state is JobState.FAILED:
            await self.store.fail(claim, {"code": 5010, "type": "EngineFailed", "message": "x"})
        else:
            await self.store.cancel("ann", claim.job.id, keep_best=True)
            await self.store.settle_cancel(claim)
        return claim

    async def state(self, job_id: str, principal: str = "ann") -> JobState:
        """Return where a job stands."""
        return (await self.store.get_job(principal, job_id)).state

    async def events(self, job_id: str, principal: str = "ann") -> list[Event]:
        """Return what happened to a job."""
        return list((await self.store.read_past(principal, job_id)).events)

    async def kinds(self, job_id: str) -> list[str]:
        """Return the kinds of a job's events."""
        return [event.kind.value for event in await self.events(job_id)]

    async def let_lease_lapse(self, claim: Claim) -> None:
        """Make the delivery of a claim look untouched for a minute."""
        await self.store.redis.execute_command(
            "XCLAIM", "{p0}:ready", "workers", claim.worker_id, 0, claim.ready_entry_id, "IDLE", 60_000, "JUSTID"
        )


@pytest.fixture
def harness(store: RedisStore) -> StoreHarness:
    return StoreHarness(store)


@pytest.fixture
def plan() -> dict[str, Any]:
    return dict(PLAN)


@pytest.fixture
def half() -> Progress:
    return HALF
