"""Protocol faults as JSON-RPC errors whose `data` has one shape everywhere (SPEC T7).

Owns which standard code an error of the planner travels under. Mistakes in a tool's arguments are tool results and
never come here.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp_types.jsonrpc import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)

from planner_mcp.errors import (
    AbandonedRequestError,
    AccessError,
    InputError,
    InvalidMessageError,
    InvalidParameterError,
    PlannerError,
    StoreError,
    StoreUnavailableError,
    UnknownMethodError,
    UnknownSessionError,
)
from planner_mcp.telemetry import new_trace_id, trace_id
from planner_mcp.text import Json

_AWAY: Final = frozenset(each.code for each in (StoreError, StoreUnavailableError, AbandonedRequestError))

_METHOD_ERRORS: Final[dict[int, type[PlannerError]]] = {
    PARSE_ERROR: InvalidMessageError,
    INVALID_REQUEST: InvalidMessageError,
    HEADER_MISMATCH: InvalidMessageError,
    METHOD_NOT_FOUND: UnknownMethodError,
    INVALID_PARAMS: InvalidParameterError,
    CONNECTION_CLOSED: AbandonedRequestError,
}


def rpc_code(error: PlannerError) -> int:
    """Return the standard JSON-RPC code an error travels under."""
    if isinstance(error, UnknownMethodError):
        return METHOD_NOT_FOUND
    if isinstance(error, InvalidMessageError | UnknownSessionError):
        return INVALID_REQUEST
    if isinstance(error, InputError):
        return INVALID_PARAMS
    return INVALID_REQUEST if isinstance(error, AccessError) else INTERNAL_ERROR


def rpc_data(error: PlannerError) -> Json:
    """Return the `data` of a JSON-RPC error: `{code, type, message, traceId, errors, …}`."""
    return error.as_json(trace_id() or new_trace_id())


def data_for(rpc: int, message: str) -> Json:
    """Return the `data` for an error that only has a JSON-RPC code, as the SDK raises them."""
    return rpc_data(_METHOD_ERRORS.get(rpc, PlannerError)(message or None))


def rpc_error(error: PlannerError, *, request_id: Any = None, code: int | None = None) -> Json:
    """Return a whole JSON-RPC error response."""
    number = rpc_code(error) if code is None else code
    body = {"code": number, "message": error.translated_message(), "data": rpc_data(error)}
    return {"jsonrpc": "2.0", "id": request_id, "error": body}


def is_unavailable(answer: Mapping[str, Any]) -> bool:
    """Return whether a JSON-RPC answer says that store or replica is away: over HTTP a 503 (SPEC J7)."""
    data = answer.get("error", {}).get("data")
    return isinstance(data, dict) and data.get("code") in _AWAY
