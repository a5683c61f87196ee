"""ASGI `receive` callables: hand out a body that was read before, or wait until the client disconnects."""

import anyio
from starlette.types import Message, Receive


def replay_message(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that hands out a message that was taken, then what follows it."""
    taken = [first]

    async def replay() -> Message:
        return taken.pop() if taken else await receive()

    return replay


def replay_body(body: bytes | bytearray, receive: Receive) -> Receive:
    """Return a `receive` that hands out a whole body that was read, then what follows it."""
    return replay_message({"type": "http.request", "body": bytes(body), "more_body": False}, receive)


async def until_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    """Wait until the client has gone, then cancel the scope."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
