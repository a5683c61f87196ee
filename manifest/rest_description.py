"""The OpenAPI document of the REST face, made from the table of its operations (SPEC O5).

Owns the form of the document (OpenAPI 3.1.1) and what it says beyond the operations: links from one step of a job to
the next, the events of a job, uploads, webhooks. Schemas are those of the tools. `manifest_builder.py` writes it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import planner_mcp
from manifest import resource_schemas, server_identity
from manifest.argument_examples import with_examples
from manifest.resource_schemas import SCHEMAS, ref
from planner_mcp.jobs.field_meanings import with_meanings
from planner_mcp.jobs.principals import READ, SCOPES, WRITE
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.http.responses.http_responses import PROBLEM_TYPE
from planner_mcp.server.http.responses.media_types import JSON, PNG
from planner_mcp.server.http.rest.rest_operations import (
    DOCUMENTS,
    IDEMPOTENCY_KEY,
    MAX_KEY_CHARS,
    MERGE_PATCH,
    OPERATIONS,
    RestDocument,
    RestOperation,
)
from planner_mcp.server.http.routes.files_api import MAX_NAME
from planner_mcp.server.resources.json_resources import PLAN, SCENARIO
from planner_mcp.server.tools.answers.notification_schemas import notification_schemas
from planner_mcp.server.tools.jobs import list_jobs
from planner_mcp.server.tools.scenarios import create_scenario, list_scenarios
from planner_mcp.server.tools.tool_output import FaultOutput, whole_schema
from planner_mcp.text import Json

VERSION: Final = "3.1.1"
_RESPONSES: Final = "#/components/responses/"
_TEXT: Final = {"type": "string"}
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": 100}
_BINARY: Final = {"type": "string", "format": "binary"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_REFUSALS: Final = {
    400: "A parameter or the body is wrong; `errors` lists every mistake.",
    401: "A valid access token is needed.",
    403: "The access token lacks a scope, another person must take this step, or a page of another origin asks.",
    404: "Nothing of the caller's has this name.",
    406: "None of the media types in Accept is offered.",
    409: "The state of the job does not allow this, there is no plan yet, or the same request is under way.",
    412: "It is no longer as If-Match says.",
    413: "The body is too large.",
    415: "The body is of another media type.",
    421: "This server does not answer under this Host.",
    422: "The input is well-formed and contradicts itself, or an Idempotency-Key came with another body.",
    429: "Too many requests, or a quota is used up; come back after Retry-After.",
    500: "Something failed inside the server; quote traceId.",
    503: "The store, an issuer or a road engine does not answer; come back after Retry-After.",
}
_OF_ANY: Final = (400, 401, 403, 404, 406, 409, 421, 422, 429, 500, 503)
_OF_BODY: Final = (413, 415)
_ITEM: Final = {"list_jobs": "Job", "list_scenarios": "Scenario"}
_EXAMPLES: Final = {"plan_day": {"scenario": create_scenario.EXAMPLE, "solve_time": "PT5S"}}
"""Of bodies, where the tool's own example names something that must exist."""
_JOB_STEPS: Final = ("query_vrp_status", "read_progress", "finish_vrp_job", "cancel_vrp_job", "get_plan", "read_plan")
_LINKS: Final = {
    "create_scenario": {"get_scenario": "scenario_id", "solve_vrp": "", "revise_scenario": "scenario_id"},
    "import_scenario": {"get_scenario": "scenario_id", "solve_vrp": ""},
    "revise_scenario": {"get_scenario": "scenario_id", "solve_vrp": ""},
    "solve_vrp": dict.fromkeys((*_JOB_STEPS, "follow_job"), "job_id"),
    "plan_day": dict.fromkeys((*_JOB_STEPS, "follow_job"), "job_id"),
    "resolve_vrp": dict.fromkeys((*_JOB_STEPS, "follow_job"), "job_id"),
}
"""By operation, what its answer leads to and which parameter it fills; empty: `scenario_id` of a body."""


