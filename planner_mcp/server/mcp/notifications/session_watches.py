"""What a handshake session watches: where that is kept, and its bounds.

Resources, tasks and positions each have a bound of their own, whether or not the client listens: a client that never
opens its stream may make tasks for weeks. A resource beyond the bound is refused, because the client asked for it. A
task beyond the bound replaces those that have ended, or else the one with the oldest event: a session is notified of
tasks without asking, and `tasks/get` gives the state of any. When positions become many, those that no watched
object needs are dropped.
"""

from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from planner_mcp.errors import NotFoundError, QuotaExceededError
from planner_mcp.jobs.job_events import position_key
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.mcp.notifications.watched_resources import (
    MAX_WATCHED,
    WatchedJobs,
    WatchedResource,
    watched_resource_of,
)

OVER: Final = "over"
"""Position of a cursor behind which nothing comes."""
TASK: Final = "task:"
"""Begins the name under which a session watches a task."""
TOOLSET: Final = "toolset:"
"""Begins the name under which a session keeps a tool set that its client switched on."""
MAX_TASKS: Final = 256
"""Tasks of which one session is notified."""
MAX_CURSORS: Final = 1024
"""Positions kept without looking which are needed: more than all that may be watched can need."""
OLDEST_CHECKED: Final = 16
"""Of the tasks heard of longest ago so many are looked at when there are too many."""
RETRY_S: Final = 60.0
"""When a session that watches too much may ask again: what it watches is its own to end."""
_JOB: Final = "job-"
"""Begins the cursor of a job; the others are those of lists."""


class SessionWatchStore(Protocol):
    """What subscriptions need of the store that all replicas share."""

    async def watch(self, session_id: str, name: str, value: str, cursors: dict[str, str]) -> None:
        """Begin to watch; cursors that stand already stay."""
        ...

    async def unwatch(self, session_id: str, names: Sequence[str], cursors: Sequence[str] = ()) -> None:
        """Watch no more, and forget cursors."""
        ...

    async def watched(self, session_id: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return what is watched, and the cursors."""
        ...

    async def begin(self, session_id: str, positions: Mapping[str, str]) -> dict[str, str]:
        """Set the cursors that do not stand yet; return where each of them stands."""
        ...

    async def note(self, session_id: str, cursor: str, position: str, messages: Sequence[tuple[str, str]]) -> bool:
        """Move a cursor on and write `(watch, text)`, in one step and once; False when the session is over."""
        ...

    async def list_versions(self, principal: str) -> dict[str, int]:
        """Return when each list last changed."""
        ...


class SessionWatches:
    """What one session watches, within bounds.

    Args:
        watched_jobs: Finds the jobs behind what is watched.
        store: Where it is kept.
        session_id: The session.
        principal: Whose it is.
    """

    def __init__(
        self, watched_jobs: WatchedJobs, store: SessionWatchStore, session_id: str, principal: Principal
    ) -> None:
        self._watched_jobs = watched_jobs
        self._store = store
        self._session_id = session_id
        self._principal = principal

    async def read(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return what is watched, and the cursors; of many, those that nothing watched needs are forgotten."""
        watches, cursors = await self._store.watched(self._session_id)
        if len(cursors) <= MAX_CURSORS:
            return watches, cursors
        needed = await self._needed(watches)
        needless = [each for each in cursors if each.startswith(_JOB) and each not in needed]
        if needless:
            await self._store.unwatch(self._session_id, [], needless)
        return watches, {cursor: at for cursor, at in cursors.items() if cursor not in needless}

    async def make_room_for_resource(self, uri: str) -> None:
        """Return when a session may watch a resource.

        Raises:
            QuotaExceededError: It watches too many already.
        """
        watches, _cursors = await self.read()
        if uri not in watches and len(watched_resources_in(watches)) >= MAX_WATCHED:
            problem, allowed = "The session watches as many things as it may.", f"{MAX_WATCHED} of a session"
            raise QuotaExceededError.reached(problem, allowed, "Unsubscribe from one.", retry_after_s=RETRY_S)

    async def make_room_for_task(self, job_id: str) -> None:
        """Return when a session may watch a task; of many others some are watched no more."""
        watches, cursors = await self.read()
        others = [each for each in _tasks_in(watches) if each != job_id]
        if (too_many := len(others) + 1 - MAX_TASKS) <= 0:
            return
        oldest = sorted(others, key=lambda each: _order(cursors.get(each, OVER)))
        ended = [each for each in oldest[:OLDEST_CHECKED] if await self._has_ended(each)]
        for each in ended or oldest[:too_many]:
            await self.forget_task(each, watches)

    async def forget_task(self, job_id: str, watches: Mapping[str, str]) -> None:
        """Watch a task no more, and forget its position unless a resource of `watches` may need it."""
        is_needed = any(each.is_scenario or each.name == job_id for each in watched_resources_in(watches))
        await self._store.unwatch(self._session_id, [f"{TASK}{job_id}"], [] if is_needed else [job_id])

    async def _has_ended(self, job_id: str) -> bool:
        try:
            return (await self._watched_jobs.job_service.job(self._principal, job_id)).is_terminal
        except NotFoundError:  # it expired
            return True

    async def _needed(self, watches: Mapping[str, str]) -> set[str]:
        """Return the jobs whose positions are needed: of a scenario its newest solve."""
        needed = {*_tasks_in(watches)}
        for resource in watched_resources_in(watches):
            try:
                job_id = (
                    await self._watched_jobs.job_of(self._principal, resource)
                    if resource.is_scenario
                    else resource.name
                )
            except NotFoundError:  # it expired
                continue
            if job_id is not None:
                needed.add(job_id)
        return needed


def watched_resources_in(watches: Mapping[str, str]) -> list[WatchedResource]:
    """Return the resources among what is watched."""
    return [watched_resource_of(name) for name in watches if not name.startswith((TASK, TOOLSET))]


def toolsets_in(watches: Mapping[str, str]) -> frozenset[str]:
    """Return the tool sets that the client of a session switched on."""
    return frozenset(name.removeprefix(TOOLSET) for name in watches if name.startswith(TOOLSET))


def _tasks_in(watches: Mapping[str, str]) -> list[str]:
    return [name.removeprefix(TASK) for name in watches if name.startswith(TASK)]


def _order(position: str) -> tuple[int, int]:
    """Return a position as numbers that compare by age; what is over comes first."""
    return (0, 0) if position == OVER else position_key(position)
