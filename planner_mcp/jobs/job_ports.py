"""Interfaces between the job rules and the packages that implement them.

Owns the protocols `JobStore` (the caller's side), `WorkerStore` (the worker's side), `MatrixStore` (tables of travel,
for both), `ImportStore` (what imports need), `ReviewStore` (reviews of plans) and `EventLog` (events as kept).
`planner_mcp.jobs.store` implements them, `jobs/events/event_feed.py` follows events through the last, `planner_mcp.app`
joins all.

Guarantees of every step: it is atomic (state check, write, event, outbox entry and wake-up happen together or not at
all); it takes a principal or a claim and answers `NotFoundError` for what is unknown *or* somebody else's; it raises
`StoreUnavailableError` when Redis did not confirm it, and repeating it after that error is safe.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from secrets import token_hex
from typing import Protocol

from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, Progress, ScenarioCard, SolveRequest, StoredScenario, WrittenScenario
from planner_mcp.jobs.plan_review import ReviewStep
from planner_mcp.jobs.records.import_records import StoredMapping, UploadedFile
from planner_mcp.routing.plan import PlanJson
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.text import Json


@dataclass(frozen=True, slots=True)
class ClaimedWork:
    """What a worker took from the ready stream."""

    job: Job
    """Its `fence` is the number of this claim; every write of the worker carries it and a stale one is refused."""
    worker_id: str
    ready_entry_id: str
    """Entry in the ready stream, for the acknowledgement."""
    scenario: StoredScenario
    best_plan: PlanJson | None
    """Last incumbent of an earlier attempt (or of the plan to start from)."""
    prices: ScenarioBody | None = None
    """The day whose prices determine the costs of an alternative; None where they are those of the scenario, and where
    that day has expired or its shard is unavailable."""

    @property
    def elapsed_s(self) -> float:
        """Solve time earlier attempts have used."""
        return self.job.progress.elapsed_s


class Claim(ClaimedWork):
    """A worker's right to run one job, for as long as it is renewed."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class SeatClaim(ClaimedWork):
    """A worker's right to search beside the owner of a job. Its fencing number is the owner's; it reports nothing."""

    seat: str = ""

    @property
    def number(self) -> int:
        """Its number in the team, from 2 on; the owner is 1."""
        return int(self.seat.rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The result of an exchange of plans in a team."""

    is_held: bool
    """False when the job is over for this member."""
    plan: PlanJson | None = None
    """The team's best plan, where it is better."""
    members: tuple[int, ...] = (1,)
    """Numbers of the members that search now, ascending."""


@dataclass(frozen=True, slots=True)
class Renewal:
    """The result of renewing a lease."""

    is_held: bool
    """False when another worker has the job: stop solving and write nothing."""
    cancel: bool = False
    finish: bool = False


@dataclass(frozen=True, slots=True)
class QueueStats:
    """Figures of the queue, for `/readyz` and metrics."""

    queued: int
    solving: int
    live_workers: int
    live_slots: int
    pools_away: int = 0
    """Shards that do not answer, because their cluster node is unavailable; they are not counted."""


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What the queue and the running jobs will take, in CPU seconds at most."""

    queued_cpu_s: float
    solving_cpu_s: float
    """What is left of the running jobs."""
    has_due_webhooks: bool = False
    """Whether a webhook could be sent now; dispatchers run beside workers."""


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker that has registered, for operators."""

    name: str
    version: str
    """Of the program; empty for workers of the version before."""
    slots: int
    solving: int
    """Jobs it solves."""
    silent_s: float
    """Time since its last heartbeat."""
    is_live: bool
    """Whether that is within three of its leases."""


@dataclass(slots=True)
class MatrixParts:
    """Packed tables on their way to the store, block by block."""

    matrix_id: str
    token: str = field(default_factory=partial(token_hex, 8))
    """Distinguishes the blocks of this upload from those of another."""
    tables: list[str] = field(default_factory=list)
    """The table of each block, in order."""


class MatrixStore(Protocol):
    """Tables of travel, each `TravelMatrices.pack()` under a name."""

    async def put_matrix(self, principal: str, parts: MatrixParts, words: Mapping[str, str], *, is_cache: bool) -> None:
        """Store matrices: the blocks that were put before, and further words.

        Cached ones (`is_cache`) replace older cached ones; others are refused without room.
        """
        ...

    async def put_matrix_block(self, parts: MatrixParts, name: str, text: str) -> None:
        """Put a block of the packed text of a table, in order; it is forgotten where `put_matrix` does not follow."""
        ...

    async def get_matrix(self, principal: str, matrix_id: str) -> dict[str, str]:
        """Return matrices of the principal and renew their expiry."""
        ...

    async def outline_matrix(self, principal: str, matrix_id: str) -> tuple[str, list[str]]:
        """Return the `locations` of tables as packed, and the names of all words there are; the tables stay there."""
        ...

    async def drop_matrix(self, principal: str, matrix_id: str) -> None:
        """Delete matrices of the principal."""
        ...


class ImportStore(Protocol):
    """Keeps mappings and uploaded files by principal."""

    async def keep_mapping(self, principal: str, name: str, mapping: StoredMapping) -> None:
        """Keep a mapping in place of an earlier one of its name."""
        ...

    async def mappings(self, principal: str) -> Mapping[str, StoredMapping]:
        """Return all mappings of a principal by name."""
        ...

    async def put_file(self, principal: str, name: str, file: UploadedFile) -> None:
        """Keep an uploaded file for a while, in place of an earlier one of its name."""
        ...

    async def file(self, principal: str, name: str) -> UploadedFile:
        """Return an uploaded file."""
        ...


class ReviewStore(Protocol):
    """Reviews of plans (SPEC A5)."""

    async def review(
        self,
        principal: str,
        job_id: str,
        step: ReviewStep,
        *,
        group: str = "",
        proposed_to: str = "",
        reason: str = "",
        four_eyes: bool = False,
    ) -> Job:
        """Take a step in the review of a job's plan. Repeated by the same principal it changes nothing.

        Args:
            principal: Who takes it.
            job_id: The job.
            step: What is done.
            group: Whose proposed plans the principal may review beside its own; empty for none.
            proposed_to: The group that may see the plan from now on.
            reason: Why a plan is rejected.
            four_eyes: Refuse an owner's review of its own plan.

        Raises:
            IllegalTransitionError: The state allows no such step, or another plan of the day was approved since.
            FourEyesError: The owner reviews its own plan.
            PlanNotReadyError: The job has not ended.
        """
        ...

    async def owner_proposed_to(self, group: str, name: str) -> str | None:
        """Return the owner of a job or scenario whose plan was proposed to a group, None where it was not."""
        ...

    async def approved_job(self, principal: str, scenario_id: str) -> str | None:
        """Return the job whose plan was approved last for the day of a scenario, None for none."""
        ...


@dataclass(frozen=True, slots=True)
class EventHistory:
    """What a job's own stream holds after a position."""

    events: Sequence[Event]
    """In order."""
    number: int
    """Of the job's last event."""
    seen: int
    """Of the last event kept up to the position, 0 without one: the next one's number shows whether any is missing."""
    is_over: bool
    """Whether no further event can come."""


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """An event as a shard's feed holds it."""

    position: str
    """In the feed; the event's id is its position in its job's own stream."""
    readers: tuple[str, ...]
    """Whose job it is, and the group that its plan was proposed to."""
    event: Event


@dataclass(frozen=True, slots=True)
class FeedBatch:
    """Result of a read of a shard's feed."""

    entries: Sequence[FeedEntry]
    """Entries of the jobs and principals that were asked for, in order."""
    position: str
    """Where to read on."""
    is_trimmed: bool
    """True: entries were trimmed unread; every follower must read its job's own stream."""


@dataclass(frozen=True, slots=True)
class FeedStep:
    """A step of the stream: an event, a start, or a beat that only moves the position."""

    position: str
    """Where a stream goes on after this step, at any replica: a position for each shard."""
    event: Event | None = None
    is_start: bool = False
    """Whether the events from here on follow, but not those before."""


class EventLog(Protocol):
    """The stored events, which feeds are made of."""

    @property
    def shards(self) -> int:
        """How many feeds there are."""
        ...

    def shard_of_job(self, job_id: str) -> int:
        """Return the shard a job lies in; raise `NotFoundError` where no job can be called so."""
        ...

    async def read_past(self, principal: str, job_id: str, after: str = "0") -> EventHistory:
        """Return the events of a job after a position, and whether they end there."""
        ...

    async def feed_end(self, shard: int) -> str:
        """Return the position after everything that the feed of a shard holds."""
        ...

    async def read_feed(
        self, shard: int, after: str, *, wait_s: float, wanted: Container[str] = (), principals: Container[str] = ()
    ) -> FeedBatch:
        """Return entries of the wanted jobs and principals after a position, waiting up to `wait_s` for any entry."""
        ...


class JobStore(MatrixStore, ImportStore, ReviewStore, EventLog, Protocol):
    """Scenarios, jobs, plans and events as a caller sees them."""

    async def put_scenario(self, scenario: StoredScenario, written: WrittenScenario | None = None) -> None:
        """Keep a scenario, its body perhaps written already; readable on every replica when this returns.

        Raises:
            QuotaExceededError: The principal keeps as many as it may, or as many bytes.
        """
        ...

    async def get_scenario(self, principal: str, scenario_id: str) -> StoredScenario:
        """Return a scenario of the principal."""
        ...

    async def last_job(self, principal: str, scenario_id: str) -> str | None:
        """Return the newest job of a scenario, None where none is kept, without reading its day."""
        ...

    async def parent(self, principal: str, scenario_id: str) -> str | None:
        """Return what a scenario is a revision of, None for the first of its line, without reading its day."""
        ...

    async def list_scenarios(self, principal: str, *, offset: int, count: int) -> tuple[list[ScenarioCard], int]:
        """Return scenarios newest first, and how many are listed."""
        ...

    async def submit(self, principal: str, request: SolveRequest, job_id: str) -> Job:
        """Queue a job, or return the one the same call already made.

        Two concurrent first calls with equal arguments give one job. The job is durable and readable everywhere when
        this returns.

        Raises:
            IdempotencyConflictError: `idempotency_key` was used with other arguments.
            QueueFullError, QuotaExceededError: With `retry_after_s`.
        """
        ...

    async def get_job(self, principal: str, job_id: str) -> Job:
        """Return a job."""
        ...

    async def list_jobs(self, reader: str, state: str | None, *, offset: int, count: int) -> tuple[list[Job], int]:
        """Return jobs newest first, and how many there are.

        Args:
            reader: A principal; of proposed plans also a group, for what was proposed to it.
            state: Of a `JobState`, or `proposed` for those whose plans wait for review; None for all.
            offset: Jobs to pass over.
            count: Most jobs to return.
        """
        ...

    async def cancel(self, principal: str, job_id: str, *, keep_best: bool) -> Job:
        """Cancel: a queued job at once, a solving one by a durable flag its worker obeys. Idempotent.

        `keep_best` keeps the plan readable (the default of the tool); a terminal job is returned unchanged.
        """
        ...

    async def share_generation(self, principal: str, job_id: str, *, revoke: bool = False) -> int:
        """Return which generation of share links of a job's plan is valid; `revoke` ends those there are."""
        ...

    async def finish_now(self, principal: str, job_id: str) -> Job:
        """Ask a solving job to complete with its best plan."""
        ...

    async def get_plan(self, principal: str, plan_id: str) -> PlanJson:
        """Return a plan: the best so far while solving, the final one after."""
        ...

    async def stats(self, pools: Sequence[int] | None = None) -> QueueStats:
        """Return figures of the queue, over these shards or all; shards that do not answer are left out."""
        ...

    async def open_work(self) -> OpenWork:
        """Return what waits and what is left of running jobs, over the shards that answer."""
        ...

    async def workers(self) -> list[WorkerRow]:
        """Return the workers there are, by name, over the shards that answer."""
        ...

    async def measurements(self) -> Mapping[str, int]:
        """Return what was measured since the store began, over all shards that answer (`records/measurements.py`)."""
        ...

    async def ping(self) -> Sequence[int]:
        """Return the shards that answer and accept writes; raise `StoreUnavailableError` when none does."""
        ...


class WorkerStore(MatrixStore, Protocol):
    """The same store as a worker sees it.

    Each write but `claim` is refused with `LeaseLostError` once another worker holds the job.
    """

    async def register(self, worker_id: str, slots: int) -> None:
        """Register a worker or renew its heartbeat; it is removed after three missed heartbeats, without slots at once.

        The jobs that it holds stay its own.
        """
        ...

    async def claim(self, worker_id: str, wait_s: float) -> Claim | SeatClaim | None:
        """Take the next job or seat, waiting up to `wait_s` for one. Fencing numbers of a job only rise."""
        ...

    async def renew(self, claim: Claim) -> Renewal:
        """Extend the lease and learn what was asked meanwhile."""
        ...

    async def exchange(
        self, member: Claim | SeatClaim, plan: PlanJson | None, *, is_new: bool = False, leaves: bool = False
    ) -> Exchanged:
        """Get the team's best plan where it is better than a member's; a seat offers its own if that is new.

        A seat renews its lease thereby, and gives its slot back when it leaves or has to. Only the owner's reports
        change the job; a seat's plan waits for the owner's next exchange.
        """
        ...

    async def wait_control(self, wait_s: float) -> Sequence[str]:
        """Return ids of jobs whose flags changed, waiting up to `wait_s`: the fast path of cancel and finish."""
        ...

    async def report(self, claim: Claim, progress: Progress, plan: PlanJson | None) -> None:
        """Record progress and, with a better plan, the incumbent (checkpoint), as one event."""
        ...

    async def complete(self, claim: Claim, progress: Progress, plan: PlanJson) -> None:
        """End the job completed with its plan; cancelled, when a cancel was answered before."""
        ...

    async def fail(self, claim: Claim, error: Json) -> None:
        """End the job failed; its best plan, if any, stays readable."""
        ...

    async def settle_cancel(self, claim: Claim) -> None:
        """End a job whose cancel was requested, after its solver has stopped."""
        ...

    async def crash(self, claim: Claim, error: Json) -> JobState:
        """Record a death of the solving process: queued again, or failed as poisoned after `MAX_CRASHES`."""
        ...

    async def hand_back(self, claim: Claim) -> None:
        """Give the job back unfinished (drain): queued again at the front, no crash counted."""
        ...

    async def reap(self) -> int:
        """Requeue jobs whose lease ran out (counted as a crash), forget dead workers; return how many jobs.

        A shard that went away or came back less than a lease ago is spared: its workers could not renew.
        """
        ...