def document() -> Json:
    """Return the whole document."""
    paths: dict[str, Json] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    for shown in DOCUMENTS:
        paths.setdefault(shown.path, {})["get"] = _document(shown)
    for path, methods in _further().items():
        paths.setdefault(path, {}).update(methods)
    about = "The planner over HTTP. An operation is the MCP tool of that name: same checks, scopes, masking and audit."
    body = {
        "openapi": VERSION,
        "info": {
            "title": server_identity.PLANNER.title,
            "version": planner_mcp.__version__,
            "description": f"{server_identity.PLANNER.description} {about}",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],
        "tags": [{"name": name} for name in dict.fromkeys(_tag(path) for path in paths)],
        "paths": paths,
        "webhooks": {"notification": {"post": _webhook()}},
    }
    components = {"schemas": _schemas(), "responses": _refusals(), "securitySchemes": _security()}
    components["schemas"] = dict(_used(components["schemas"], (body, components["responses"])))
    whole: Json = _for_generators({**body, "components": components})
    return whole


def _for_generators(value: Any) -> Any:
    """Return a document in the form that generators of clients read: each list says what it holds, and no value that
    stands for an absent one is a list or an object.
    """
    if isinstance(value, list):
        return [_for_generators(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: _for_generators(each) for name, each in value.items()}
    if found.get("type") == "array" and "prefixItems" not in found:
        found.setdefault("items", {})
    if isinstance(found.get("default"), list | dict) and {"type", "$ref", "anyOf"} & found.keys():
        del found["default"]
    return found


def _operation(operation: RestOperation) -> Json:
    tool = operation.tool
    found: Json = {
        "operationId": tool.name,
        "tags": [_tag(operation.path)],
        "summary": tool.title,
        "description": tool.description,
        "security": _needs(tool.scope),
        "parameters": list(_parameters(operation)),
    }
    if operation.has_body:
        found["requestBody"] = _request_body(operation)
    if "callback_url" in operation.arguments:
        found["callbacks"] = {"notification": {"{$request.body#/callback_url}": {"post": _webhook()}}}
    return {**found, "responses": _responses(operation)}


def _parameters(operation: RestOperation) -> Iterator[Json]:
    properties = operation.tool.input_schema["properties"]
    for name in operation.path_parameters:
        yield _parameter("path", name, properties[operation.filled[name]] | {"minLength": 1})
    if not operation.has_body:
        required = operation.tool.input_schema.get("required", ())
        for name, schema in operation.arguments.items():
            yield _parameter("query", name, schema, is_required=name in required)
    if operation.is_list:
        yield _parameter("query", "cursor", {**_TEXT, "description": "next_cursor of the page before, alone"})
    yield from _headers(operation)


def _headers(operation: RestOperation) -> Iterator[Json]:
    if IDEMPOTENCY_KEY in operation.filled:
        argument = operation.tool.input_schema["properties"][operation.filled[IDEMPOTENCY_KEY]]
        yield _parameter("header", IDEMPOTENCY_KEY, argument)
    if operation.keeps_answers:
        about = "same key and request, same answer; nothing is made twice"
        bounds = {"minLength": 1, "maxLength": MAX_KEY_CHARS, "description": about}
        yield _parameter("header", IDEMPOTENCY_KEY, {**_TEXT, **bounds})
    if operation.takes_wait:
        yield _parameter("header", "Prefer", {**_TEXT, "description": "wait=20: answer within so many seconds"})
    if operation.method == "GET":
        yield _if_none_match()
    if operation.path in {shown.path for shown in DOCUMENTS}:
        yield _parameter("header", "If-Match", {**_TEXT, "description": "ETag of what the change is meant for"})


def _if_none_match() -> Json:
    return _parameter("header", "If-None-Match", {**_TEXT, "description": "ETag of the answer that the client has"})


def _parameter(where: str, name: str, schema: Json, *, is_required: bool = False) -> Json:
    bare = {key: value for key, value in schema.items() if key != "description"}
    about = {"description": schema["description"]} if "description" in schema else {}
    return {"name": name, "in": where, "required": is_required or where == "path", **about, "schema": bare}


def _request_body(operation: RestOperation) -> Json:
    if operation.body_argument:
        content = {
            "schema": ref(_body_name(operation)),
            "example": operation.tool.meta["example"][operation.body_argument],
        }
        return {"required": True, "content": {MERGE_PATCH: content, JSON: content}}
    schema = ref("Scenario" if operation.tool is create_scenario.TOOL else _body_name(operation))
    example = _EXAMPLES.get(operation.tool.name) or {
        name: value for name, value in operation.tool.meta["example"].items() if name in operation.arguments
    }
    content = {"schema": schema, **({"example": example} if example else {})}
    is_required = bool(set(operation.tool.input_schema.get("required", ())) & operation.arguments.keys())
    return {"required": is_required, "content": {JSON: content}}


def _body_name(operation: RestOperation) -> str:
    return "".join(part.capitalize() for part in operation.tool.name.split("_")) + "Body"


def _body_schema(operation: RestOperation) -> Json:
    """Return the schema of a body."""
    if operation.body_argument:
        whole: Json = operation.tool.input_schema["properties"][operation.body_argument]
        return whole
    required = [name for name in operation.tool.input_schema.get("required", ()) if name in operation.arguments]
    needs = {"required": required} if required else {}
    return _nullable({"type": "object", **needs, "properties": operation.arguments, "additionalProperties": False})


def _nullable(schema: Json) -> Json:
    """Return the schema of an object in which null stands for absent."""
    if "properties" not in schema:
        return schema
    required = schema.get("required", ())
    properties = {
        name: each if name in required or {"type": "null"} in each.get("anyOf", ()) else _or_null(each)
        for name, each in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def _or_null(schema: Json) -> Json:
    about = {key: value for key, value in schema.items() if key in ("default", "description")}
    bare = {key: value for key, value in schema.items() if key not in about}
    return {"anyOf": [bare, {"type": "null"}], **about}


def _responses(operation: RestOperation) -> Json:
    content = {JSON: {"schema": ref(_result_name(operation))}}
    links = {name: _link(name, parameter) for name, parameter in _LINKS.get(operation.tool.name, {}).items()}
    success = {"description": "Done.", "content": content, **({"links": links} if links else {})}
    if operation.location:
        success["headers"] = {"Location": {"description": "Where it is read.", "schema": _TEXT}}
    if operation.method == "GET":
        success["headers"] = _tag_header()
    found = {str(operation.status): success}
    if operation.pending:
        found[str(operation.pending)] = {**success, "description": "The job is queued or solving."}
    further = (*(_OF_BODY if operation.has_body else ()), *((412,) if operation.method == "PATCH" else ()))
    return found | _common((*_OF_ANY, *further), has_tag=operation.method == "GET")


def _tag_header() -> Json:
    return {"ETag": {"description": "Changes with the answer.", "schema": _TEXT}}


def _common(statuses: Iterable[int], *, has_tag: bool = False) -> Json:
    known = {"304": {"description": "The client has it."}} if has_tag else {}
    return known | {str(status): {"$ref": f"{_RESPONSES}{status}"} for status in sorted(statuses)}


def _link(name: str, parameter: str) -> Json:
    if not parameter:
        return {"operationId": name, "requestBody": {"scenario_id": "$response.body#/scenario_id"}}
    return {"operationId": name, "parameters": {f"path.{parameter}": f"$response.body#/{parameter}"}}


def _result_name(operation: RestOperation) -> str:
    return f"{_ITEM[operation.tool.name]}List" if operation.is_list else operation.tool.output.__name__


def _document(shown: RestDocument) -> Json:
    content = {media_type: {"schema": _BINARY if media_type == PNG else _TEXT} for media_type in shown.uris}
    content[JSON] = {"schema": ref(shown.schema)}
    success = {"description": "Done.", "headers": _tag_header(), "content": content}
    parameters = [_parameter("path", name, _NAME) for name in shown.path_parameters]
    return {
        "operationId": shown.name,
        "tags": [_tag(shown.path)],
        "summary": shown.title,
        "security": _needs(READ),
        "parameters": [*parameters, _if_none_match()],
        "responses": {"200": success} | _common(_OF_ANY, has_tag=True),
    }


def _further() -> dict[str, Json]:
    """Return what is served beside tools and resources: events and uploads."""
    job = _parameter("path", "job_id", _NAME)
    resumed = _parameter("header", "Last-Event-ID", {**_TEXT, "description": "id of the last event received"})
    goes_on = {"type": "boolean", "default": False, "description": "go on after the end with the steps of the review"}
    reviews = _parameter("query", "reviews", goes_on)
    stream = {"text/event-stream": {"schema": _TEXT, "x-sse-data": ref("Notification")}}
    events: Json = {"type": "array", "items": ref("Notification"), "description": "the newest of them, oldest first"}
    history = _json({"events": events})
    file_name = _parameter("path", "name", {**_TEXT, "minLength": 1, "maxLength": MAX_NAME})
    matrix = _parameter("path", "matrix", {**_TEXT, "minLength": 1})
    rows: Json = {"type": "array", "items": {"type": "array", "items": {"type": "number", "minimum": 0}}}
    tables: Json = {
        "type": "object",
        "description": "distances, durations or both: a row for each location, row from, column to",
        "required": ["locations"],
        "properties": {
            "locations": {"type": "array", "items": _TEXT, "description": "ids, in the order of the rows"},
            "distances": {**rows, "description": "metres"},
            "durations": {**rows, "description": "seconds"},
        },
        "additionalProperties": False,
    }
    upload = {"schema": tables, "example": {"locations": ["D", "A"], "distances": [[0, 900], [950, 0]]}}
    card = {
        "matrix": {**_TEXT, "description": "name for travel.matrix of a scenario", "examples": ["mat-0-…"]},
        "locations": {**_COUNT, "description": "rows of each table"},
        "given": {"type": "array", "items": _TEXT, "description": "tables that were sent"},
    }
    file_card = {
        "file": {**_TEXT, "description": "name for import_scenario"},
        "bytes": {**_COUNT, "description": "bytes kept"},
    }
    binary = {"application/octet-stream": {"schema": _BINARY}}
    return {
        "/v1/jobs/{job_id}/events": {
            "get": _plain(
                "follow_job",
                "Events of a job",
                READ,
                [job, reviews, resumed],
                {"200": {**stream, **history}, "204": None},
            )
        },
        "/v1/events": {"get": _plain("follow_jobs", "Events of all jobs", READ, [resumed], {"200": stream})},
        "/v1/files/{name}": {
            "put": _plain("put_file", "Upload a file to import", WRITE, [file_name], {"201": _json(file_card)}, binary)
        },
        "/v1/matrices": {"put": _plain("put_matrix", "Upload travel", WRITE, [], {"201": _json(card)}, {JSON: upload})},
        "/v1/matrices/{matrix}": {
            "get": _plain("get_matrix", "Outline of a matrix", READ, [matrix], {"200": _json(card)}),
            "delete": _plain("delete_matrix", "Remove a matrix", WRITE, [matrix], {"204": None}),
        },
    }


def _json(properties: Json) -> Json:
    return {JSON: {"schema": {"type": "object", "required": list(properties), "properties": properties}}}


def _plain(
    name: str,
    summary: str,
    scope: str,
    parameters: list[Json],
    answers: dict[str, Json | None],
    body: Json | None = None,
) -> Json:
    tag = {"follow_job": "jobs", "follow_jobs": "events", "put_file": "files"}.get(name, "matrices")
    found = {
        status: {"description": "Done."} | ({} if content is None else {"content": content})
        for status, content in answers.items()
    }
    return {
        "operationId": name,
        "tags": [tag],
        "summary": summary,
        "security": _needs(scope),
        "parameters": parameters,
        **({} if body is None else {"requestBody": {"required": JSON in body, "content": body}}),
        "responses": found | _common((*_OF_ANY, *(() if body is None else _OF_BODY))),
    }


def _webhook() -> Json:
    headers = {
        "webhook-id": "the same for each attempt",
        "webhook-timestamp": "seconds since 1970",
        "webhook-signature": "v1,… of Standard Webhooks; several while a secret changes",
    }
    return {
        "summary": "A job has ended, or its plan was reviewed",
        "parameters": [_parameter("header", name, {**_TEXT, "description": about}) for name, about in headers.items()],
        "requestBody": {"required": True, "content": {JSON: {"schema": ref("Notification")}}},
        "responses": {"2XX": {"description": "Taken; any other status is tried again, but 410 and 413 end it."}},
    }


def _needs(scope: str) -> list[Json]:
    return [{"bearer": [scope]}, {}]


def _security() -> Json:
    about = f"An API key or an access token with the scopes that an operation names, of {', '.join(sorted(SCOPES))}."
    return {"bearer": {"type": "http", "scheme": "bearer", "description": about}}


def _schemas() -> dict[str, Json]:
    scenario = Scenario.model_json_schema(ref_template=SCHEMAS + "{model}")
    parts = with_examples({**scenario.pop("$defs", {}), "Scenario": scenario})
    found = {name: _nullable(part) for name, part in parts.items()} | resource_schemas.components()
    for operation in OPERATIONS:
        if operation.has_body:
            found[_body_name(operation)] = with_examples(_body_schema(operation))
        if not operation.is_list:
            found[operation.tool.output.__name__] = operation.tool.output_schema
    for shown, metadata in (("StoredScenario", SCENARIO.metadata), ("StoredPlan", PLAN.metadata)):
        found[shown] = resource_schemas.described(metadata)["schema"]
    found["Limits"] = {"type": "object"}
    kinds = {f"{kind.capitalize()}Notification": schema for kind, schema in notification_schemas().items()}
    found |= kinds | {"Notification": {"oneOf": [ref(name) for name in kinds]}}  # generators give each kind its name
    found["Problem"] = _problem()
    lists = (list_jobs, list_scenarios)
    return found | {f"{_ITEM[each.TOOL.name]}List": _list_of(each.COLUMNS) for each in lists}


def _problem() -> Json:
    """Return the schema of an error: RFC 9457 with the fields that every transport sends."""
    always: Json = {
        "type": {**_TEXT, "format": "uri-reference", "description": "URI of the kind of error"},
        "title": {**_TEXT, "description": "the kind of error in words"},
        "status": {"type": "integer", "description": "HTTP status"},
        "detail": {**_TEXT, "description": "what is wrong with this request"},
        "name": {**_TEXT, "description": "of the code"},
        "code": {"type": "integer", "description": "stable"},
        "traceId": _TEXT,
        "errors": {"type": "array", "items": whole_schema(FaultOutput)},
        "retryable": {"type": "boolean"},
    }
    fields = with_meanings(always | {"retry_after_s": {"type": "number"}})
    return {"type": "object", "required": list(always), "properties": fields}


def _list_of(columns: Mapping[str, Json]) -> Json:
    item = {"type": "object", "required": list(columns), "properties": with_meanings(columns)}
    listed: Json = {
        "items": {"type": "array", "items": item, "description": "newest first"},
        "total": {**_COUNT, "description": "entries on all pages"},
    }
    cursor = {**_TEXT, "description": "for the next page; absent on the last"}
    return {"type": "object", "required": list(listed), "properties": listed | {"next_cursor": cursor}}


def _refusals() -> Json:
    content = {PROBLEM_TYPE: {"schema": ref("Problem")}}
    return {str(status): {"description": meaning, "content": content} for status, meaning in _REFUSALS.items()}


def _used(schemas: dict[str, Json], roots: Iterable[Any]) -> Iterator[tuple[str, Json]]:
    """Yield the schemas that are referred to, in the order of their names."""
    found: set[str] = set()
    pending = list(roots)
    while pending:
        names = set(_names(pending.pop())) - found
        found |= names
        pending += [schemas[name] for name in names]
    return ((name, schemas[name]) for name in sorted(found))


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(ref := value.get("$ref"), str) and ref.startswith(SCHEMAS):
            yield ref.removeprefix(SCHEMAS)
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _names(each)


def _tag(path: str) -> str:
    """Return the noun a path is listed under."""
    parts = path.split("/")[2:]
    return "plans" if "plan" in parts else parts[0]
