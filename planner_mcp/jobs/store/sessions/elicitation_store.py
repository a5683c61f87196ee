"""What is asked of a session's client, and which log lines it wants, in Redis beside the session.

Owns the keys below. An answer is taken only while its question is open, so a client cannot fill the store with answers
to nothing.

```text
mcp:{sid}:q:<id>     string  answer to a question the server asked (JSON), empty while it is open; the question's life
mcp:{sid}:level      string  least severe log message the client wants; lives as long as the session
```
"""

from typing import Any

from redis.asyncio import Redis

from planner_mcp.jobs.events.pubsub_channels import stream_channel
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.sessions.session_keys import level_key, question_key
from planner_mcp.jobs.store.sessions.session_store import TTL_S


class ElicitationStore:
    """Questions and log levels of sessions.

    Args:
        redis: A client with `decode_responses=True`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis

    async def expect(self, session_id: str, question_id: str, life_s: float) -> None:
        """Open a question: its answer is taken for so long."""
        with translated_errors():
            await self._redis.set(question_key(session_id, question_id), "", px=int(life_s * 1000))

    async def put(self, session_id: str, question_id: str, answer: str) -> None:
        """Keep the answer to an open question and wake who waits for it; drop any other."""
        with translated_errors():
            if await self._redis.set(question_key(session_id, question_id), answer, xx=True, keepttl=True):
                await self._redis.publish(stream_channel(session_id), question_id)

    async def answer(self, session_id: str, question_id: str) -> str:
        """Return the answer, empty while there is none."""
        with translated_errors():
            return str(await self._redis.get(question_key(session_id, question_id)) or "")

    async def close(self, session_id: str, question_id: str) -> None:
        """Forget a question."""
        with translated_errors():
            await self._redis.delete(question_key(session_id, question_id))

    async def set_level(self, session_id: str, level: str) -> None:
        """Keep which log messages a client wants."""
        with translated_errors():
            await self._redis.set(level_key(session_id), level, ex=TTL_S)

    async def level(self, session_id: str) -> str:
        """Return which log messages a client wants, empty for none."""
        with translated_errors():
            return str(await self._redis.get(level_key(session_id)) or "")
