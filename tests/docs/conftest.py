"""A house for the documents: one server, one worker, as `planner-mcp serve` starts them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from examples.house import House, running


@pytest.fixture(scope="package")
def documents_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.fixture(scope="package")
async def house(documents_dir: Path) -> AsyncIterator[House]:
    """A planner that runs while the documents are tried."""
    async with running(documents_dir, workers=1) as house:
        yield house
