"""A real planner on a real store, and a call that goes through the dispatcher."""

from typing import Any

import pytest

from planner_mcp.jobs.model import LOCAL
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.settings import Settings
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.tools.base import ErrorResult, ToolContext, ToolResult
from planner_mcp.tools.registry import REGISTRY, dispatch
from tests.shared.plans import Call

TRACE = "0" * 32


@pytest.fixture
def heard() -> list[tuple[float, float | None, str]]:
    """Progress notifications of the calls of a test."""
    return []


@pytest.fixture
def ctx(
    store: RedisStore, feed: RedisFeed, settings: Settings, heard: list[tuple[float, float | None, str]]
) -> ToolContext:
    """The context of a call by the local user."""

    async def hear(progress: float, total: float | None, message: str) -> None:
        heard.append((progress, total, message))

    planner = Planner(store, feed, settings=settings)
    return ToolContext(LOCAL, planner, settings, hear, TRACE)


@pytest.fixture
def call(ctx: ToolContext) -> Call:
    """Call a tool by its name."""
    tools = {tool.name: tool for tool in REGISTRY}

    async def call(name: str, args: Any = None, context: ToolContext = ctx) -> ToolResult | ErrorResult:
        return await dispatch(tools[name], context, {} if args is None else args)

    return call
