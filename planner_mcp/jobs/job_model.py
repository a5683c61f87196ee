"""Records of jobs and scenarios.

The records are frozen and used by the rules, the store, the server and the workers. Times are UTC `datetime`s. A worker
needs no model of a scenario and no numpy, so this module loads neither (`scenario_writing.py` does).
"""

from dataclasses import dataclass, field
from datetime import datetime

from planner_mcp.errors import JobFailure
from planner_mcp.jobs.job_lifecycle import TERMINAL, JobState
from planner_mcp.jobs.plan_review import PlanReview, ReviewState
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.routing.engine_names import AUTO
from planner_mcp.routing.scenario.scenario_body import ScenarioBody


@dataclass(frozen=True, slots=True)
class StoredScenario:
    """A scenario as kept."""

    id: str
    principal: str
    body: ScenarioBody
    """The caller's scenario as validated, in JSON form."""
    created_at: datetime
    input_hash: str
    """SHA-256 of the canonical body."""
    revision: int = 1
    parent_id: str | None = None
    last_job_id: str | None = None
    """Its newest solve, while that is kept."""
    proof_ids: tuple[str, ...] = ()
    """Its newest jobs that prove plans, a few; they may have expired."""
    prices_of: str | None = None
    """The scenario whose prices hold where those of `body` are made up to find another plan; None: its own."""
    is_confidential: bool = False
    """Whether it was written with `planner:sensitive` and holds what needs that scope (`masked_views.py`)."""


@dataclass(frozen=True, slots=True)
class WrittenScenario:
    """A validated scenario as text, so that whoever stores it need not hold it decoded."""

    name: str
    planning_date: str
    text: str
    """The body as JSON."""
    input_hash: str
    has_sensitive_values: bool
    """Whether any field has a value that needs `planner:sensitive`."""


@dataclass(frozen=True, slots=True)
class ScenarioCard:
    """A scenario as listed, without its body."""

    id: str
    name: str
    """As the caller wrote it."""
    created_at: datetime
    revision: int = 1
    parent_id: str | None = None
    last_job_id: str | None = None
    planning_date: str = ""
    """As the caller wrote it; empty for scenarios of older versions."""


@dataclass(frozen=True, slots=True)
class SolveRequest:
    """What `solve_vrp` asked for."""

    scenario_id: str
    solve_time_s: int
    engine: str = AUTO
    seed: int = 0
    priority: int = 5
    """1 (can wait) … 9 (urgent); orders the jobs of one principal."""
    callback_url: str | None = None
    idempotency_key: str | None = None
    fresh: bool = False
    cores: int | None = None
    """CPU cores; more than one worker has make a team. None for those of one worker."""
    warm_plan_id: str | None = None
    warm_changed_id: str | None = None
    """`changed_id` of the warm plan's job at the call: until that has ended, another plan may come under this name."""
    is_masked: bool = False
    """Whether its caller lacks `planner:sensitive`: webhooks of a confidential scenario then leave out figures."""
    traceparent: str = ""
    """The span of the call that submitted it; empty where no spans are made."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a solve is (SPEC J5)."""

    percent: int = 0
    """0…99 while solving, rising only; 100 only when completed."""
    cost: float | None = None
    """Of the best verified plan so far."""
    penalty: float | None = None
    """Penalty of the best plan, where it leaves wanted tickets out: (penalty, cost) never rises, cost alone may."""
    tickets_served: int | None = None
    tickets_total: int | None = None
    improvements: int = 0
    elapsed_s: float = 0.0
    """Time solved so far, earlier attempts included."""
    lower_bound: float | None = None
    """Of a job that proves a plan: no plan that serves every wanted ticket costs less."""


@dataclass(frozen=True, slots=True)
class Job:
    """One solve of one scenario."""

    id: str
    principal: str
    request: SolveRequest
    state: JobState
    submitted_at: datetime
    progress: Progress = field(default_factory=Progress)
    started_at: datetime | None = None
    finished_at: datetime | None = None
    seats: int = 1
    """Workers that search for it at once, at most; more than one is a team."""
    fence: int = 0
    """Number of the last claim; a writer with a lower one is refused."""
    crashes: int = 0
    cancel_requested: bool = False
    finish_requested: bool = False
    """Finish now and complete with the best plan."""
    plan_id: str | None = None
    """The best plan so far, or the final one."""
    queue_position: int | None = None
    error: JobFailure | None = None
    """For a failed job."""
    summary: PlanSummary | None = None
    """For a job that has a plan."""
    event_id: str = ""
    """Its last event: follow from here for what comes next."""
    event_number: int = 0
    """Number of its last event: how many there were."""
    changed_id: str = ""
    """The last event that changed its state or its best cost."""
    is_confidential: bool = False
    """Whether its scenario is."""
    scenario_name: str = ""
    """As the caller wrote it; empty for jobs of older versions."""
    planning_date: str = ""
    """As the caller wrote it; empty for jobs of older versions."""
    review: PlanReview | None = None
    """Of its plan; None before its end, and where plans are not reviewed."""

    @property
    def is_terminal(self) -> bool:
        """Whether the job has ended."""
        return self.state in TERMINAL

    @property
    def is_settled(self) -> bool:
        """Whether no event can follow: it has ended, and its plan is published or not reviewed."""
        return self.is_terminal and (self.review is None or self.review.state is ReviewState.PUBLISHED)
