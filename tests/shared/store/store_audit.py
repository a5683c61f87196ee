"""What must hold whatever died: read from the store itself, never from what a process says of itself.

Owns the story a job may have (`TRANSITION_PATTERN`), the count of its ends and outbox entries, and the places in which
nothing may be left. It reads Redis below the store's own code, so that a fault there does not hide itself.
"""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from planner_mcp.settings import Settings

LETTER: Final = {
    "queued": "q",
    "started": "s",
    "progress": "p",
    "requeued": "r",
    "completed": "C",
    "failed": "F",
    "cancelled": "X",
}
TRANSITION_PATTERN: Final = re.compile(r"q(s+p*r)*(s+p*[CFX]|X)")
"""Every attempt starts, progresses and is given back, the last one ends the job; progress between a requeue and the
next start would be the write of a worker that no longer holds the job. A worker whose claim got no answer claims again
before it does anything else: two starts in a row."""
LOSSY_TRANSITION_PATTERN: Final = re.compile(r"q(s[sp]*r)*(s[sp]*[CFX]|X)")
"""The same where a failover may take back what was acknowledged. An attempt whose end, or whose return to the queue,
was lost is still its worker's for the store. That worker holds nothing any more, so it is given the job again: a start
behind progress."""
CHUNK: Final = 500
EMPTY: Final = ("ready", "queued", "solving", "turn")
"""Places in which nothing may be left when all jobs have ended."""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A job whose worker was lost while it solved."""

    job_id: str
    attempt: int
    at_s: float
    """When, in seconds of the epoch."""


@dataclass
class Audit:
    """What became of the jobs."""

    jobs: int = 0
    states: Counter[str] = field(default_factory=Counter)
    attempts: int = 0
    crashes: int = 0
    handed_back: int = 0
    outbox: int = 0
    orphans: int = 0
    slowest_rerun_s: float = 0.0
    faults: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the figures for a record."""
        return {**vars(self), "states": dict(self.states), "faults": len(self.faults)}


async def audit(
    redis: Any,
    acknowledged: Iterable[str],
    *,
    principal: str,
    orphans: Iterable[Orphan] = (),
    pools: Sequence[int] = (0,),
    pattern: re.Pattern[str] = TRANSITION_PATTERN,
) -> Audit:
    """Return what became of every acknowledged job, with all that is wrong in `faults`; `pattern` is what may be."""
    found, wanted = Audit(), list(acknowledged)
    lost = {(orphan.job_id, orphan.attempt): orphan for orphan in orphans}
    outbox_counts = Counter[str]()
    for shard in pools:
        for _id, entry in await redis.xrange(f"{{p{shard}}}:outbox"):
            outbox_counts[entry["delivery_id"]] += 1
    found.outbox = sum(outbox_counts.values())
    async for job_id, kept, events in _jobs(redis, wanted):
        check_job(found, job_id, kept, events, outbox_counts, pattern)
        _time_reruns(found, job_id, events, lost)
    there = [job_id for shard in pools for job_id in await _look_for_remains(redis, found, shard, principal)]
    found.faults += [f"{job_id} was made and never acknowledged" for job_id in {*there} - {*wanted}]
    if found.outbox and found.outbox != len(wanted):
        found.faults.append(f"{found.outbox} outbox entries for {len(wanted)} jobs")
    if len(set(wanted)) != len(wanted):
        found.faults.append("two calls were given one job")
    return found


async def _jobs(redis: Any, wanted: list[str]) -> AsyncIterator[tuple[str, dict[str, str], list[Any]]]:
    for first in range(0, len(wanted), CHUNK):
        names = wanted[first : first + CHUNK]
        pipe = redis.pipeline(transaction=False)
        for name in names:
            pipe.hgetall(f"{tag_of(name)}:job:{name}")
            pipe.xrange(f"{tag_of(name)}:ev:{name}")
        replies = await pipe.execute()
        for number, name in enumerate(names):
            yield name, replies[2 * number], replies[2 * number + 1]


