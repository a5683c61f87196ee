"""Keys that nothing would ever take away."""

from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.store_keys import OWNED


async def keys_without_ttl(store: RedisStore) -> list[str]:
    """Return the keys that have neither a TTL nor an owner in the key grammar."""
    return sorted(
        [key async for key in store.redis.scan_iter() if await store.redis.ttl(key) == -1 and not _is_owned(key)]
    )


def _is_owned(key: str) -> bool:
    tag, _colon, name = key.partition(":")
    return tag.startswith("{p") and name in OWNED
