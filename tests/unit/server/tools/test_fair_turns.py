"""Heavy work of several callers at one replica (SPEC J8)."""

from dataclasses import replace
from typing import Any

import pytest

from planner_mcp.jobs.limits.fair_limiter import FairLimiter
from planner_mcp.jobs.principals import SCOPES, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.resources import export_resources, rendering_resources
from planner_mcp.server.tools.arguments import plan_context
from planner_mcp.server.tools.scenarios import create_scenario, import_scenario
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.stored_plans import DAY, Call, created, solved
from tests.shared.tools.fair_turns import callers_waiting

pytestmark = pytest.mark.anyio
TABLE = {
    "format": "csv",
    "content": "id,location\na,A\n",
    "planning_date": "2025-07-15",
    "agents": [{"id": "v", "capacity": 9}],
}


def of(ctx: ToolContext, name: str) -> ToolContext:
    """Return the context of a call of another principal."""
    return replace(ctx, principal=Principal(name, SCOPES))


@pytest.mark.parametrize(
    ("room", "tool", "args"),
    [
        (create_scenario, "create_scenario", DAY),
        (import_scenario, "import_scenario", TABLE),
        (plan_context, "validate_scenario", {"scenario": DAY}),
    ],
    ids=["create", "import", "validate"],
)
async def test_many_calls_of_one_caller_do_not_hold_up_another(
    call: Call, ctx: ToolContext, room: Any, tool: str, args: dict[str, Any]
) -> None:
    """SPEC J8: its one call is not answered behind all of them."""

    async def by(name: str) -> None:
        assert not (await call(tool, args, of(ctx, name))).is_error

    assert await callers_waiting(room._limiter, lambda: by("ann"), lambda: by("ben")) == (2, 1)


@pytest.mark.parametrize(
    ("limiter", "template"),
    [
        (rendering_resources._limiter, rendering_resources.MAP_SVG),
        (rendering_resources._png_limiter, rendering_resources.MAP_PNG),
        (export_resources._limiter, export_resources.CSV),
    ],
    ids=["svg", "png", "csv"],
)
async def test_many_pictures_for_one_reader_do_not_hold_up_another(
    call: Call, ctx: ToolContext, store: RedisStore, limiter: FairLimiter, template: Any
) -> None:
    """SPEC J8: nor do its exports."""
    contexts = {name: of(ctx, name) for name in ("ann", "ben")}
    plans = {}
    for name, context in contexts.items():

        async def own(tool: str, args: Any = None, context: ToolContext = context) -> Any:
            return await call(tool, args, context)

        plans[name] = (await solved(own, store, await created(own), ["a", "b"])).replace("job-", "plan-", 1)

    async def by(name: str) -> None:
        reading = replace(ctx.reading, principal=contexts[name].principal)
        assert await template.read(reading, {"plan_id": plans[name]})

    assert await callers_waiting(limiter, lambda: by("ann"), lambda: by("ben")) == (2, 1)
