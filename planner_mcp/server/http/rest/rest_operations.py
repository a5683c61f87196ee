"""Which tool or resource answers which method and path under `/v1` (SPEC O5).

Owns the table that the routes, the scopes and the OpenAPI document are made from. An operation is a tool: its arguments
are what path, query, headers and body say together, and everything else about it (checks, scope, masking, audit) is the
tool's. A document is a resource in one or more media types.

Departures from a plain mapping of tools:

1. `enable_toolset` has no path: it belongs to a session of MCP, and REST has none.
2. Lists are pages by cursor instead of page numbers (`rest_pages.py`).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final

from starlette.routing import compile_path

from planner_mcp.server.http.responses.http_responses import REST_PREFIX
from planner_mcp.server.http.responses.media_types import CSV, GEOJSON, GPX, HTML, JSON, PNG, SVG
from planner_mcp.server.resources.report_folder import MIME_TYPES
from planner_mcp.server.tools.tool_definition import READ, Tool
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY, shown_tools
from planner_mcp.settings import Settings
from planner_mcp.text import Json

JOB: Final = REST_PREFIX + "jobs/{job_id}"
SCENARIO: Final = REST_PREFIX + "scenarios/{scenario_id}"
MERGE_PATCH: Final = "application/merge-patch+json"
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_TOOLS: Final = {tool.name: tool for tool in (*REGISTRY, *APP_REGISTRY)}


class _Path:
    """What has a path."""

    path: str

    @cached_property
    def path_parameters(self) -> tuple[str, ...]:
        """The names of the parts of the path that vary."""
        return tuple(compile_path(self.path)[2])

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What the path of a request looks like."""
        return compile_path(self.path)[0]


@dataclass(frozen=True)
class RestOperation(_Path):
    """A tool at a path."""

    method: str
    path: str
    tool: Tool
    status: int = 200
    """Of a success."""
    pending: int = 0
    """Status of a success whose job has not ended; 0 for the same."""
    location: str = ""
    """Path of what was made, filled from the answer."""
    renamed: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """By the name of a parameter here, the argument of the tool that it fills, where the two differ."""
    hidden: tuple[str, ...] = ()
    """Arguments of the tool that have no place here."""
    body_argument: str = ""
    """The argument that the whole body is; empty where the members of the body are arguments."""
    is_list: bool = False
    """Whether it answers pages by cursor."""

    @property
    def has_body(self) -> bool:
        """Whether arguments come in a body."""
        return self.method != "GET"

    @cached_property
    def filled(self) -> dict[str, str]:
        """By the name of a parameter of the path or a header, the argument that it fills."""
        names = {name: self.renamed.get(name, name) for name in self.path_parameters}
        return names | {name: argument for name, argument in self.renamed.items() if name == IDEMPOTENCY_KEY}

    @cached_property
    def arguments(self) -> Json:
        """The arguments that come in the query or the body, by their name here, each with its schema."""
        taken, names = {*self.filled.values(), *self.hidden}, {name: here for here, name in self.renamed.items()}
        properties = self.tool.input_schema["properties"]
        return {names.get(name, name): schema for name, schema in properties.items() if name not in taken}

    @property
    def keeps_answers(self) -> bool:
        """Whether a request that comes again with its `Idempotency-Key` gets the first answer: it creates something."""
        return self.has_body and bool(self.location or self.status == 202) and IDEMPOTENCY_KEY not in self.filled

    @property
    def takes_wait(self) -> bool:
        """Whether it can wait for the end of a job."""
        return "wait_s" in self.arguments


@dataclass(frozen=True)
class RestDocument(_Path):
    """A resource at a path."""

    path: str
    name: str
    title: str
    uris: Mapping[str, str]
    """URI by media type; the first is sent where the client does not care."""
    schema: str
    """Name of the schema of its JSON."""


IDEMPOTENCY_KEY: Final = "Idempotency-Key"
MAX_KEY_CHARS: Final = 200
JOB_PATH: Final = MappingProxyType({"status": 200, "pending": 202, "location": JOB})
"""Of operations that queue a job: 202 while it is under way."""


def _of(method: str, path: str, tool: str, **further: Any) -> RestOperation:
    return RestOperation(method, path if path.startswith("/") else REST_PREFIX + path, _TOOLS[tool], **further)


