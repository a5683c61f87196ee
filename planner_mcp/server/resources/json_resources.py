"""Scenarios, jobs and logs as JSON. Owns the templates of what is data; renderings are `rendering_resources.py`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from planner_mcp.errors import NotFoundError, PlanNotReadyError
from planner_mcp.jobs.ids import plan_of
from planner_mcp.jobs.job_content import cost_unit_of_job, job_view
from planner_mcp.jobs.job_lifecycle import JobState
from planner_mcp.jobs.job_model import Job, StoredScenario
from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.masking.field_masking import MASKED, masked_fields, plan_for, scenario_for
from planner_mcp.jobs.masking.masked_views import is_masked_for
from planner_mcp.jobs.plan_review import ReviewState
from planner_mcp.jobs.principals import ADMIN, Principal
from planner_mcp.render.reason_texts import plan_in_words
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.resources.resource_definition import (
    JSON,
    LONG_MS,
    SHORTLY_MS,
    Contents,
    ReadContext,
    ResourceMetadata,
    Template,
)
from planner_mcp.text import Json, compact, plain_fields, timestamp

ALL: Final = "all"
STATUSES: Final = (ALL, *(state.value for state in JobState), ReviewState.PROPOSED.value)
"""Values of `{status}`, in either case."""
PAGE_SIZE: Final = 20
MAX_PAGE_SIZE: Final = 50
LOG_LINES: Final = 100
JOB_ROW: Final = ("job_id", "status", "progress", "cost", "cost_in", "tickets_served", "tickets_total", "plan_id")
"""Fields of a job that a line of a list begins with."""
_limiter: Final = FairLimiter()
"""Days and plans written at the same time."""

Variables = Mapping[str, str]


async def _scenario(reading: ReadContext, variables: Variables) -> Contents:
    kept = await reading.job_service.scenario_to_show(reading.principal, variables["scenario_id"])
    is_masked = is_masked_for(reading.principal, kept)
    computed_on = await reading.job_service.scenario(reading.principal, kept.id) if is_masked else kept
    return await _limiter.run(reading.principal.id, _scenario_contents, reading.principal, kept, computed_on.input_hash)


def _scenario_contents(principal: Principal, kept: StoredScenario, input_hash: str) -> Contents:
    hidden = masked_fields(principal, kept.body)
    about = {
        "scenario_id": kept.id,
        "revision": kept.revision,
        "parent_id": kept.parent_id,
        "created_at": timestamp(kept.created_at),
        "input_hash": input_hash,
        "last_job_id": kept.last_job_id,
        **({} if kept.principal == principal.id else {"is_own": False}),  # of whose plan the caller is a reviewer
        "scenario": {**({MASKED: hidden} if hidden else {}), **scenario_for(principal, kept.body)},
    }
    return replace(_json(about), masked=tuple(hidden))


async def _result(reading: ReadContext, variables: Variables) -> Contents:
    """Read the newest solve of a scenario with its plan, as far as there is one."""
    kept = await reading.job_service.scenario(reading.principal, variables["scenario_id"])
    if kept.last_job_id is None:
        raise NotFoundError("This scenario was not solved yet, or its last job has expired.")
    job = await reading.job_service.job(reading.principal, kept.last_job_id)
    body = {"scenario_id": kept.id, **job_view(job)}
    try:
        plan = await reading.job_service.plan_of_job(reading.principal, job.id)
    except (PlanNotReadyError, NotFoundError):
        return _json(body)  # the status says why there is none
    return await _limiter.run(reading.principal.id, _plan_contents, reading.principal, body, plan, "plan")


async def _job(reading: ReadContext, variables: Variables) -> Contents:
    job = await reading.job_service.job(reading.principal, variables["job_id"])
    times = {"submitted_at": job.submitted_at, "started_at": job.started_at, "finished_at": job.finished_at}
    body = {
        **job_view(job),
        **reading.job_service.reviews.view_for(reading.principal, job),
        **await _approved_plan(reading, job),
        **_scenario_of(job),
        "solve_time": f"PT{job.request.solve_time_s}S",
        "engine": job.request.engine,
        "seed": job.request.seed,
        "priority": job.request.priority,
        **{name: timestamp(moment) for name, moment in times.items() if moment is not None},
    }
    return _json(body, is_final=job.is_terminal and job.review is None)


async def _approved_plan(reading: ReadContext, job: Job) -> Json:
    """Return the plan that changes of its owner start from, where it is another one; none once the day has expired."""
    if job.review is None or job.principal != reading.principal.id:
        return {}
    try:
        approved = await reading.job_service.reviews.approved_job(reading.principal, job.request.scenario_id)
    except NotFoundError:
        return {}
    return {} if approved in (None, job.id) else {"approved_plan": plan_of(approved)}


async def _jobs(reading: ReadContext, variables: Variables) -> Contents:
    status = variables["status"].lower()
    page, size = int(variables.get("page", "1")), int(variables.get("size", str(PAGE_SIZE)))
    if status not in STATUSES or size > MAX_PAGE_SIZE:
        raise NotFoundError(f"status is one of {', '.join(STATUSES)}; size is at most {MAX_PAGE_SIZE}.")
    offset = (page - 1) * size
    state = None if status == ALL else status
    found, total = await reading.job_service.jobs(reading.principal, state, offset=offset, count=size)
    body: Json = {"status": status.upper(), "page": page, "size": size, "total": total}
    if offset + size < total:
        body["next"] = f"jobs://vrp/status/{variables['status']}?page={page + 1}&size={size}"
    return _json({**body, "jobs": [job_row(job) for job in found]})


def job_row(job: Job) -> Json:
    """Return a job as a line of a list."""
    view = {**job_view(job), "cost_in": cost_unit_of_job(job)}
    row = {name: view[name] for name in JOB_ROW if view.get(name) is not None}
    return {**row, **_scenario_of(job), "submitted_at": timestamp(job.submitted_at)}


def _scenario_of(job: Job) -> Json:
    known = {"scenario_name": job.scenario_name, "planning_date": job.planning_date}
    return {"scenario_id": job.request.scenario_id, **{name: text for name, text in known.items() if text}}


async def _limits(reading: ReadContext, _variables: Variables) -> Contents:
    return _json(await reading.job_service.allowance(reading.principal))


async def _workers(reading: ReadContext, _variables: Variables) -> Contents:
    rows = [plain_fields(row) | {"silent_s": round(row.silent_s, 1)} for row in await reading.job_service.workers()]
    return _json({"workers": rows})


async def _schema(_reading: ReadContext, _variables: Variables) -> Contents:
    return Contents(JSON, compact(Scenario.model_json_schema()), ttl_ms=LONG_MS, is_public=True)


async def _plan(reading: ReadContext, variables: Variables) -> Contents:
    plan = await reading.job_service.plan(reading.principal, variables["plan_id"])
    body = {"plan_id": variables["plan_id"]}
    return await _limiter.run(reading.principal.id, _plan_contents, reading.principal, body, plan)


def _plan_contents(principal: Principal, body: Json, plan: Plan, name: str | None = None) -> Contents:
    """Return a plan as a principal may see it, under a name or beside what a body says."""
    shown = plan_in_words(plan_for(principal, plan)).as_json()
    return _json({**body, **({name: shown} if name else shown)})


async def _log(reading: ReadContext, variables: Variables) -> Contents:
    date = variables["date"]
    page = await reading.logs.read(date, variables.get("after", "0"), LOG_LINES)
    body: Json = {"date": date, "entries": [plain_fields(entry) for entry in page.entries]}
    if page.next is not None:
        body["next"] = f"logs://vrp/{date}?after={page.next}"
    return _json(body)


def _json(body: Any, *, is_final: bool = False) -> Contents:
    text = compact(body)
    return Contents(JSON, text, ttl_ms=LONG_MS if is_final else SHORTLY_MS)


SCENARIO: Final = Template(
    "scenario://{scenario_id}",
    ResourceMetadata(
        "scenario", "Scenario", "A day of work as it was given: agents, tickets, locations.", JSON, priority=0.6
    ),
    _scenario,
)
RESULT: Final = Template(
    "scenario://{scenario_id}/result",
    ResourceMetadata(
        "scenario-result", "Result of a scenario", "Its newest solve: status, figures, and the plan.", JSON
    ),
    _result,
)
JOB: Final = Template(
    "job://{job_id}",
    ResourceMetadata("job", "Job", "Status, progress and outcome of one solve.", JSON, priority=0.7),
    _job,
)
JOBS: Final = Template(
    "jobs://vrp/status/{status}?page={page}&size={size}",
    ResourceMetadata(
        "jobs",
        "Jobs by status",
        f"Your jobs, newest first; status is one of {', '.join(STATUSES)} (plans that wait for review).",
        JSON,
    ),
    _jobs,
    optional=frozenset({"page", "size"}),
)
LIMITS: Final = Template(
    "limits://vrp",
    ResourceMetadata(
        "limits", "Limits", "What you may use of this server, what you use now, and how busy it is.", JSON
    ),
    _limits,
)
WORKERS: Final = Template(
    "workers://vrp",
    ResourceMetadata(
        "workers",
        "Workers",
        "Each worker with version, slots, jobs it solves and its last heartbeat.",
        JSON,
        ("user",),
        0.2,
    ),
    _workers,
    scope=ADMIN,
)
SCHEMA: Final = Template(
    "schema://scenario",
    ResourceMetadata(
        "scenario-schema", "Schema of a scenario", "JSON Schema with every field, its unit and meaning.", JSON
    ),
    _schema,
)
LOG: Final = Template(
    "logs://vrp/{date}",
    ResourceMetadata("log", "Audit log of a day", "Who did what, with what outcome; UTC.", JSON, ("user",), 0.2),
    _log,
    scope=ADMIN,
    optional=frozenset({"after"}),
)
PLAN: Final = Template(
    "plan://{plan_id}",
    ResourceMetadata(
        "plan", "Plan", "Routes with timed visits, unassigned tickets with reasons, costs.", JSON, priority=0.8
    ),
    _plan,
)
