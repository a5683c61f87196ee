"""API keys in Redis: one hash, key id → record as JSON. They live until the operator revokes them."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from planner_mcp.jobs.records.api_key_records import ApiKeyRecord
from planner_mcp.jobs.store import store_keys
from planner_mcp.jobs.store.connection.script_client import ScriptClient
from planner_mcp.text import Json


class ApiKeyStore:
    """Keeps, finds and revokes records.

    Args:
        script_client: Runs steps and commands.
    """

    def __init__(self, script_client: ScriptClient) -> None:
        self._script_client = script_client

    async def add(self, record: ApiKeyRecord) -> None:
        """Keep a record."""
        kept = {
            "digest": record.digest,
            "subject": record.subject,
            "tenant": record.tenant,
            "scopes": sorted(record.scopes),
            "created_at": record.created_at.isoformat(timespec="seconds"),
            "reviews_with": record.reviews_with,
        }
        await self._script_client.command("HSET", _HASH, record.id, json.dumps(kept))

    async def find(self, key_id: str) -> ApiKeyRecord | None:
        """Return a record, None for a key that is unknown or revoked."""
        text = await self._script_client.command("HGET", _HASH, key_id)
        return _record(key_id, json.loads(text)) if text else None

    async def known(self, key_ids: Sequence[str]) -> set[str]:
        """Return those of some ids, one at least, whose keys are neither unknown nor revoked."""
        texts = await self._script_client.command("HMGET", _HASH, *key_ids)
        return {key_id for key_id, text in zip(key_ids, texts, strict=True) if text}

    async def list(self) -> list[ApiKeyRecord]:
        """Return all records, oldest first."""
        found = await self._script_client.command("HGETALL", _HASH)
        records = [_record(key_id, json.loads(text)) for key_id, text in found.items()]
        return sorted(records, key=lambda record: (record.created_at, record.id))

    async def revoke(self, key_id: str) -> bool:
        """Forget a record; return whether there was one."""
        return bool(await self._script_client.command("HDEL", _HASH, key_id))


_HASH: Final = store_keys.key(store_keys.UNSHARDED, "keys")


def _record(key_id: str, kept: Json) -> ApiKeyRecord:
    created_at = datetime.fromisoformat(kept["created_at"])
    scopes, reviews_with = frozenset(kept["scopes"]), kept.get("reviews_with", "")
    return ApiKeyRecord(key_id, kept["digest"], kept["subject"], kept["tenant"], scopes, created_at, reviews_with)
