"""API keys in Redis: one hash, key id → record as JSON. They live until the operator revokes them."""

import json
from datetime import datetime
from typing import Any, Final

from planner_mcp.auth.api_keys import KeyRecord
from planner_mcp.store import keys
from planner_mcp.store.link import Link

POOL: Final = 0


class RedisKeyRing:
    """Keeps, finds and revokes records. Implements `auth.api_keys.KeyRing`.

    Args:
        link: The line to Redis.
    """

    def __init__(self, link: Link) -> None:
        self._link = link

    async def add(self, record: KeyRecord) -> None:
        """Keep a record."""
        kept = {
            "digest": record.digest,
            "subject": record.subject,
            "tenant": record.tenant,
            "scopes": sorted(record.scopes),
            "created_at": record.created_at.isoformat(timespec="seconds"),
        }
        await self._link.command("HSET", _HASH, record.id, json.dumps(kept))

    async def find(self, key_id: str) -> KeyRecord | None:
        """Return a record, None for a key that is unknown or revoked."""
        text = await self._link.command("HGET", _HASH, key_id)
        return _record(key_id, json.loads(text)) if text else None

    async def list(self) -> list[KeyRecord]:
        """Return all records, oldest first."""
        found = await self._link.command("HGETALL", _HASH)
        records = [_record(key_id, json.loads(text)) for key_id, text in found.items()]
        return sorted(records, key=lambda record: (record.created_at, record.id))

    async def revoke(self, key_id: str) -> bool:
        """Forget a record; return whether there was one."""
        return bool(await self._link.command("HDEL", _HASH, key_id))


_HASH: Final = keys.key(POOL, "keys")


def _record(key_id: str, kept: dict[str, Any]) -> KeyRecord:
    created_at = datetime.fromisoformat(kept["created_at"])
    return KeyRecord(key_id, kept["digest"], kept["subject"], kept["tenant"], frozenset(kept["scopes"]), created_at)
