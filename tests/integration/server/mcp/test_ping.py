"""Pings of sessions, answered by a replica that did not open them (SPEC X2)."""

import pytest

from tests.integration.server.mcp.raw_client import Client
from tests.integration.server.mcp.slow_tool_replica import Two

pytestmark = pytest.mark.anyio


async def test_ping_is_answered(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, ping."""
    await client.initialize(replicas[0])
    answer = await client.post(replicas[1], {"jsonrpc": "2.0", "id": "p", "method": "ping"})
    assert answer.json() == {"jsonrpc": "2.0", "id": "p", "result": {}}
