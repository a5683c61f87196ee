"""Independent clients of the old transport and of tasks, through a balancer that changes replica at each request."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import pytest

from examples.planner_server import PlannerServer
from tests.shared.http.load_balancer import balancing
from tests.shared.node import node_packages
from tests.shared.scenarios.client_scenarios import ring

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.node,
    pytest.mark.skipif(not node_packages.IS_THERE, reason="needs node and npm"),
]


@pytest.fixture
async def balanced(server: PlannerServer, second: PlannerServer) -> AsyncIterator[str]:
    async with balancing(server.url, second.url) as (url, _switch):
        yield url


async def run(script: str, *args: str) -> dict[str, Any]:
    """Run a script and return what it printed."""
    with anyio.fail_after(90):
        ended = await anyio.run_process(["node", script, *args], cwd=node_packages.FOLDER, check=False)
    assert ended.returncode == 0, ended.stderr.decode()
    return dict(json.loads(ended.stdout))


async def test_typescript_client_of_the_old_transport_plans_a_day(packages: None, balanced: str) -> None:
    """SPEC X1: SSEClientTransport, its stream on one replica and its messages on both."""
    seen = await run("sse.mjs", f"{balanced}/sse", json.dumps(ring()))
    assert seen["status"]["status"] == "COMPLETED"
    assert seen["updated"] == [f"job://{seen['job_id']}"]
    assert seen["progress"] == [sorted(set(heard)) for heard in seen["progress"]]
    assert seen["late"] == []
    assert [error for error in seen["errors"] if "unknown token" not in error] == []  # see sse.mjs: its own doing


async def test_typescript_client_runs_core_tasks(packages: None, balanced: str) -> None:
    """SPEC X2: taskCreated, statuses, the result; a cancelled task; progress by the call's own token."""
    seen = await run("tasks.mjs", f"{balanced}/mcp", json.dumps(ring()))
    assert seen["support"] == "optional"
    on_the_call = [each for each in seen["plan"] if each[0] != "progress"]  # that has a stream of its own: may be first
    assert on_the_call[0] == ["taskCreated", "working"]
    assert on_the_call[-1] == ["result", "COMPLETED"]
    assert seen["afterCancel"] == "cancelled"
    assert {"completed", "cancelled"} <= set(seen["listed"])
    assert "completed" in seen["told"]
    assert seen["errors"] == []
