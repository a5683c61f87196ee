"""What processes and their store hold at a moment, and what of it grows from one third of a run to the next.

Owns the looking and the judgement. The lower quartile of each third counts: what is open for a moment, a request or a
solve, is no leak, and what never goes back is in the quartile too. The least would be that of one look
at a moment in which a child process has just ended.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.process_stats import descendants, pss_mib
from planner_mcp.jobs.store.redis_store import RedisStore

LONG_LIVED: Final = ("audit", "feed", "wh:d", "wh:tries", "wh:all", "wh:ep", "whsec", "measured", "outbox", "scn")
"""Kinds of keys that are kept for hours or days whatever the settings of a soak: they grow with what was done.

A scenario that was solved is kept for seven days at least (`store_keys.py`).
"""
MORE_DESCRIPTORS: Final = 6
MORE_KEYS: Final = 1.1, 40
"""Factor and summand."""
MORE_MEMORY: Final = 1.05, 6.0
"""The same; MiB."""


@dataclass(frozen=True)
class Footprint:
    """One look."""

    descriptors: dict[str, int]
    """Open files of each part."""
    memory_mib: dict[str, float]
    """Of each part; `store` without what it keeps for days."""
    keys: dict[str, int]
    """By kind."""


def parts_of(roots: Mapping[str, int]) -> dict[str, list[int]]:
    """Return the processes of each part: a server with what it started, its workers and its store apart from it."""
    found: dict[str, list[int]] = {}
    for name, root in roots.items():
        found[name] = [root]
        for pid, command in descendants(root).items():
            is_store = "valkey" in command or "redis-server" in command
            kind = f"{name} store" if is_store else f"{name} worker" if " workers" in command else name
            found.setdefault(kind, []).append(pid)
    return found


async def look(roots: Mapping[str, int], store: RedisStore, part: str) -> Footprint:
    """Return what everything holds now.

    Args:
        roots: The process of each server by name.
        store: Whose keys are counted.
        part: The name of the server it belongs to.
    """
    parts = parts_of(roots)
    memory = {name: sum(map(pss_mib, pids)) for name, pids in parts.items()}
    names = [key async for key in store.redis.scan_iter(count=1000)]
    asked = store.redis.pipeline(transaction=False)
    for name in names:
        if kind_of(name) in LONG_LIVED:
            asked.memory_usage(name)
    kept = sum(size or 0 for size in await asked.execute())
    used = int((await store.redis.info("memory"))["used_memory"])
    memory[f"{part} store"] = (used - kept) / 2**20
    return Footprint(
        {name: sum(map(_open_files, pids)) for name, pids in parts.items()},
        {name: round(mib, 1) for name, mib in memory.items()},
        dict(Counter(map(kind_of, names))),
    )


def kind_of(key: str) -> str:
    """Return the kind of a key, without principals, ids and digests."""
    _tag, *rest = key.split(":")
    return ":".join(rest[:2]) if rest[:1] in (["wh"], ["ui"]) else rest[0] if key.startswith("{") else "mcp"


def grown(looks: Sequence[Footprint]) -> list[str]:
    """Return what holds more in the last third than in the one before."""
    third = len(looks) // 3
    before, after = looks[third:-third], looks[-third:]
    found = []
    for part in after[0].descriptors:
        held, now = _quartile(before, "descriptors", part), _quartile(after, "descriptors", part)
        if now > held + MORE_DESCRIPTORS:
            found.append(f"{part}: {held} open files, then {now}")
    for part in after[0].memory_mib:
        held, now = _quartile(before, "memory_mib", part), _quartile(after, "memory_mib", part)
        if now > held * MORE_MEMORY[0] + MORE_MEMORY[1]:
            found.append(f"{part}: {held} MiB, then {now}")
    for kind in {kind for each in after for kind in each.keys} - set(LONG_LIVED):
        held, now = _quartile(before, "keys", kind), _quartile(after, "keys", kind)
        if now > held * MORE_KEYS[0] + MORE_KEYS[1]:
            found.append(f"keys {kind}: {held}, then {now}")
    return found


def _quartile(looks: Iterable[Footprint], what: str, name: str) -> float:
    values: list[float] = sorted(getattr(each, what).get(name, 0) for each in looks)
    return values[len(values) // 4]


def _open_files(pid: int) -> int:
    try:
        return len(list(Path(f"/proc/{pid}/fd").iterdir()))
    except OSError:
        return 0
