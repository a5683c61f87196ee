"""A session of the handshake revisions, as kept in the store.

Owns what a session is: a random id, the principal it belongs to, the negotiated revision and the parameters of the
client's `initialize`. A session authenticates no client (SPEC X3) and owns no job (SPEC J9); if it is lost, the
client initializes again.
"""

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from planner_mcp.errors import UnknownSessionError
from planner_mcp.jobs.events.pubsub_channels import ChannelWaiter
from planner_mcp.text import Json

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]{32}")


class SessionLog(Protocol):
    """What sessions and streams need of a store that all replicas share. Each step is atomic."""

    async def create(self, session_id: str, fields: Mapping[str, str]) -> None:
        """Keep a new session."""
        ...

    async def amend(self, session_id: str, fields: Mapping[str, str]) -> None:
        """Write further fields of a session."""
        ...

    async def load(self, session_id: str) -> dict[str, str]:
        """Return its fields and push its end out; empty when unknown or over."""
        ...

    async def delete(self, session_id: str) -> None:
        """Forget it with all its streams and wake their followers."""
        ...

    async def take_standalone(self, session_id: str, token: str) -> bool:
        """Make `token` the holder of the standalone stream; return whether a holder ever delivered an entry."""
        ...

    async def note_delivered(self, session_id: str, token: str) -> None:
        """Record that this holder delivered an entry."""
        ...

    async def standalone_holder(self, session_id: str) -> str | None:
        """Return the holder of the standalone stream and keep the session alive; None when it is over."""
        ...

    async def append(
        self, session_id: str, name: str, *, kind: str, text: str, owner: str = "", request_ids: Sequence[Any] = ()
    ) -> str | None:
        """Add to a stream, which then owes these requests an answer; return the position, None when it is over."""
        ...

    async def read(self, session_id: str, name: str, after: str) -> list[tuple[str, str, str]]:
        """Return entries after a position as `(position, kind, text)`; raise `LostStreamError` where some are gone."""
        ...

    async def holds(self, session_id: str, name: str, position: str) -> bool:
        """Return whether an entry can still be resumed from."""
        ...

    async def end_of(self, session_id: str, name: str) -> str:
        """Return the newest position."""
        ...

    async def renew(self, session_id: str, name: str, owner: str) -> None:
        """Extend the owner's lease and the session's life."""
        ...

    async def request_ids(self, session_id: str, name: str) -> list[Any]:
        """Return the ids of the requests a stream still owes an answer."""
        ...

    async def end_orphan(self, session_id: str, name: str, messages: Sequence[str]) -> bool:
        """End a stream whose owner is gone; return whether it is over, now or before."""
        ...

    async def cancel(self, session_id: str, request_id: str) -> None:
        """Announce to every replica that a request was cancelled."""
        ...


class ChangeNotifier(Protocol):
    """How a replica learns that a session's streams grew."""

    def watch(self, channel: str) -> AbstractAsyncContextManager[ChannelWaiter]:
        """Yield a waiter for a channel; read the store each time it is woken."""
        ...


@dataclass(frozen=True, slots=True)
class Session:
    """One client's handshake."""

    id: str
    principal: str
    version: str
    """The negotiated revision."""
    client: Json
    """Who it is and what it can, of the parameters of its `initialize`."""


class Sessions:
    """Opening, finding and ending sessions."""

    def __init__(self, log: SessionLog) -> None:
        self._log = log

    async def open(self, principal: str, version: str, client: Mapping[str, Any], transport: str = "") -> Session:
        """Keep a new session under a fresh id of 192 random bits; it is valid on its own transport alone."""
        session = Session(secrets.token_urlsafe(24), principal, version, _kept_of(client))
        fields = {"principal": principal, "version": version, "client": json.dumps(session.client), "door": transport}
        await self._log.create(session.id, fields)
        return session

    async def complete_handshake(self, session: Session, version: str, client: Mapping[str, Any]) -> None:
        """Write down what a session's handshake agreed on."""
        await self._log.amend(session.id, {"version": version, "client": json.dumps(_kept_of(client))})

    async def find(self, session_id: str, principal: str, transport: str = "") -> Session:
        """Return the principal's session.

        Raises:
            UnknownSessionError: Unknown, ended, or another principal's; the answer is the same for all three.
        """
        fields = await self._log.load(session_id) if _SESSION_ID.fullmatch(session_id) else {}
        if not fields.get("principal") or fields["principal"] != principal or fields.get("door", "") != transport:
            raise UnknownSessionError
        return Session(session_id, principal, fields["version"], json.loads(fields["client"]))


def _kept_of(client: Mapping[str, Any]) -> Json:
    """Return what is kept of the parameters of an `initialize`."""
    return {name: client[name] for name in ("clientInfo", "capabilities") if name in client}
