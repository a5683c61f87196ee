"""An independent client: the official TypeScript SDK drives the same flow."""

import json
from collections.abc import AsyncIterator

import anyio
import pytest

from examples.planner_server import PlannerServer
from tests.shared.http.load_balancer import balancing
from tests.shared.node import node_packages
from tests.shared.scenarios.client_scenarios import SMALLEST, ring

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.node,
    pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm"),
]


@pytest.fixture(params=["one", pytest.param("switching", marks=pytest.mark.slow)])
async def url(server: PlannerServer, second: PlannerServer, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """A server, or a balancer that changes replica at each request."""
    if request.param == "one":
        yield server.mcp
    else:
        async with balancing(server.url, second.url) as (balanced, _switch):
            yield f"{balanced}/mcp"


async def test_typescript_client_plans_a_day(packages: None, url: str) -> None:
    """Our choice: create, solve, wait with progress, resume a broken stream, cancel; no protocol error on the way."""
    command = ["node", "flow.mjs", url, json.dumps(SMALLEST), json.dumps(ring())]
    with anyio.fail_after(60):
        ended = await anyio.run_process(command, cwd=node_packages.FOLDER, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    seen = json.loads(ended.stdout)
    assert {"create_scenario", "solve_vrp", "query_vrp_status", "cancel_vrp_job"} <= set(seen["tools"])
    assert (seen["small"]["status"], seen["small"]["progress"]) == ("COMPLETED", 100)
    assert seen["progress"] == sorted(set(seen["progress"]))
    assert seen["progress"]
    assert seen["resumed"]["status"] in ("QUEUED", "SOLVING")
    assert seen["resumed"]["repeated"] is False
    assert seen["cancelled"]["cancelled"] is True
    assert seen["ended"]["status"] == "CANCELLED"
    assert seen["errors"] == []
