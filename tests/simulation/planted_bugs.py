"""Bugs planted on purpose, each a change of the text of one Lua file, to see that the simulation finds them.

Each is a mistake somebody could make: a check left out, a line forgotten.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from planner_mcp.jobs.store import lua_scripts


class PlantedBug(NamedTuple):
    """One change: in which file, what is replaced, and by what."""

    file: str
    right: str
    wrong: str


LEFT_ALONE: Final = "elseif job and job.delivery == delivery and job.state == 'queued' then"
BUGS: Final = {
    "a late worker still writes": PlantedBug("_settle_job", "job and tonumber(job.fence) == fence and", "job and"),
    "a cancel that was answered is forgotten": PlantedBug(
        "_settle_job", "if job.cancel ~= '' then change, extra = 'cancel', '{}' end\n", ""
    ),
    "a queued job that is cancelled tells no hook": PlantedBug(
        "_settle_job", "\n  post(id", "\n  local _ = job.started_ms and post(id"
    ),
    "a job that is put back still counts against the quota": PlantedBug(
        "_dispatch_jobs", "{ delivery = '' })\n    call('SREM', out_key(job.principal), id)", "{ delivery = '' })"
    ),
    "a lost delivery of a queued job is left alone": PlantedBug(
        "reap", LEFT_ALONE, "elseif job and job.state == 'queued' then\n  elseif false then"
    ),
    "a renewal leaves the lease as it was": PlantedBug(
        "renew", "call('XCLAIM', READY, GROUP, A.worker, 0, A.delivery, 'JUSTID')\n", ""
    ),
    "a seat goes on though its job is over": PlantedBug(
        "exchange", "A.leaves or not job or job.cancel ~= ''", "A.leaves or job and job.cancel ~= ''"
    ),
    "a seat of an attempt that has passed is handed out": PlantedBug(
        "_dispatch_jobs", "job.state == 'solving' and job.fence == fence and", "job.state == 'solving' and"
    ),
    "a settled attempt need not hold its lease": PlantedBug(
        "webhook_settle",
        "or not let_go(A.id, A.id .. '/' .. A.fence, delivery) then",
        "or (not let_go(A.id, A.id .. '/' .. A.fence, delivery) and delivery.state ~= 'pending') then",
    ),
}


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Have every step that is loaded meanwhile carry a bug.

    Raises:
        ValueError: The text that the bug replaces is no longer there, once.
    """
    bug, real = BUGS[name], lua_scripts.step_text
    if real(bug.file).count(bug.right) != 1:
        raise ValueError(f"{bug.file}.lua has changed; plant the bug anew: {name}")

    def step_text(file: str) -> str:
        return real(file).replace(bug.right, bug.wrong) if file == bug.file else real(file)

    lua_scripts._steps_with.cache_clear()
    lua_scripts.step_text = step_text  # type: ignore[assignment]
    try:
        yield
    finally:
        lua_scripts.step_text = real
        lua_scripts._steps_with.cache_clear()
