"""A store of the storm's own, and a seed."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Literal

import pytest

from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings
from tests.shared.store.chaos_results import seed_of
from tests.shared.store.redis_cluster import IS_CLUSTER, cluster_of_three
from tests.shared.store.store_audit import chaos_settings
from tests.shared.store.valkey_server import IS_REDIS, Valkey

StormServer = EmbeddedServer | Valkey
HERE = Path(__file__).parent
SHARDS = 6
"""Of a storm on a cluster: some on each of three nodes."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Storms of the quick sizes belong to `make test-all`, bounded in time; those of the full sizes to `make chaos`."""
    for item in items:
        if item.path.is_relative_to(HERE) and item.get_closest_marker("chaos") is None:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(120), append=False)


@pytest.fixture
def seed() -> int:
    """The seed of every storm."""
    return seed_of()


@pytest.fixture
def server(tmp_path: Path) -> StormServer:
    """A server of the test's own, not started yet."""
    return storm_server(tmp_path / "store", "everysec")


def storm_server(folder: Path, appendfsync: Literal["always", "everysec"]) -> StormServer:
    """Return the embedded server of a folder, or with `STORE=redis` a Redis beside the product."""
    if IS_REDIS:
        return Valkey(folder, appendfsync=appendfsync)
    return EmbeddedServer(folder, appendfsync=appendfsync)


@pytest.fixture
def storm_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URL of an empty store: that server, or with `STORE=cluster` three nodes."""
    if IS_CLUSTER:
        with cluster_of_three(tmp_path / "cluster") as cluster:
            yield cluster.url
        return
    with request.getfixturevalue("server") as server:
        yield server.url


@pytest.fixture
async def storm_store(storm_url: str, tmp_path: Path) -> AsyncIterator[tuple[RedisStore, Settings]]:
    """The store, and the settings workers share with it."""
    pools = SHARDS if IS_CLUSTER else 1
    settings = chaos_settings(Settings(data_dir=tmp_path, redis_url=storm_url, pools=pools))
    async with connect(settings) as store:
        yield store, settings
