"""The whole product as processes: one deployment for every test that does not break it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2 as httpx
import pytest

from examples.planner_server import PlannerServer, running_server
from tests.shared.http.http_clients import http_client
from tests.shared.node import node_packages
from tests.shared.workers.patient_lease import PATIENT_LEASE
from tests.system.stdio_child import Child


@pytest.fixture(scope="session")
async def second(server: PlannerServer, server_dir: Path) -> AsyncIterator[PlannerServer]:
    """Another replica on the same store, without workers of its own."""
    async with running_server(server_dir, workers=0, log=server_dir / "second.log", settings=PATIENT_LEASE) as second:
        yield second


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def packages() -> None:
    """Node clients, installed."""
    node_packages.install()


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    """`planner-mcp` over stdio without workers, for one test."""
    child = Child(tmp_path)
    yield child
    child.end()


@pytest.fixture
def child_with_worker(tmp_path: Path) -> Iterator[Child]:
    """`planner-mcp` over stdio with a worker, as a client's configuration starts it, for one test."""
    child = Child(tmp_path, workers=1)
    yield child
    child.end()
