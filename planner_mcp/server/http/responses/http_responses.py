"""HTTP answers of the planner's own routes: JSON, and errors with their status.

Owns the HTTP status of each error, and its form: under `/v1` problem details (RFC 9457), elsewhere the body that every
transport has (SPEC T7).
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from planner_mcp.errors import (
    AccessError,
    AuthorityUnavailableError,
    CapacityError,
    EngineError,
    Fault,
    IdempotencyConflictError,
    InputError,
    InvalidScenarioError,
    JobError,
    LinkExpiredError,
    MethodNotAllowedError,
    NotAcceptableError,
    NotFoundError,
    PlannerError,
    PreconditionFailedError,
    RequestUnderWayError,
    RoutingProviderUnavailableError,
    StoreError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedEncodingError,
    UnsupportedFeatureError,
    UnsupportedMediaTypeError,
    WrongHostError,
)
from planner_mcp.server.tools.answers.error_results import error_body
from planner_mcp.telemetry import new_trace_id, trace_id
from planner_mcp.text import Json
from planner_mcp.translation import translated

_STATUSES: Final[tuple[tuple[type[PlannerError], int], ...]] = (
    (NotFoundError, 404),
    (MethodNotAllowedError, 405),
    (TooLargeError, 413),
    (UnsupportedEncodingError, 415),
    (UnsupportedMediaTypeError, 415),
    (NotAcceptableError, 406),
    (PreconditionFailedError, 412),
    (InvalidScenarioError, 422),
    (UnsupportedFeatureError, 422),
    (IdempotencyConflictError, 422),
    (WrongHostError, 421),
    (LinkExpiredError, 410),
    (UnauthenticatedError, 401),
    (AccessError, 403),
    (InputError, 400),
    (RequestUnderWayError, 409),
    (CapacityError, 429),
    (JobError, 409),
    (StoreError, 503),
    (AuthorityUnavailableError, 503),
    (RoutingProviderUnavailableError, 503),
    (EngineError, 500),
)
"""The first class that fits."""
STORE_RETRY_S: Final = 2
"""`Retry-After` while the store, an issuer or a road engine is unavailable."""
REST_PREFIX: Final = "/v1/"
PROBLEM_TYPE: Final = "application/problem+json"
PROBLEM_PAGE: Final = "/docs#error-"
"""Where the code of an error is explained; the code follows."""


class Refusal(Protocol):
    """`refusal` in the form of a protocol."""

    def __call__(self, error: PlannerError, *, headers: dict[str, str] | None = None) -> Response:
        """Return the answer to a request that is refused."""
        ...


def status_of(error: PlannerError) -> int:
    """Return the HTTP status of an error."""
    return next((status for cls, status in _STATUSES if isinstance(error, cls)), 500)


def refusal(error: PlannerError, *, headers: dict[str, str] | None = None, body: Json | None = None) -> JSONResponse:
    """Return the answer an error becomes, with `Retry-After` where coming back can help.

    Args:
        error: What was refused.
        headers: Further response headers.
        body: The body, where a protocol has its own form of errors.
    """
    found = body or error_body(error, trace_id() or new_trace_id())
    return JSONResponse(found, status_of(error), _with_retry(error, headers))


def problem(error: PlannerError, *, headers: dict[str, str] | None = None) -> JSONResponse:
    """Return the answer an error becomes under `/v1`: problem details with every fault (RFC 9457)."""
    body = problem_body(error, trace_id() or new_trace_id())
    return JSONResponse(body, body["status"], _with_retry(error, headers), media_type=PROBLEM_TYPE)


def problem_body(error: PlannerError, trace: str) -> Json:
    """Return an error as problem details; what the RFC has no member for is named as on every transport."""
    found = error.as_json(trace)
    name, message = found.pop("type"), found.pop("message")
    about = {"type": f"{PROBLEM_PAGE}{error.code}", "title": translated(error.summary), "status": status_of(error)}
    return {**about, "detail": message, "name": name, **found}


def plain_path(path: str) -> str:
    """Return a path without the prefix of REST, for what is served with and without it."""
    return path.removeprefix(REST_PREFIX[:-1])


def refusal_at(path: str) -> Refusal:
    """Return the refusal in the form of what is served at a path."""
    return problem if path.startswith(REST_PREFIX) else refusal


def _with_retry(error: PlannerError, headers: dict[str, str] | None) -> dict[str, str]:
    wait_s = error.retry_after_s if error.retry_after_s is not None else _usual_wait(error)
    return {**(headers or {}), **({} if wait_s is None else {"Retry-After": str(max(1, round(wait_s)))})}


def method_refused(request: Request, allowed: str) -> Response | None:
    """Return the 405 of a request whose method is not served, None if it is."""
    if request.method in allowed.split(", "):
        return None
    return refusal_at(request.url.path)(_method_error(allowed), headers={"Allow": allowed})


def _method_error(allowed: str) -> MethodNotAllowedError:
    return MethodNotAllowedError(errors=[Fault("/method", MethodNotAllowedError.summary, allowed)])


def _usual_wait(error: PlannerError) -> float | None:
    away = StoreError | CapacityError | AuthorityUnavailableError | RoutingProviderUnavailableError
    return STORE_RETRY_S if isinstance(error, away) else None


def json_answer(body: Any, status: int = 200) -> JSONResponse:
    """Return JSON that no cache keeps."""
    return JSONResponse(body, status, {"Cache-Control": "no-store"})


def _http_fault(request: Request, fault: HTTPException) -> Response:
    """Answer what routing refuses: an unknown path, a method no route takes."""
    headers = dict(fault.headers or {})
    error = _method_error(headers.get("Allow", "")) if fault.status_code == 405 else _NOT_SERVED
    return refusal_at(request.url.path)(error, headers=headers)


def _unexpected(request: Request, _fault: Exception) -> Response:
    """Answer a bug; the server logs it, the caller learns a trace id alone (SPEC T8)."""
    return refusal_at(request.url.path)(PlannerError())


_NOTHING: Final = "Nothing is served at this path."
_NOT_SERVED: Final = NotFoundError(
    _NOTHING, errors=[Fault("/path", _NOTHING, "a path that GET /openapi.json lists", "GET /docs shows them.")]
)
HANDLERS: Final[Mapping[Any, Any]] = {HTTPException: _http_fault, Exception: _unexpected}
"""For `Starlette(exception_handlers=…)`."""
