"""`review_plan`: a person approves or rejects a proposed plan (SPEC A5).

Where the client can ask its user, the user decides and not the model: what a call says is then only what the form
suggests (`server/mcp/methods/elicitation.py`).
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner_mcp.jobs.plan_review import MAX_REASON, ReviewStep
from planner_mcp.jobs.principals import APPROVE
from planner_mcp.server.tools.arguments.elicitation_questions import Question
from planner_mcp.server.tools.arguments.lookup_errors import PLAN, naming_argument
from planner_mcp.server.tools.arguments.plan_context import job_id_of
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds
from planner_mcp.server.tools.propose_plan import JobName
from planner_mcp.server.tools.review_result import ReviewResult, review_result
from planner_mcp.server.tools.tool_definition import (
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    refuse,
    schema_of,
)
from planner_mcp.server.tools.tool_output import Json
from planner_mcp.text import plain

_DECISIONS: Final = ("approve", "reject")


class ReviewArguments(Arguments):
    """Arguments of `review_plan`."""

    job_id: JobName
    decision: Annotated[Literal["approve", "reject"], Field(description="of a person, never your own")]
    reason: Annotated[str, Field(max_length=MAX_REASON, description="why it is rejected")] = ""


async def run(ctx: ToolContext, args: Json) -> ToolResult:
    """Approve or reject the proposed plan of a job."""
    asked = parse(ReviewArguments, args)
    if asked.decision == "reject" and not asked.reason.strip():
        raise refuse("/reason", "A rejection needs its reason.", "what has to change", "Ask who rejects it.")
    reason = asked.reason.strip() if asked.decision == "reject" else ""
    with naming_argument("/job_id", PLAN):
        step = ReviewStep(asked.decision)
        job = await ctx.job_service.decide(ctx.principal, job_id_of(asked.job_id), step, reason)
    return await review_result(ctx, job)


def question_of(args: Any, _bounds: ScenarioBounds) -> Question | None:
    """Return what the user of a client is asked before a review; None for arguments that are refused anyway."""
    if not isinstance(args, dict) or not isinstance(args.get("job_id"), str):
        return None
    suggested = args.get("decision")
    decision: Json = {"type": "string", "title": "Decision", "enum": list(_DECISIONS)}
    decision |= {"default": suggested} if suggested in _DECISIONS else {}
    reason = {"type": "string", "title": "Reason, for a rejection", "maxLength": MAX_REASON}
    schema = {"type": "object", "properties": {"decision": decision, "reason": reason}, "required": ["decision"]}
    message = f"Do you approve the plan of {plain(args['job_id'], 60)}? You see it with read_plan or on the dashboard."
    return Question(message, schema, with_decision)


def with_decision(args: Mapping[str, Any], answer: Mapping[str, Any]) -> Json:
    """Return the arguments with what the user decided; without an answer nothing is decided."""
    asked = {name: value for name, value in args.items() if name not in ("decision", "reason")}
    return {**asked, **{name: answer[name] for name in ("decision", "reason") if answer.get(name)}}


TOOL: Final = Tool(
    name="review_plan",
    title="Review plan",
    description=(
        "Approve or reject a proposed plan on behalf of a person who has seen it. Ask them first; their client may ask "
        "again. A rejection needs a reason."
    ),
    input_schema=schema_of(ReviewArguments),
    output=ReviewResult,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    scope=APPROVE,
    toolset="planning",
    meta={"example": {"job_id": "job-0-…", "decision": "approve"}},
    is_review=True,
)
