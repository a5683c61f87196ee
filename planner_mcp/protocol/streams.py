"""An SSE stream of a session: its wire form, and following it from any replica.

Owns event ids and frames. An event id names its stream (`<stream>.<position>`) and is looked up within the session of
the request alone, so no session can replay another's. Messages are kept until the session ends or about a thousand
newer ones came; a position older than that is an error, never a silent gap (SPEC J4).
"""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import anyio
from starlette.types import Receive, Scope, Send

from planner_mcp.errors import AbandonedRequestError, LostStreamError, PlannerError
from planner_mcp.protocol.faults import rpc_error
from planner_mcp.protocol.sessions import Session, SessionLog, Wakes

STANDALONE: Final = "g"
"""Name of the stream a GET without Last-Event-ID listens to."""
KEEP_ALIVE_S: Final = 15.0
"""A quiet stream carries a comment this often, so that proxies keep it open."""
CHECK_S: Final = 2.5
"""How often a follower looks whether the owner of its stream still lives."""
RETRY_MS: Final = 1000
"""What a client is told to wait before it reconnects."""
PRIMED_SINCE: Final = "2025-11-25"
"""First revision whose clients expect an event without data at the start."""

_EVENT_ID: Final = re.compile(r"(g|p[0-9a-f]{16})\.([0-9]{1,20}-[0-9]{1,20})")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a stream."""

    position: str
    kind: str
    """`open`, `message` or `final`."""
    text: str
    """A JSON-RPC message in JSON; empty for `open`, and for a `final` whose request was cancelled."""


def parse_event_id(text: str) -> tuple[str, str]:
    """Return stream and position of a `Last-Event-ID`.

    Raises:
        LostStreamError: Not an id this server made.
    """
    if (match := _EVENT_ID.fullmatch(text)) is None:
        raise LostStreamError
    return match[1], match[2]


def frame(stream: str, entry: Entry, *, version: str) -> bytes:
    """Return an entry as an SSE event, empty where the revision shows none."""
    if entry.kind == "open":
        opening = f"id: {stream}.{entry.position}\nretry: {RETRY_MS}\ndata: \n\n"
        return opening.encode() if version >= PRIMED_SINCE else f"retry: {RETRY_MS}\n\n".encode()
    if not entry.text:
        return b""
    return f"event: message\nid: {stream}.{entry.position}\ndata: {entry.text}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Follower:
    """Reads streams of sessions, wherever they are written."""

    log: SessionLog
    wakes: Wakes

    async def resume(self, session: Session, event_id: str) -> tuple[str, str]:
        """Return stream and position to go on from.

        Raises:
            LostStreamError: The id is unknown in this session, or entries after it are gone.
        """
        stream, position = parse_event_id(event_id)
        if not await self.log.holds(session.id, stream, position):
            raise LostStreamError
        return stream, position

    async def follow(self, session: Session, stream: str, after: str) -> AsyncGenerator[Entry | None]:
        """Yield what was written after a position and then what comes, None now and then when nothing did.

        Ends after the final entry or with the session. A stream whose owner died is ended with an error first.
        """
        async with self.wakes.watch(f"mcp:w:{session.id}") as bell:
            while True:
                entries = [Entry(*row) for row in await self.log.read(session.id, stream, after)]
                for entry in entries:
                    yield entry
                    if entry.kind == "final":
                        return
                    after = entry.position
                if not entries:
                    await bell.wait(CHECK_S)
                    if not await self._lives(session, stream):
                        return
                    yield None

    async def _lives(self, session: Session, stream: str) -> bool:
        """Return False when the session is over; end the stream with an error when its owner is gone."""
        if stream == STANDALONE:
            return True
        if not (ids := await self.log.request_ids(session.id, stream)):
            return False
        errors = [json.dumps(rpc_error(AbandonedRequestError(), request_id=each)) for each in ids]
        await self.log.end_orphan(session.id, stream, errors)
        return True

    async def standalone(self, session: Session, token: str, after: str) -> AsyncGenerator[Entry | None]:
        """Follow the standalone stream until a newer GET takes it over or the session ends."""
        async with aclosing(self.follow(session, STANDALONE, after)) as entries:
            async for entry in entries:
                if await self.log.standalone_holder(session.id) != token:
                    return
                yield entry


class SseResponse:
    """Sends frames until they end, the client leaves or the server drains.

    Args:
        frames: What to send; an empty frame is skipped.
        drain: Set when the server wants its streams to end; clients then resume on another replica.
        headers: Further response headers.
    """

    def __init__(self, frames: AsyncIterator[bytes], *, drain: anyio.Event, headers: dict[str, str]) -> None:
        self._frames = frames
        self._drain = drain
        self._headers = {
            "content-type": "text/event-stream",
            "cache-control": "no-cache, no-transform",
            "x-accel-buffering": "no",
            **headers,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the response."""
        raw = [(name.encode(), value.encode("latin-1")) for name, value in self._headers.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._until_gone, receive, tasks.cancel_scope)
            tasks.start_soon(self._until_drain, tasks.cancel_scope)
            await self._send_all(send)
            tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_all(self, send: Send) -> None:
        try:
            async for data in self._frames:
                if data:
                    await send({"type": "http.response.body", "body": data, "more_body": True})
        except PlannerError:
            return  # the store is away: end the stream, the client resumes where it was

    async def _until_gone(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _until_drain(self, scope: anyio.CancelScope) -> None:
        await self._drain.wait()
        scope.cancel()


async def with_keep_alive(entries: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield entries, and a True for about every `KEEP_ALIVE_S` of Nones in a row."""
    quiet_since = anyio.current_time()
    async for entry in entries:
        if entry is not None:
            quiet_since = anyio.current_time()
            yield entry
        elif anyio.current_time() - quiet_since >= KEEP_ALIVE_S:
            quiet_since = anyio.current_time()
            yield True
