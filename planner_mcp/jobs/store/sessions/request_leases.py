"""Which replica works on which message of a session, in Redis beside the session.

Owns the keys below. The transport of 2024-11-05 answers on a stream that another replica may hold: when the replica
that works on a message dies, the holder of the stream finds here what nobody will answer.

```text
mcp:{sid}:work       hash    request id (JSON) → replica that works on it; lives as long as the session
mcp:r:<replica>      string  the replica lives; a lease of LEASE_MS
```
"""

from typing import Any

from redis.asyncio import Redis

from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.sessions.session_keys import work_key
from planner_mcp.jobs.store.sessions.session_store import LEASE_MS, TTL_S


class RequestLeases:
    """Messages that are being worked on.

    Args:
        redis: A client with `decode_responses=True`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis

    async def begin(self, session_id: str, request_id: str, replica: str) -> None:
        """Write down that a replica works on a request, and that it lives."""
        key = work_key(session_id)
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.set(_lease(replica), "", px=LEASE_MS)
                pipe.hset(key, request_id, replica)
                pipe.expire(key, TTL_S)
                await pipe.execute()

    async def beat(self, replica: str) -> None:
        """Extend the lease of a replica."""
        with translated_errors():
            await self._redis.set(_lease(replica), "", px=LEASE_MS)

    async def end(self, session_id: str, request_id: str, replica: str) -> bool:
        """Return whether a request is still to be answered by the replica that works on it.

        It is looked up first: of a removal that redis-py sends again after a lost connection nothing is left to remove.
        """
        with translated_errors():
            if await self._redis.hget(work_key(session_id), request_id) != replica:
                return False
            await self._redis.hdel(work_key(session_id), request_id)
            return True

    async def orphans(self, session_id: str) -> list[str]:
        """Return the requests whose replica is gone, each to one caller only."""
        with translated_errors():
            working: dict[str, str] = await self._redis.hgetall(work_key(session_id))
            gone = {replica for replica in {*working.values()} if not await self._redis.exists(_lease(replica))}
            orphans = [each for each, replica in working.items() if replica in gone]
            return [each for each in orphans if await self._redis.hdel(work_key(session_id), each)]


def _lease(replica: str) -> str:
    return f"mcp:r:{replica}"
