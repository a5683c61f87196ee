"""Servers that share the process, and so each of its pauses, with their clients; a cluster for who asks for one."""

from collections.abc import Iterator

import pytest

from planner_mcp.server.mcp.transports import post_exchange
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
