"""What a deployment offers changes: clients are told, whichever replica they listen at (SPEC T9, R2)."""

from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.mcp.notifications.resource_subscriptions import LISTS
from tests.integration.server.mcp.app_replicas import Caller, Two, events, messages, replica

pytestmark = pytest.mark.anyio


async def test_a_replica_with_other_tools_is_announced_to_sessions(
    app_replicas: Two, legacy: Caller, store: RedisStore, store_url: str, tmp_path: Path
) -> None:
    """SPEC T9: once, the list that changed and no other, to a stream that an older replica holds."""
    declared = (await legacy.initialize(app_replicas[0]))["capabilities"]
    assert all(declared[kind]["listChanged"] for kind in LISTS)
    url, key = f"{store_url}?db=15", f"mcp:{{{legacy.session['mcp-session-id']}}}:watch"
    async with replica(url, tmp_path):
        with anyio.fail_after(30):
            async with legacy.standalone(app_replicas[1]) as response, aclosing(events(response)) as received_messages:
                while not await store.redis.hexists(key, "c:list-prompts"):  # noqa: ASYNC110 nothing is sent to wait for
                    await anyio.sleep(0.01)
                async with replica(url, tmp_path), replica(url, tmp_path, toolsets="core,data"):
                    async for event in received_messages:
                        if event.data:
                            break
    assert event.message["method"] == "notifications/tools/list_changed"
    assert set(await SubscriptionStore(store.redis).list_versions("anybody")) == {"tools"}


async def test_a_replica_with_other_tools_is_announced_to_listeners(
    app_replicas: Two, modern: Caller, store_url: str, tmp_path: Path
) -> None:
    """SPEC T9: `toolsListChanged` of 2026-07-28; the deployment's new list is then what a client finds."""
    url = f"{store_url}?db=15"
    asked = {f"{kind}ListChanged": True for kind in LISTS}
    async with replica(url, tmp_path):
        with anyio.fail_after(30):
            async with modern.stream(app_replicas[1], "subscriptions/listen", notifications=asked) as response:
                received_messages = messages(response)
                await anext(received_messages)
                async with replica(url, tmp_path, toolsets="core,data") as other:
                    delivered = await anext(received_messages)
                    names = {tool["name"] for tool in (await modern.result(other, "tools/list"))["tools"]}
    assert delivered["method"] == "notifications/tools/list_changed"
    assert "list_jobs" in names
