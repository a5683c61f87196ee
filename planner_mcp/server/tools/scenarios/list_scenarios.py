"""`list_scenarios`: the caller's scenarios, newest first (SPEC T5)."""

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import Field

from planner_mcp.server.tools.answers.table_result import TablePage, table_result
from planner_mcp.server.tools.tool_definition import (
    READ,
    Arguments,
    PageNumber,
    Tool,
    ToolAnnotations,
    ToolContext,
    ToolResult,
)
from planner_mcp.text import Json, plain, timestamp

COLUMNS: Final[Mapping[str, Json]] = {
    "scenario_id": {"type": "string"},
    "name": {"type": "string", "description": "name of the day"},
    "revision": {"type": "integer", "minimum": 0},
    "last_job_id": {"type": ["string", "null"]},
    "created_at": {"type": "string", "format": "date-time"},
    "planning_date": {"type": ["string", "null"], "description": "its date, as it was written"},
}
"""The JSON Schema of each."""
MAX_NAME: Final = 40


class ScenariosArguments(Arguments):
    """Arguments of `list_scenarios`."""

    page: PageNumber = 1
    size: Annotated[int, Field(ge=1, le=20, description="scenarios a page")] = 10


async def run(ctx: ToolContext, asked: ScenariosArguments) -> ToolResult:
    """Return one page of scenarios."""
    offset = (asked.page - 1) * asked.size
    cards, total = await ctx.job_service.scenarios(ctx.principal, offset=offset, count=asked.size)
    rows = [
        [
            card.id,
            plain(card.name, MAX_NAME),
            card.revision,
            card.last_job_id,
            timestamp(card.created_at),
            card.planning_date or None,
        ]
        for card in cards
    ]
    return table_result("scenarios", COLUMNS, rows, page=asked.page, size=asked.size, total=total)


TOOL: Final = Tool(
    name="list_scenarios",
    title="List scenarios",
    description=(
        "List your scenarios, newest first, each with its newest job. Next: solve_vrp with a scenario_id, or "
        "read_resource scenario://<scenario_id>."
    ),
    arguments=ScenariosArguments,
    output=TablePage,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="data",
    meta={"example": {"page": 1}},
)
