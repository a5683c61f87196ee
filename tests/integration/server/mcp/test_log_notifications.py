"""Log messages to clients that asked for them, in both forms (SPEC X2)."""

from typing import Any

import pytest

from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, messages

pytestmark = pytest.mark.anyio
ODD: dict[str, Any] = {
    "name": "odd",
    "planning_date": "2025-07-15",
    "agents": [{"id": "veh-1", "capacity": 10}],
    "tickets": [{"id": "t-1", "location": "A", "demand": 20}],
}
LEVEL = "io.modelcontextprotocol/logLevel"


async def received_messages(
    caller: Caller, on: Replica, tool: str, arguments: dict[str, Any], **meta: Any
) -> list[dict[str, Any]]:
    """Return the log messages of a call."""
    found = []
    params = {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {})
    async with caller.stream(on, "tools/call", tool, **params) as stream:
        if stream.headers["content-type"].startswith("application/json"):
            return []
        async for message in messages(stream):
            if message.get("method") == "notifications/message":
                found.append(message["params"])
    return found


async def test_a_level_set_at_one_replica_counts_at_the_other(app_replicas: Two, legacy: Caller) -> None:
    """Spec 2025-11-25, logging: at the level and above, on the stream of the call, before its answer."""
    declared = (await legacy.initialize(app_replicas[0]))["capabilities"]
    assert declared["logging"] == {}
    assert await received_messages(legacy, app_replicas[0], "create_scenario", ODD) == [], (
        "who asked for nothing gets nothing"
    )
    assert await legacy.result(app_replicas[0], "logging/setLevel", level="info") == {}
    (note,) = await received_messages(legacy, app_replicas[1], "query_vrp_status", {"job_id": "nothing"})
    assert (note["level"], note["logger"], note["data"]["type"]) == ("error", "planner", "NotFound")
    levels = [
        each["level"]
        for each in await received_messages(
            legacy, app_replicas[1], "create_scenario", ODD | {"tickets": [{"id": "t-1", "location": "A", "demand": 1}]}
        )
    ]
    assert levels == ["info"]
    await legacy.result(app_replicas[1], "logging/setLevel", level="critical")
    assert await received_messages(legacy, app_replicas[0], "query_vrp_status", {"job_id": "nothing"}) == []


async def test_an_unknown_level_is_refused(app_replicas: Two, legacy: Caller) -> None:
    """Spec 2025-11-25, logging: −32602."""
    await legacy.initialize(app_replicas[0])
    assert (await legacy.error(app_replicas[0], "logging/setLevel", level="loud"))["code"] == -32602


async def test_without_a_handshake_each_request_says_what_it_wants(app_replicas: Two, modern: Caller) -> None:
    """Spec 2026-07-28, logging: absent means none; `logging/setLevel` is gone."""
    modern.extensions = {}
    call = {"job_id": "nothing"}
    assert await received_messages(modern, app_replicas[0], "query_vrp_status", call) == []
    (note,) = await received_messages(modern, app_replicas[0], "query_vrp_status", call, **{LEVEL: "debug"})
    assert note["level"] == "error"
    assert await received_messages(modern, app_replicas[0], "query_vrp_status", call, **{LEVEL: "emergency"}) == []
    assert (await modern.error(app_replicas[0], "logging/setLevel", level="info"))["code"] == -32601
