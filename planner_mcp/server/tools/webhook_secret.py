"""`webhook_secret`: the secret that signs a caller's webhooks, told once (SPEC W1, W5)."""

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from planner_mcp.errors import PlannerError
from planner_mcp.jobs.webhooks.delivery_records import SigningSecret
from planner_mcp.server.tools.tool_definition import (
    WRITE,
    Arguments,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
    parse,
    schema_of,
)
from planner_mcp.text import timestamp


class SecretArguments(Arguments):
    """Arguments of `webhook_secret`."""

    action: Annotated[Literal["show", "rotate"], Field(description="show works once; rotate makes a new one")] = "show"


_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "secret": {"type": "string"},
        "created_at": {"type": "string", "format": "date-time"},
        "old_secrets_until": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["created_at"],
}


async def run(ctx: ToolContext, args: dict[str, Any]) -> ToolResult:
    """Tell the secret once, or make a new one."""
    asked = parse(SecretArguments, args)
    if ctx.webhooks is None:
        raise PlannerError
    note = await (ctx.webhooks.rotate if asked.action == "rotate" else ctx.webhooks.reveal)(ctx.principal.id)
    return ToolResult(_structured(note), _text(note))


def _structured(note: SigningSecret) -> dict[str, Any]:
    structured: dict[str, Any] = {"created_at": timestamp(note.created_at)}
    if note.secret is not None:
        structured["secret"] = note.secret
    if note.old_until:
        structured["old_secrets_until"] = [timestamp(moment) for moment in note.old_until]
    return structured


def _text(note: SigningSecret) -> str:
    made = f"made {timestamp(note.created_at)}"
    if note.secret is None:
        return f"The webhook secret, {made}, was shown before. action=rotate makes a new one; both sign for 24 h."
    return f"{note.secret}\n{made}; it is not shown again. Keep it where the webhook receiver reads it."


TOOL: Final = Tool(
    name="webhook_secret",
    title="Webhook secret",
    description=(
        "Tell the whsec_ secret that signs your webhooks (Standard Webhooks), once; "
        "rotate makes a new one and both sign for 24 h."
    ),
    input_schema=schema_of(SecretArguments),
    output_schema=_OUTPUT,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="admin",
    meta={"example": {"action": "show"}},
)
