"""Subscriptions of MCP sessions and the position up to which each was notified, in Redis beside the session.

Owns the key below; what is watched and sent is that of `server/mcp/notifications`. A cursor moves in the same step
that writes to the session's standalone stream, so two replicas that both notify a session notify it once.

```text
mcp:{sid}:watch      hash    w:<name> → what is watched (text of the caller) · c:<cursor> → position sent last
mcp:s:<sid>          channel what the session watches has changed
mcp:lists:<p>        hash    list → when it last changed for a principal (`*`: all), in ms; TTL_S from the last change
mcp:offer            hash    list → fingerprint of what the deployment offers; OFFER_S from the last replica's start
mcp:l                channel a list has changed for somebody
```
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from planner_mcp.jobs.events.pubsub_channels import LISTS_CHANNEL, STANDALONE, stream_channel, watch_channel
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.lua_scripts import step_text
from planner_mcp.jobs.store.sessions.session_keys import session_key, stream_key, streams_key, watch_key
from planner_mcp.jobs.store.sessions.session_store import MAX_LENGTH, TTL_S

EVERYBODY: Final = "*"
"""No principal's name; what is announced to it is announced to all."""
CAPABILITIES_TTL_S: Final = 30 * 86_400
CAPABILITIES_KEY: Final = "mcp:offer"


class SubscriptionStore:
    """Subscriptions of sessions.

    Args:
        redis: A client with `decode_responses=True`.
    """

    def __init__(self, redis: Redis) -> None:
        self._redis: Any = redis
        self._notify_script = self._redis.register_script(step_text("stream_notify"))

    async def watch(self, session_id: str, name: str, value: str, cursors: dict[str, str]) -> None:
        """Add a subscription; cursors that exist keep their position."""
        key = watch_key(session_id)
        with translated_errors():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hset(key, f"w:{name}", value)
                for cursor, position in cursors.items():
                    pipe.hsetnx(key, f"c:{cursor}", position)
                pipe.expire(key, TTL_S)
                await pipe.execute()
            await self._redis.publish(watch_channel(session_id), name)

    async def unwatch(self, session_id: str, names: Sequence[str], cursors: Sequence[str] = ()) -> None:
        """Remove a subscription and some cursors."""
        fields = [f"w:{name}" for name in names] + [f"c:{cursor}" for cursor in cursors]
        with translated_errors():
            await self._redis.hdel(watch_key(session_id), *fields)
            await self._redis.publish(watch_channel(session_id), "")

    async def watched(self, session_id: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return subscriptions and the positions of their cursors; renew the expiry of both."""
        key = watch_key(session_id)
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hgetall(key)
                pipe.expire(key, TTL_S)
                fields: dict[str, str] = (await pipe.execute())[0]
        watches = {name[2:]: value for name, value in fields.items() if name.startswith("w:")}
        return watches, {name[2:]: value for name, value in fields.items() if name.startswith("c:")}

    async def begin(self, session_id: str, positions: Mapping[str, str]) -> dict[str, str]:
        """Set the cursors that have no position yet; return the position of each."""
        key = watch_key(session_id)
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                for cursor, position in positions.items():
                    pipe.hsetnx(key, f"c:{cursor}", position)
                pipe.expire(key, TTL_S)
                pipe.hmget(key, [f"c:{cursor}" for cursor in positions])
                stands: list[str] = (await pipe.execute())[-1]
                return dict(zip(positions, stands, strict=True))

    async def note(self, session_id: str, cursor: str, position: str, messages: Sequence[tuple[str, str]]) -> bool:
        """Move a cursor on and write to the standalone stream, in one step and once.

        Args:
            session_id: The session.
            cursor: Which.
            position: Where it moves; nothing happens if it stands there, or further on.
            messages: `(name, text)`: a message is left out when its watch has ended; an empty name always holds.

        Returns:
            False when the session is over.
        """
        stream = stream_key(session_id, STANDALONE)
        keys = [session_key(session_id), stream, streams_key(session_id), watch_key(session_id)]
        args: list[str | int] = [f"c:{cursor}", position, TTL_S, MAX_LENGTH, stream_channel(session_id), STANDALONE]
        args += [word for pair in messages for word in pair]
        with translated_errors():
            return int(await self._notify_script(keys=keys, args=args)) >= 0

    # ---- lists

    async def announce(self, principal: str, kind: str) -> None:
        """Announce to every replica that a list has changed for a principal."""
        with translated_errors():
            seconds, micros = await self._redis.time()
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hset(f"mcp:lists:{principal}", kind, seconds * 1000 + micros // 1000)
                pipe.expire(f"mcp:lists:{principal}", TTL_S)
                await pipe.execute()
            await self._redis.publish(LISTS_CHANNEL, kind)

    async def publish_fingerprint(self, kind: str, fingerprint: str) -> None:
        """Keep what the deployment offers, and notify everybody if it was something else before."""
        with translated_errors():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hget(CAPABILITIES_KEY, kind)
                pipe.hset(CAPABILITIES_KEY, kind, fingerprint)
                pipe.expire(CAPABILITIES_KEY, CAPABILITIES_TTL_S)
                before = (await pipe.execute())[0]
        if before not in (None, fingerprint):
            await self.announce(EVERYBODY, kind)

    async def list_versions(self, principal: str) -> dict[str, int]:
        """Return when each list last changed for a principal, in ms."""
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hgetall(f"mcp:lists:{EVERYBODY}")
                pipe.hgetall(f"mcp:lists:{principal}")
                found: list[dict[str, str]] = await pipe.execute()
        kinds = {kind for each in found for kind in each}
        return {kind: max(int(each.get(kind, 0)) for each in found) for kind in kinds}
