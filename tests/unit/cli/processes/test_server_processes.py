"""What a replica is told of itself before it is served."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from planner_mcp.cli.processes.http_server import serve_http
from planner_mcp.server.http.routes.discovery_routes import mcp_url
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio


async def test_a_free_port_is_written_where_clients_look() -> None:
    """SPEC M2: with `--port 0` the server card names the port that is listened on."""
    seen: list[Settings] = []

    @asynccontextmanager
    async def opening(settings: Settings, *, drain: anyio.Event) -> AsyncIterator[Any]:
        seen.append(settings)
        raise LookupError
        yield

    with pytest.raises(LookupError):
        await serve_http(Settings(port=0, workers=0), opening)
    assert seen[0].port > 0 and mcp_url(seen[0]) == f"http://127.0.0.1:{seen[0].port}/mcp"
