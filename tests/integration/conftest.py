"""Servers that share the process, and so each of its pauses, with their clients; a cluster and a worker for tests."""

import contextlib
from collections.abc import AsyncIterator, Iterator

import pytest

from planner_mcp.jobs.events.event_feed import EventFeed
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.server.mcp.transports import post_exchange
from planner_mcp.settings import Settings
from tests.integration.workers.conftest import WorkerHarness
from tests.shared.processes.process_tree import LONGEST_S
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.store.redis_cluster import three_nodes

PATIENCE_S = 15.0
"""Shorter than clients wait for an answer to begin."""


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Keep a silent call's answer plain JSON however the process is held up; who wants a stream of it sets less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(post_exchange, "STREAM_AFTER_S", PATIENCE_S)
        yield


@pytest.fixture(scope="module")
def cluster_url() -> Iterator[str]:
    """URL of a cluster of three nodes without replicas."""
    with three_nodes() as url:
        yield url


@pytest.fixture(scope="session")
async def running_harness(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerHarness]:
    """A store with one worker at work, shared by all tests that leave it alive.

    Nobody waits for its lease: what a test sees within its time limit was not taken from a worker that fell silent.
    """
    folder = tmp_path_factory.mktemp("shop")
    settings = Settings(data_dir=folder, lease_s=2 * LONGEST_S)
    async with connect(settings) as store, contextlib.aclosing(EventFeed(store)) as feed:
        harness = WorkerHarness(store, feed, settings)
        async with harness.running_workers():
            await harness.until_end(await harness.submit(SMALLEST, 30))
            yield harness
