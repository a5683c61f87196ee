"""An error as a tool's result, with as many of its faults as the budget holds (SPEC T6, T9)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pydantic import Field

from planner_mcp.errors import Fault, PlannerError, grouped, listing_only
from planner_mcp.server.tools.answers.token_estimates import estimated_tokens, table_tokens
from planner_mcp.server.tools.tool_definition import ErrorResult
from planner_mcp.server.tools.tool_output import FaultOutput, ToolOutput
from planner_mcp.text import Json, compact

MAX_ERROR_TOKENS: Final = 360
"""Estimated tokens one error may cost; faults beyond are counted, not listed."""
_ANY_OF_THESE: Final = "Use one of these"
"""How the hint begins that says no more than what is accepted."""
_LONG_LIST: Final = 120
"""Characters of what is accepted that many faults leave room for."""
_ENTRIES_SHARE: Final = 0.5
"""Share of the room that ids and values of grouped faults may take, divided among the groups."""


class ErrorOutput(ToolOutput):
    """What a refused or failed call returns."""

    code: int = Field(description="number of its kind, as in the manifest")
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
    return ErrorResult(output, compact(output.as_json()), error)


def error_body(error: PlannerError, trace_id: str) -> Json:
    """Return `error.as_json()` within the budget, with `errors_omitted` where there are more faults than it lists.

    What does not fit is first grouped: equal mistakes of several entries as one fault with their ids and values. After
    that each says once what to write. Then go hints, from the last fault on, but for unknown names, which say nothing
    without the field that was meant; then the last faults.
    """
    body = error.as_json(trace_id)
    room = MAX_ERROR_TOKENS - estimated_tokens(compact({**body, "errors": []}))
    listed = [dict(fault) for fault in body["errors"]]
    if not _fits(listed, room):
        shares = grouped(error.errors)
        listed = [_with_entries_within(fault, _ENTRIES_SHARE * room / len(shares)) for fault in shares]
        if not _fits(listed, room):
            _shorten(listed, shares, room)
    while len(listed) > 1 and not _fits(listed, room):
        listed.pop()
    omitted = error.found - sum(fault.get("count", 1) for fault in listed)
    if omitted <= 0:
        return {**body, "errors": listed}
    return {**body, "message": listing_only(body["message"], len(listed)), "errors": listed, "errors_omitted": omitted}


def _shorten(listed: list[Json], faults: Sequence[Fault], room: float) -> None:
    """Leave of each fault one of what is accepted and the hint, which says it too; then take from those at the end."""
    earlier = set[str]()
    for brief, fault in zip(listed, faults, strict=True):
        if fault.count == 1 and fault.kind in ("unknown", "missing"):  # its place says which it is
            brief.pop("which", None)
        has_instruction = bool(fault.hint) and fault.kind != "missing" and not fault.hint.startswith(_ANY_OF_THESE)
        accepted = "" if has_instruction else brief["accepted"]
        if not has_instruction:
            brief.pop("hint")
        if not accepted or accepted in earlier:
            brief.pop("accepted")
        elif len(accepted) > _LONG_LIST:
            brief["accepted"] = f"{accepted[:_LONG_LIST].rpartition(', ')[0]}, …"
        earlier.add(accepted)
    for brief, fault in [*zip(listed, faults, strict=True)][::-1]:
        if _fits(listed, room):
            break
        if fault.kind != "unknown" or len(listed) == 1:
            brief.pop("accepted", None)
            brief.pop("hint", None)


def _fits(faults: list[Json], room: float) -> bool:
    return sum(map(_tokens_of, faults)) <= room


def _tokens_of(fault: Json) -> float:
    """Return about how many tokens a fault costs: its sentences, and its entries, which are ids and values."""
    sentences = {name: value for name, value in fault.items() if name != "which"}
    return estimated_tokens(compact(sentences)) + table_tokens(compact(fault.get("which", [])))


def _with_entries_within(fault: Fault, room: float) -> Json:
    """Return a fault that names as many of its entries as there is room for, one at least."""
    kept = len(fault.which)
    while kept > 1 and table_tokens(compact(fault.which[:kept])) > room:
        kept -= 1
    return replace(fault, which=fault.which[:kept]).as_json()
