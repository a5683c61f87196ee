"""The planner with the named test tools, resources and prompts of the official conformance suite added.

Owns nothing a deployment uses: the suite asks any server for `test_simple_text`, `test://static-text` and their like,
so this room adds them to the same kernel behind the same front. `python -m planner_mcp.testing serve` runs it with the
options of `planner-mcp serve`.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from starlette.applications import Starlette

from planner_mcp.app import open_doors, open_house
from planner_mcp.settings import Settings
from planner_mcp.store.watch_log import WatchLog
from planner_mcp.testing.fixture import Fixture

__all__ = ["conformance_app"]


@asynccontextmanager
async def conformance_app(settings: Settings, *, drain: anyio.Event) -> AsyncIterator[Starlette]:
    """Open one replica as `planner_mcp.app.open_app` does, with the fixtures added."""
    async with open_house(settings, drain) as house:
        house.kernel.add(Fixture(house.store.redis, WatchLog(house.store.redis).announce))
        async with open_doors(house, drain) as app:
            yield app
