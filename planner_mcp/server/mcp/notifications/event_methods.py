"""`events/list`, `events/poll` and `events/stream`: the extension `io.modelcontextprotocol/events` (SPEC O6, SEP-3415).

Owns the methods, how the extension is advertised, and its error numbers. `event_types.py` says what is told. Poll and
stream read the stream of a principal's jobs, whose positions are the cursors, so either goes on where the other
stopped, at any replica. Webhooks by subscription are refused as unsupported: no type lists that delivery.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.shared.exceptions import MCPError
from pydantic import Field

from planner_mcp.errors import InsufficientScopeError, NotFoundError, PlannerError, UnsupportedFeatureError
from planner_mcp.jobs.job_ports import FeedStep
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.server.auth.request_principal import until_refused
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.methods.extension_capability import ExtensionCapability, is_asked_for
from planner_mcp.server.mcp.notifications.event_types import (
    CAPACITY,
    REVIEWED,
    TYPES,
    EventType,
    Occurrences,
    capacity_cursor,
    capacity_of,
    occurrence,
)
from planner_mcp.server.mcp.notifications.listen_method import cause_of
from planner_mcp.server.mcp.notifications.listen_stream import SUBSCRIPTION
from planner_mcp.server.mcp.notifications.stdio_watches import AnyNotification
from planner_mcp.server.mcp.request_context import Context, require_scope, scope_of
from planner_mcp.settings import Settings
from planner_mcp.text import timestamp

EXTENSION: Final = "io.modelcontextprotocol/events"
NUMBERS: Final = {
    "sketch": {NotFoundError: -32011, InsufficientScopeError: -32012, UnsupportedFeatureError: -32014},
    "sep": {NotFoundError: -32023, InsufficientScopeError: -32024, UnsupportedFeatureError: -32026},
}
"""By the setting `events_errors`. Others keep the number they have everywhere."""
NEXT_POLL_MS: Final = 5_000
MOST_EVENTS: Final = 100
"""Of one poll."""
HEARTBEAT_S: Final = 15.0
CAPACITY_S: Final = 5.0
"""Between two looks at the workers."""


class EventParams(types.RequestParams):
    """Parameters of `events/poll` and `events/stream`."""

    name: str = Field(max_length=100)
    arguments: dict[str, Any] = Field(default_factory=dict)
    cursor: str | None = Field(None, max_length=4000)
    max_age_ms: int | None = Field(None, ge=0)
    max_events: int = Field(MOST_EVENTS, ge=1)


@dataclass(frozen=True)
class Events:
    """Serves events.

    Args:
        job_service: Whose streams are told.
        settings: Error numbers, and who is told that there are events.
        streams: How many streams each principal has open here.
        drain: Set when the streams of this replica shall end.
    """

    job_service: JobService
    settings: Settings
    streams: StreamLimit
    drain: anyio.Event

    def install(self, server: Any) -> None:
        """Add the methods and the capability to the SDK's server."""
        server.add_request_handler("events/list", types.PaginatedRequestParams, self._numbered(self.list_events))
        server.add_request_handler("events/poll", EventParams, self._numbered(self.poll))
        server.add_request_handler("events/stream", EventParams, self._numbered(self.stream))
        for method in ("events/subscribe", "events/unsubscribe"):
            server.add_request_handler(method, types.RequestParams, self._numbered(self._no_webhooks))
        ExtensionCapability(EXTENSION, {"listChanged": False}).install(server)
        server.middleware.append(self._advertise)

    async def _advertise(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Tell of events beside the extensions, where some clients look: those that asked, or all by the setting."""
        result = await call_next(ctx)
        if ctx.method not in ("initialize", "server/discover") or not isinstance(result, dict):
            return result
        if self.settings.events_advertised != "always" and not is_asked_for(ctx, EXTENSION):
            return result
        return {**result, "capabilities": {**result["capabilities"], "events": {}}}

    async def list_events(self, ctx: Context, _params: types.PaginatedRequestParams | None) -> dict[str, Any]:
        """Answer `events/list`."""
        principal = require_scope(ctx, READ)
        return {"resultType": "complete", "events": [each.as_json() for each in self._types(principal)]}

    async def poll(self, ctx: Context, params: EventParams) -> dict[str, Any]:
        """Answer `events/poll`: what happened after a cursor; without one, where to begin."""
        principal, event_type = self._asked(ctx, params)
        if event_type is CAPACITY:
            return await self._capacity_poll(params)
        steps = await self._past(principal, params.cursor)
        found = [*Occurrences(event_type, params.arguments).of(steps)]
        found = [each for each in found if _is_recent(each, params.max_age_ms)]
        shown = found[: min(params.max_events, MOST_EVENTS)]
        has_more = len(found) > len(shown)
        return {
            **_POLLED,
            "events": shown,
            "cursor": shown[-1]["cursor"] if has_more else steps[-1].position,
            "truncated": params.cursor is not None and steps[0].is_start,
            "hasMore": has_more,
        }

    async def stream(self, ctx: Context, params: EventParams) -> dict[str, Any]:
        """Answer `events/stream` at its end; what happens is told by notifications on its own stream."""
        principal, event_type = self._asked(ctx, params)
        sender = _EventStream(ctx)
        self.streams.check(principal.id)
        with self.streams.counted(principal.id):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, tasks.cancel_scope, self.drain.wait)
                tasks.start_soon(_cancel_after, tasks.cancel_scope, lambda: until_refused(scope_of(ctx)))
                if event_type is CAPACITY:
                    await self._capacity_stream(sender, params)
                else:
                    await self._job_stream(sender, principal, Occurrences(event_type, params.arguments), params)
        return {"resultType": "complete", "_meta": sender.meta}

    async def _job_stream(
        self, sender: "_EventStream", principal: Principal, occurrences: Occurrences, params: EventParams
    ) -> None:
        async with aclosing(self.job_service.follow_all(principal, params.cursor or "")) as steps:
            is_first = True
            async for step in steps:
                if is_first:
                    is_first, is_behind = False, step.is_start and params.cursor is not None
                    begins_at = step.position if step.event is None else params.cursor
                    await sender.send("active", {"cursor": begins_at, "truncated": is_behind})
                for each in occurrences.of([step]):
                    if _is_recent(each, params.max_age_ms):
                        await sender.send("event", each)
                await sender.beat(step.position)

    async def _capacity_stream(self, sender: "_EventStream", params: EventParams) -> None:
        last = params.cursor or capacity_cursor(capacity_of(await self.job_service.stats()))
        await sender.send("active", {"cursor": last, "truncated": False})
        while True:
            figures = capacity_of(await self.job_service.stats())
            if (now := capacity_cursor(figures)) != last:
                await sender.send("event", _capacity_occurrence(figures))
                last = now
            await sender.beat(last)
            await anyio.sleep(CAPACITY_S)

    async def _capacity_poll(self, params: EventParams) -> dict[str, Any]:
        figures = capacity_of(await self.job_service.stats())
        is_changed = params.cursor is not None and params.cursor != capacity_cursor(figures)
        events = [_capacity_occurrence(figures)] if is_changed else []
        return {**_POLLED, "events": events, "cursor": capacity_cursor(figures), "truncated": False, "hasMore": False}

    async def _past(self, principal: Principal, cursor: str | None) -> list[FeedStep]:
        return await self.job_service.past_events(principal, cursor or "")

    def _types(self, principal: Principal) -> list[EventType]:
        """Return the types a principal may ask for."""
        has_reviews = self.settings.approval != "off"
        return [each for each in TYPES if principal.may(each.scope) and (has_reviews or each is not REVIEWED)]

    def _asked(self, ctx: Context, params: EventParams) -> tuple[Principal, EventType]:
        """Return who asks for which type.

        Raises:
            NotFoundError: There is no such type here.
            InsufficientScopeError: It needs a scope that the principal lacks.
            InputError: The arguments are not of the type.
        """
        principal = require_scope(ctx, READ)
        found = next((each for each in TYPES if each.name == params.name), None)
        if found is None or (found not in self._types(principal) and principal.may(found.scope)):
            raise NotFoundError("There is no such event type; events/list has them.")
        principal.require(found.scope, f"The event type {found.name}")
        found.checked(params.arguments)
        return principal, found

    async def _no_webhooks(self, _ctx: Context, _params: types.RequestParams) -> dict[str, Any]:
        raise UnsupportedFeatureError("Events are not delivered by webhook; poll or stream them, or use callback_url.")

    def _numbered(self, method: Callable[[Context, Any], Awaitable[dict[str, Any]]]) -> Any:
        """Return a method whose refusals have the numbers of the extension."""

        async def answer(ctx: Context, params: Any) -> dict[str, Any]:
            try:
                return await method(ctx, params)
            except PlannerError as error:
                raise self._as_mcp(error) from error
            except ExceptionGroup as group:
                cause = cause_of(group)
                raise (self._as_mcp(cause) if isinstance(cause, PlannerError) else cause) from group

        return answer

    def _as_mcp(self, error: PlannerError) -> Exception:
        number = NUMBERS[self.settings.events_errors].get(type(error))
        return error if number is None else MCPError(number, error.message, rpc_data(error))


_POLLED: Final = {"resultType": "complete", "nextPollMs": NEXT_POLL_MS}


class _EventStream:
    """Sends the notifications of one stream.

    Args:
        ctx: The request it answers.
    """

    def __init__(self, ctx: Context) -> None:
        self.meta: dict[str, Any] = {SUBSCRIPTION: ctx.request_id}
        self._ctx = ctx
        self._sent_at = anyio.current_time()

    async def send(self, kind: str, params: Mapping[str, Any]) -> None:
        """Send one."""
        stamped = AnyNotification(method=f"notifications/events/{kind}", params={**params, "_meta": self.meta})
        self._sent_at = anyio.current_time()
        await self._ctx.session.send_notification(
            cast("types.ServerNotification", stamped), related_request_id=self._ctx.request_id
        )

    async def beat(self, cursor: str) -> None:
        """Say where the stream is, where nothing was sent for a while."""
        if anyio.current_time() - self._sent_at >= HEARTBEAT_S:
            await self.send("heartbeat", {"cursor": cursor})


async def _cancel_after(scope: anyio.CancelScope, end: Callable[[], Awaitable[object]]) -> None:
    await end()
    scope.cancel()


def _capacity_occurrence(figures: dict[str, Any]) -> dict[str, Any]:
    now, cursor = datetime.now(UTC), capacity_cursor(figures)
    return occurrence(f"{int(now.timestamp() * 1000)}-{cursor}", CAPACITY.name, timestamp(now), figures, cursor)


def _is_recent(each: Mapping[str, Any], max_age_ms: int | None) -> bool:
    if max_age_ms is None:
        return True
    return datetime.now(UTC) - datetime.fromisoformat(each["timestamp"]) <= timedelta(milliseconds=max_age_ms)
