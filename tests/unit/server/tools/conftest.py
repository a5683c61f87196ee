"""A real planner on a real store, and a call that goes through the dispatcher."""

from functools import cache
from typing import Any

import jsonschema
import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolContext, ToolResult
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.shared.scenarios.stored_plans import Call
from tests.shared.tools.tool_contexts import tool_context

TOOLS = {tool.name: tool for tool in (*REGISTRY, *APP_REGISTRY)}


@cache
def schema_checks(name: str) -> tuple[jsonschema.Draft202012Validator, jsonschema.Draft202012Validator]:
    """Return what checks a result against the schema that lists show, and against the whole one."""
    shown, whole = TOOLS[name].as_json()["outputSchema"], TOOLS[name].output_schema
    return jsonschema.Draft202012Validator(shown), jsonschema.Draft202012Validator(whole)


@pytest.fixture
def progress_events() -> list[tuple[float, float | None, str]]:
    """Progress notifications of the calls of a test."""
    return []


@pytest.fixture
def ctx(
    store: RedisStore, feed: EventFeed, settings: Settings, progress_events: list[tuple[float, float | None, str]]
) -> ToolContext:
    """The context of a call by the local user."""

    async def on_progress(progress: float, total: float | None, message: str) -> None:
        progress_events.append((progress, total, message))

    job_service = JobService(store, feed, settings=settings)
    return tool_context(store, job_service, settings, notify_progress=on_progress)


@pytest.fixture
def call(ctx: ToolContext) -> Call:
    """Call a tool by its name; what it returns must fit both schemas of the tool (SPEC T6)."""

    async def call(name: str, args: Any = None, context: ToolContext = ctx) -> ToolResult | ErrorResult:
        result = await dispatch(TOOLS[name], context, {} if args is None else args)
        shown, whole = schema_checks(name)
        assert list(shown.iter_errors(result.structured)) == []
        if not result.is_error:
            assert list(whole.iter_errors(result.structured)) == []
        return result

    return call
