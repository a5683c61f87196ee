"""Tools over a real store, with a real worker that solves what they ask for."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.server.tools.tool_registry import REGISTRY, dispatch
from planner_mcp.settings import Settings
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.http.webhook_receiver import Receiver, receiving
from tests.shared.tools.tool_contexts import tool_context

LONGEST_S = 60
"""Nothing in these tests takes longer."""


class ToolClient:
    """A client of the tools, with workers behind them."""

    def __init__(self, ctx: ToolContext, receiver: Receiver | None = None) -> None:
        self.ctx = ctx
        self.receiver = receiver
        """Takes the webhooks that the workers may send."""
        self._tools = {tool.name: tool for tool in REGISTRY}

    async def use(self, tool: str, /, **args: Any) -> dict[str, Any]:
        """Call a tool and return its structured content."""
        result = await dispatch(self._tools[tool], self.ctx, args)
        assert not result.is_error, result.text
        return result.structured

    async def plan(self, job_id: str) -> dict[str, Any]:
        """Wait for the end of a job and return its plan."""
        with anyio.fail_after(LONGEST_S):
            async with contextlib.aclosing(self.ctx.job_service.follow(self.ctx.principal, job_id)) as events:
                async for event in events:
                    last = event
        assert last.data.status == "COMPLETED", last
        return (await self.ctx.job_service.plan_of_job(self.ctx.principal, job_id)).as_json()

    async def solve(self, body: dict[str, Any], solve_time: str = "PT1S") -> str:
        """Create a scenario, solve it to its end, and return the job id."""
        job_id = await self._submit(body, solve_time)
        await self.plan(job_id)
        return job_id

    async def solve_once(self, body: dict[str, Any]) -> str:
        """Create a scenario, solve it until every ticket is served, and return the job id."""
        job_id = await self._submit(body, "PT1S")
        await self.full_plan(job_id)
        return job_id

    async def full_plan(self, job_id: str) -> dict[str, Any]:
        """End the search of a job with the first plan that serves every ticket, and return its plan."""
        with anyio.fail_after(LONGEST_S):
            async with contextlib.aclosing(self.ctx.job_service.follow(self.ctx.principal, job_id)) as events:
                async for event in events:
                    served, total = event.data.tickets_served, event.data.tickets_total
                    if not event.is_final and served and served == total:
                        await self.ctx.job_service.finish_now(self.ctx.principal, job_id)
                        break
        return await self.plan(job_id)

    async def _submit(self, body: dict[str, Any], solve_time: str) -> str:
        scenario_id = (await self.use("create_scenario", **body))["scenario_id"]
        return str((await self.use("solve_vrp", scenario_id=scenario_id, solve_time=solve_time))["job_id"])


@pytest.fixture(scope="session")
async def tools_client(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ToolClient]:
    """A client of tools with two workers, shared by all tests of the folder."""
    async with receiving() as receiver:
        settings = Settings(
            data_dir=tmp_path_factory.mktemp("planning"),
            webhook_allow_networks=["127.0.0.0/8"],
            webhook_allow_ports=[receiver.port],
        )
        async with (
            connect(settings) as store,
            contextlib.aclosing(EventFeed(store)) as feed,
            WorkerHarness(store, feed, settings).running_workers(2),
        ):
            job_service = JobService(store, feed, settings=settings)
            yield ToolClient(tool_context(store, job_service, settings), receiver)
