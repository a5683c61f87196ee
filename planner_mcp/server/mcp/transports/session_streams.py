"""An SSE stream of a session: the form of its events, and following it from any replica.

Owns event ids. An event id names its stream (`<stream>.<position>`) and is looked up within the session of the
request alone, so no session can replay another's. Messages are kept until the session ends or about a thousand newer
ones came; a position older than that is an error, never a silent gap (SPEC J4).
"""

import json
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from planner_mcp.errors import AbandonedRequestError, LostStreamError
from planner_mcp.jobs.events.pubsub_channels import STANDALONE, stream_channel
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.http.responses.event_stream import sse_event
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_error
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier, Session

OWNER_CHECK_S: Final = 2.5
"""How often a follower checks that the owner of its stream is alive."""
HOLDER_CHECK_S: Final = 60.0
"""How often the holder of a quiet standalone stream checks that it still holds it, and keeps the session alive."""
PRIMED_SINCE: Final = "2025-11-25"
"""First revision whose clients expect an event without data at the start."""

_EVENT_ID: Final = re.compile(r"(g|p[0-9a-f]{16})\.([0-9]{1,19}-[0-9]{1,19})")


@dataclass(frozen=True, slots=True)
class StreamEntry:
    """One entry of a stream."""

    position: str
    kind: str
    """`open`, `message` or `final`."""
    text: str
    """A JSON-RPC message in JSON; empty for `open`, and in place of the answer to a request that was cancelled."""


def parse_event_id(text: str) -> tuple[str, str]:
    """Return stream and position of a `Last-Event-ID`.

    Raises:
        LostStreamError: Not an id this server made.
    """
    if (match := _EVENT_ID.fullmatch(text)) is None:
        raise LostStreamError
    return match[1], match[2]


def stream_event(stream: str, entry: StreamEntry, *, version: str) -> bytes:
    """Return an entry as an SSE event, empty where the revision shows none."""
    if entry.kind == "open":
        return sse_event("", event_id=f"{stream}.{entry.position}") if version >= PRIMED_SINCE else b""
    if not entry.text:
        return b""
    return sse_event(entry.text, event_id=f"{stream}.{entry.position}", event="message")


@dataclass(frozen=True, slots=True)
class SessionStreamReader:
    """Reads streams of sessions, wherever they are written."""

    store: SessionStore
    notifier: ChangeNotifier

    async def resume(self, session: Session, event_id: str) -> tuple[str, str]:
        """Return stream and position to go on from.

        Raises:
            LostStreamError: The id is unknown in this session, or entries after it are gone.
        """
        stream, position = parse_event_id(event_id)
        if not await self.store.holds(session.id, stream, position):
            raise LostStreamError
        return stream, position

    async def follow(self, session: Session, stream: str, after: str) -> AsyncGenerator[StreamEntry | None]:
        """Yield the entries after a position and then new ones, and None from time to time while there are none.

        Ends after the final entry or with the session. A stream whose owner died is ended with an error first. Ends
        also for a reader so slow that its next entry is gone: its resumption is refused.
        """
        is_over = False
        async with self.notifier.watch(stream_channel(session.id)) as waiter:
            while True:
                try:
                    entries = [StreamEntry(*row) for row in await self.store.read(session.id, stream, after)]
                except LostStreamError:
                    return
                for entry in entries:
                    yield entry
                    if entry.kind == "final":
                        return
                    after = entry.position
                if not entries:
                    if is_over:
                        return
                    await waiter.wait(HOLDER_CHECK_S if stream == STANDALONE else OWNER_CHECK_S)
                    is_over = await self._is_over(session, stream)
                    yield None

    async def _is_over(self, session: Session, stream: str) -> bool:
        """Return whether nothing more will be written; end the stream with an error when its owner is gone."""
        if stream == STANDALONE:
            return False
        ids = await self.store.request_ids(session.id, stream)
        errors = [json.dumps(rpc_error(AbandonedRequestError(), request_id=each)) for each in ids]
        return not ids or await self.store.end_orphan(session.id, stream, errors)

    async def standalone(
        self, session: Session, token: str, after: str, *, has_delivered: bool = False
    ) -> AsyncGenerator[StreamEntry | None]:
        """Follow the standalone stream until a newer GET takes it over or the session ends.

        Args:
            session: The session.
            token: The holder, as given to `take_standalone`.
            after: The position to go on from.
            has_delivered: Whether a holder delivered an entry before.
        """
        async with aclosing(self.follow(session, STANDALONE, after)) as entries:
            async for entry in entries:
                if await self.store.standalone_holder(session.id) != token:
                    return
                if entry is not None and not has_delivered:
                    await self.store.note_delivered(session.id, token)
                    has_delivered = True
                yield entry
