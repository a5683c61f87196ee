"""Sessions of the dashboard: a credential is exchanged once for a cookie that scripts cannot read (SPEC A1).

Owns what a cookie and a ticket are. A cookie is the encrypted name of a session; the store keeps whom it acts for under
a digest of that name, so a sign-out ends it at every replica, and what the store holds opens nothing. A session ends
after its longest life, with the credential it was opened with, and when its API key is revoked; its scopes are never
more than those of its key. A ticket opens one session, within a minute, for the command that opens the page.
"""

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.errors import StoreError, UnauthenticatedError
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.security.api_key_store import ApiKeyStore
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.jobs.store.security.page_session_store import PageSessionStore
from planner_mcp.text import digest_of

SESSION_S: Final = 8 * 3600
TICKET_PREFIX: Final = "pmt_"
"""Distinguishes a ticket from an API key and a token."""
MAX_COOKIE: Final = 1024
"""Characters of the longest cookie that is looked at."""
_OWNER: Final = "dashboard session"


class PageSessions:
    """Opens, finds and ends sessions.

    Args:
        store: Keeps them.
        keys: Knows which API keys are revoked.
        cipher: With the key of the deployment.
        session_s: The longest life of a session.
        clock: Returns seconds since the epoch.
    """

    def __init__(
        self,
        store: PageSessionStore,
        keys: ApiKeyStore,
        cipher: SecretCipher,
        *,
        session_s: int = SESSION_S,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._keys = keys
        self._cipher = cipher
        self._session_s = session_s
        self._clock = clock

    async def open(self, principal: Principal) -> tuple[str, int]:
        """Return the cookie of a new session and its life in seconds."""
        now = self._clock()
        longest = now + self._session_s
        ends = longest if principal.expires_at is None else min(longest, principal.expires_at)
        name, life_s = secrets.token_urlsafe(32), max(1, int(ends - now))
        await self._store.keep(digest_of(name), replace(principal, expires_at=ends), life_s)
        return self._cipher.encrypt(name, _OWNER), life_s

    async def principal(self, cookie: str) -> Principal:
        """Return whom a session acts for; `session_id` of it names the session.

        Raises:
            UnauthenticatedError: It is over, or the cookie was not made here.
        """
        digest = self._digest_of(cookie)
        found = (await self._store.find([digest])).get(digest)
        if found is None or (found.expires_at or 0) <= self._clock():
            raise UnauthenticatedError("This session is over; sign in again.")
        if found.key_id:
            if (record := await self._keys.find(found.key_id)) is None:
                await self._store.drop(digest)
                raise UnauthenticatedError("The API key of this session was revoked.")
            found = replace(found, scopes=found.scopes & record.scopes)
        return replace(found, session_id=digest)

    async def close(self, principal: Principal) -> None:
        """End the session a request came with, if any, at every replica."""
        if principal.session_id:
            await self._store.drop(principal.session_id)

    async def known(self, session_ids: Sequence[str]) -> set[str]:
        """Return those of some sessions, one at least, that are neither over nor of a revoked key."""
        found = await self._store.find(session_ids)
        key_ids = {principal.key_id for principal in found.values() if principal.key_id}
        known = await self._keys.known(tuple(key_ids)) if key_ids else set()
        return {name for name, principal in found.items() if not principal.key_id or principal.key_id in known}

    async def ticket(self, principal: Principal) -> str:
        """Return a ticket that opens one session of a principal."""
        ticket = f"{TICKET_PREFIX}{secrets.token_urlsafe(32)}"
        await self._store.keep_ticket(digest_of(ticket), principal)
        return ticket

    async def verify(self, token: str) -> Principal:
        """Return whom a ticket acts for, once.

        Raises:
            UnauthenticatedError: It was used, its time is over, or there was none.
        """
        if (principal := await self._store.take_ticket(digest_of(token))) is None:
            raise UnauthenticatedError("This ticket was used already, or its time is over.")
        return principal

    def _digest_of(self, cookie: str) -> str:
        try:
            return digest_of(self._cipher.decrypt(cookie[:MAX_COOKIE], _OWNER))
        except StoreError as error:
            raise UnauthenticatedError("This session was not opened here; sign in again.") from error
