"""Sessions of the handshake revisions: in Redis, a principal's own, and on no replica in particular."""

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from tests.integration.server.mcp.raw_client import MODERN_META, Client, call, events
from tests.integration.server.mcp.slow_tool_replica import Two
from tests.shared.http.mcp_caller import HEADERS

pytestmark = pytest.mark.anyio
LIST = {"jsonrpc": "2.0", "id": 7, "method": "tools/list"}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_session_opened_on_one_replica_is_served_by_the_other(
    replicas: Two, client: Client, version: str
) -> None:
    """SPEC J4, X1: nothing a client holds depends on which replica answered."""
    result = await client.initialize(replicas[0], version)
    assert result["protocolVersion"] == version
    assert result["serverInfo"]["name"] == "planner-mcp"
    assert (
        await client.post(replicas[1], {"jsonrpc": "2.0", "method": "notifications/initialized"})
    ).status_code == 202
    listed = (await client.post(replicas[1], LIST)).json()
    assert listed["id"] == 7
    assert [tool["name"] for tool in listed["result"]["tools"]] == ["count"]


async def test_unknown_revision_is_answered_with_the_newest_handshake_one(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, lifecycle: version negotiation."""
    assert (await client.initialize(replicas[0], "2031-01-01"))["protocolVersion"] == "2025-11-25"


async def test_deleted_session_ends_its_streams_and_is_gone_everywhere(
    replicas: Two, client: Client, store: RedisStore
) -> None:
    """Spec 2025-11-25, transports: session management."""
    await client.initialize(replicas[0])
    async with client.listen(replicas[1]) as stream:
        gone = await client.http.delete(replicas[0].url, headers=HEADERS | client.session)
        assert gone.status_code == 204
        with anyio.fail_after(30):
            assert [event async for event in events(stream)] == []
    assert (await client.post(replicas[1], LIST)).status_code == 404
    assert await store.redis.keys("mcp:{*") == []


async def test_a_call_without_session_is_asked_to_initialize(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, transports: 400 without Mcp-Session-Id."""
    answer = await client.post(replicas[0], LIST)
    assert answer.status_code == 400
    assert answer.json()["error"]["data"]["type"] == "InvalidMessage"


async def test_every_key_of_a_session_expires(replicas: Two, client: Client, store: RedisStore) -> None:
    """SPEC J9."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=3) as stream:
        assert len([event async for event in events(stream)]) == 5
    keys = await store.redis.keys("mcp:{*")
    assert len(keys) == 3  # row, names of streams, the stream; the lease went with the last message
    assert all([0 < await store.redis.ttl(key) <= 1800 for key in keys])


async def test_batches_belong_to_one_revision_only(replicas: Two, client: Client) -> None:
    """Spec 2025-03-26, transports: servers must receive batches. 2025-06-18 removed them."""
    batch = [LIST, {"jsonrpc": "2.0", "method": "notifications/initialized"}, {**LIST, "id": "b"}]
    await client.initialize(replicas[0], "2025-03-26")
    answered = (await client.post(replicas[1], batch)).json()
    assert sorted(str(each["id"]) for each in answered) == ["7", "b"]
    await client.initialize(replicas[0], "2025-06-18")
    assert (await client.post(replicas[1], batch)).status_code == 400


async def test_stateless_revision_needs_neither_handshake_nor_session(replicas: Two, client: Client) -> None:
    """SPEC X1: 2026-07-28, spec basic/versioning."""
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list"}
    listed = await client.post(replicas[0], {**LIST, "params": {"_meta": MODERN_META}}, **headers)
    assert listed.status_code == 200
    assert listed.json()["result"]["ttlMs"] == 300_000
    assert "mcp-session-id" not in listed.headers


async def test_stateless_call_without_its_header_is_a_header_mismatch(replicas: Two, client: Client) -> None:
    """Spec 2026-07-28, transports: headers must agree with _meta; -32020."""
    answer = await client.post(replicas[0], {**LIST, "params": {"_meta": MODERN_META}})
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32020


async def test_unknown_request_ids_do_not_disturb(replicas: Two, client: Client) -> None:
    """JSON-RPC 2.0: a late or foreign answer is taken and dropped."""
    await client.initialize(replicas[0])
    answer = await client.post(replicas[1], {"jsonrpc": "2.0", "id": 99, "result": {}})
    assert answer.status_code == 202
    assert (await client.call(replicas[1], to=0)).json() == {
        "jsonrpc": "2.0",
        "id": call(1)["id"],
        "result": {
            "content": [{"type": "text", "text": "done"}],
            "structuredContent": {"counted": 0},
            "isError": False,
        },
    }
