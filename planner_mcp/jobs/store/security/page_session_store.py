"""Sessions of the dashboard and one-time tickets in Redis: a text each under a digest, gone when its time is over.

A principal has at most `MAX_SESSIONS` sessions; a further one ends the oldest.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.text import Json

MAX_SESSIONS: Final = 32
"""Of one principal: browsers in which it is signed in."""
TICKET_S: Final = 60


class PageSessionStore:
    """Keeps sessions and tickets.

    Args:
        script_client: Runs commands.
    """

    def __init__(self, script_client: ScriptClient) -> None:
        self._command = script_client.command

    async def keep(self, digest: str, principal: Principal, life_s: int) -> None:
        """Keep a session for so long."""
        own = _key("sessions", principal.id)
        await self._command("SET", _key("session", digest), _text(principal), "EX", life_s)
        count = await self._command("RPUSH", own, digest)
        await self._command("EXPIRE", own, life_s)
        for _ in range(int(count) - MAX_SESSIONS):
            if (oldest := await self._command("LPOP", own)) is not None:
                await self.drop(str(oldest))

    async def find(self, digests: Sequence[str]) -> dict[str, Principal]:
        """Return whom sessions act for, one digest at least; those that are over are left out."""
        texts = await self._command("MGET", *(_key("session", digest) for digest in digests))
        return {digest: _principal(text) for digest, text in zip(digests, texts, strict=True) if text}

    async def drop(self, digest: str) -> None:
        """End a session."""
        await self._command("DEL", _key("session", digest))

    async def keep_ticket(self, digest: str, principal: Principal) -> None:
        """Keep a ticket for `TICKET_S`."""
        await self._command("SET", _key("ticket", digest), _text(principal), "EX", TICKET_S)

    async def take_ticket(self, digest: str) -> Principal | None:
        """Return whom a ticket acts for, once; None afterwards and when its time is over."""
        text = await self._command("GETDEL", _key("ticket", digest))
        return _principal(text) if text else None


def _key(kind: str, name: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, "ui", kind, name)


def _text(principal: Principal) -> str:
    kept = {name: value for name, value in asdict(principal).items() if name != "is_guest"}  # nobody who signs in is
    return json.dumps(kept | {"scopes": sorted(principal.scopes)})


def _principal(text: str) -> Principal:
    kept: Json = json.loads(text)
    return Principal(**{**kept, "scopes": frozenset(kept["scopes"])})
