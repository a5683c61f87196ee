"""Tools over a real store, with a real worker that solves what they ask for."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.model import LOCAL
from planner_mcp.jobs.service import Planner
from planner_mcp.notify.feed import RedisFeed
from planner_mcp.settings import Settings
from planner_mcp.store.connect import connect
from planner_mcp.tools.base import ToolContext
from planner_mcp.tools.registry import REGISTRY, dispatch
from tests.integration.workers.conftest import Shop

LONGEST_S = 60
"""Nothing in these tests takes longer."""


class Desk:
    """A client of the tools, with workers behind them."""

    def __init__(self, ctx: ToolContext) -> None:
        self.ctx = ctx
        self._tools = {tool.name: tool for tool in REGISTRY}

    async def use(self, tool: str, /, **args: Any) -> dict[str, Any]:
        """Call a tool and return its structured content."""
        result = await dispatch(self._tools[tool], self.ctx, args)
        assert not result.is_error, result.text
        return result.structured

    async def plan(self, job_id: str) -> dict[str, Any]:
        """Wait for the end of a job and return its plan."""
        with anyio.fail_after(LONGEST_S):
            async with contextlib.aclosing(self.ctx.planner.follow(self.ctx.principal, job_id)) as events:
                async for event in events:
                    last = event
        assert last.data["status"] == "COMPLETED", last
        return await self.ctx.planner.plan_of_job(self.ctx.principal, job_id)

    async def solve(self, body: dict[str, Any], solve_time: str = "PT1S") -> str:
        """Create a scenario, solve it to its end, and return the job id."""
        scenario_id = (await self.use("create_scenario", **body))["scenario_id"]
        job_id = str((await self.use("solve_vrp", scenario_id=scenario_id, solve_time=solve_time))["job_id"])
        await self.plan(job_id)
        return job_id


async def _unheard(_progress: float, _total: float | None, _message: str) -> None:
    pass


@pytest.fixture(scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Desk]:
    """A desk whose planner has two workers."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("planning"))
    async with (
        connect(settings) as store,
        contextlib.aclosing(RedisFeed(store)) as feed,
        Shop(store, feed, settings).crew(2),
    ):
        yield Desk(ToolContext(LOCAL, Planner(store, feed, settings=settings), settings, _unheard, "0" * 32))
