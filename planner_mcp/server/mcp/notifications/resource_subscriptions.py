"""Notifications on the standalone stream of handshake sessions: changed resources, tasks, and changed lists.

Owns `resources/subscribe` and `resources/unsubscribe`, and the forwarder that turns events of jobs into messages.
What a session watches is in the store, so any replica can take a subscription; `session_watches.py` bounds how much.
Only the replica that holds the stream of the session forwards, and nothing is written while no client listens; the
next holder continues where the last one stopped. There may be two holders for a moment: a cursor for each job moves
in the same step that writes its message, so each message is written once (SPEC J4). From there on messages can be
resumed like any other of the stream.

A task ends with its job. Where plans are reviewed, the resources of the job go on until its plan is published.

Progress of a task uses the token of the call that made it, which stays valid while the task runs (spec 2025-11-25,
tasks); without a token `notifications/tasks/status` is sent.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, Final

import anyio
import mcp_types as types
from anyio import CancelScope
from anyio.abc import TaskGroup

from planner_mcp.errors import NotFoundError, StoreError
from planner_mcp.jobs.events.pubsub_channels import LISTS_CHANNEL, watch_channel
from planner_mcp.jobs.job_content import event_line
from planner_mcp.jobs.job_events import Event, EventKind
from planner_mcp.jobs.job_model import Job
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier
from planner_mcp.server.mcp.methods.core_tasks import RELATED
from planner_mcp.server.mcp.methods.task_view import core_task, task_progress
from planner_mcp.server.mcp.notifications.session_watches import (
    OVER,
    TASK,
    TOOLSET,
    SessionWatches,
    SessionWatchStore,
    toolsets_in,
    watched_resources_in,
)
from planner_mcp.server.mcp.notifications.stdio_watches import SESSION, StdioWatchStore
from planner_mcp.server.mcp.notifications.watched_resources import (
    WATCHABLE,
    Objective,
    WatchedJobs,
    WatchedResource,
    objective_after,
    watched_resource_of,
)
from planner_mcp.server.mcp.request_context import Context, has_session, principal_in, require_reader, session_of
from planner_mcp.server.tools.arguments.lookup_errors import naming_argument
from planner_mcp.server.tools.discovery.read_resource import ID_HINT
from planner_mcp.text import Json, compact

WATCH_REFRESH_S: Final = 60.0
"""How often a forwarder reads what its session watches, and keeps that alive."""
RETRY_S: Final = 0.5
"""Pause of a forwarder while the store is unavailable."""
LISTS: Final = ("tools", "resources", "prompts")


class Subscriptions:
    """Takes subscriptions of handshake sessions and sends their notifications.

    Args:
        watched_jobs: Finds the jobs behind URIs.
        store: What sessions watch.
        job_ttl_s: How long jobs are kept after their end.
    """

    def __init__(self, watched_jobs: WatchedJobs, store: SessionWatchStore, *, job_ttl_s: int) -> None:
        self.watched_jobs = watched_jobs
        self.store = store
        self.job_ttl_s = job_ttl_s
        self._stdio_watches = StdioWatchStore()
        self._forwarding: asyncio.Task[None] | None = None

    def install(self, server: Any) -> None:
        """Add methods to the SDK's server."""
        server.add_request_handler("resources/subscribe", types.SubscribeRequestParams, self.subscribe)
        server.add_request_handler("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe)

    async def subscribe(self, ctx: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/subscribe`."""
        principal, resource = require_reader(ctx), watched_resource_of(str(params.uri))
        with naming_argument("/uri", (WATCHABLE, ID_HINT)):
            job_id = await self.watched_jobs.job_of(principal, resource)
        store, session_id = self._where(ctx)
        await SessionWatches(self.watched_jobs, store, session_id, principal).make_room_for_resource(resource.uri)
        cursors = {} if job_id is None else {job_id: await self._position(principal, job_id)}
        await store.watch(session_id, resource.uri, "", cursors)
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Answer `resources/unsubscribe`; what was never subscribed to is no error."""
        require_reader(ctx)
        store, session_id = self._where(ctx)
        await store.unwatch(session_id, [str(params.uri)])
        return types.EmptyResult()

    async def add_task(self, ctx: Context, job: Job) -> None:
        """Notify the session that made a task of its changes."""
        if job.is_terminal:
            return
        store, session_id = self._where(ctx)
        await SessionWatches(self.watched_jobs, store, session_id, principal_in(ctx)).make_room_for_task(job.id)
        token = (ctx.meta or {}).get("progress_token")
        await store.watch(session_id, f"{TASK}{job.id}", json.dumps(token), {job.id: job.event_id})

    async def toolsets(self, ctx: Context) -> frozenset[str]:
        """Return the tool sets that the client of a session switched on, beyond those of its URL."""
        if not has_session(ctx):
            return frozenset()
        session_id = session_of(ctx)
        store: SessionWatchStore = self._stdio_watches if session_id is None else self.store
        watches, _cursors = await store.watched(session_id or SESSION)
        return toolsets_in(watches)

    async def add_toolset(self, ctx: Context, toolset: str) -> None:
        """Keep a tool set for the session of a call, and announce the new list of tools, once for each set."""
        store, session_id = self._where(ctx)
        name = f"{TOOLSET}{toolset}"
        await store.watch(session_id, name, "", {name: "0-0"})
        await store.note(session_id, name, "1-0", [("", _text("notifications/tools/list_changed", {}))])

    async def forward_events(self, session_id: str, principal: Principal) -> None:
        """Report to a session what happens, by the scopes of its stream's principal, until cancelled or its end."""
        await SubscriptionForwarder(self, self.store, self.watched_jobs.notifier, session_id, principal).run()

    def _where(self, ctx: Context) -> tuple[SessionWatchStore, str]:
        """Return where it stands what a client watches: in the store with its session, or over stdio in memory."""
        if (session_id := session_of(ctx)) is not None:
            return self.store, session_id
        self._stdio_watches.session = ctx.session
        if self._forwarding is None:
            forward_events = SubscriptionForwarder(
                self, self._stdio_watches, self._stdio_watches.notifier, SESSION, principal_in(ctx)
            )
            self._forwarding = asyncio.create_task(forward_events.run())
        return self._stdio_watches, SESSION

    async def _position(self, principal: Principal, job_id: str) -> str:
        job = await self.watched_jobs.job_service.job(principal, job_id)
        return OVER if job.is_settled else job.event_id


class SubscriptionForwarder:
    """Notifies one session, while this replica holds its stream.

    Args:
        subscriptions: What the session watches.
        store: What the session watches, and where to write.
        notifier: Announces that it watches something else.
        session_id: The session.
        principal: Whose it is.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        store: SessionWatchStore,
        notifier: ChangeNotifier,
        session_id: str,
        principal: Principal,
    ) -> None:
        self._watched_jobs = subscriptions.watched_jobs
        self._store = store
        self._notifier = notifier
        self._ttl_s = subscriptions.job_ttl_s
        self._session_id = session_id
        self._principal = principal
        self._session_watches = SessionWatches(self._watched_jobs, store, session_id, principal)
        self._watches: Mapping[str, str] = {}
        self._followed: set[str] = set()
        self._reviewed: dict[str, tuple[Job, CancelScope]] = {}
        """Jobs that have ended, whose reviews are followed for a resource."""

    async def run(self) -> None:
        """Forward until cancelled, or until the session ends; a store that is away is waited for."""
        while True:
            try:
                await self._run()
                return
            except* StoreError:
                self._followed.clear()
            await anyio.sleep(RETRY_S)

    async def _run(self) -> None:
        async with (
            self._notifier.watch(watch_channel(self._session_id)) as waiter,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(self._lists)
            while True:
                self._watches, cursors = await self._session_watches.read()
                for job, following in self._reviewed.values():
                    if job.id not in cursors or not self._resources_of(job):
                        following.cancel()
                for scenario_id in {
                    each.name for each in watched_resources_in(self._watches) if each.is_scenario
                } - self._followed:
                    self._followed.add(scenario_id)
                    tasks.start_soon(self._scenario, scenario_id, tasks)
                for cursor, position in cursors.items():
                    if cursor.startswith("job-"):
                        self._begin(tasks, cursor, position)
                await waiter.wait(WATCH_REFRESH_S)

    def _begin(self, tasks: TaskGroup, job_id: str, position: str) -> None:
        if position != OVER and job_id not in self._followed:
            self._followed.add(job_id)
            tasks.start_soon(self._job, job_id, position)

    # ---- what is followed

    async def _scenario(self, scenario_id: str, tasks: TaskGroup) -> None:
        async with aclosing(self._watched_jobs.jobs_of(self._principal, scenario_id)) as newest:
            async for job_id in newest:
                stands = await self._store.begin(self._session_id, {job_id: "0-0"})
                self._begin(tasks, job_id, stands[job_id])

    async def _job(self, job_id: str, position: str) -> None:
        try:
            job = await self._watched_jobs.job_service.job(self._principal, job_id)
            position = await self._follow(job, position)
            await self._forget_task(job_id)
            if position != OVER:
                await self._follow_reviews(job, position)
        except NotFoundError:  # it expired
            await self._store.note(self._session_id, job_id, OVER, [])
            await self._forget_task(job_id)
        self._followed.discard(job_id)

    async def _forget_task(self, job_id: str) -> None:
        if f"{TASK}{job_id}" in self._watches:
            await self._session_watches.forget_task(job_id, self._watches)

    async def _follow_reviews(self, job: Job, position: str) -> None:
        """Notify watched resources of a job that has ended of each step in the review of its plan."""
        with CancelScope() as following:
            self._reviewed[job.id] = job, following
            try:
                if self._resources_of(job):
                    position = await self._follow(job, position, with_reviews=True)
            finally:
                del self._reviewed[job.id]
        if position != OVER and not self._resources_of(job):
            await self._store.unwatch(self._session_id, [], [job.id])

    async def _follow(self, job: Job, position: str, *, with_reviews: bool = False) -> str:
        """Follow a job to its end, with reviews to that of its review; return the position behind what was sent."""
        objective: Objective = (None, None)
        job_service = self._watched_jobs.job_service
        followed = job_service.follow(self._principal, job.id, position, with_reviews=with_reviews)
        async with aclosing(followed) as events:
            async for event in events:
                is_end = event.ends_reviews or (event.is_final and not job_service.reviews.is_on)
                position = OVER if is_end else event.id
                messages = self._messages_for(job, event, objective)
                if not await self._store.note(self._session_id, job.id, position, messages):
                    return OVER
                objective = objective_after(event, objective)
        return position

    async def _lists(self) -> None:
        """Notify of lists that change from now on."""
        async with self._notifier.watch(LISTS_CHANNEL) as waiter:
            while True:
                versions = await self._store.list_versions(self._principal.id)
                newest = {f"list-{kind}": f"{versions.get(kind, 0)}-0" for kind in LISTS}
                stands = await self._store.begin(self._session_id, newest)
                for kind, (cursor, position) in zip(LISTS, newest.items(), strict=True):
                    if stands[cursor] != position:
                        text = _text(f"notifications/{kind}/list_changed", {})
                        await self._store.note(self._session_id, cursor, position, [("", text)])
                await waiter.wait(WATCH_REFRESH_S)

    def _resources_of(self, job: Job) -> list[WatchedResource]:
        """Return what of a job the session watches."""
        about = (job.id, job.request.scenario_id)
        return [each for each in watched_resources_in(self._watches) if each.name in about]

    # ---- what is said

    def _messages_for(self, job: Job, event: Event, before: Objective) -> list[tuple[str, str]]:
        """Return the messages one event of a job becomes, each with what it is for."""
        messages = [
            (each.uri, _text("notifications/resources/updated", {"uri": each.uri}))
            for each in self._resources_of(job)
            if each.moves(event, before)
        ]
        name = f"{TASK}{job.id}"
        if name in self._watches and not event.is_review:
            messages.append((name, _of_task(job, event, json.loads(self._watches[name]), self._ttl_s)))
        return messages


def _of_task(job: Job, event: Event, token: int | str | None, ttl_s: int) -> str:
    if token is None or event.kind is not EventKind.PROGRESS:
        return _text("notifications/tasks/status", core_task(job, ttl_s, event))
    progress = {
        "progressToken": token,
        "progress": task_progress(event.data.progress, event.number),
        "total": 100,
        "message": event_line(event),
        "_meta": {RELATED: {"taskId": job.id}},
    }
    return _text("notifications/progress", progress)


def _text(method: str, params: Json) -> str:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return compact(message)
