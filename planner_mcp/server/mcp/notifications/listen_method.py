"""`subscriptions/listen` of revision 2026-07-28: one long answer with the notifications that a client asked for.

Owns the method and its streams; `listen_filter.py` reads what is asked for. Under the key of our own extension
`planner-mcp/jobs` the events of jobs have their usual form (SPEC J3), but two of them are named
`notifications/jobs/progress` and `notifications/jobs/cancelled`, because MCP uses the other names for something else.
Ids that are unknown or belong to another principal are left out of the acknowledgement.

A stream is level-triggered, because the revision has no replay: after the acknowledgement comes the present state
of each task and job, then every change, so a client that listens again on another replica misses no end. List
versions are read before the acknowledgement, so that a change right after it is sent. If several changes wait for a
slow reader, only the last of each kind and job is kept, which bounds the memory of a stream; a reader that takes
nothing for `SEND_S` is answered with an error. A draining replica ends its streams with their results. Events come
from the feed of the replica, so a stream adds no load to Redis.
"""

from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import anyio
import mcp_types as types
from anyio.abc import TaskGroup, TaskStatus

from planner_mcp.errors import InputError, NotFoundError, SlowReaderError, ungrouped
from planner_mcp.jobs.events.pubsub_channels import LISTS_CHANNEL
from planner_mcp.jobs.job_events import Event, notification, position_key
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.auth.request_principal import until_refused
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.methods.task_methods import EXTENSION as TASKS
from planner_mcp.server.mcp.methods.task_view import detailed_task
from planner_mcp.server.mcp.notifications.listen_filter import JOBS, ListenFilter
from planner_mcp.server.mcp.notifications.resource_subscriptions import WATCH_REFRESH_S
from planner_mcp.server.mcp.notifications.session_watches import SessionWatchStore
from planner_mcp.server.mcp.notifications.watched_resources import (
    Objective,
    WatchedJobs,
    WatchedResource,
    objective_after,
    watched_resource_of,
)
from planner_mcp.server.mcp.request_context import Context, require, require_reader, scope_of, send_notification
from planner_mcp.text import Json

SUBSCRIPTION: Final = "io.modelcontextprotocol/subscriptionId"
SEND_S: Final = 20.0
"""A reader that takes nothing for this long is cut off."""
_OWN_NAMES: Final = {
    "notifications/progress": "notifications/jobs/progress",
    "notifications/cancelled": "notifications/jobs/cancelled",
}
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Listen:
    """Serves `subscriptions/listen`.

    Args:
        watched_jobs: Finds the jobs behind ids and URIs.
        store: Knows when lists changed.
        job_ttl_s: How long jobs are kept after their end.
        drain: Set when the streams of this replica shall end.
        streams: How many streams each principal has open here.
    """

    watched_jobs: WatchedJobs
    store: SessionWatchStore
    job_ttl_s: int
    drain: anyio.Event
    streams: StreamLimit

    def install(self, server: Any) -> None:
        """Add the method to the SDK's server."""
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, self.listen)
        server.extensions[JOBS] = {}

    async def listen(self, ctx: Context, params: types.SubscriptionsListenRequestParams) -> Json:
        """Answer `subscriptions/listen`, at its end."""
        principal = require_reader(ctx)
        requested = ListenFilter.parse(params.notifications)
        if requested.tasks:
            require(ctx, TASKS)
        with self.streams.counted(principal.id):
            stream = ListenStream(self, ctx, principal)
            with ungrouped():
                await stream.run(requested)
        return {"resultType": "complete", "_meta": stream.meta}


