"""What the one client of a stdio process watches, and how it is notified (handshake revisions).

Owns the counterparts, in memory, of what the store keeps for sessions over HTTP: the client lives as long as the
process and has one pipe to it.
"""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio

from planner_mcp.jobs.events.pubsub_channels import ChannelWaiter, watch_channel
from planner_mcp.server.mcp.request_context import send_notification

SESSION = "stdio"
"""Name of the one session."""


class StdioWatchStore:
    """Watches of the one client. Implements `SessionWatchStore`, with a matching `ChangeNotifier`."""

    def __init__(self) -> None:
        self.session: Any = None
        """The SDK's session of the client's last request."""
        self._watches: dict[str, str] = {}
        self._cursors: dict[str, str] = {}
        self.notifier = StdioNotifier()

    async def watch(self, _session_id: str, name: str, value: str, cursors: dict[str, str]) -> None:
        """Begin to watch."""
        self._watches[name] = value
        self._cursors = cursors | self._cursors
        self.notifier.waiter.wake()

    async def unwatch(self, _session_id: str, names: Sequence[str], cursors: Sequence[str] = ()) -> None:
        """Watch no more, and forget cursors."""
        for name in names:
            self._watches.pop(name, None)
        for cursor in cursors:
            self._cursors.pop(cursor, None)

    async def watched(self, _session_id: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return what is watched, and the cursors."""
        return dict(self._watches), dict(self._cursors)

    async def begin(self, _session_id: str, positions: Mapping[str, str]) -> dict[str, str]:
        """Set the cursors that do not stand yet; return where each of them stands."""
        return {cursor: self._cursors.setdefault(cursor, position) for cursor, position in positions.items()}

    async def note(self, _session_id: str, cursor: str, position: str, messages: Sequence[tuple[str, str]]) -> bool:
        """Move a cursor on and notify the client; False when it is gone."""
        if self._cursors.get(cursor) == position:
            return True
        self._cursors[cursor] = position
        try:
            for name, text in messages:
                if not name or name in self._watches:
                    message = json.loads(text)
                    await send_notification(self.session, message["method"], message["params"])
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    async def list_versions(self, _principal: str) -> dict[str, int]:
        """Return nothing: the lists of a process do not change."""
        return {}


class StdioNotifier:
    """One waiter for all channels."""

    def __init__(self) -> None:
        self.waiter = ChannelWaiter()

    @asynccontextmanager
    async def watch(self, channel: str) -> AsyncIterator[ChannelWaiter]:
        """Yield the waiter of what the client watches; one of another channel is never woken."""
        yield self.waiter if channel == watch_channel(SESSION) else ChannelWaiter()
