"""The queue against a model of it: whatever callers, workers and the reaper do in whatever order.

The quick profile runs in seconds; `MODEL_RUNS=5000 pytest tests/integration/jobs/store/test_queue_model.py` runs the
long one, of other histories each time. Three workers hold claims side by side, old claims are kept and tried again.
Names are counted, not drawn, and choices go by age, so that a history repeats exactly.
"""

import asyncio
import os
import string
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from planner_mcp.errors import LeaseLostError, QuotaExceededError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_lifecycle import MAX_CRASHES, TERMINAL, JobState
from planner_mcp.jobs.job_model import Progress, SolveRequest, StoredScenario
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.property_tests.example_counts import is_thorough

RUNS = int(os.environ.get("MODEL_RUNS", "30" if is_thorough() else "8"))
IS_LONG = "MODEL_RUNS" in os.environ
STEPS = 30
SLOTS = 3
QUOTA = 2
MAX_QUEUED = 6
PRINCIPALS = ("ann", "ben")
WORKERS = ("w1", "w2", "w3")
PLAN = {"status": "feasible", "cost": 1.0, "unassigned": []}
T = TypeVar("T")

principals = st.sampled_from(PRINCIPALS)
workers = st.sampled_from(WORKERS)


@dataclass
class Expected:
    """What the model knows of a job."""

    principal: str
    request: SolveRequest
    state: JobState = JobState.QUEUED
    holder: Claim | None = None
    crashes: int = 0
    is_cancelled: bool = False
    has_plan: bool = False
    kinds: list[str] = field(default_factory=lambda: ["queued"])

    def end(self, state: JobState) -> None:
        """Become terminal."""
        self.state, self.holder = state, None
        self.kinds.append(state.value)


