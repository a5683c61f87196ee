"""A session of the handshake revisions, as kept in the store.

Owns what a session is: a random id, the principal it belongs to, the negotiated revision and the parameters of the
client's `initialize`. A session authenticates no client (SPEC X3) and owns no job (SPEC J9); if it is lost, the
client initializes again.
"""

import json
import re
import secrets
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Final, Protocol

from planner_mcp.errors import UnknownSessionError
from planner_mcp.jobs.events.pubsub_channels import ChannelWaiter
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.text import Json

_SESSION_ID: Final = re.compile(r"[A-Za-z0-9_-]{32}")


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

    def __init__(self, store: SessionStore) -> None:
        self._store = store

    async def open(self, principal: str, version: str, client: Mapping[str, Any], transport: str = "") -> Session:
        """Keep a new session under a fresh id of 192 random bits; it is valid on its own transport alone."""
        session = Session(secrets.token_urlsafe(24), principal, version, _kept_of(client))
        fields = {"principal": principal, "version": version, "client": json.dumps(session.client), "door": transport}
        await self._store.create(session.id, fields)
        return session

    async def complete_handshake(self, session: Session, version: str, client: Mapping[str, Any]) -> None:
        """Write down what a session's handshake agreed on."""
        await self._store.amend(session.id, {"version": version, "client": json.dumps(_kept_of(client))})

    async def find(self, session_id: str, principal: str, transport: str = "") -> Session:
        """Return the principal's session.

        Raises:
            UnknownSessionError: Unknown, ended, or another principal's; the answer is the same for all three.
        """
        fields = await self._store.load(session_id) if _SESSION_ID.fullmatch(session_id) else {}
        if not fields.get("principal") or fields["principal"] != principal or fields.get("door", "") != transport:
            raise UnknownSessionError
        return Session(session_id, principal, fields["version"], json.loads(fields["client"]))


def _kept_of(client: Mapping[str, Any]) -> Json:
    """Return what is kept of the parameters of an `initialize`."""
    return {name: client[name] for name in ("clientInfo", "capabilities") if name in client}
