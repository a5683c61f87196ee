"""`enable_toolset`: further tools for this session (SPEC T9).

Owns which sets a client may switch on and the answer. Where a session keeps its sets is the transport's. Revisions
without a session have `?toolsets=` on the URL alone, because their lists must not vary per connection.
"""

from typing import Annotated, Final, Literal

from pydantic import Field

from planner_mcp.errors import Fault, input_error
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import ToolOutput

_BY_URL: Final = "Ask for the set by ?toolsets= on the URL, or PLANNER_TOOLSETS at the server."


class EnableToolsetArguments(Arguments):
    """Arguments of `enable_toolset`."""

    toolset: Annotated[Literal["planning", "data", "admin"], Field(description="the set")]


class EnableToolsetResult(ToolOutput):
    """Result of `enable_toolset`."""

    tools: list[str]


async def run(ctx: ToolContext, asked: EnableToolsetArguments) -> ToolResult:
    """Switch a set on for the session of the call; `list_changed` follows."""
    if ctx.enable_toolset is None:
        raise input_error(
            [Fault("/toolset", "This connection has no session that could keep a tool set.", "", _BY_URL)]
        )
    if (tools := await ctx.enable_toolset(asked.toolset)) is None:
        raise input_error(
            [Fault("/toolset", "This deployment does not offer the set.", "", "PLANNER_TOOLSETS_ALLOWED names them.")]
        )
    text = f"On for this session: {', '.join(tools)}. Read tools/list anew."
    return ToolResult(EnableToolsetResult(tools=tools), text)


TOOL: Final = Tool(
    name="enable_toolset",
    title="Enable tool set",
    description=(
        "Add tools to this session: planning (re-plan, alternatives, compare, explain), data (lists, import, "
        "resources), admin (webhooks)."
    ),
    arguments=EnableToolsetArguments,
    output=EnableToolsetResult,
    hints=ToolAnnotations(idempotent=True),
    run=run,
    scope=READ,
    meta={"example": {"toolset": "planning"}},
)
