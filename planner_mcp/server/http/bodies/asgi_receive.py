"""What was received of a request: hand it out again, or wait until the client disconnects."""

from collections import deque
from collections.abc import Iterator
from typing import Final

import anyio
from starlette.types import Message, Receive, Scope

_BLOCKS: Final = "body_blocks"


def replay_body(body: bytes | bytearray, receive: Receive) -> Receive:
    """Return a `receive` that hands out a whole body that was read, then what follows it."""
    taken: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def replay() -> Message:
        return taken.pop() if taken else await receive()

    return replay


def keep_blocks(scope: Scope, blocks: deque[bytearray]) -> None:
    """Keep a body beside its request, for a handler that takes it block by block."""
    scope.setdefault("state", {})[_BLOCKS] = blocks


def taken_body(scope: Scope) -> Iterator[bytearray]:
    """Yield the blocks of a body that was kept; each is let go once it was yielded."""
    blocks: deque[bytearray] = scope.get("state", {}).get(_BLOCKS, deque())
    while blocks:
        yield blocks.popleft()


async def until_disconnected(receive: Receive, scope: anyio.CancelScope) -> None:
    """Wait until the client has gone, then cancel the scope."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