def check_job(
    found: Audit,
    job_id: str,
    kept: dict[str, str],
    events: list[Any],
    outbox_counts: Counter[str],
    pattern: re.Pattern[str] = TRANSITION_PATTERN,
) -> None:
    """Note what is wrong with one job: its hash, its events and the number of its outbox entries."""
    found.jobs += 1
    if not kept:
        found.faults.append(f"{job_id} is lost")
        return
    found.states[kept["state"]] += 1
    found.crashes += int(kept["crashes"])
    kinds = [fields["kind"] for _id, fields in events]
    transitions = "".join(LETTER[kind] for kind in kinds)
    found.attempts += transitions.count("s")
    found.handed_back += sum('"hand_back"' in fields["data"] for _id, fields in events if fields["kind"] == "requeued")
    if not pattern.fullmatch(transitions):
        found.faults.append(f"{job_id} ({kept['state']}) has the story {transitions}")
        return
    attempts = [json.loads(fields["data"])["attempt"] for _id, fields in events if fields["kind"] == "started"]
    is_notified = outbox_counts[f"{job_id}:{events[-1][0]}"] if kept["url"] else 1
    checks = {
        "ended in another state than its last event says": kinds[-1] != kept["state"],
        "has a gap in its events": [int(f["number"]) for _id, f in events] != list(range(1, len(events) + 1)),
        "has fencing numbers that do not rise by one": attempts != list(range(1, len(attempts) + 1)),
        "is held under another number than its last claim": int(kept["fence"]) != len(attempts),
        "has no outbox entry for its end, or two": is_notified != 1,
        "still has a delivery": kept["delivery"] != "",
    }
    found.faults += [f"{job_id} {problem}" for problem, is_wrong in checks.items() if is_wrong]


def _time_reruns(found: Audit, job_id: str, events: list[Any], lost: dict[tuple[str, int], Orphan]) -> None:
    """Measure from the loss of a worker to the next start (or to the end, where the job was poisoned or cancelled)."""
    attempt = 0
    for _id, fields in events:
        is_start = fields["kind"] == "started"
        if (orphan := lost.get((job_id, attempt))) and (is_start or fields["kind"] in ("failed", "cancelled")):
            found.orphans += 1
            found.slowest_rerun_s = max(found.slowest_rerun_s, _seconds(fields["at"]) - orphan.at_s)
        attempt += is_start


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


async def _look_for_remains(redis: Any, found: Audit, shard: int, principal: str) -> list[str]:
    """Return the jobs of a pool; note what is left where nothing may be."""
    tag = f"{{p{shard}}}"
    for name in EMPTY:
        kind = await redis.type(f"{tag}:{name}")
        left = await (redis.xlen if kind == "stream" else redis.zcard)(f"{tag}:{name}")
        if left:
            found.faults.append(f"{left} left in {name} of {tag}")
    for name, count in (("bl", redis.zcard), ("out", redis.scard)):
        if left := await count(f"{tag}:{name}:{principal}"):
            found.faults.append(f"{left} left in {name} of {tag}")
    there: list[str] = await redis.zrange(f"{tag}:jobs:{principal}", 0, -1)
    return there


def tag_of(job_id: str) -> str:
    """Return the hash tag under which a job is kept."""
    return f"{{p{job_id.split('-')[1]}}}"


async def orphans_of(redis: Any, pid: int, at_s: float, *, pools: Sequence[int] = (0,)) -> list[Orphan]:
    """Return the jobs a worker held when it was lost. Call it before the lease of the dead can have ended."""
    lost = []
    for job_id in [job_id for shard in pools for job_id in await redis.zrange(f"{{p{shard}}}:solving", 0, -1)]:
        worker, fence = await redis.hmget(f"{tag_of(job_id)}:job:{job_id}", "worker", "fence")
        if worker and worker.split("-")[-2] == str(pid):
            lost.append(Orphan(job_id, int(fence), at_s))
    return lost


async def seats_of(redis: Any, *, pools: Sequence[int] = (0,)) -> dict[int, str]:
    """Return the seats of teams that workers hold, by the process id of the worker."""
    held = {}
    for ready in (f"{{p{shard}}}:ready" for shard in pools):
        names = {entry: fields["job"] for entry, fields in await redis.xrange(ready)}
        for pending in await redis.xpending_range(ready, "workers", "-", "+", 1000) if names else ():
            if "/" in (name := names.get(pending["message_id"], "")):
                held[int(pending["consumer"].split("-")[-2])] = name
    return held


def chaos_settings(settings: Settings, **changes: Any) -> Settings:
    """Return settings under which a storm is not refused by a quota."""
    wide = {"lease_s": 2.0, "max_queued": 1_000_000, "max_queued_per_principal": 1_000_000}
    return settings.model_copy(update={**wide, **changes})