_PAGED: Final = {"is_list": True, "renamed": {"limit": "size"}, "hidden": ("page",)}
_OF_PLAN: Final = {"renamed": {"job_id": "plan"}}

OPERATIONS: Final = (
    _of("POST", "plan", "plan_day", **JOB_PATH),
    _of("POST", "scenarios", "create_scenario", status=201, location=SCENARIO),
    _of("GET", "scenarios", "list_scenarios", **_PAGED),
    _of("POST", "scenarios/validate", "validate_scenario"),
    _of("POST", "scenarios/import", "import_scenario", status=201, location=SCENARIO),
    _of("PATCH", SCENARIO, "revise_scenario", status=201, location=SCENARIO, body_argument="patch"),
    _of("POST", "jobs", "solve_vrp", **JOB_PATH, renamed={IDEMPOTENCY_KEY: "idempotency_key"}),
    _of("GET", "jobs", "list_jobs", **_PAGED),
    _of("GET", JOB, "query_vrp_status"),
    _of("POST", f"{JOB}/cancel", "cancel_vrp_job"),
    _of("POST", f"{JOB}/finish", "finish_vrp_job"),
    _of("POST", f"{JOB}/resolve", "resolve_vrp", **JOB_PATH, renamed={"job_id": "warm_from"}),
    _of("POST", f"{JOB}/alternatives", "solve_alternatives", status=202, **_OF_PLAN),
    _of("POST", f"{JOB}/what-if", "what_if", **_OF_PLAN),
    _of("GET", f"{JOB}/progress", "read_progress"),
    _of("POST", f"{JOB}/prove", "prove_plan", **JOB_PATH, renamed={"job_id": "plan"}),
    _of("GET", f"{JOB}/view", "read_view"),
    _of("GET", f"{JOB}/plan/table", "read_plan", hidden=("plan_id",)),
    _of("GET", f"{JOB}/plan/unassigned", "explain_unassigned", **_OF_PLAN),
    _of("GET", f"{JOB}/plan/fixes", "suggest_fixes", **_OF_PLAN),
    _of("POST", f"{JOB}/plan/propose", "propose_plan"),
    _of("POST", f"{JOB}/plan/review", "review_plan"),
    _of("POST", f"{JOB}/plan/publish", "publish_plan"),
    _of("POST", f"{JOB}/plan/share", "share_plan"),
    _of("GET", "plans/compare", "compare_plans"),
    _of("GET", "plans/weigh", "weigh_plans"),
    _of("GET", "resources", "read_resource"),
    _of("POST", "webhooks/secret", "webhook_secret"),
    _of("POST", "webhooks/deliveries", "webhook_deliveries"),
)
"""A path with a fixed last part stands before one that varies there."""

_PLAN: Final = "plan://{plan_id}"
DOCUMENTS: Final = (
    RestDocument(SCENARIO, "get_scenario", "Scenario", {JSON: "scenario://{scenario_id}"}, "StoredScenario"),
    RestDocument(
        f"{JOB}/plan",
        "get_plan",
        "Plan of a job",
        {
            JSON: _PLAN,
            CSV: f"{_PLAN}/stops.csv",
            MIME_TYPES[".xlsx"]: f"{_PLAN}/stops.xlsx",
            GEOJSON: f"{_PLAN}/routes.geojson",
            GPX: f"{_PLAN}/routes.gpx",
            SVG: f"{_PLAN}/map.svg",
            PNG: f"{_PLAN}/map.png",
            HTML: f"{_PLAN}/report.html",
        },
        "StoredPlan",
    ),
    RestDocument(REST_PREFIX + "limits", "get_limits", "Limits", {JSON: "limits://vrp"}, "Limits"),
)
"""What is read by a path."""


def offered_operations(settings: Settings) -> tuple[RestOperation, ...]:
    """Return the operations whose tools the deployment allows."""
    names = {tool.name for tool in (*shown_tools(settings, "all"), *APP_REGISTRY)}
    return tuple(operation for operation in OPERATIONS if operation.tool.name in names)


def scope_at(method: str, path: str) -> str:
    """Return the scope that a request needs, empty where nothing is served."""
    asked = "GET" if method == "HEAD" else method
    for operation in OPERATIONS:
        if operation.method == asked and operation.pattern.fullmatch(path):
            return operation.tool.scope
    is_read = asked == "GET" and any(document.pattern.fullmatch(path) for document in DOCUMENTS)
    return READ if is_read else ""
