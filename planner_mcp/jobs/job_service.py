"""The use cases of jobs: create a scenario, submit, read, wait, cancel, finish.

Owns the order of the steps of a use case and what waiting means. Every step of the store checks the principal's id;
`routing` has checked the input before.
"""

import hashlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, Literal

import anyio

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.events.event_feed import EventFeed, FeedListener
from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, ScenarioCard, SolveRequest, StoredScenario, WrittenScenario
from planner_mcp.jobs.job_ports import EventHistory, FeedStep, ImportStore, JobStore, QueueStats, WorkerRow
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.limits.principal_limits import limits_of
from planner_mcp.jobs.limits.scaling import Scale, wanted_scale
from planner_mcp.jobs.masking.hidden_figures import masked_event, masked_job
from planner_mcp.jobs.masking.masked_views import is_masked_for, masked_plan, masked_scenario
from planner_mcp.jobs.matrix_service import MatrixService
from planner_mcp.jobs.plan_review import ReviewState, ReviewStep
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.jobs.review_service import ReviewService
from planner_mcp.jobs.scenario_writing import written_scenario
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.settings import Settings
from planner_mcp.text import Json
from planner_mcp.tracing import current_traceparent

MAX_WAIT_S: Final = 45
"""Below the minute after which proxies close a quiet request (SPEC T3)."""
MIN_CHANGE_WAIT_S: Final = 5.0
"""A wait for a change lasts at least this long while the job goes on: each return costs the client's model a turn."""
MAX_ANCESTORS: Final = 100
"""Generations of a scenario that are listed: more than a day of re-planning makes."""
OnEvent = Callable[[Event], Awaitable[None]]
WaitFor = Literal["end", "change"]
"""What ends a wait: the end of the job, or also a change of its state or best cost."""


def _prices_of(parent: StoredScenario, *, has_own: bool) -> str | None:
    return parent.prices_of if has_own else parent.prices_of or parent.id


