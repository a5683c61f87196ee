"""A store of the storm's own, and a seed."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from planner_mcp.settings import Settings
from planner_mcp.store.connect import connect
from planner_mcp.store.embedded import EmbeddedStore
from planner_mcp.store.redis_store import RedisStore
from tests.chaos.audit import storm_settings
from tests.chaos.record import seed_of

HERE = Path(__file__).parent


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
def server(tmp_path: Path) -> EmbeddedStore:
    """A server of the test's own, not started yet."""
    return EmbeddedStore(tmp_path / "store", appendfsync="everysec")


@pytest.fixture
async def storm_store(server: EmbeddedStore, tmp_path: Path) -> AsyncIterator[tuple[RedisStore, Settings]]:
    """An empty store on that server and the settings workers share with it."""
    settings = storm_settings(Settings(data_dir=tmp_path, redis_url=server.start()))
    try:
        async with connect(settings) as store:
            yield store, settings
    finally:
        server.stop()
