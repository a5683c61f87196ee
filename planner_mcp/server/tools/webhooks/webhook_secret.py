"""`webhook_secret`: the secret that signs a caller's webhooks, shown once (SPEC W1, W5)."""

from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.jobs.webhooks.delivery_records import SigningSecret
from planner_mcp.server.tools.tool_definition import WRITE, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Timestamp, ToolOutput
from planner_mcp.text import timestamp


class SecretArguments(Arguments):
    """Arguments of `webhook_secret`."""

    action: Annotated[Literal["show", "rotate"], Field(description="show works once; rotate makes a new one")] = "show"


class WebhookSecretResult(ToolOutput):
    """Result of `webhook_secret`."""

    created_at: Timestamp
    secret: str | None = None
    old_secrets_until: list[str] | None = None


async def run(ctx: ToolContext, asked: SecretArguments) -> ToolResult:
    """Return the secret once, or make a new one."""
    note = await (ctx.webhooks.rotate if asked.action == "rotate" else ctx.webhooks.reveal)(ctx.principal.id)
    return ToolResult(_output(note), _text(note))


def _output(note: SigningSecret) -> WebhookSecretResult:
    return WebhookSecretResult(
        created_at=timestamp(note.created_at),
        secret=note.secret,
        old_secrets_until=[timestamp(moment) for moment in note.old_until] or None,
    )


def _text(note: SigningSecret) -> str:
    made = timestamp(note.created_at)
    if note.secret is None:
        return f"The webhook secret, made {made}, was shown before. action=rotate makes a new one; both sign for 24 h."
    about = f"made {made}; it is not shown again. Keep it where the webhook receiver reads it."
    return f"{note.secret}\n{about}"


TOOL: Final = Tool(
    name="webhook_secret",
    title="Webhook secret",
    description=(
        "Show the whsec_ secret that signs your webhooks (Standard Webhooks); this works once. "
        "rotate makes a new secret, and both sign for 24 h."
    ),
    arguments=SecretArguments,
    output=WebhookSecretResult,
    hints=ToolAnnotations(),
    run=run,
    scope=WRITE,
    toolset="admin",
    meta={"example": {"action": "show"}},
)
