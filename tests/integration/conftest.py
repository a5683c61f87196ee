"""Servers that share the process, and so each of its pauses, with their clients."""

from collections.abc import Iterator

import pytest

from planner_mcp.protocol import exchange

PATIENCE_S = 15.0
"""Shorter than clients wait for an answer to begin."""


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Keep a silent call's answer plain JSON however the process is held up; who wants a stream of it sets less."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "PATIENCE_S", PATIENCE_S)
        yield
