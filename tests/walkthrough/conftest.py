"""What the tutorial stands on: the official Python client, beside `server` of `tests/conftest.py`.

Read the chapters by their numbers, `test_1_first_plan.py` first. Each test is one idea and can be run alone. All that
they use of the product is what everybody has: its tools, its resources, its pages and its command line.
"""

from collections.abc import AsyncIterator

import httpx2 as httpx
import pytest
from mcp import Client

from examples.planner_server import PlannerServer
from tests.shared.http.http_clients import http_client


@pytest.fixture
async def client(server: PlannerServer) -> AsyncIterator[Client]:
    """A connected client that sees every tool; without `toolsets` it would see the five of the set `core`."""
    async with Client(f"{server.mcp}?toolsets=all") as client:
        yield client


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """A plain HTTP client, for the entry points that need no MCP."""
    async with http_client(timeout=30) as http:
        yield http
