"""The event types of MCP Events (SPEC O6): what each is called, its arguments, and what of a job's stream it carries.

Owns the translation from events of jobs to occurrences. Pure. Payloads have ids, figures and a short text, no names of
people; what is masked for a principal was masked before. Whatever they carry can be read again by `query_vrp_status`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.field_meanings import with_meanings
from planner_mcp.jobs.job_events import FINAL_KINDS, REVIEW_KINDS, Event, EventData, EventKind
from planner_mcp.jobs.job_ports import FeedStep, QueueStats
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.jobs.principals import ADMIN, READ
from planner_mcp.text import Json, timestamp

POLLED: Final = ("poll", "push")
MAX_NAME_LENGTH: Final = 100
"""Of the name of a scenario."""
LEAST_GAP_S: Final = 10.0
"""Between two improvements of one job."""
_JOBS: Final[Mapping[str, Json]] = {
    "job_id": {"type": "string", "maxLength": 64, "description": "this job alone"},
    "scenario_id": {"type": "string", "maxLength": 64, "description": "jobs of this scenario alone"},
    "scenario_name": {"type": "string", "maxLength": MAX_NAME_LENGTH, "description": "jobs of days with this name"},
}
Improvement = tuple[float, float, float]
"""When a better plan was found, in Unix time, its penalty and its cost. A plan that serves more may cost more."""
_NONE_YET: Final[Improvement] = (float("-inf"), float("inf"), float("inf"))
_FIGURES: Final = ("cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total", "unassigned")
_FINAL: Final = ("COMPLETED", "FAILED", "CANCELLED")


@dataclass(frozen=True, slots=True)
class EventType:
    """One type."""

    name: str
    description: str
    properties: Mapping[str, Json]
    """Of its arguments; none is required."""
    payload: Mapping[str, Json]
    kinds: frozenset[EventKind] = frozenset()
    """Events of a job that may hold it; none where it is not read from jobs, and so not delivered by webhook."""
    scope: str = READ

    def as_json(self, *, with_webhook: bool = True) -> Json:
        """Return the type as `events/list` shows it."""
        return {
            "name": self.name,
            "description": self.description,
            "delivery": [*POLLED, "webhook"] if self.kinds and with_webhook else [*POLLED],
            "inputSchema": {"type": "object", "properties": dict(self.properties), "additionalProperties": False},
            "payloadSchema": {"type": "object", "properties": with_meanings(self.payload)},
        }

    def checked(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return arguments that are of the type.

        Raises:
            InputError: With every fault.
        """
        known = ", ".join(self.properties) or "none"
        faults = [
            Fault(f"/arguments/{name}", "The argument is not known.", known, kind="unknown")
            for name in arguments
            if name not in self.properties
        ]
        faults += [
            Fault(f"/arguments/{name}", "The value is not accepted.", str(schema["description"]))
            for name, schema in self.properties.items()
            if name in arguments and not _fits(arguments[name], schema)
        ]
        if faults:
            raise input_error(faults)
        return arguments