class JobService:
    """The use cases.

    Args:
        store: Where scenarios, jobs and plans are kept.
        feed: How a job is followed.
        settings: Limits, and the number of shards.
    """

    def __init__(self, store: JobStore, feed: EventFeed, *, settings: Settings) -> None:
        self._store = store
        self._feed = feed
        self._settings = settings
        self._recomputing = FairLimiter()
        self._reading = FairLimiter()
        self.matrices = MatrixService(store, settings)
        """Matrices that scenarios refer to."""
        self.reviews = ReviewService(store, settings)
        """Reviews of plans by people."""
        self.imports: ImportStore = store
        """Mappings of columns and uploaded files."""

    # ---- scenarios

    async def create_scenario(
        self,
        principal: Principal,
        body: ScenarioBody,
        parent: StoredScenario | None = None,
        *,
        has_own_prices: bool = True,
    ) -> StoredScenario:
        """Store a validated scenario; a revision goes to its parent's shard, so that plans can warm-start there.

        Where a revision has prices that were made up, those of its parent hold (`prices_of`), for its revisions too.
        """
        shard = ids.shard_of("scn", parent.id) if parent else ids.random_shard(self._settings.pools)
        written = await self._reading.run(principal.id, written_scenario, body)
        scenario = StoredScenario(
            id=ids.random_id("scn", shard),
            principal=principal.id,
            body=body,
            created_at=datetime.now(UTC),
            input_hash=written.input_hash,
            revision=parent.revision + 1 if parent else 1,
            parent_id=parent.id if parent else None,
            prices_of=_prices_of(parent, has_own=has_own_prices) if parent else None,
            is_confidential=principal.may(SENSITIVE) and written.has_sensitive_values,
        )
        await self._store.put_scenario(scenario, written)
        return scenario

    async def keep_scenario(self, principal: Principal, written: WrittenScenario, *, is_repeatable: bool) -> str:
        """Keep a scenario that was validated and written out elsewhere; return its id.

        Args:
            principal: Whose it is.
            written: The scenario.
            is_repeatable: The same scenario of the principal has the same id, and is kept once.
        """
        name = ids.random_id("scn", ids.random_shard(self._settings.pools))
        if is_repeatable:
            content = f"{principal.id}\n{principal.may(SENSITIVE)}\n{written.text}"
            name = ids.derived_id("scn", hashlib.sha256(content.encode()).digest(), self._settings.pools)
        is_confidential = principal.may(SENSITIVE) and written.has_sensitive_values
        scenario = StoredScenario(
            name, principal.id, {}, datetime.now(UTC), written.input_hash, is_confidential=is_confidential
        )
        await self._store.put_scenario(scenario, written)
        return name

    async def scenario(self, principal: Principal, scenario_id: str) -> StoredScenario:
        """Return a scenario of the principal, with what it may compute on (`masked_views.py`)."""
        scenario = await self.scenario_to_show(principal, scenario_id)
        if not is_masked_for(principal, scenario):
            return scenario
        return await self._recomputing.run(principal.id, masked_scenario, scenario)

    async def scenario_to_show(self, principal: Principal, scenario_id: str) -> StoredScenario:
        """Return a scenario as it was written, for a caller that masks each field of it."""
        principal = await self.reviews.reader(principal, scenario_id)
        return await self._store.get_scenario(principal.id, scenario_id)

    async def job_to_drive_by(self, principal: Principal, scenario_id: str) -> str:
        """Return the job whose plan holds for a day: the approved one where plans are reviewed, else the newest.

        Raises:
            NotFoundError: Unknown scenario, or there is no such plan.
        """
        if self.reviews.is_on:
            principal = await self.reviews.reader(principal, scenario_id)
            job_id = await self.reviews.approved_job(principal, scenario_id)
        else:
            job_id = await self.last_job(principal, scenario_id)
        if job_id is None:
            raise NotFoundError("No plan of this day was approved." if self.reviews.is_on else "The day has no plan.")
        return job_id

    async def last_job(self, principal: Principal, scenario_id: str) -> str | None:
        """Return the id of the newest job of a scenario, None where none is kept; its day is not read."""
        return await self._store.last_job(principal.id, scenario_id)

    async def ancestors(self, scenario: StoredScenario) -> list[str]:
        """Return a scenario's id and those it came from while they are kept, nearest first; no day is read."""
        found, parent_id = [scenario.id], scenario.parent_id
        while parent_id is not None and len(found) < MAX_ANCESTORS:
            found.append(parent_id)
            try:
                parent_id = await self._store.parent(scenario.principal, parent_id)
            except NotFoundError:
                return found[:-1]
        return found

    async def scenarios(
        self, principal: Principal, *, offset: int = 0, count: int = 20
    ) -> tuple[list[ScenarioCard], int]:
        """Return scenarios newest first, and how many there are."""
        return await self._store.list_scenarios(principal.id, offset=offset, count=count)

    # ---- jobs

    async def submit(self, principal: Principal, request: SolveRequest) -> Job:
        """Queue a solve, or return the job the same call already made.

        Raises:
            NotFoundError: Unknown scenario or warm plan, or somebody else's.
            IdempotencyConflictError, QueueFullError, QuotaExceededError: As `JobStore.submit`.
        """
        if request.warm_plan_id is not None:
            await self._store.get_plan(principal.id, request.warm_plan_id)
        shard = ids.shard_of("scn", request.scenario_id)
        is_masked = not principal.may(SENSITIVE)
        request = replace(request, traceparent=current_traceparent(), is_masked=is_masked)
        return self._seen(principal, await self._store.submit(principal.id, request, ids.random_id("job", shard)))

    async def job(self, principal: Principal, job_id: str) -> Job:
        """Return a job."""
        reader = await self.reviews.reader(principal, job_id)
        return self._seen(principal, await self._store.get_job(reader.id, job_id))

    async def jobs(
        self, principal: Principal, state: str | None = None, *, offset: int = 0, count: int = 20
    ) -> tuple[list[Job], int]:
        """Return jobs newest first, and how many there are.

        Args:
            principal: Whom the call acts for.
            state: Of a `JobState`; or `proposed` for those whose plans wait for review: those that a reviewer may
                decide on, and those that anybody else has proposed. None for all.
            offset: Jobs to pass over.
            count: Most jobs to return.
        """
        reader = principal.id
        if state == ReviewState.PROPOSED:
            if not self.reviews.is_on:
                return [], 0
            reader = self.reviews.group_of(principal) or reader
        jobs, total = await self._store.list_jobs(reader, state, offset=offset, count=count)
        return [self._seen(principal, job) for job in jobs], total

    async def wait(
        self,
        principal: Principal,
        job_id: str,
        wait_s: float,
        on_event: OnEvent | None = None,
        wait_for: WaitFor = "end",
    ) -> Job:
        """Return the job once it has ended or changed, or when the time is up.

        Args:
            principal: Whom the call acts for.
            job_id: The job.
            wait_s: 0 to 45; longer is cut.
            on_event: Called with every event meanwhile, in order.
            wait_for: What ends the wait. A change ends it after `MIN_CHANGE_WAIT_S` at the earliest.
        """
        if wait_s <= 0:
            return await self.job(principal, job_id)
        principal = await self.reviews.reader(principal, job_id)
        async with self._feed.listen(job_id) as listener:
            job = await self._store.get_job(principal.id, job_id)
            if job.is_terminal:
                return self._seen(principal, job)
            if on_event is not None and is_masked_for(principal, job):
                on_event = _masking(on_event)
            with anyio.move_on_after(min(wait_s, MAX_WAIT_S)):
                await _wait(listener, job, on_event, wait_for)
        return await self.job(principal, job_id)

    async def cancel(self, principal: Principal, job_id: str, keep_best: bool = True) -> Job:
        """Cancel a job; the best plan so far stays readable unless `keep_best` is false."""
        return self._seen(principal, await self._store.cancel(principal.id, job_id, keep_best=keep_best))

    async def finish_now(self, principal: Principal, job_id: str) -> Job:
        """Ask a solving job to complete with its best plan."""
        return self._seen(principal, await self._store.finish_now(principal.id, job_id))

    def _seen(self, principal: Principal, job: Job) -> Job:
        job = self.reviews.shown(job)
        return masked_job(job) if is_masked_for(principal, job) else job

    # ---- reviews

    async def review(self, principal: Principal, job_id: str, step: ReviewStep, reason: str = "") -> Job:
        """Take a step in the review of the plan of a job; raises as `ReviewService.review`."""
        return self._seen(principal, await self.reviews.review(principal, job_id, step, reason))

    async def share_generation(self, principal: Principal, job_id: str, *, revoke: bool = False) -> int:
        """Return which generation of share links of a plan of the principal is valid; `revoke` ends those there are."""
        return await self._store.share_generation(principal.id, job_id, revoke=revoke)

    # ---- plans and events

    async def plan(self, principal: Principal, plan_id: str) -> Plan:
        """Return a plan."""
        principal = await self.reviews.reader(principal, plan_id)
        kept = await self._store.get_plan(principal.id, plan_id)
        plan = await self._reading.run(principal.id, Plan.from_json, kept)
        if not principal.may(SENSITIVE):
            plan = await self._masked_plan(principal, ids.job_of(plan_id), plan)
        return plan

    async def plan_of_job(self, principal: Principal, job_id: str) -> Plan:
        """Return the best plan of a job so far, or its final one."""
        ids.shard_of("job", job_id)
        return await self.plan(principal, ids.plan_of(job_id))

    async def _masked_plan(self, principal: Principal, job_id: str, plan: Plan) -> Plan:
        """Return a plan as a principal without `planner:sensitive` has it."""
        job = await self._store.get_job(principal.id, job_id)
        if not is_masked_for(principal, job):
            return plan
        body = (await self.scenario(principal, job.request.scenario_id)).body
        travel_matrices = await self.matrices.for_scenario(principal.id, body)
        return await self._recomputing.run(principal.id, masked_plan, body, travel_matrices, plan)

    async def follow(
        self, principal: Principal, job_id: str, after: str = "0", *, with_reviews: bool = False
    ) -> AsyncGenerator[Event, None]:
        """Yield the events of a job after a position, then live ones, ending after the final one.

        Steps of a review that were taken by then come after that. With reviews, where plans are reviewed, it goes on
        until the plan is published.
        """
        principal = await self.reviews.reader(principal, job_id)
        is_masked = await self._is_job_masked(principal, job_id)
        followed = self._feed.follow(principal.id, job_id, after, with_reviews=with_reviews and self.reviews.is_on)
        async with aclosing(followed) as events:
            async for event in events:
                yield masked_event(event) if is_masked else event

    async def follow_all(self, principal: Principal, after: str = "") -> AsyncGenerator[FeedStep, None]:
        """Yield the events of all jobs of a principal after a position, then live ones; it has no end.

        A reviewer gets the reviews of plans that were proposed to it, too.
        """
        is_masked: dict[str, bool] = {}
        group = self.reviews.group_of(principal)
        async with aclosing(self._feed.follow_principal(principal.id, after, group=group)) as steps:
            async for step in steps:
                yield step if principal.may(SENSITIVE) else await self._masked_step(principal, step, is_masked)

    async def past_events(self, principal: Principal, after: str) -> list[FeedStep]:
        """Return the events of all jobs of a principal after a position, as `follow_all` yields them, and then a step
        that says where to go on; one that says it is a start where the events in between are not kept.
        """
        group = self.reviews.group_of(principal)
        steps = await self._feed.past_of_principal(principal.id, after, group=group)
        if principal.may(SENSITIVE):
            return steps
        is_masked: dict[str, bool] = {}
        return [await self._masked_step(principal, step, is_masked) for step in steps]

    async def _masked_step(self, principal: Principal, step: FeedStep, is_masked: dict[str, bool]) -> FeedStep:
        """Return a step as a principal without `planner:sensitive` has it; what is known of its jobs is kept."""
        if (event := step.event) is None:
            return step
        if event.job_id not in is_masked:
            is_masked[event.job_id] = await self._is_job_masked(principal, event.job_id)
        hides = is_masked.pop(event.job_id) if event.is_final or event.is_review else is_masked[event.job_id]
        return replace(step, event=masked_event(event)) if hides else step

    async def _is_job_masked(self, principal: Principal, job_id: str) -> bool:
        """Return whether the figures of a job are hidden from a principal; those of a job that has expired are."""
        try:
            return not principal.may(SENSITIVE) and is_masked_for(principal, await self.job(principal, job_id))
        except NotFoundError:
            return True

    async def history(self, principal: Principal, job_id: str) -> Sequence[Event]:
        """Return the events of a job that are kept, in order, without waiting for more."""
        principal = await self.reviews.reader(principal, job_id)
        events = (await self._store.read_past(principal.id, job_id)).events
        is_masked = await self._is_job_masked(principal, job_id)
        return [masked_event(event) for event in events] if is_masked else events

    # ---- the queue

    async def stats(self) -> QueueStats:
        """Return figures of the queue."""
        return await self._store.stats()

    async def scale(self) -> Scale:
        """Return how many slots the open jobs want."""
        stats, work = await self._store.stats(), await self._store.open_work()
        return wanted_scale(stats, work, self._settings)

    async def workers(self) -> list[WorkerRow]:
        """Return the workers there are, by name."""
        return await self._store.workers()

    async def measurements(self) -> Mapping[str, int]:
        """Return what was measured of jobs and webhooks (`jobs/records/measurements.py`)."""
        return await self._store.measurements()

    async def allowance(self, principal: Principal) -> Json:
        """Return what a principal may use, what it uses now, and how long the queue is (SPEC J8)."""
        used = {}
        for state in (JobState.QUEUED, JobState.SOLVING):
            _jobs, used[state.value] = await self._store.list_jobs(principal.id, state, offset=0, count=0)
        stats = await self._store.stats()
        queue = {"queued": stats.queued, "solving": stats.solving, "slots": stats.live_slots}
        return {"limits": limits_of(self._settings), "used": used, "queue": queue}

    async def ready(self) -> QueueStats:
        """Return figures of the queue when the store accepts writes; raise `StoreUnavailableError` otherwise."""
        return await self._store.stats(await self._store.ping())


def _masking(on_event: OnEvent) -> OnEvent:
    async def on_masked(event: Event) -> None:
        await on_event(masked_event(event))

    return on_masked


async def _wait(listener: FeedListener, job: Job, on_event: OnEvent | None, wait_for: WaitFor) -> None:
    """Return when a job has ended, or changed; pass every event meanwhile to `on_event`."""
    history = EventHistory((), job.event_number, job.event_number, is_over=False)
    soonest = anyio.current_time() + MIN_CHANGE_WAIT_S
    async with aclosing(listener.events(job.principal, job.event_id, history)) as events:
        with anyio.CancelScope() as waiting:
            async for event in events:
                if on_event is not None:
                    await on_event(event)
                has_changed = wait_for == "change" and _is_change(event, job)
                if event.is_final or (has_changed and anyio.current_time() >= soonest):
                    return
                if has_changed:
                    waiting.deadline = soonest


def _is_change(event: Event, job: Job) -> bool:
    best = (event.data.penalty, event.data.cost)
    return event.kind is not EventKind.PROGRESS or best != (job.progress.penalty, job.progress.cost)
