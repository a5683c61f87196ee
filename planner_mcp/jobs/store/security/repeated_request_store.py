"""Answers of requests with an idempotency key in Redis.

```text
{p0}:repeat:<digest of owner and key>   string   "<fingerprint> <answer, encrypted>"   idempotency TTL
                                                 "<fingerprint> "  while it is under way  UNDER_WAY_S
```
"""

import json
from dataclasses import asdict
from typing import Final

from planner_mcp.errors import IdempotencyConflictError, RequestUnderWayError
from planner_mcp.jobs.records.repeated_requests import KeptAnswer, KeyedRequest
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.jobs.store.security.encryption import SecretCipher
from planner_mcp.settings import Settings
from planner_mcp.text import digest_of

UNDER_WAY_S: Final = 60
"""A request without an answer that is not renewed counts as lost after this, and may be made again."""
RETRY_AFTER_S: Final = 1.0


class RepeatedRequestStore:
    """The requests of all principals.

    Args:
        script_client: Runs commands.
        cipher: Encrypts answers.
        settings: How long they are kept.
    """

    def __init__(self, script_client: ScriptClient, cipher: SecretCipher, settings: Settings) -> None:
        self._script_client = script_client
        self._cipher = cipher
        self._life_s = round(settings.idempotency_ttl_s)

    async def begin(self, request: KeyedRequest) -> KeptAnswer | None:
        """Return the kept answer of an equal request; None where this one is the first and now under way.

        Raises:
            IdempotencyConflictError: The key came with another request.
            RequestUnderWayError: The first has no answer yet.
        """
        mark = f"{request.fingerprint} "
        if await self._script_client.command("SET", _key(request), mark, "NX", "EX", UNDER_WAY_S):
            return None
        kept: str = await self._script_client.command("GET", _key(request)) or mark
        fingerprint, _space, answer = kept.partition(" ")
        if fingerprint != request.fingerprint:
            raise IdempotencyConflictError(path="/Idempotency-Key")
        if not answer:
            raise RequestUnderWayError(retry_after_s=RETRY_AFTER_S)
        return KeptAnswer(**json.loads(self._cipher.decrypt(answer, request.owner)))

    async def renew(self, request: KeyedRequest) -> None:
        """Say that a request is still under way."""
        await self._script_client.command("EXPIRE", _key(request), UNDER_WAY_S)

    async def keep(self, request: KeyedRequest, answer: KeptAnswer) -> None:
        """Keep the answer of the request that is under way."""
        encrypted = self._cipher.encrypt(json.dumps(asdict(answer)), request.owner)
        await self._script_client.command(
            "SET", _key(request), f"{request.fingerprint} {encrypted}", "EX", self._life_s
        )

    async def forget(self, request: KeyedRequest) -> None:
        """Forget a request that made nothing."""
        await self._script_client.command("DEL", _key(request))


def _key(request: KeyedRequest) -> str:
    digest = digest_of(f"{request.owner}\n{request.key}")
    return store_keys.key(store_keys.UNSHARDED, "repeat", digest)
