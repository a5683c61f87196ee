"""Streams outlive connections and replicas: nothing missed, nothing twice, never a silent gap."""

import json
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.elicitation_store import ElicitationStore
from planner_mcp.jobs.store.sessions.request_leases import RequestLeases
from planner_mcp.jobs.store.sessions.session_store import READ_AT_ONCE, TTL_S, SessionStore
from planner_mcp.server.mcp.mcp_sessions import Session
from planner_mcp.server.mcp.transports import post_exchange, session_streams
from tests.integration.server.mcp.raw_client import Client, call, events
from tests.integration.server.mcp.slow_tool_replica import Replica, Two, replica
from tests.shared.http.mcp_caller import HEADERS

pytestmark = pytest.mark.anyio


def ping(request_id: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": "ping"}


def batch_stream(client: Client, on: Replica, batch: list[dict[str, Any]]) -> Any:
    return client.http.stream("POST", on.url, json=batch, headers=HEADERS | client.session)


async def test_quick_silent_answer_is_plain_json(replicas: Two, client: Client) -> None:
    """Our choice: a stream is made only where something is sent meanwhile."""
    await client.initialize(replicas[0])
    answer = await client.call(replicas[0])
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["result"]["structuredContent"] == {"counted": 0}


async def test_slow_silent_answer_becomes_a_stream(
    replicas: Two, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 2025-11-25: a priming event first, so that the client can reconnect from the start."""
    monkeypatch.setattr(post_exchange, "STREAM_AFTER_S", 0.02)
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], wait=True) as stream:
        received = events(stream)
        first = await anext(received)
        assert (first.data, bool(first.id), first.retry) == ("", True, "1000")
        replicas[0].tool_handler.gate.set()
        assert [event.message["result"]["structuredContent"] async for event in received] == [{"counted": 0}]


@pytest.mark.parametrize("leave_after", [1, 4, 9, 11])
async def test_stream_is_resumed_on_the_other_replica_without_loss_or_repeat(
    replicas: Two, client: Client, leave_after: int
) -> None:
    """SPEC J4: any replica, wherever the connection broke, while the handler goes on on the first."""
    await client.initialize(replicas[0])
    seen = []
    async with client.stream(replicas[0], to=10, pause_s=0.02) as stream:
        async for event in events(stream):
            seen.append(event)
            if len(seen) == leave_after:
                break
    with anyio.fail_after(30):
        async with client.listen(replicas[1], seen[-1].id) as rest:
            seen += [event async for event in events(rest)]
    assert seen[0].data == ""
    assert [event.message["params"]["progress"] for event in seen[1:-1]] == list(range(1, 11))
    assert seen[-1].message["result"]["structuredContent"] == {"counted": 10}
    assert len({event.id for event in seen}) == 12


async def test_finished_stream_is_replayed(replicas: Two, client: Client) -> None:
    """SPEC J4: the answer is still there when the client comes back late."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=2) as stream:
        first = await anext(events(stream))
    async with client.listen(replicas[1], first.id) as rest:
        replayed = [event.message async for event in events(rest)]
    assert [message.get("id") for message in replayed] == [None, None, 1]


async def test_resuming_behind_the_end_ends_at_once(replicas: Two, client: Client) -> None:
    """SPEC J4: who has heard all is not left waiting."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=2) as stream:
        received = [event async for event in events(stream)]
    with anyio.fail_after(30):
        async with client.listen(replicas[1], received[-1].id) as rest:
            assert [event async for event in events(rest)] == []


async def test_older_revisions_are_not_sent_an_event_without_data(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25 introduced the priming event; clients of 2025-06-18 would parse it."""
    await client.initialize(replicas[0], "2025-06-18")
    async with client.stream(replicas[0], to=1) as stream:
        received = [event async for event in events(stream)]
    assert [event.message.get("id") for event in received] == [None, 1]
    assert received[0].retry == "1000"


async def test_event_id_of_another_session_replays_nothing(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25: ids are scoped to their session. The SDK's own store once leaked here."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=1) as stream:
        foreign = await anext(events(stream))
    await client.initialize(replicas[0])
    async with client.listen(replicas[0], foreign.id) as refused:
        assert refused.status_code == 400
        assert b"LostStream" in await refused.aread()


@pytest.mark.parametrize(
    "position", ["g.1-1", "nonsense", "p0123456789abcdef.0-0", "g.", "../x.1-1", "g.99999999999999999999-0"]
)
async def test_unknown_position_is_an_error(replicas: Two, client: Client, position: str) -> None:
    """Our choice: never silence."""
    await client.initialize(replicas[0])
    async with client.listen(replicas[0], position) as refused:
        assert refused.status_code == 400
        assert b"LostStream" in await refused.aread()


async def test_trimmed_position_is_an_error(replicas: Two, client: Client, store: RedisStore) -> None:
    """Our choice: a gap is told, not skipped."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=5) as stream:
        received = [event async for event in events(stream)]
    (key,) = await store.redis.keys("mcp:*:e:*")
    await store.redis.xtrim(key, maxlen=2, approximate=False)
    async with client.listen(replicas[0], received[1].id) as refused:
        assert refused.status_code == 400
    async with client.listen(replicas[0], received[-2].id) as rest:
        assert [event.data async for event in events(rest)] == [received[-1].data]


async def test_reader_that_fell_behind_what_is_kept_is_cut_off_before_the_gap(
    replicas: Two, client: Client, store: RedisStore
) -> None:
    """SPEC J4: its connection ends after what it has, and it learns of the gap when it resumes from there."""
    await client.initialize(replicas[0])
    session_id = client.session["mcp-session-id"]
    log = SessionStore(store.redis)
    for number in range(READ_AT_ONCE + 50):
        await log.append(session_id, "g", kind="message", text=f'{{"jsonrpc": "2.0", "method": "m{number}"}}')
    session = Session(session_id, "local", "2025-11-25", {})
    async with aclosing(replicas[0].streamable_http._stream_reader.follow(session, "g", "0-0")) as received_messages:
        delivered = [await anext(received_messages)]
        await store.redis.xtrim(f"mcp:{{{session_id}}}:e:g", maxlen=10, approximate=False)
        with anyio.fail_after(30):
            delivered += [entry async for entry in received_messages]
    assert [json.loads(entry.text)["method"] for entry in delivered if entry] == [
        f"m{at}" for at in range(READ_AT_ONCE)
    ]
    assert delivered[-1] is not None
    async with client.listen(replicas[1], f"g.{delivered[-1].position}") as refused:
        assert refused.status_code == 400
        assert b"LostStream" in await refused.aread()


async def test_stream_of_a_dead_replica_ends_with_an_error(
    replicas: Two, client: Client, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: the owner's lease runs out, and whoever resumes is told instead of waiting for ever."""
    monkeypatch.setattr(session_streams, "OWNER_CHECK_S", 0.05)
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], 17, to=1, wait=True) as stream:
        first = await anext(events(stream))
    (lease,) = await store.redis.keys("mcp:*:o:*")
    await store.redis.delete(lease)  # what ten seconds of silence do
    with anyio.fail_after(30):
        async with client.listen(replicas[1], first.id) as rest:
            messages = [event.message async for event in events(rest)]
    assert messages[-1]["id"] == 17
    assert messages[-1]["error"]["code"] == -32603
    assert messages[-1]["error"]["data"]["type"] == "AbandonedRequest"
    replicas[0].tool_handler.gate.set()  # the late owner cannot write behind the end
    async with client.listen(replicas[1], first.id) as again:
        assert [event.message async for event in events(again)] == messages


async def test_of_a_batch_of_a_dead_replica_only_what_it_owed_is_answered_with_an_error(
    replicas: Two, client: Client, store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: what was answered is not answered twice, and what was cancelled not at all."""
    monkeypatch.setattr(session_streams, "OWNER_CHECK_S", 0.05)
    await client.initialize(replicas[0], "2025-03-26")
    tool_handler, log = replicas[0].tool_handler, SessionStore(store.redis)
    batch = [ping("early"), call("owed", wait=True), call("cancelled", to=1, wait=True), ping("late")]
    with anyio.fail_after(10):
        async with batch_stream(client, replicas[0], batch) as stream:
            received = events(stream)
            received_messages = [await anext(received) for _ in range(3)]
            await client.cancel(replicas[1], "cancelled")
            await tool_handler.over.wait()
            name = received_messages[-1].id.partition(".")[0]
            while "cancelled" in await log.request_ids(client.session["mcp-session-id"], name):  # noqa: ASYNC110
                await anyio.sleep(0.01)
        (lease,) = await store.redis.keys("mcp:*:o:*")
        await store.redis.delete(lease)  # what ten seconds of silence do
        async with client.listen(replicas[1], received_messages[-1].id) as rest:
            delivered = [event.message async for event in events(rest)]
    assert {event.message.get("id") for event in received_messages} == {"early", "late", None}
    assert [(each["id"], each["error"]["data"]["type"]) for each in delivered] == [("owed", "AbandonedRequest")]


async def test_of_a_batch_that_outlasts_the_grace_what_was_cancelled_is_not_answered(
    replicas: Two, store: RedisStore, client: Client
) -> None:
    """SPEC J4, J7: a replica that stops owes nothing to a client that wanted no answer."""
    batch = [call("owed", wait=True), call("cancelled", to=1, wait=True)]
    with anyio.fail_after(10):
        async with replica(store, grace_s=0.01) as third:
            await client.initialize(third, "2025-03-26")
            async with batch_stream(client, third, batch) as stream:
                first = await anext(events(stream))
                await client.cancel(third, "cancelled")
                await third.tool_handler.over.wait()
        async with client.listen(replicas[0], first.id) as rest:
            delivered = [event.message async for event in events(rest)]
    assert [(each["id"], each["error"]["data"]["type"]) for each in delivered] == [("owed", "AbandonedRequest")]


async def test_newest_get_takes_the_standalone_stream_over(replicas: Two, client: Client, store: RedisStore) -> None:
    """Our choice: the holder may hang on a dead replica, so it must not block the client."""
    await client.initialize(replicas[0])
    log = SessionStore(store.redis)
    session_id = client.session["mcp-session-id"]
    with anyio.fail_after(30):
        async with client.listen(replicas[0]) as old, client.listen(replicas[1]) as new:
            assert [event async for event in events(old)] == []
            await log.append(session_id, "g", kind="message", text='{"jsonrpc": "2.0", "method": "x"}')
            event = await anext(events(new))
            assert event.message["method"] == "x"
        await log.append(session_id, "g", kind="message", text='{"jsonrpc": "2.0", "method": "y"}')
        async with client.listen(replicas[0], event.id) as back:
            assert (await anext(events(back))).message["method"] == "y"


@pytest.mark.parametrize(("version", "sent"), [("2025-11-25", 2), ("2025-06-18", 1)])
async def test_draining_replica_ends_its_streams_and_the_other_goes_on(
    replicas: Two, client: Client, version: str, sent: int
) -> None:
    """SPEC J4, J7: SIGTERM ends streams properly, once they sent an id; the handler finishes meanwhile."""
    await client.initialize(replicas[0], version)
    with anyio.fail_after(30):
        async with client.stream(replicas[0], to=1, wait=True) as stream:
            received = events(stream)
            last = [await anext(received) for _ in range(sent)][-1]
            replicas[0].streamable_http.drain.set()
            assert [event async for event in received] == []
        async with client.listen(replicas[1], last.id) as rest:
            replicas[0].tool_handler.gate.set()
            assert [event.message["id"] async for event in events(rest)] == [1]


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18"])
async def test_draining_replica_still_answers_a_client_that_holds_no_event_id(
    replicas: Two, client: Client, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    """SPEC J4, J7: these revisions have no event at the start; such a stream could be resumed nowhere."""
    monkeypatch.setattr(post_exchange, "STREAM_AFTER_S", 0.01)
    await client.initialize(replicas[0], version)
    with anyio.fail_after(30):
        async with client.stream(replicas[0], wait=True) as stream:
            replicas[0].streamable_http.drain.set()
            assert (await client.post(replicas[0], {"jsonrpc": "2.0", "id": 2, "method": "ping"})).status_code == 200
            replicas[0].tool_handler.gate.set()
            assert [event.message["id"] async for event in events(stream)] == [1]


async def test_call_that_outlasts_the_grace_is_answered_with_an_error(
    store: RedisStore, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: a client that could not go on elsewhere is told, while it still listens."""
    monkeypatch.setattr(post_exchange, "STREAM_AFTER_S", 0.01)
    async with replica(store, grace_s=0.01) as third:
        await client.initialize(third, "2025-06-18")
        with anyio.fail_after(30):
            async with client.stream(third, wait=True) as stream:
                third.streamable_http.drain.set()
                (delivered,) = [event.message async for event in events(stream)]
    assert (delivered["id"], delivered["error"]["data"]["type"]) == (1, "AbandonedRequest")


async def test_undelivered_messages_wait_for_the_next_reader(store: RedisStore) -> None:
    """SPEC J4: a GET that failed before it told anything does not swallow what came meanwhile."""
    log = SessionStore(store.redis)
    await log.create("s-told", {"principal": "p", "version": "2025-11-25", "client": "{}"})
    assert not await log.take_standalone("s-told", "one")
    assert not await log.take_standalone("s-told", "two")
    await log.note_delivered("s-told", "one")  # it holds the stream no more
    assert not await log.take_standalone("s-told", "three")
    await log.note_delivered("s-told", "three")
    assert await log.take_standalone("s-told", "four")


async def test_a_session_that_is_over_is_not_brought_back_by_its_reader(store: RedisStore) -> None:
    """SPEC J9: no row without a life."""
    log = SessionStore(store.redis)
    await log.note_delivered("s-gone", "one")
    assert await log.load("s-gone") == {}


@pytest.mark.parametrize("use", ["load", "take_standalone", "standalone_holder", "renew"])
async def test_what_is_kept_beside_a_session_lives_as_long_as_it(store: RedisStore, use: str) -> None:
    """SPEC J9, X2: the level its client set, what is being answered for it, what it watches and its streams."""
    log, elicitations = SessionStore(store.redis), ElicitationStore(store.redis)
    await log.create("s-kept", {"principal": "p", "version": "2025-11-25", "client": "{}"})
    await log.append("s-kept", "one", kind="message", text="{}", request_ids=[0])
    await elicitations.set_level("s-kept", "debug")
    await RequestLeases(store.redis).begin("s-kept", "1", "replica")
    await store.redis.hset("mcp:{s-kept}:watch", "a", "b")
    kept = [f"mcp:{{s-kept}}{rest}" for rest in ("", ":streams", ":watch", ":work", ":level")]
    for key in kept:
        await store.redis.expire(key, 60)
    args = {"take_standalone": ["token"], "renew": ["one", "replica"]}.get(use, [])
    await getattr(log, use)("s-kept", *args)
    lives = {key: await store.redis.ttl(key) for key in kept}
    assert {key: life > TTL_S - 5 for key, life in lives.items()} == dict.fromkeys(kept, True)
    assert await elicitations.level("s-kept") == "debug"
    await log.delete("s-kept")
    assert await store.redis.exists(*kept) == 0


async def test_a_session_remembers_streams_for_as_long_as_they_can_be_resumed(store: RedisStore) -> None:
    """SPEC J9: one that is used for weeks is answered on many."""
    log = SessionStore(store.redis)
    await log.create("s-long", {"principal": "p", "version": "2025-11-25", "client": "{}"})
    await log.append("s-long", "kept", kind="message", text="{}", request_ids=[0])
    for number in range(60):
        await log.append("s-long", f"n{number}", kind="final", text="{}", request_ids=[number])
        await store.redis.delete(f"mcp:{{s-long}}:e:n{number}")  # what half an hour of silence does
    assert await log.request_ids("s-long", "kept") == [0]
    assert await store.redis.hlen("mcp:{s-long}:streams") <= 3


async def test_a_message_whose_step_is_sent_twice_is_in_its_stream_once(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4: after a lost connection the client library sends it again; clients saw it twice, and no last one."""
    log = SessionStore(store.redis)
    await log.create("s-once", {"principal": "p", "version": "2025-11-25", "client": "{}"})
    append = log._append_script

    async def append_twice(**given: Any) -> Any:
        assert await append(**given) is not None
        return await append(**given)

    monkeypatch.setattr(log, "_append_script", append_twice)
    positions = [await log.append("s-once", "one", kind=kind, text="{}") for kind in ("message", "message", "final")]
    kept = await log.read("s-once", "one", "0-0")
    assert [(position, kind) for position, kind, _ in kept] == list(
        zip(positions, ("message", "message", "final"), strict=True)
    )
