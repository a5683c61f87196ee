"""The JSON Schema of each kind of resource, and which of its fields are sensitive (SPEC M1, R3).

Owns what the manifest says of the contents of resources. The schemas are made from the models and dataclasses that the
resources are written from; what is no JSON says its media type.
"""

from typing import Any, Final

from pydantic import TypeAdapter

from planner_mcp.jobs.field_meanings import FIELD_MEANINGS, with_meanings
from planner_mcp.jobs.masking.field_masking import KEYWORD, sensitive_fields
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.routing.plan import Plan
from planner_mcp.server.resources.json_resources import JOB_ROW
from planner_mcp.server.resources.resource_definition import JSON, ResourceMetadata
from planner_mcp.server.tools.answers.job_output import JobOutput
from planner_mcp.server.tools.tool_output import whole_schema

SCHEMAS: Final = "#/components/schemas/"
_TEXT: Final = {"type": "string"}
_TIME: Final = {"type": "string", "format": "date-time"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_OF_A_DAY: Final = tuple(sorted({name for names in sensitive_fields().values() for name in names}))
_OF_A_PLAN: Final = ("cost", "penalty", "input_hash")
_OF_A_JOB: Final = ("cost",)
_OF_A_LOG: Final = ("who", "subject", "tenant")
_SENSITIVE: Final = {
    **dict.fromkeys(("scenario", "plan-report", "plan-sheets", "plan-csv", "plan-geojson", "plan-gpx"), _OF_A_DAY),
    **dict.fromkeys(("plan", "scenario-result"), _OF_A_PLAN),
    **dict.fromkeys(("job", "jobs", "job-log"), _OF_A_JOB),
    **dict.fromkeys(("log", "log-text"), _OF_A_LOG),
}
"""By the name of a resource; masked for principals without `planner:sensitive`, or kept to administrators (logs)."""

_OF_PARTS: Final = {
    "Plan": {
        "status": {"description": FIELD_MEANINGS["plan_status"]},
        "routes": {"description": "one for each agent that sets out"},
        "unassigned": {"description": "tickets left out, each with its reason"},
    },
    "Visit": {"kind": {"description": "ticket, reload or break"}},
    "RecombinationRecord": {"columns": {"description": "most routes that it chose from"}},
    "ProofRecord": {"columns": {"description": "routes of the last linear program"}},
}
"""What fields mean in a part of a plan, where that is not what their names mean elsewhere."""


def described(metadata: ResourceMetadata) -> dict[str, Any]:
    """Return the `schema` of a resource's contents, and its `x-sensitive-fields` where there are any."""
    sensitive = _SENSITIVE.get(metadata.name)
    return {"schema": _schema(metadata), **({KEYWORD: list(sensitive)} if sensitive else {})}


def components() -> dict[str, Any]:
    """Return the shared schemas of what resources hold."""
    return {"Job": whole_schema(JobOutput), **_plan_parts(), "AuditEntry": _of_dataclass(AuditEntry)}


def _schema(metadata: ResourceMetadata) -> dict[str, Any]:
    if (known := _KNOWN.get(metadata.name)) is not None:
        return known
    if metadata.mime_type == JSON:
        return {"type": "object"}
    is_binary = not metadata.mime_type or metadata.mime_type in ("image/png", "application/pdf")
    media = {"contentMediaType": metadata.mime_type} if metadata.mime_type else {}
    return {"type": "string", **media, **({"contentEncoding": "base64"} if is_binary else {})}


def _plan_parts() -> dict[str, Any]:
    plan = _of_dataclass(Plan)
    parts = plan.pop("$defs", {})
    plan["required"] = [name for name in plan["required"] if name not in _OF_A_PLAN]
    return {"Plan": plan, **parts}


def _of_dataclass(kind: type) -> dict[str, Any]:
    schema = TypeAdapter(kind).json_schema(mode="serialization", ref_template=SCHEMAS + "{model}")
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            own = _OF_PARTS.get(part["title"], {})
            fields = {name: {**field, **own.get(name, {})} for name, field in part["properties"].items()}
            part["properties"] = with_meanings(fields)
    return schema


def _object(required: tuple[str, ...], **fields: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": with_meanings(fields)}


def ref(name: str) -> dict[str, str]:
    """Return the reference to a shared schema."""
    return {"$ref": SCHEMAS + name}


_IS_OWN: Final = {"type": "boolean", "description": "false: somebody else's, whose plan the reader may review"}
_OF_ITS_DAY: Final = {
    "scenario_id": _TEXT,
    "scenario_name": _TEXT,
    "planning_date": {**_TEXT, "description": "date of the day, as it was written"},
    "submitted_at": _TIME,
}
"""What a job says of the day it plans, and when it was queued."""
_JOB_FIELDS: Final = whole_schema(JobOutput)["properties"]

_KNOWN: Final = {
    "scenario": _object(
        ("scenario_id", "revision", "created_at", "scenario"),
        scenario_id=_TEXT,
        revision=_COUNT,
        parent_id={"type": ["string", "null"]},
        created_at=_TIME,
        input_hash=_TEXT,
        last_job_id={"type": ["string", "null"]},
        is_own=_IS_OWN,
        scenario=ref("Scenario"),
    ),
    "scenario-result": {
        "allOf": [ref("Job"), _object(("scenario_id",), scenario_id=_TEXT, plan=ref("Plan"))],
    },
    "job": {
        "allOf": [
            ref("Job"),
            _object(
                ("scenario_id", "submitted_at"),
                **_OF_ITS_DAY,
                started_at={**_TIME, "description": "when a worker first took it"},
                finished_at={**_TIME, "description": "when it ended"},
                solve_time={**_TEXT, "format": "duration", "description": "time it was given"},
                engine=_TEXT,
                seed=_COUNT,
                priority={**_COUNT, "description": "1 can wait, 9 is urgent"},
                review={
                    **_JOB_FIELDS["review"],
                    "properties": _JOB_FIELDS["review"]["properties"]
                    | {"steps": {"type": "array", "items": _TEXT, "description": "what the reader may do next"}},
                },
                is_own={**_IS_OWN, "description": f"where plans are reviewed; {_IS_OWN['description']}"},
                approved_plan={**_TEXT, "description": "where it is another plan that is approved for the day"},
            ),
        ],
    },
    "jobs": _object(
        ("status", "page", "size", "total", "jobs"),
        status={**_TEXT, "description": "state of the jobs, ALL, or PROPOSED: their plans wait for review"},
        page=_COUNT,
        size={**_COUNT, "description": "jobs a page"},
        total=_COUNT,
        next=_TEXT,
        jobs={
            "type": "array",
            "items": _object(
                ("job_id", "status", "progress", "scenario_id", "submitted_at"),
                **{name: _JOB_FIELDS[name] for name in JOB_ROW},
                **_OF_ITS_DAY,
            ),
        },
    ),
    "plan": {"allOf": [_object(("plan_id",), plan_id=_TEXT), ref("Plan")]},
    "log": _object(
        ("date", "entries"),
        date={"type": "string", "format": "date", "description": "day of the log, in UTC"},
        entries={"type": "array", "items": ref("AuditEntry")},
        next=_TEXT,
    ),
}
"""By the name of a resource."""
