"""The channels that wake waiters on any replica, a waiter, and the stream each session has for its own messages.

Owns their names, for the store that publishes and the transports that subscribe. What a channel carries stands in the
key tables of `jobs/store/sessions/session_store.py`, `jobs/store/sessions/subscription_store.py` and
`jobs/store/store_keys.py`.
"""

import asyncio
from typing import Final

STANDALONE: Final = "g"
"""The stream of a session that answers no request: what a GET without Last-Event-ID listens to."""
LISTS_CHANNEL: Final = "mcp:l"
"""A list has changed for somebody."""
CANCELS: Final = "mcp:x"
"""Somebody cancelled a request."""
CANCEL_LOG: Final = "mcp:x:log"
"""The stream of what was published there lately, for a replica that did not listen."""


def stream_channel(session_id: str) -> str:
    """Return the channel on which a session's streams grow and its answers come."""
    return f"mcp:w:{session_id}"


def watch_channel(session_id: str) -> str:
    """Return the channel on which a session's watches change."""
    return f"mcp:s:{session_id}"


def scenario_channel(scenario_id: str) -> str:
    """Return the channel on which a scenario's new jobs are published; `submit.lua` uses the same name."""
    return f"scn:{scenario_id}"


class ChannelWaiter:
    """Waits for a message on one channel."""

    def __init__(self) -> None:
        self._is_woken = asyncio.Event()

    def wake(self) -> None:
        """Wake the waiter, now or when it next waits."""
        self._is_woken.set()

    async def wait(self, timeout_s: float) -> bool:
        """Return True once woken, False when the time is up."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._is_woken.wait()
        except TimeoutError:
            return False
        self._is_woken.clear()
        return True
