"""What the tutorial stands on: one planner as `planner-mcp serve` starts it, and the official Python client.

Read the chapters by their numbers, `test_1_first_plan.py` first. Each test is one idea and can be run alone. All that
they use of the product is what everybody has: its tools, its resources, its pages and its command line.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2 as httpx
import pytest
from mcp import Client

from examples.planner_server import PlannerServer, running_server
from tests.shared.http.webhook_receiver import Receiver, receiving


@pytest.fixture(scope="session")
def walkthrough_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where the planner keeps what it was given."""
    return tmp_path_factory.mktemp("walkthrough")


@pytest.fixture(scope="session")
async def receiver() -> AsyncIterator[Receiver]:
    """A web server that remembers what was posted to it."""
    async with receiving() as receiver:
        yield receiver


@pytest.fixture(scope="session")
async def server(walkthrough_dir: Path, receiver: Receiver) -> AsyncIterator[PlannerServer]:
    """A server with one worker, which may send webhooks to this machine; elsewhere public addresses alone hear them."""
    hooks = {
        "PLANNER_WEBHOOK_ALLOW_NETWORKS": '["127.0.0.0/8"]',
        "PLANNER_WEBHOOK_ALLOW_PORTS": f"[{receiver.port}]",
    }
    async with running_server(walkthrough_dir, workers=1, settings=hooks) as server:
        yield server


@pytest.fixture
async def client(server: PlannerServer) -> AsyncIterator[Client]:
    """A connected client that sees every tool; without `toolsets` it would see the five of the set `core`."""
    async with Client(f"{server.mcp}?toolsets=all") as client:
        yield client


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """A plain HTTP client, for the doors that need no MCP."""
    async with httpx.AsyncClient(timeout=30, trust_env=False) as http:
        yield http
