"""Notices credentials that are revoked while a stream is open that was opened with them (SPEC A1).

Owns one look at the store every `CHECK_S` for all API keys, or sessions, with open streams, none while there are none.
A revocation is looked for, not announced: an announcement could be lost, and the stream would go on.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from planner_mcp.errors import StoreError

CHECK_S: Final = 2.0
"""Time between two looks. A stream ends within 5 s, the answer of a slow store included."""


@dataclass(slots=True)
class _Watched:
    revoked: anyio.Event = field(default_factory=anyio.Event)
    waiting: int = 0


class KnownCredentials(Protocol):
    """Knows which credentials hold."""

    async def known(self, ids: Sequence[str], /) -> set[str]:
        """Return those of some ids, one at least, whose credentials still hold."""
        ...


class RevocationWatch:
    """Waits for the revocation of keys, or of sessions.

    Args:
        credentials: Where they are found.
    """

    def __init__(self, credentials: KnownCredentials) -> None:
        self._credentials = credentials
        self._watched: dict[str, _Watched] = {}
        self._looking: asyncio.Task[None] | None = None

    async def until_revoked(self, key_id: str) -> None:
        """Wait until a key or session is revoked."""
        watched = self._watched.setdefault(key_id, _Watched())
        watched.waiting += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(), name="revoked keys")
        try:
            await watched.revoked.wait()
        finally:
            watched.waiting -= 1
            if not watched.waiting and self._watched.get(key_id) is watched:
                del self._watched[key_id]
            if not self._watched and self._looking is not None:
                self._looking.cancel()
                self._looking = None  # who comes before it has ended begins another

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            try:
                revoked = set(self._watched) - await self._credentials.known(tuple(self._watched))
            except StoreError:
                continue
            for key_id in revoked & self._watched.keys():  # streams may have ended meanwhile
                self._watched[key_id].revoked.set()
