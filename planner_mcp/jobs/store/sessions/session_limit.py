"""How many MCP sessions a principal may have at a time (SPEC A3).

```text
mcp:own:<p>   zset   a principal's sessions by when they began     KEEP_S from the last one begun
```
Sessions end by themselves when unused, so the set holds some that are gone. At the limit a few of these are looked for
and forgotten; only if that frees no room is the principal refused.
"""

import time
from typing import Any, Final

from redis.asyncio import Redis

from planner_mcp.errors import QuotaExceededError
from planner_mcp.jobs.limits.principal_limits import value_text
from planner_mcp.jobs.store.sessions.session_keys import session_key

KEEP_S: Final = 86_400
SAMPLED_SESSIONS: Final = 100
"""Sessions of a principal at its limit that are looked at, at random, for one that is gone."""
RETRY_S: Final = 60.0
SETTING: Final = "max_sessions"
"""The setting that a refusal names."""


class SessionLimit:
    """Counts sessions by principal.

    Args:
        redis: A client with `decode_responses=True`.
        most: Sessions one principal may have.
    """

    def __init__(self, redis: Redis, most: int) -> None:
        self._redis: Any = redis
        self._most = most

    async def admit(self, principal: str, session_id: str) -> None:
        """Count a new session, whose row is kept already.

        It is counted first and judged then, so that of many at the same time no more are admitted than may be.

        Raises:
            QuotaExceededError: The principal has as many as it may.
        """
        key = _own(principal)
        async with self._redis.pipeline(transaction=True) as pipe:
            pipe.zadd(key, {session_id: time.time()})
            pipe.expire(key, KEEP_S)
            pipe.zcard(key)
            *_done, count = await pipe.execute()
        if count > self._most and count - await self._forget_ended(key) > self._most:
            await self.forget(principal, session_id)
            problem, allowed = "Too many sessions are open; end some with DELETE.", value_text(SETTING, self._most)
            raise QuotaExceededError.reached(problem, allowed, retry_after_s=RETRY_S)

    async def forget(self, principal: str, session_id: str) -> None:
        """Remove a session from the count."""
        await self._redis.zrem(_own(principal), session_id)

    async def _forget_ended(self, key: str) -> int:
        """Forget those of some sessions that have ended; return how many."""
        sampled = await self._redis.zrandmember(key, SAMPLED_SESSIONS)
        async with self._redis.pipeline(transaction=False) as pipe:
            for session_id in sampled:
                pipe.exists(session_key(session_id))
            live = await pipe.execute()
        ended = [session_id for session_id, is_live in zip(sampled, live, strict=True) if not is_live]
        return int(await self._redis.zrem(key, *ended)) if ended else 0


def _own(principal: str) -> str:
    return f"mcp:own:{principal}"