class ListenStream:
    """One stream.

    Args:
        listen: The method, with the sources of its events.
        ctx: The request it answers.
        principal: Who listens.
    """

    def __init__(self, listen: Listen, ctx: Context, principal: Principal) -> None:
        self.meta: Json = {SUBSCRIPTION: ctx.request_id}
        self._listen = listen
        self._job_service = listen.watched_jobs.job_service
        self._ctx = ctx
        self._principal = principal
        self._jobs: dict[str, Job] = {}
        """The jobs of the stream, as read when it began."""
        self._resources: list[WatchedResource] = []
        self._wanted = ListenFilter()
        self._pending: dict[_Key, tuple[str, Json]] = {}
        """Method and params of notifications that wait for the reader: the last of each kind and name."""
        self._has_pending = anyio.Event()
        self._is_over = False
        self._followed: set[str] = set()

    async def run(self, requested: ListenFilter) -> None:
        """Send the requested notifications until the replica drains, or the credential expires or is revoked."""
        self._wanted = await self._honoured(requested)
        async with anyio.create_task_group() as tasks:
            if self._wanted.lists:
                await tasks.start(self._lists)  # what changes right behind the acknowledgement counts
            honoured = {"notifications": self._wanted.as_json()}
            await self._send("notifications/subscriptions/acknowledged", honoured)
            for job_id in {*self._wanted.tasks, *self._wanted.jobs}:
                self._begin(tasks, job_id, _before(self._jobs[job_id].event_id))
            for resource in self._resources:
                if resource.is_scenario:
                    tasks.start_soon(self._scenario, resource, tasks)
                else:
                    self._begin(tasks, resource.name, self._jobs[resource.name].event_id)
            tasks.start_soon(self._end_after, self._listen.drain.wait)
            tasks.start_soon(self._end_after, partial(until_refused, scope_of(self._ctx)))
            await self._write()
            tasks.cancel_scope.cancel()

    # ---- what is asked for

    async def _honoured(self, requested: ListenFilter) -> ListenFilter:
        uris = [uri for uri in requested.uris if await self._knows_uri(uri)]
        tasks = [task_id for task_id in requested.tasks if await self._knows_job(task_id)]
        jobs = [job_id for job_id in requested.jobs if await self._knows_job(job_id)]
        return ListenFilter(requested.lists, tuple(uris), tuple(tasks), tuple(jobs))

    async def _knows_job(self, job_id: str) -> bool:
        try:
            self._jobs.setdefault(job_id, await self._job_service.job(self._principal, job_id))
        except NotFoundError:
            return False
        return True

    async def _knows_uri(self, uri: str) -> bool:
        try:
            resource = watched_resource_of(uri)
            job_id = await self._listen.watched_jobs.job_of(self._principal, resource)
        except InputError:
            return False
        if job_id is not None and not await self._knows_job(job_id):
            return False
        self._resources.append(resource)
        return True

    # ---- what happens

    def _begin(self, tasks: TaskGroup, job_id: str, after: str) -> None:
        if job_id not in self._followed:
            self._followed.add(job_id)
            tasks.start_soon(self._follow, job_id, after)

    async def _scenario(self, resource: WatchedResource, tasks: TaskGroup) -> None:
        async with aclosing(self._listen.watched_jobs.jobs_of(self._principal, resource.name)) as newest:
            async for job_id in newest:
                is_new = job_id not in self._jobs
                if await self._knows_job(job_id):
                    self._begin(tasks, job_id, "0" if is_new else self._jobs[job_id].event_id)

    async def _follow(self, job_id: str, after: str) -> None:
        job = self._jobs[job_id]
        is_new = after == "0"  # it began after the stream did, so the client has read nothing of it
        objective: Objective = (None, None) if is_new else (job.progress.penalty, job.progress.cost)
        seen = "" if is_new else job.event_id
        is_read = any(resource.name in (job.id, job.request.scenario_id) for resource in self._resources)
        followed = self._job_service.follow(self._principal, job_id, after, with_reviews=is_read)
        async with aclosing(followed) as events:
            async for event in events:
                await self._queue_messages(job, event, objective, seen)
                objective = objective_after(event, objective)

    async def _queue_messages(self, job: Job, event: Event, before: Objective, seen: str) -> None:
        """Queue the notifications of an event; `seen` is the event of the state that readers know."""
        if job.id in self._wanted.jobs and not event.is_review:
            event_notification = notification(event)
            method: str = event_notification["method"]
            self._put(("job", job.id), _OWN_NAMES.get(method, method), event_notification["params"])
        if job.id in self._wanted.tasks and not event.is_review:
            now = await self._job_service.job(self._principal, job.id) if event.is_final else job
            task = detailed_task(now, self._listen.job_ttl_s, None if event.is_final else event)
            self._put(("task", job.id), "notifications/tasks", task)
        if event.id == seen:
            return  # who listens to a resource reads it first
        for resource in self._resources:
            if resource.name in (job.id, job.request.scenario_id) and resource.moves(event, before):
                self._put(("uri", resource.uri), "notifications/resources/updated", {"uri": resource.uri})

    async def _lists(self, *, task_status: TaskStatus[None]) -> None:
        """Notify of lists that change from now on; it has started once it has read their versions."""
        principal = self._principal.id
        async with self._listen.watched_jobs.notifier.watch(LISTS_CHANNEL) as waiter:
            last = await self._listen.store.list_versions(principal)
            task_status.started()
            while True:
                await waiter.wait(WATCH_REFRESH_S)
                versions = await self._listen.store.list_versions(principal)
                for kind in self._wanted.lists:
                    if versions.get(kind, 0) > last.get(kind, 0):  # 0: forgotten, since it was long ago
                        self._put(("list", kind), f"notifications/{kind}/list_changed", {})
                last = {kind: max(versions.get(kind, 0), last.get(kind, 0)) for kind in {*versions, *last}}

    # ---- what is sent

    def _put(self, key: _Key, method: str, params: Json) -> None:
        self._pending.pop(key, None)
        self._pending[key] = method, params
        self._has_pending.set()

    async def _end_after(self, end: Callable[[], Awaitable[object]]) -> None:
        await end()
        self._is_over = True
        self._has_pending.set()

    async def _write(self) -> None:
        """Send what waits, until the stream is over and nothing waits any more."""
        while self._pending or not self._is_over:
            if not self._pending:
                self._has_pending = anyio.Event()
                await self._has_pending.wait()
                continue
            await self._send(*self._pending.pop(next(iter(self._pending))))

    async def _send(self, method: str, params: Json) -> None:
        stamped = {**params, "_meta": self.meta}
        try:
            with anyio.fail_after(SEND_S):
                await send_notification(self._ctx.session, method, stamped, self._ctx.request_id)
        except TimeoutError as error:
            raise SlowReaderError from error


def _before(event_id: str) -> str:
    """Return the position just before an event, so that following begins with it."""
    ms, number = position_key(event_id)
    return f"{ms}-{number - 1}" if number else f"{ms - 1}-{10**19 - 1}"
