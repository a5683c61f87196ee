"""A house for the documents: one server, one worker, as `planner-mcp serve` starts them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from examples.planner_server import PlannerServer, running_server


@pytest.fixture(scope="package")
def documents_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("documents")


@pytest.fixture(scope="package")
async def server(documents_dir: Path) -> AsyncIterator[PlannerServer]:
    """A planner that runs while the documents are tried."""
    async with running_server(documents_dir, workers=1) as server:
        yield server
