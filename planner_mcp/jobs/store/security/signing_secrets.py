"""Signing secrets of principals in Redis: encrypted, rotated, shown once (SPEC W1, W5).

```text
{p0}:whsec:<p>   hash    current, old (JSON [{sealed, until_ms}]), created_ms, shown_ms       KEEP_S from last use
```
`shown_ms` is when the current one was shown, and a text of that answer alone.
"""

import json
import logging
import secrets
from typing import Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.record_codec import fields_of, utc_from_ms
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.jobs.webhooks.delivery_records import SigningSecret
from planner_mcp.jobs.webhooks.webhook_signing import SECRET_BYTES, new_secret
from planner_mcp.text import Json

OLD_S: Final = 24 * 3600
"""An old secret goes on signing beside the new one this long."""
MAX_SECRETS: Final = 10
"""Secrets that sign at one time, the current one included."""
KEEP_S: Final = 400 * 86400
CACHED_PRINCIPALS: Final = 1000
"""Principals whose secrets a dispatcher caches."""

log = logging.getLogger("planner.secrets")


class SigningSecrets:
    """The secrets of all principals.

    Args:
        script_client: Runs steps and commands.
        cipher: Encrypts what is stored.
    """

    def __init__(self, script_client: ScriptClient, cipher: SecretCipher) -> None:
        self._script_client = script_client
        self._cipher = cipher
        self._last: dict[str, list[str]] = {}
        """What signed last, for when the node of the secrets is away and that of a delivery is not."""

    async def signing(self, principal: str) -> list[str]:
        """Return the secrets that sign now, the current one first; makes one on first need.

        While their node is away those of the last time stand: nobody can rotate them meanwhile. An old one that does
        not open is left out: one signature is enough for a receiver.

        Raises:
            StoreError: The current one was encrypted with another key.
        """
        try:
            kept, now_ms = await self._rotate(principal, is_first=True)
        except StoreUnavailableError:
            if (last := self._last.get(principal)) is None:
                raise
            return last
        current = self._cipher.decrypt(kept["current"], principal)
        old = [self._cipher.decrypt_or_none(one["sealed"], principal) for one in _old(kept, now_ms)]
        found = [current, *filter(None, old)]
        if None in old and found != self._last.get(principal):  # logged once, not with each delivery
            log.warning("%d old webhook secrets of %s do not open and sign no more", old.count(None), principal)
        return self._remember(principal, found)

    def _remember(self, principal: str, found: list[str]) -> list[str]:
        self._last.pop(principal, None)
        self._last[principal] = found
        if len(self._last) > CACHED_PRINCIPALS:
            del self._last[next(iter(self._last))]
        return found

    async def reveal(self, principal: str) -> SigningSecret:
        """Return the secret, made on first need, if nobody has seen it yet; otherwise what is known of it.

        Raises:
            StoreError: It was encrypted with another key.
        """
        kept, now_ms = await self._rotate(principal, is_first=True)
        self._cipher.decrypt(
            kept["current"], principal
        )  # before it counts as shown: with another key nobody would see it
        shown = f"{now_ms} {secrets.token_hex(4)}"  # redis-py sends it again after a lost connection
        is_unseen = await self._script_client.command("HSETNX", _key(principal), "shown_ms", shown)
        is_unseen = is_unseen or await self._script_client.command("HGET", _key(principal), "shown_ms") == shown
        return self._signing_secret(principal, kept, now_ms, is_shown=bool(is_unseen))

    async def rotate(self, principal: str, *, is_forced: bool = False) -> SigningSecret:
        """Return a new secret; the old one goes on signing beside it for a day.

        Args:
            principal: Whose.
            is_forced: Also where the current one does not open here, which then signs no more.

        Raises:
            StoreError: The current one was encrypted with another key, so dispatchers could not decrypt a new one.
        """
        if not is_forced and (current := await self._script_client.command("HGET", _key(principal), "current")):
            self._cipher.decrypt(current, principal)
        kept, now_ms = await self._rotate(principal, is_first=False)
        await self._script_client.command("HSETNX", _key(principal), "shown_ms", now_ms)
        return self._signing_secret(principal, kept, now_ms, is_shown=True)

    async def _rotate(self, principal: str, *, is_first: bool) -> tuple[dict[str, str], int]:
        ciphertext = self._cipher.encrypt(new_secret(secrets.token_bytes(SECRET_BYTES)), principal)
        args = {
            "principal": principal,
            "is_first": is_first,
            "old_ms": OLD_S * 1000,
            "most": MAX_SECRETS,
            "keep_ms": KEEP_S * 1000,
        }
        _ok, flat, now_ms = await self._script_client.step("secret_rotate", store_keys.UNSHARDED, args, ciphertext)
        return fields_of(flat), int(now_ms)

    def _signing_secret(self, principal: str, kept: dict[str, str], now_ms: int, *, is_shown: bool) -> SigningSecret:
        return SigningSecret(
            secret=self._cipher.decrypt(kept["current"], principal) if is_shown else None,
            created_at=utc_from_ms(kept["created_ms"]),
            old_until=tuple(utc_from_ms(one["until_ms"]) for one in _old(kept, now_ms)),
        )


def _old(kept: dict[str, str], now_ms: int) -> list[Json]:
    return [one for one in json.loads(kept.get("old", "[]")) if one["until_ms"] > now_ms]


def _key(principal: str) -> str:
    return store_keys.key(store_keys.UNSHARDED, "whsec", principal)
