"""The official Python client hears of a resource, through a balancer that changes replica at each request."""

import anyio
import pytest
from mcp import Client
from mcp.client.subscriptions import ResourceUpdated

from examples.planner_server import PlannerServer
from tests.shared.http.load_balancer import balancing
from tests.shared.scenarios.client_scenarios import ring, submit, use

pytestmark = pytest.mark.anyio


@pytest.mark.slow
async def test_python_client_listens_to_a_resource(server: PlannerServer, second: PlannerServer) -> None:
    """SPEC X1, R2: `Client.listen` of 2026-07-28, until the job has ended."""
    async with balancing(server.url, second.url) as (url, _switch), Client(f"{url}/mcp", mode="auto") as client:
        with anyio.fail_after(60):
            job_id = await submit(client, ring(), "PT3S", fresh=True)
            async with client.listen(resource_subscriptions=[f"job://{job_id}"]) as heard:
                assert heard.honored.resource_subscriptions == [f"job://{job_id}"]
                async for event in heard:
                    assert event == ResourceUpdated(uri=f"job://{job_id}")
                    status = await use(client, "query_vrp_status", job_id=job_id)
                    if status["status"] == "COMPLETED":
                        break
