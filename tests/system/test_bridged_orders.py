"""A bridge as clients meet it: the order system of the examples feeds the planner, over HTTP and over stdio."""

import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from examples import bridged_orders
from examples.order_system import service
from examples.planner_server import PlannerServer
from tests.shared.http.http_clients import http_client

pytestmark = pytest.mark.anyio
TOOLS = ["open_orders", "record_delivery"]


@pytest.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[PlannerServer]:
    """`planner-mcp serve --bridge` before the order system of the examples."""
    async with (
        bridged_orders.running_order_system() as base_url,
        bridged_orders.running_bridge(tmp_path, base_url) as server,
    ):
        yield server


async def test_orders_become_a_plan_and_the_plan_is_recorded(server: PlannerServer, bridge: PlannerServer) -> None:
    """SPEC O5: an order system feeds `create_scenario` through a bridge, and takes the plan back."""
    found = await bridged_orders.main(server.mcp, bridge.mcp)
    assert len(found["day"]["tickets"]) == found["result"]["tickets_served"] == 11
    assert {frozenset(ticket) for ticket in found["day"]["tickets"]} == {
        frozenset({"id", "location", "demand", "time_windows"})
    }
    assert sorted(each["order"] for each in found["recorded"]) == sorted(each["id"] for each in found["day"]["tickets"])
    assert {each["status"] for each in found["recorded"]} == {"planned"}
    async with Client(bridge.mcp, mode="legacy") as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == TOOLS
        assert [tool.annotations.read_only_hint for tool in listed if tool.annotations] == [True, False]
        answer = await client.call_tool("open_orders", {"day": service.DAY})
        assert answer.structured_content is not None and answer.structured_content["data"]["tickets"] == []
    async with http_client(base_url=bridge.url) as http:
        served = (await http.get("/manifest")).json()
        assert ([tool["name"] for tool in served["tools"]], served["name"]) == (TOOLS, "order-book")
        card = (await http.get("/mcp/server-card")).json()
        assert (card["title"], (await http.get("/readyz")).status_code) == ("Order book", 200)
        assert (await http.get("/ui")).status_code == 404


@pytest.mark.slow  # a process with a store of its own
async def test_a_bridge_speaks_stdio(tmp_path: Path) -> None:
    """SPEC O5, X1: `planner-mcp bridge` is what a client's configuration starts."""
    config = bridged_orders.FOLDER / "bridge.yaml"
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "planner_mcp", "bridge", "--config", str(config), "--data-dir", str(tmp_path)],
        env=os.environ | {"ORDER_BOOK_KEY": service.KEY},
    )
    async with Client(stdio_client(parameters)) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == TOOLS
        refused = await client.call_tool("open_orders", {"day": service.DAY})
        assert refused.structured_content is not None and refused.structured_content["code"] == 5061  # nobody listens
