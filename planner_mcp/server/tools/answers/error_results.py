"""An error as a tool's result, with as many of its faults as the budget holds (SPEC T6, T9)."""

from typing import Any, Final

from pydantic import Field

from planner_mcp.errors import PlannerError, listing_only
from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.server.tools.tool_definition import ErrorResult
from planner_mcp.server.tools.tool_output import FaultOutput, ToolOutput
from planner_mcp.text import compact

MAX_ERROR_TOKENS: Final = 360
"""Estimated tokens one error may cost; faults beyond are counted, not listed."""


class ErrorOutput(ToolOutput):
    """What a refused or failed call returns."""

    code: int
    type: str
    message: str
    traceId: str  # noqa: N815 the name on the wire
    errors: list[FaultOutput]
    retryable: bool
    retry_after_s: float | None = None
    errors_omitted: int | None = Field(None, ge=1)


def error_result(error: PlannerError, trace_id: str) -> ErrorResult:
    """Return an error as a tool's result."""
    output = ErrorOutput.model_validate(error_body(error, trace_id))
    return ErrorResult(output, compact(output.as_json()))


def error_body(error: PlannerError, trace_id: str) -> dict[str, Any]:
    """Return `error.as_json()` with as many faults as the budget holds, and `errors_omitted` where there are more."""
    body = error.as_json(trace_id)
    room = MAX_ERROR_TOKENS - estimated_tokens(compact({**body, "errors": []}))
    kept: list[dict[str, str]] = []
    for fault in body["errors"]:
        room -= estimated_tokens(compact(fault))
        if room < 0 and kept:
            break
        kept.append(fault)
    if len(kept) == len(body["errors"]):
        return body
    message = listing_only(body["message"], len(kept))
    return {**body, "message": message, "errors": kept, "errors_omitted": error.found - len(kept)}
