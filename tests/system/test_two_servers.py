"""The flow over several servers: an agent resolves addresses at one MCP endpoint and plans at another."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from examples import two_servers
from examples.planner_server import PlannerServer, running_server

pytestmark = [pytest.mark.anyio, pytest.mark.slow]  # two servers, four searches of a second


@pytest.fixture
async def planner(tmp_path: Path) -> AsyncIterator[PlannerServer]:
    """`planner-mcp serve` where people approve plans."""
    (folder := tmp_path / "planner").mkdir()
    async with running_server(folder, workers=1, settings={"PLANNER_APPROVAL": "on"}) as server:
        yield server


@pytest.fixture
async def address_server(tmp_path: Path) -> AsyncIterator[PlannerServer]:
    """`planner-mcp serve --address` on a store of its own."""
    async with running_server(tmp_path, workers=0, options=("--address",)) as server:
        yield server


async def test_addresses_become_a_day_a_plan_and_several_plans(
    planner: PlannerServer, address_server: PlannerServer
) -> None:
    """SPEC O4, A5: resolve, create, solve, check, adjust, solve again with a new address, hand over several plans, and
    publish what a person approved.
    """
    found = await two_servers.main(planner.mcp, address_server.mcp)
    assert found["review"] == "published"
    assert set(found["places"]) == {"depot", *two_servers.ORDERS}
    assert found["places"]["k-6"]["source"] == "confirmed"
    assert sum(found["first"].values()) == len(two_servers.ORDERS)
    assert max(found["first"].values()) > two_servers.MOST_STOPS >= max(found["second"].values())
    assert sum(found["second"].values()) == len(two_servers.ORDERS) + 1
    assert len(found["plans"]) >= 2
    assert all(figures["distance_m"] > 50_000 for figures in found["plans"].values())
