"""HTTP answers of the planner's own routes: JSON, and errors with their status.

Owns the HTTP status of each error. The body of an error is the same on every transport (SPEC T7).
"""

from typing import Any, Final, Protocol

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from planner_mcp.errors import (
    AuthorityUnavailableError,
    CapacityError,
    EngineError,
    ForbiddenOriginError,
    InputError,
    InsufficientScopeError,
    JobError,
    LinkExpiredError,
    MethodNotAllowedError,
    NotFoundError,
    PlannerError,
    StoreError,
    TooLargeError,
    UnauthenticatedError,
    UnsupportedEncodingError,
    WrongHostError,
)
from planner_mcp.server.tools.answers.error_results import error_body
from planner_mcp.telemetry import new_trace_id, trace_id

_STATUSES: Final[tuple[tuple[type[PlannerError], int], ...]] = (
    (NotFoundError, 404),
    (MethodNotAllowedError, 405),
    (TooLargeError, 413),
    (UnsupportedEncodingError, 415),
    (WrongHostError, 421),
    (LinkExpiredError, 410),
    (UnauthenticatedError, 401),
    (InsufficientScopeError, 403),
    (ForbiddenOriginError, 403),
    (InputError, 400),
    (CapacityError, 429),
    (JobError, 409),
    (StoreError, 503),
    (AuthorityUnavailableError, 503),
    (EngineError, 500),
)
"""The first class that fits."""
STORE_RETRY_S: Final = 2
"""`Retry-After` while the store is unavailable."""


class Refusal(Protocol):
    """`refusal` in the form of a protocol."""

    def __call__(self, error: PlannerError, *, headers: dict[str, str] | None = None) -> Response:
        """Return the answer to a request that is refused."""
        ...


def status_of(error: PlannerError) -> int:
    """Return the HTTP status of an error."""
    return next((status for cls, status in _STATUSES if isinstance(error, cls)), 500)


def refusal(
    error: PlannerError, *, headers: dict[str, str] | None = None, body: dict[str, Any] | None = None
) -> JSONResponse:
    """Return the answer an error becomes, with `Retry-After` where coming back can help.

    Args:
        error: What was refused.
        headers: Further response headers.
        body: The body, where a protocol has its own form of errors.
    """
    further = dict(headers or {})
    wait_s = error.retry_after_s if error.retry_after_s is not None else _usual_wait(error)
    if wait_s is not None:
        further["Retry-After"] = str(max(1, round(wait_s)))
    return JSONResponse(body or error_body(error, trace_id() or new_trace_id()), status_of(error), further)


def method_refused(request: Request, allowed: str) -> Response | None:
    """Return the 405 of a request whose method is not served, None if it is."""
    if request.method in allowed.split(", "):
        return None
    return refusal(MethodNotAllowedError(), headers={"Allow": allowed})


def _usual_wait(error: PlannerError) -> float | None:
    return STORE_RETRY_S if isinstance(error, StoreError | CapacityError | AuthorityUnavailableError) else None


def json_answer(body: Any, status: int = 200) -> JSONResponse:
    """Return JSON that no cache keeps."""
    return JSONResponse(body, status, {"Cache-Control": "no-store"})


def _http_fault(_request: Request, fault: Exception) -> Response:
    """Answer what routing refuses: an unknown path, a method no route takes."""
    status = fault.status_code if isinstance(fault, HTTPException) else 500
    headers = dict(fault.headers or {}) if isinstance(fault, HTTPException) else {}
    error = MethodNotAllowedError() if status == 405 else NotFoundError("Nothing is served at this path.")
    return refusal(error, headers=headers)


def _unexpected(_request: Request, _fault: Exception) -> Response:
    """Answer a bug; the server logs it, the caller learns a trace id alone (SPEC T8)."""
    return refusal(PlannerError())


HANDLERS: Final = {HTTPException: _http_fault, Exception: _unexpected}
"""For `Starlette(exception_handlers=…)`."""
