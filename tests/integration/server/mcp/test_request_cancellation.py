"""Cancelling a request stops the request, wherever it runs; leaving a connection does not."""

import anyio
import pytest

from tests.integration.server.mcp.raw_client import Client, events
from tests.integration.server.mcp.slow_tool_replica import Two

pytestmark = pytest.mark.anyio


async def test_request_is_cancelled_through_the_other_replica(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, cancellation: no response follows; the stream just ends."""
    await client.initialize(replicas[0])
    with anyio.fail_after(30):
        async with client.stream(replicas[0], "slow", to=1, wait=True) as stream:
            received = events(stream)
            await anext(received)
            assert (await client.cancel(replicas[1], "slow")).status_code == 202
            assert ["id" in event.message async for event in received] == [False]
    assert replicas[0].tool_handler.ended == ["cancelled"]


async def test_a_request_without_output_yet_ends_without_a_body(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, cancellation: receivers send no response."""
    await client.initialize(replicas[0])

    async def give_up() -> None:
        await replicas[0].tool_handler.begun.wait()
        await client.cancel(replicas[0], 3)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(give_up)
        answer = await client.call(replicas[0], 3, wait=True)
    assert (answer.status_code, answer.content) == (202, b"")


async def test_ids_of_different_types_are_different_requests(replicas: Two, client: Client) -> None:
    """JSON-RPC 2.0: 1 and "1" are two ids."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], 1, to=1, wait=True) as stream:
        received = events(stream)
        await anext(received)
        await client.cancel(replicas[0], "1")
        replicas[0].tool_handler.gate.set()
        assert [event.message.get("id") async for event in received] == [None, 1]


async def test_lost_connection_is_no_cancellation(replicas: Two, client: Client) -> None:
    """Spec 2025-11-25, transports: disconnection SHOULD NOT be interpreted as cancelling."""
    await client.initialize(replicas[0])
    async with client.stream(replicas[0], to=1, wait=True) as stream:
        last = await anext(events(stream))
    replicas[0].tool_handler.gate.set()
    with anyio.fail_after(30):
        async with client.listen(replicas[1], last.id) as rest:
            assert [event.message.get("id") async for event in events(rest)] == [None, 1]
    assert replicas[0].tool_handler.ended == ["answered"]


async def test_an_id_that_is_used_again_while_it_is_answered_mixes_nothing_up(replicas: Two, client: Client) -> None:
    """JSON-RPC 2.0 forbids it to clients: each connection still gets its own answer."""
    await client.initialize(replicas[0])
    with anyio.fail_after(30):
        async with (
            client.stream(replicas[0], 1, to=1, wait=True) as one,
            client.stream(replicas[0], 1, to=2, wait=True) as two,
        ):
            received_messages = [events(one), events(two)]
            for each in received_messages:
                await anext(each)
            replicas[0].tool_handler.gate.set()
            last = [[event.message async for event in each][-1] for each in received_messages]
    assert [message["result"]["structuredContent"] for message in last] == [{"counted": 1}, {"counted": 2}]


async def test_an_id_that_is_used_twice_is_cancelled_wherever_it_is(replicas: Two, client: Client) -> None:
    """Our choice: a cancel names an id, and means all that carry it."""
    await client.initialize(replicas[0])
    with anyio.fail_after(30):
        async with (
            client.stream(replicas[0], 1, to=1, wait=True) as one,
            client.stream(replicas[1], 1, to=1, wait=True) as two,
        ):
            received_messages = [events(one), events(two)]
            for each in received_messages:
                await anext(each)
            await client.cancel(replicas[1], 1)
            assert [["id" in event.message async for event in each] for each in received_messages] == [[False], [False]]
    assert replicas[0].tool_handler.ended == replicas[1].tool_handler.ended == ["cancelled"]
