"""Wake-ups of a replica, over the one connection that all its waiters share."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from redis.asyncio.connection import AbstractConnection

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.events.pubsub_channels import CANCELS
from planner_mcp.jobs.store.events import channel_notifier
from planner_mcp.jobs.store.events.channel_notifier import ChannelNotifier
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.task_cancellation import cancel_and_wait
from tests.shared.store.redis_cluster import IS_CLUSTER

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(IS_CLUSTER, reason="connections are ended at one server")]
WAITERS = 30
LOSSES = 30


@asynccontextmanager
async def listening(store: RedisStore) -> AsyncIterator[ChannelNotifier]:
    """Listen during the block, and fail where that has ended before."""
    notifier = ChannelNotifier(store.redis)
    running = asyncio.create_task(notifier.run())
    try:
        yield notifier
        assert not running.done()
    finally:
        await cancel_and_wait(running)


async def is_woken(notifier: ChannelNotifier, store: RedisStore, channel: str) -> bool:
    """Return whether a waiter hears what is published."""
    async with notifier.watch(channel) as waiter:
        while await waiter.wait(0.2):
            pass  # woken by its own subscription
        await store.redis.publish(channel, "x")
        return await waiter.wait(5)


async def test_wake_ups_go_on_when_the_connection_is_lost_while_waiters_come_and_go(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4, J7: a replica never woke anybody again, and waiters met errors of the client library."""
    monkeypatch.setattr(channel_notifier, "RETRY_S", 0.01)
    is_over = False

    async def come_and_go(channel: str) -> None:
        while not is_over:
            async with notifier.watch(channel) as waiter:
                await waiter.wait(0.02)

    with anyio.fail_after(30):
        async with listening(store) as notifier:
            waiters = [asyncio.create_task(come_and_go(f"c{number}")) for number in range(WAITERS)]
            for _loss in range(LOSSES):
                await asyncio.sleep(0.05)
                await store.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            is_over = True
            await asyncio.gather(*waiters)
            assert await is_woken(notifier, store, "probe")


async def test_an_answer_meant_for_another_task_is_taken_for_a_lost_connection(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4, J7: a waiter that opened the connection anew was answered `OK`, and nobody was woken any more."""
    monkeypatch.setattr(channel_notifier, "RETRY_S", 0.01)
    read, answers = AbstractConnection.read_response, ["OK"]

    async def read_another(connection: AbstractConnection, **options: Any) -> Any:
        is_subscription = options.get("push_request") and answers
        return answers.pop() if is_subscription else await read(connection, **options)

    monkeypatch.setattr(AbstractConnection, "read_response", read_another)
    with anyio.fail_after(30):
        async with listening(store) as notifier:
            assert await is_woken(notifier, store, "probe")
    assert answers == []


async def test_a_waiter_that_is_cancelled_as_it_subscribes_ends_and_disturbs_no_other(store: RedisStore) -> None:
    """SPEC J7: on Python 3.11 it went on for ever, as redis-py swallowed the cancellation."""
    with anyio.fail_after(10):
        async with listening(store) as notifier, notifier.watch("other") as other:
            while await other.wait(0.2):
                pass  # woken by its own subscription
            for passes in range(6):
                waiter = asyncio.create_task(_wait_for_ever(notifier))
                for _pass in range(passes):
                    await asyncio.sleep(0)
                await cancel_once(waiter)
            assert not await other.wait(0.2)  # the connection was not opened anew
            await store.redis.publish("other", "x")
            assert await other.wait(5)


async def test_a_request_cancelled_while_the_subscription_is_away_is_cancelled_when_it_is_back(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J4, X2: it went on to its end, because what is published reaches only who listens."""
    monkeypatch.setattr(channel_notifier, "RETRY_S", 0.1)
    cancels: list[str] = []
    heard, sessions = anyio.Event(), SessionStore(store.redis)

    def hear(cancelled: str) -> None:
        cancels.append(cancelled)
        heard.set()

    async def hearers() -> int:
        return int((await store.redis.execute_command("PUBSUB", "NUMSUB", CANCELS))[1])

    with anyio.fail_after(10):
        async with listening(store) as notifier:
            notifier.on_cancel(hear)
            while not await hearers():  # noqa: ASYNC110 — the store sends no event
                await asyncio.sleep(0.01)
            await store.redis.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            while await hearers():  # noqa: ASYNC110 — the store sends no event
                await asyncio.sleep(0.001)
            await sessions.cancel("a-session", "7")
            await heard.wait()
    assert cancels == ["a-session 7"]


async def test_a_request_is_cancelled_although_the_store_is_full(store: RedisStore) -> None:
    """SPEC J7, X2: it was, until cancels were written down too."""
    heard = anyio.Event()
    with anyio.fail_after(10):
        async with listening(store) as notifier, notifier.watch("c") as waiter:
            notifier.on_cancel(lambda _cancelled: heard.set())
            while await waiter.wait(0.1):
                pass  # woken by its own subscription
            await store.redis.config_set("maxmemory", "1")
            try:
                with pytest.raises(StoreUnavailableError):
                    await SessionStore(store.redis).cancel("a-session", "7")
            finally:
                await store.redis.config_set("maxmemory", "0")
            await heard.wait()


async def test_a_fault_of_a_handler_is_no_lost_connection(store: RedisStore) -> None:
    """Our choice: such a fault was taken for one, and the subscription opened anew without a word."""

    def fail(_cancelled: str) -> None:
        raise AttributeError

    notifier = ChannelNotifier(store.redis)
    notifier.on_cancel(fail)
    running = asyncio.create_task(notifier.run())
    async with notifier.watch("c") as waiter:
        while await waiter.wait(0.1):
            pass  # woken by its own subscription
        await SessionStore(store.redis).cancel("a-session", "7")
        with anyio.fail_after(5), pytest.raises(AttributeError):
            await running


async def _wait_for_ever(notifier: ChannelNotifier) -> None:
    async with notifier.watch("c"):
        await asyncio.Event().wait()


async def cancel_once(task: "asyncio.Task[None]") -> None:
    """Cancel a task as a task group does."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