class Queue(RuleBasedStateMachine):
    """The store under test and the model beside it."""

    url: str
    claims = Bundle("claims")

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.jobs: dict[str, Expected] = {}
        self.scenarios: dict[str, str] = {}
        self.seed = self.names = 0
        limits = {"max_solving_per_principal": QUOTA, "max_queued_per_principal": MAX_QUEUED, "lease_s": 30.0}
        self.context = connect(Settings(redis_url=self.url, **limits))  # type: ignore[arg-type]
        self.store: RedisStore = self.run(self.context.__aenter__())
        self.run(self.open())

    def name(self, kind: ids.IdKind) -> str:
        self.names += 1
        letters = "".join(string.ascii_lowercase[int(digit)] for digit in f"{self.names:026d}")
        return f"{kind}-0-{letters}"

    def run(self, step: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(step)

    async def open(self) -> None:
        await self.store.redis.flushdb()
        for worker in WORKERS:
            await self.store.register(worker, SLOTS // len(WORKERS))
        for principal in PRINCIPALS:
            name = self.scenarios[principal] = self.name("scn")
            await self.store.put_scenario(StoredScenario(name, principal, {}, datetime.now(UTC), "h"))

    def teardown(self) -> None:
        try:
            self.run(self.drain())
        finally:
            self.run(self.context.__aexit__(None, None, None))
            self.loop.close()

    # ---- what happens

    @rule(principal=principals, priority=st.integers(1, 9), hook=st.booleans())
    def submit(self, principal: str, priority: int, hook: bool) -> None:
        self.seed += 1
        url = "https://example.org" if hook else None
        request = SolveRequest(self.scenarios[principal], 30, seed=self.seed, priority=priority, callback_url=url)
        queued = sum(job.principal == principal and job.state is JobState.QUEUED for job in self.jobs.values())
        try:
            job = self.run(self.store.submit(principal, request, self.name("job")))
        except QuotaExceededError:
            assert queued >= MAX_QUEUED
        else:
            assert queued < MAX_QUEUED
            self.jobs[job.id] = Expected(principal, request)

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def submit_again(self, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(list(self.jobs)))
        expected = self.jobs[job_id]
        if expected.state not in (JobState.FAILED, JobState.CANCELLED) and not expected.is_cancelled:
            again = self.run(self.store.submit(expected.principal, expected.request, self.name("job")))
            assert again.id == job_id

    @rule(target=claims, worker=workers)
    def claim(self, worker: str) -> Any:
        if (claim := self.run(self.store.claim(worker, 0))) is None:
            return multiple()
        expected = self.jobs[claim.job.id]
        assert expected.state is JobState.QUEUED
        assert (claim.best_plan is not None) == expected.has_plan
        expected.state, expected.holder = JobState.SOLVING, claim
        expected.kinds.append("started")
        return claim

    @rule(claim=claims, percent=st.integers(-5, 150), with_plan=st.booleans())
    def report(self, claim: Claim, percent: int, with_plan: bool) -> None:
        self.seed += 1
        progress = Progress(percent=percent, elapsed_s=float(self.seed))
        if expected := self.attempt(claim, partial(self.store.report, claim, progress, PLAN if with_plan else None)):
            expected.has_plan |= with_plan
            expected.kinds.append("progress")

    @rule(claim=claims)
    def renew(self, claim: Claim) -> None:
        renewal = self.run(self.store.renew(claim))
        expected = self.jobs[claim.job.id]
        assert renewal.is_held == (expected.holder is claim)
        assert renewal.cancel == (renewal.is_held and expected.is_cancelled)

    @rule(claim=claims)
    def complete(self, claim: Claim) -> None:
        if expected := self.attempt(claim, partial(self.store.complete, claim, Progress(), PLAN)):
            expected.has_plan = True
            expected.end(JobState.CANCELLED if expected.is_cancelled else JobState.COMPLETED)

    @rule(claim=claims)
    def fail(self, claim: Claim) -> None:
        if expected := self.attempt(claim, partial(self.store.fail, claim, {"code": 1})):
            expected.end(JobState.CANCELLED if expected.is_cancelled else JobState.FAILED)

    @rule(claim=claims)
    def crash(self, claim: Claim) -> None:
        if expected := self.attempt(claim, partial(self.store.crash, claim, {"code": 1})):
            self.died(expected)

    @rule(claim=claims)
    def hand_back(self, claim: Claim) -> None:
        if expected := self.attempt(claim, partial(self.store.hand_back, claim)):
            self.requeued(expected)

    @rule(claim=claims)
    def fall_silent(self, claim: Claim) -> None:
        expected = self.jobs[claim.job.id]
        if expected.holder is not claim:
            return
        words = ("XCLAIM", "{p0}:ready", "workers", claim.worker_id, 0, claim.ready_entry_id, "IDLE", 60_000, "JUSTID")
        self.run(self.store.redis.execute_command(*words))
        assert self.run(self.store.reap()) == 1
        self.died(expected)

    @rule()
    def reap_nothing(self) -> None:
        assert self.run(self.store.reap()) == 0

    @precondition(lambda self: self.jobs)
    @rule(data=st.data(), keep=st.booleans())
    def cancel(self, data: st.DataObject, keep: bool) -> None:
        job_id = data.draw(st.sampled_from(list(self.jobs)))
        expected = self.jobs[job_id]
        self.run(self.store.cancel(expected.principal, job_id, keep_best=keep))
        if expected.state is JobState.QUEUED:
            expected.end(JobState.CANCELLED)
        elif expected.state is JobState.SOLVING:
            expected.is_cancelled = True

    # ---- the model's side

    def attempt(self, claim: Claim, write: Callable[[], Coroutine[Any, Any, Any]]) -> Expected | None:
        """Write as the holder of a claim; only the last holder may. A repeated end is answered, not done twice."""
        expected = self.jobs[claim.job.id]
        is_holder = expected.holder is claim
        with suppress(LeaseLostError):
            self.run(write())
            return expected if is_holder else None
        assert not is_holder
        return None

    def died(self, expected: Expected) -> None:
        if expected.is_cancelled:
            expected.end(JobState.CANCELLED)
            return
        expected.crashes += 1
        if expected.crashes == MAX_CRASHES:
            expected.end(JobState.FAILED)
        else:
            self.requeued(expected)

    def requeued(self, expected: Expected) -> None:
        if expected.is_cancelled:
            expected.end(JobState.CANCELLED)
            return
        expected.state, expected.holder = JobState.QUEUED, None
        expected.kinds.append("requeued")

    # ---- what must always hold

    @invariant()
    def states_agree(self) -> None:
        """SPEC J1: the same states, the same story; progress rises and ends at 100 only when completed."""
        for job_id, expected in self.jobs.items():
            job = self.run(self.store.get_job(expected.principal, job_id))
            assert (job.state, job.crashes) == (expected.state, expected.crashes)
            events = self.run(self.store.read_past(expected.principal, job_id)).events
            assert [event.kind.value for event in events] == expected.kinds
            shares = [event.data.progress for event in events]
            assert shares == sorted(shares)
            assert (shares[-1] == 100) == (job.state is JobState.COMPLETED)

    @invariant()
    def nothing_is_lost_or_doubled(self) -> None:
        """A queued job waits in exactly one place, a solving one is delivered once, and quotas hold."""
        self.run(self.check_places())

    async def check_places(self) -> None:
        redis = self.store.redis
        ready = [fields["job"] for _id, fields in await redis.xrange("{p0}:ready")]
        waiting = [job for name in PRINCIPALS for job in await redis.zrange(f"{{p0}}:bl:{name}", 0, -1)]
        assert len(ready) <= SLOTS
        assert sorted(ready + waiting) == sorted(name for name, job in self.jobs.items() if job.state not in TERMINAL)
        assert not [name for name in waiting if self.jobs[name].state is not JobState.QUEUED]
        for principal in PRINCIPALS:
            out = await redis.smembers(f"{{p0}}:out:{principal}")
            assert out == {name for name in ready if self.jobs[name].principal == principal}
            assert len(out) <= QUOTA
        is_free = [name for name in PRINCIPALS if sum(self.jobs[job].principal == name for job in ready) < QUOTA]
        if len(ready) < SLOTS:  # a free slot and a principal below its quota never wait for each other
            assert not [job for job in waiting if self.jobs[job].principal in is_free]
        stats = await self.store.stats()
        assert stats.queued == sum(job.state is JobState.QUEUED for job in self.jobs.values())
        assert stats.solving == sum(job.state is JobState.SOLVING for job in self.jobs.values())

    @invariant()
    def indexes_agree(self) -> None:
        """Lists by state show what the states say."""
        for principal in PRINCIPALS:
            for state in JobState:
                found, total = self.run(self.store.list_jobs(principal, state, offset=0, count=100))
                listed = {job.id for job in found}
                mine = {n for n, job in self.jobs.items() if (job.principal, job.state) == (principal, state)}
                assert (listed, total) == (mine, len(mine))

    @invariant()
    def each_end_left_one_delivery(self) -> None:
        """SPEC W3: exactly one outbox entry for each job that ended and wanted to be told."""
        entries = self.run(self.store.redis.xrange("{p0}:outbox"))
        delivered = [fields["delivery_id"].partition(":")[0] for _id, fields in entries]
        wanted = [n for n, job in self.jobs.items() if job.state in TERMINAL and job.request.callback_url]
        assert sorted(delivered) == sorted(wanted)

    async def drain(self) -> None:
        """Whatever was done, the fleet can finish all that is left."""
        for expected in self.jobs.values():
            if expected.holder is not None:
                await self.store.complete(expected.holder, Progress(), PLAN)
        while (claim := await self.store.claim("w1", 0)) is not None:
            await self.store.complete(claim, Progress(), PLAN)
        stats = await self.store.stats()
        assert (stats.queued, stats.solving) == (0, 0)
        assert [
            key async for key in self.store.redis.scan_iter("{p0}:job:*") if await self.store.redis.ttl(key) < 0
        ] == []


@pytest.mark.timeout(3600)
def test_the_queue_behaves_like_its_model(database_url: str) -> None:
    """Our choice: a stateful model test of the queue against the real store."""
    Queue.url = database_url
    profile = settings(
        max_examples=RUNS,
        stateful_step_count=STEPS,
        derandomize=not IS_LONG,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(Queue, settings=profile)