_IDS: Final = {name: {"type": "string"} for name in ("job_id", "scenario_id", "scenario_name", "status", "plan_id")}
_NUMBERS: Final = {name: {"type": "number"} for name in _FIGURES}
FINISHED: Final = EventType(
    "vrp.job.finished",
    "A solve ended: completed, failed or cancelled.",
    {
        **_JOBS,
        "status": {"type": "array", "items": {"enum": [*_FINAL]}, "description": "ends of these kinds alone"},
    },
    {**_IDS, **_NUMBERS, "text": {"type": "string"}},
    FINAL_KINDS,
)
IMPROVED: Final = EventType(
    "vrp.job.improved",
    "A running solve found a better plan; at most one each ten seconds and job.",
    {**_JOBS, "min_gain_percent": {"type": "number", "description": "least gain since the last one, 0 to 100"}},
    {**_IDS, **_NUMBERS, "text": {"type": "string"}},
    frozenset({EventKind.PROGRESS}),
)
UNASSIGNED: Final = EventType(
    "vrp.ticket.unassigned",
    "A finished plan leaves tickets out; explain_unassigned says why.",
    _JOBS,
    {**_IDS, "unassigned": {"type": "number"}, "reasons": {"type": "object"}, "text": {"type": "string"}},
    frozenset({EventKind.COMPLETED}),
)
REVIEWED: Final = EventType(
    "vrp.plan.reviewed",
    "A plan was proposed, approved, rejected or published.",
    _JOBS,
    {**_IDS, "event": {"type": "string"}, "text": {"type": "string"}},
    REVIEW_KINDS,
)
CAPACITY: Final = EventType(
    "vrp.workers.capacity",
    "Workers came or went, or the queue grew or shrank; for operators.",
    {},
    {name: {"type": "number"} for name in ("workers", "slots", "queued", "solving")},
    scope=ADMIN,
)
TYPES: Final = (FINISHED, IMPROVED, UNASSIGNED, REVIEWED, CAPACITY)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One event of a type."""

    id: str
    name: str
    """Of the type."""
    at: str
    data: Json
    """As the payload of the type."""
    cursor: str | None
    """Where a client goes on after it."""

    def as_json(self) -> Json:
        """Return it as it is sent."""
        return {"eventId": self.id, "name": self.name, "timestamp": self.at, "data": self.data, "cursor": self.cursor}


@dataclass(slots=True)
class Occurrences:
    """Reads the occurrences of one type out of the events of jobs.

    Args:
        type: What is asked for.
        arguments: Checked.
        reported: By job the improvement that was last sent.
        since: Earlier events are left out; None for no bound.
    """

    type: EventType
    arguments: Mapping[str, Any]
    reported: dict[str, Improvement] = field(default_factory=dict)
    since: datetime | None = None

    def of(self, steps: Iterable[FeedStep]) -> Iterator[Occurrence]:
        """Yield the events that follow from some steps of a principal's stream."""
        for step in steps:
            event = step.event
            if event is None or not self._is_meant(event) or (data := self._data(event)) is None:
                continue
            if self.since is None or datetime.fromisoformat(event.at) >= self.since:
                yield Occurrence(f"{event.id}-{event.job_id}", self.type.name, event.at, data, step.position or None)

    def _is_meant(self, event: Event) -> bool:
        """Return whether an event is of a job that the arguments name."""
        return all(self.arguments.get(name, value) == value for name, value in _jobs_of(event).items())

    def _data(self, event: Event) -> Json | None:
        data = event.data
        summary = data.result or data.summary or PlanSummary()
        known = {**_jobs_of(event), "status": data.status, "plan_id": data.plan_id}
        ids = {name: value for name, value in known.items() if value}
        if self.type is FINISHED and event.is_final:
            if data.status not in self.arguments.get("status", _FINAL):
                return None
            return {**ids, **_figures(summary), "text": f"{data.status}: {_served(summary)}"}
        if self.type is UNASSIGNED and event.kind is EventKind.COMPLETED and summary.unassigned:
            reasons, text = summary.unassigned_reasons or {}, f"{summary.unassigned} tickets are not served."
            return {**ids, "unassigned": summary.unassigned, "reasons": reasons, "text": text}
        if self.type is REVIEWED and event.is_review:
            return {**ids, "event": event.kind.value, "text": event.kind.value}
        if self.type is IMPROVED and event.kind is EventKind.PROGRESS and self._is_gain(event):
            return {**ids, **_figures(data), "text": "A better plan was found."}
        return None

    def _is_gain(self, event: Event) -> bool:
        """Return whether an event brings a gain worth sending, and note it.

        One that only says how far the job is brings none where nothing was sent before, as at the start of each poll.
        """
        if (improvement := improvement_of(event)) is None:
            return False
        if not event.is_change and event.job_id not in self.reported:
            return False
        at_s, penalty, cost = improvement
        last_s, last_penalty, last_cost = self.reported.get(event.job_id, _NONE_YET)
        least = self.arguments.get("min_gain_percent", 0)
        is_cheaper = penalty == last_penalty and last_cost - cost > abs(last_cost) * least / 100
        if not (penalty < last_penalty or is_cheaper) or at_s - last_s < LEAST_GAP_S:
            return False
        self.reported[event.job_id] = improvement
        return True


def improvement_of(event: Event) -> Improvement | None:
    """Return when a better plan was found, its penalty and its cost; None where an event has no cost."""
    if (cost := event.data.cost) is None:
        return None
    return datetime.fromisoformat(event.at).timestamp(), float(event.data.penalty or 0.0), float(cost)


def _jobs_of(event: Event) -> Mapping[str, str]:
    """Return by which texts the job of an event can be asked for."""
    return {"job_id": event.job_id, "scenario_id": event.scenario_id, "scenario_name": event.scenario_name}


def capacity(stats: QueueStats, now: datetime) -> Occurrence:
    """Return the figures of the queue as an event, from whose cursor a client goes on while they are these."""
    figures = {
        "workers": stats.live_workers,
        "slots": stats.live_slots,
        "queued": stats.queued,
        "solving": stats.solving,
    }
    cursor = ".".join(map(str, figures.values()))
    return Occurrence(f"{int(now.timestamp() * 1000)}-{cursor}", CAPACITY.name, timestamp(now), figures, cursor)


def _figures(found: PlanSummary | EventData) -> Json:
    return {name: value for name in _FIGURES if (value := getattr(found, name, None)) is not None}


def _served(summary: PlanSummary) -> str:
    served, total = summary.tickets_served, summary.tickets_total
    return "no plan" if served is None or total is None else f"{served} of {total} tickets served"


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Return whether a value is of one of the three kinds that arguments have."""
    if schema["type"] == "array":
        choices = schema["items"]["enum"]
        return isinstance(value, list) and 0 < len(value) <= len(choices) and all(each in choices for each in value)
    if schema["type"] == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 100
    return isinstance(value, str) and len(value) <= schema["maxLength"]
