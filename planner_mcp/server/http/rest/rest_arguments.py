"""The arguments of a tool out of a REST request: path, query, headers and body.

Owns the way from texts to JSON values, and the names by which faults are reported to the caller. Values are not judged
here: what a text cannot mean stays a text, and the tool refuses it at its place.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any, Final

from starlette.requests import Request

from planner_mcp.errors import Fault, UnsupportedMediaTypeError, input_error, placed
from planner_mcp.routing.scenario.synonyms import known_field_list
from planner_mcp.server.http.bodies.body_intake import decoded_in, has_content_type
from planner_mcp.server.http.bodies.json_reading import UnreadableJsonError
from planner_mcp.server.http.responses.media_types import JSON
from planner_mcp.server.http.rest.keyed_requests import key_in
from planner_mcp.server.http.rest.rest_operations import IDEMPOTENCY_KEY, MERGE_PATCH, RestOperation
from planner_mcp.server.http.routes.http_endpoint import IN_PATHS, check_query
from planner_mcp.server.tools.arguments.lookup_errors import JOB, OF_A_JOB, OF_A_SCENARIO, SCENARIO
from planner_mcp.server.tools.large_arguments import large_arguments_in
from planner_mcp.text import Json

_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
_OPERATIONS: Final = {
    JOB[1]: IN_PATHS["job_id"][1],
    SCENARIO[1]: IN_PATHS["scenario_id"][1],
    OF_A_SCENARIO: "This is a scenario_id: POST /v1/jobs takes it and returns the job_id.",
    OF_A_JOB: "This is of a job: GET /v1/jobs/{job_id}/plan shows its plan, "
    "POST /v1/jobs/{job_id}/resolve plans on from it.",
}
"""Hints that lead to a tool, as the operations that answer the same."""
_NEAR: Final = "Did you mean "
_WAIT: Final = re.compile(r'(?:^|,)\s*wait\s*=\s*"?([0-9]{1,6})"?\s*(?=[,;]|$)', re.IGNORECASE)


async def arguments_from_request(operation: RestOperation, request: Request) -> Any:
    """Return the arguments of the tool of an operation.

    Raises:
        InputError: A parameter has no place here, or the body is no JSON.
        UnsupportedMediaTypeError: The body is of another kind.
    """
    filled = _filled(operation, request)
    if not operation.has_body:
        return _completed(operation, filled, _from_query(operation, request))
    check_query(request, of_body=operation.arguments)
    body = await _body(operation, request)
    complete = partial(_completed, operation, filled)
    large = large_arguments_in(body)
    if large is None:
        return complete(body)
    if filled or operation.body_argument:
        large.complete = complete
    return body


def wait_preferred(operation: RestOperation, request: Request) -> float | None:
    """Return the seconds that `Prefer: wait` asks for, as many as the tool takes (RFC 7240, 4.3); None for none."""
    found = _WAIT.search(", ".join(request.headers.getlist("prefer")))
    if found is None or not operation.takes_wait:
        return None
    return min(int(found[1]), int(operation.arguments["wait_s"]["maximum"]))


def named_as_asked(operation: RestOperation) -> AbstractContextManager[None]:
    """Return a block in which the faults of an error name parameters as the request does."""
    names = {argument: name for name, argument in {**operation.renamed, **operation.filled}.items()}

    def place(fault: Fault) -> Fault:
        first, slash, inner = fault.path[1:].partition("/")
        fault = replace(fault, hint=_OPERATIONS.get(fault.hint, fault.hint))
        is_field = fault.kind == "unknown" and not slash  # of the body, and called as the argument is
        if operation.body_argument and first == operation.body_argument and not is_field:
            return replace(fault, path=slash + inner)
        if fault.kind == "unknown":  # reported as it was written
            return fault if slash else _among_parameters(fault, operation, names)
        if first not in names:
            return fault
        problem = fault.problem.replace(f"parameter {first} ", f"parameter {names[first]} ", 1)
        return replace(fault, path=f"/{names[first]}{slash}{inner}", problem=problem)

    return placed(place)


def _among_parameters(fault: Fault, operation: RestOperation, names: Mapping[str, str]) -> Fault:
    """Return the fault of an unknown parameter with those that there are here, where it lists those of the tool."""
    if fault.accepted not in (known_field_list(operation.tool.input_schema, is_whole=whole) for whole in (True, False)):
        return fault
    near = fault.hint.removeprefix(_NEAR).removesuffix("?")
    hint = f"{_NEAR}{names[near]}?" if near in names else "" if near in operation.hidden else fault.hint
    return replace(fault, accepted=_parameters(operation), hint=hint)


def _parameters(operation: RestOperation) -> str:
    return ", ".join([*operation.arguments, *(("cursor",) if operation.is_list else ())])


def _filled(operation: RestOperation, request: Request) -> Json:
    """Return the arguments that path and headers fill."""
    found: Json = {}
    for name, argument in operation.filled.items():
        value = request.path_params.get(name) if name != IDEMPOTENCY_KEY else key_in(request)
        if value is not None:
            found[argument] = value
    if (wait_s := wait_preferred(operation, request)) is not None:
        found["wait_s"] = wait_s
    return found


def _completed(operation: RestOperation, filled: Mapping[str, Any], given: Any) -> Any:
    """Return what came in query or body with what path and headers say.

    Raises:
        InputError: Query or body says what path or headers say, or what has no place here.
    """
    if operation.body_argument:
        return {operation.body_argument: given, **filled}
    if not isinstance(given, dict):
        return given
    elsewhere = {*operation.renamed.values(), *operation.filled.values(), *operation.hidden}
    misplaced = (elsewhere & given.keys()) - operation.arguments.keys()
    if misplaced:
        accepted = _parameters(operation)
        faults = [Fault(f"/{name}", "This has no place here.", accepted, kind="unknown") for name in sorted(misplaced)]
        raise input_error(faults)
    return {**filled, **{operation.renamed.get(name, name): value for name, value in given.items()}}


def _from_query(operation: RestOperation, request: Request) -> Json:
    query = request.query_params
    return {name: _value(query.getlist(name), operation.arguments.get(name, {})) for name in query}


def _value(texts: Sequence[str], schema: Mapping[str, Any]) -> Any:
    """Return what texts of a parameter mean by its schema; of one that came twice and is no list, all of them."""
    if schema.get("type") == "array":
        return [_meant(text, schema.get("items", {})) for text in texts]
    return _meant(texts[0], schema) if len(texts) == 1 else list(texts)


def _meant(text: str, schema: Mapping[str, Any]) -> Any:
    if schema.get("type") in ("integer", "number") and _NUMBER.fullmatch(text):
        return json.loads(text)
    if schema.get("type") == "boolean" and text in ("true", "false"):
        return text == "true"
    return text


async def _body(operation: RestOperation, request: Request) -> Any:
    if not await request.body():
        if operation.body_argument:
            raise input_error([Fault("", "The body is missing.", "a JSON object", kind="missing")])
        return {}
    accepted = (JSON, MERGE_PATCH) if operation.body_argument else (JSON,)
    if not has_content_type(request, *accepted):
        problem = "Content-Type is not that of JSON."
        raise UnsupportedMediaTypeError(problem, errors=[Fault("/Content-Type", problem, " or ".join(accepted))])
    try:
        return decoded_in(request.scope).value
    except UnreadableJsonError as error:
        raise input_error(error.errors or [Fault("", str(error), "a JSON object")]) from None
