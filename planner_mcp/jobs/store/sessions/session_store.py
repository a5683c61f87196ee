"""MCP sessions and their SSE streams in Redis, so that any replica can answer for any of them.

Owns the keys below and their life; what a session means is `planner_mcp.server.mcp`'s. All keys of one session share
its hash tag and expire `TTL_S` after its last use, so an idle session costs a process nothing.

```text
mcp:{sid}            hash    principal, version, client (JSON), door, standalone (token of the newest
                             GET), told (1 once one of them received something)
mcp:{sid}:streams    hash    stream name → JSON list of the request ids it owes an answer; one that ran out is forgotten
mcp:{sid}:e:<name>   stream  kind (open | message | final), text (JSON-RPC message; empty for open and cancelled),
                             append (by which a repetition is known that redis-py sends after a lost connection)
mcp:{sid}:o:<name>   string  replica that produces the stream; a lease of LEASE_MS
mcp:{sid}:watch      hash    what it watches, listed in jobs/store/sessions/subscription_store.py
mcp:{sid}:work       hash    what is being answered, listed in jobs/store/sessions/request_leases.py
mcp:{sid}:level      string  which log messages it wants, listed in jobs/store/sessions/elicitation_store.py
mcp:w:<sid>          channel a stream of the session grew (payload: its name)
mcp:x                channel "<sid> <request id>": somebody cancelled a request
mcp:x:log            stream  the same, the last CANCELS_KEPT or so; CANCEL_LOG_S from the last one
```
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

from redis.asyncio import Redis

from planner_mcp.errors import LostStreamError, QuotaExceededError
from planner_mcp.jobs.events.pubsub_channels import CANCEL_LOG, CANCELS, STANDALONE, stream_channel
from planner_mcp.jobs.store.connection.error_translation import translated_errors
from planner_mcp.jobs.store.lua_scripts import step_text
from planner_mcp.jobs.store.sessions.session_keys import lasting_keys, lease_key, session_key, stream_key, streams_key
from planner_mcp.jobs.store.sessions.session_limit import SessionLimit

TTL_S: Final = 1800
"""Life of an unused session."""
TOUCH_S: Final = 60
"""Shortest time between two renewals of a session; it may end this much early."""
LEASE_MS: Final = 10_000
"""A replica that renews no lease for this long loses its streams."""
MAX_LENGTH: Final = 1000
"""Messages of one stream that stay replayable, roughly."""
READ_AT_ONCE: Final = 100
CANCELS_KEPT: Final = 1000
CANCEL_LOG_S: Final = 600
"""A replica that could not listen for longer than this misses what was cancelled meanwhile."""
START: Final = "0-0"
"""The position before the oldest entry of a stream."""


class SessionStore:
    """Sessions and their streams.

    Args:
        redis: A client with `decode_responses=True`.
        max_sessions: Sessions one principal may have.
    """

    def __init__(self, redis: Redis, max_sessions: int = 10_000) -> None:
        self._redis: Any = redis
        self._limit = SessionLimit(redis, max_sessions)
        self._append_script = self._redis.register_script(step_text("stream_append"))
        self._orphan_script = self._redis.register_script(step_text("stream_orphan"))
        self._mark_used_script = self._redis.register_script(step_text("stream_note_delivered"))

    # ---- rows

    async def create(self, session_id: str, fields: Mapping[str, str]) -> None:
        """Store a new session; `QuotaExceededError` when its principal has too many."""
        await self.amend(session_id, fields)
        with translated_errors():
            try:
                await self._limit.admit(fields["principal"], session_id)
            except QuotaExceededError:
                await self._redis.delete(session_key(session_id))
                raise

    async def amend(self, session_id: str, fields: Mapping[str, str]) -> None:
        """Write further fields of a session."""
        with translated_errors():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hset(session_key(session_id), mapping=dict(fields))
                pipe.expire(session_key(session_id), TTL_S)
                await pipe.execute()

    async def load(self, session_id: str) -> dict[str, str]:
        """Return the fields of a session and renew its expiry; empty without one.

        The expiry is renewed at most once in `TOUCH_S`, because requests wait for the flush to disk.
        """
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hgetall(session_key(session_id))
                pipe.ttl(session_key(session_id))
                found: dict[str, str]
                found, left_s = await pipe.execute()
                if found and left_s < TTL_S - TOUCH_S:
                    for key in lasting_keys(session_id):
                        pipe.expire(key, TTL_S)
                    await pipe.execute()
                return found

    async def delete(self, session_id: str) -> None:
        """Delete a session and all its streams, and wake their followers."""
        with translated_errors():
            if owner := await self._redis.hget(session_key(session_id), "principal"):
                await self._limit.forget(owner, session_id)
            names = await self._redis.hkeys(streams_key(session_id))
            keys = [*lasting_keys(session_id)]
            for name in names:
                keys += [stream_key(session_id, name), lease_key(session_id, name)]
            await self._redis.delete(*keys)
            await self._redis.publish(stream_channel(session_id), "*")
            await self._publish_cancel(f"{session_id} *")

    async def take_standalone(self, session_id: str, token: str) -> bool:
        """Make `token` holder of the standalone stream and wake the former one; return whether any got a message."""
        with translated_errors():
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.hget(session_key(session_id), "told")
                pipe.hset(session_key(session_id), "standalone", token)
                for key in lasting_keys(session_id):
                    pipe.expire(key, TTL_S)
                was_used = (await pipe.execute())[0] is not None
            await self._redis.publish(stream_channel(session_id), STANDALONE)
        return was_used

    async def note_delivered(self, session_id: str, token: str) -> None:
        """Note that the holder of the standalone stream, if it is still this one, receives something."""
        with translated_errors():
            await self._mark_used_script(keys=[session_key(session_id)], args=[token])

    async def standalone_holder(self, session_id: str) -> str | None:
        """Return the token of the newest GET and push the session's end out; None when it is over."""
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hget(session_key(session_id), "standalone")
                for key in (*lasting_keys(session_id), stream_key(session_id, STANDALONE)):
                    pipe.expire(key, TTL_S)
                holder: str | None = (await pipe.execute())[0]
                return holder

    # ---- streams

    async def append(
        self, session_id: str, name: str, *, kind: str, text: str, owner: str = "", request_ids: Sequence[Any] = ()
    ) -> str | None:
        """Add a message and wake the followers.

        Args:
            session_id: The session.
            name: The stream within it; made by its first message.
            kind: `open`, `message` or `final`; nothing follows `final`.
            text: The JSON-RPC message.
            owner: The replica that produces the stream; renews its lease. Empty: nobody owns it.
            request_ids: The requests this stream still owes an answer, once the message is there.

        Returns:
            The position, or None when the session is over or the stream has ended.
        """
        ids = json.dumps(list(request_ids))
        keys = [
            session_key(session_id),
            stream_key(session_id, name),
            lease_key(session_id, name),
            streams_key(session_id),
        ]
        args: list[str | int] = [name, kind, text, owner, LEASE_MS, TTL_S, MAX_LENGTH, stream_channel(session_id), ids]
        args.append(secrets.token_hex(4))
        with translated_errors():
            position: str | None = await self._append_script(keys=keys, args=args)
            return position

    async def read(self, session_id: str, name: str, after: str) -> list[tuple[str, str, str]]:
        """Return up to `READ_AT_ONCE` entries after a position as `(position, kind, text)`.

        Raises:
            LostStreamError: The entry at the position is gone, and maybe others after it.
        """
        with translated_errors():
            rows = await self._redis.xrange(stream_key(session_id, name), min=after, max="+", count=READ_AT_ONCE + 1)
        if rows and after not in (START, rows[0][0]):
            raise LostStreamError
        rows_after = rows[after != START :][:READ_AT_ONCE]
        return [(position, fields["kind"], fields["text"]) for position, fields in rows_after]

    async def holds(self, session_id: str, name: str, position: str) -> bool:
        """Return whether an entry is still there, that is: whether nothing after it was trimmed."""
        with translated_errors():
            return bool(await self._redis.xrange(stream_key(session_id, name), min=position, max=position))

    async def end_of(self, session_id: str, name: str) -> str:
        """Return the newest position of a stream, `0-0` when it is empty."""
        with translated_errors():
            rows = await self._redis.xrevrange(stream_key(session_id, name), count=1)
        return str(rows[0][0]) if rows else START

    async def renew(self, session_id: str, name: str, owner: str) -> None:
        """Extend the owner's lease and the life of session and stream."""
        with translated_errors():
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.set(lease_key(session_id, name), owner, px=LEASE_MS)
                for key in (*lasting_keys(session_id), stream_key(session_id, name)):
                    pipe.expire(key, TTL_S)
                await pipe.execute()

    async def request_ids(self, session_id: str, name: str) -> list[Any]:
        """Return the ids of the requests a stream still owes an answer."""
        with translated_errors():
            found = await self._redis.hget(streams_key(session_id), name)
        return list(json.loads(found)) if found else []

    async def end_orphan(self, session_id: str, name: str, messages: Sequence[str]) -> bool:
        """End a stream with these messages if its owner is gone; return whether it is over, now or before."""
        keys = [session_key(session_id), stream_key(session_id, name), lease_key(session_id, name)]
        with translated_errors():
            return bool(await self._orphan_script(keys=keys, args=[name, stream_channel(session_id), *messages]))

    # ---- across replicas

    async def cancel(self, session_id: str, request_id: str) -> None:
        """Announce to every replica that a request was cancelled."""
        with translated_errors():
            await self._publish_cancel(f"{session_id} {request_id}")

    async def _publish_cancel(self, cancelled: str) -> None:
        """Publish a cancel; it is logged first, so that a replica which listens from now on finds it or hears it.

        A full store takes no log and publishes all the same.
        """
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                pipe.xadd(CANCEL_LOG, {"cancelled": cancelled}, maxlen=CANCELS_KEPT)
                pipe.expire(CANCEL_LOG, CANCEL_LOG_S)
                await pipe.execute()
        finally:
            await self._redis.publish(CANCELS, cancelled)
