"""Turns what Redis holds into the records of `jobs/job_model.py`, and back. Owns the fields of the stored hashes."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any, Final, TypeVar

from planner_mcp.errors import JobFailure
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_events import Event, EventData, EventKind
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import (
    Job,
    Progress,
    ScenarioCard,
    SolveRequest,
    StoredScenario,
    WrittenScenario,
)
from planner_mcp.jobs.plan_review import PlanReview, ReviewState
from planner_mcp.jobs.plan_summary import PlanSummary
from planner_mcp.text import Json, at_least, compact, known_fields, number, plain_fields

R = TypeVar("R")
Fields = dict[str, str]
UNKNOWN: Final = "1"
"""`confidential` of a record of 0.1 or 0.2, which does not say whether it is: it is taken to be."""
CACHED_TEXTS: Final = 1024
"""Texts whose records are kept: a job is looked at again and again, and its request stays the same."""


def fields_of(flat: Sequence[str]) -> Fields:
    """Return the fields of a hash given as a flat list."""
    return dict(zip(flat[::2], flat[1::2], strict=True))


def job_from_hash(job_id: str, kept: Fields, place: int | None = None) -> Job:
    """Return a job from its hash; `place` below 1 means it is not waiting."""
    return Job(
        id=job_id,
        principal=kept["principal"],
        request=_request_of(kept["request"]),
        state=JobState(kept["state"]),
        submitted_at=utc_from_ms(kept["submitted_ms"]),
        started_at=utc_from_ms(kept["started_ms"]) if kept.get("started_ms") else None,
        finished_at=utc_from_ms(kept["finished_ms"]) if kept.get("finished_ms") else None,
        progress=progress_of(kept["progress"], int(kept["percent"])),
        seats=int(kept.get("seats") or 1),
        fence=int(kept["fence"]),
        crashes=int(kept["crashes"]),
        cancel_requested=kept["cancel"] != "",
        finish_requested=kept["finish"] != "",
        plan_id=kept["plan_id"] or None,
        queue_position=place if place is not None and place > 0 else None,
        error=JobFailure.of(json.loads(kept["error"])) if kept.get("error") else None,
        summary=_summary_of(kept["summary"]) if kept["summary"] else None,
        event_id=kept["event_id"],
        event_number=int(kept["events"]),
        changed_id=kept["changed_id"],
        is_confidential=bool(kept.get("confidential", UNKNOWN)),
        scenario_name=kept.get("name", ""),
        planning_date=kept.get("date", ""),
        review=_review_of(kept) if kept.get("review") else None,
    )


def _review_of(kept: Fields) -> PlanReview:
    times = {name: kept.get(f"{name}_ms") for name in ("proposed", "reviewed", "published")}
    return PlanReview(
        state=ReviewState(kept["review"]),
        reason=kept.get("review_reason", ""),
        differs_from=plan_of(kept["base"]) if kept.get("base") else None,
        **{f"{name}_at": utc_from_ms(ms) if ms else None for name, ms in times.items()},
    )


@lru_cache(CACHED_TEXTS)
def _request_of(text: str) -> SolveRequest:
    return read_record(SolveRequest, json.loads(text))


@lru_cache(CACHED_TEXTS)
def _summary_of(text: str) -> PlanSummary:
    return read_record(PlanSummary, json.loads(text))


@lru_cache(CACHED_TEXTS)
def progress_of(text: str, percent: int) -> Progress:
    """Return progress from its stored text; the percentage is the store's, which only rises."""
    return read_record(Progress, {**json.loads(text or "{}"), "percent": percent})


def read_record(record: type[R], stored: Json) -> R:
    """Return a record of the fields this version knows: while a deployment rolls, a newer process may write more."""
    return record(**known_fields(record, stored))


def progress_text(progress: Progress) -> str:
    """Return progress as stored, with costs as every answer gives them."""
    return compact(_progress_fields(progress))


def progress_extra(progress: Progress) -> str:
    """Return what a progress event says beside status and percentage, as JSON text."""
    return compact(
        {name: value for name, value in _progress_fields(progress).items() if name != "percent" and value is not None}
    )


def _progress_fields(progress: Progress) -> dict[str, Any]:
    bound = progress.lower_bound
    costs = {"cost": number(progress.cost), "penalty": number(progress.penalty)}
    return plain_fields(progress) | costs | {"lower_bound": None if bound is None else at_least(bound)}


def scenario_words(scenario: StoredScenario, written: WrittenScenario | None = None) -> list[str]:
    """Return a scenario as the flat fields of the hash that is stored; its body comes written, or is written here."""
    fields = {
        "id": scenario.id,
        "name": str(scenario.body.get("name", "")) if written is None else written.name,
        "date": str(scenario.body.get("planning_date", "")) if written is None else written.planning_date,
        "principal": scenario.principal,
        "body": compact(scenario.body) if written is None else written.text,
        "created_ms": str(int(scenario.created_at.timestamp() * 1000)),
        "input_hash": scenario.input_hash,
        "revision": str(scenario.revision),
        "parent_id": scenario.parent_id or "",
        "prices_of": scenario.prices_of or "",
        "confidential": "1" if scenario.is_confidential else "",
    }
    return [word for pair in fields.items() for word in pair]


def scenario_from_hash(kept: Fields) -> StoredScenario:
    """Return a scenario from its hash."""
    return StoredScenario(
        id=kept["id"],
        principal=kept["principal"],
        body=json.loads(kept["body"]),
        created_at=utc_from_ms(kept["created_ms"]),
        input_hash=kept["input_hash"],
        revision=int(kept["revision"]),
        parent_id=kept["parent_id"] or None,
        last_job_id=kept.get("job") or None,
        proof_ids=tuple(kept.get("proofs", "").split()),
        prices_of=kept.get("prices_of") or None,
        is_confidential=bool(kept.get("confidential", UNKNOWN)),
    )


def scenario_card_from(row: list[str | None]) -> ScenarioCard:
    """Return an entry of a list of scenarios: `id, name, created_ms, revision, parent_id, job, date`."""
    id_, name, created_ms, revision, parent_id, job_id, date = (word or "" for word in row)
    return ScenarioCard(id_, name, utc_from_ms(created_ms), int(revision), parent_id or None, job_id or None, date)


def event_from(job_id: str, event_id: str, kept: Fields) -> Event:
    """Return an event from its stream entry."""
    return Event(
        id=event_id,
        job_id=job_id,
        kind=EventKind(kept["kind"]),
        at=kept["at"],
        data=event_data_of(json.loads(kept["data"])),
        number=int(kept["number"]),
        scenario_id=kept.get("scenario", ""),
        scenario_name=kept.get("name", ""),
        is_change=kept.get("change") != "",
    )


def event_data_of(stored: Json) -> EventData:
    """Return what an event says of its job."""
    parts = {name: read(kept) for name, read in _EVENT_PARTS.items() if (kept := stored.get(name)) is not None}
    return read_record(EventData, stored | parts)


_EVENT_PARTS: Final[Mapping[str, Callable[[Json], Any]]] = {
    "review": lambda kept: PlanReview(ReviewState(kept["state"]), kept.get("reason", ""), kept.get("differs_from")),
    "summary": partial(read_record, PlanSummary),
    "error": JobFailure.of,
    "result": partial(read_record, PlanSummary),
}


def utc_from_ms(ms: str | float) -> datetime:
    """Return a stored time."""
    return datetime.fromtimestamp(float(ms) / 1000, UTC)
