"""`events/list`, `poll`, `stream`, `subscribe` and `unsubscribe`: the extension `io.modelcontextprotocol/events`
(SPEC O6, SEP-3415).

Owns the methods, how the extension is advertised, and its error numbers. `jobs/events/event_types.py` says what an
event holds. Poll and stream read the stream of a principal's jobs, whose positions are the cursors, so either goes on
where the other stopped, at any replica. What is subscribed to by webhook is `jobs/webhooks/event_webhooks.py`'s.
"""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, Field

from planner_mcp.errors import (
    AccessError,
    EndpointForbiddenError,
    EndpointUnreachableError,
    EndpointUnverifiedError,
    InsufficientScopeError,
    NotFoundError,
    PlannerError,
    QuotaExceededError,
    UnsupportedFeatureError,
    ungrouped,
)
from planner_mcp.jobs.events.event_types import (
    CAPACITY,
    REVIEWED,
    TYPES,
    EventType,
    Occurrence,
    Occurrences,
    capacity,
)
from planner_mcp.jobs.events.principal_feed import positions_in
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.webhooks.delivery_records import EndpointState, WebhookEndpoint
from planner_mcp.jobs.webhooks.event_webhooks import EventWebhooks
from planner_mcp.server.auth.request_principal import until_refused
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.methods.extension_capability import add_capabilities, declare_extension, is_asked_for
from planner_mcp.server.mcp.notifications.listen_method import SUBSCRIPTION
from planner_mcp.server.mcp.request_context import Context, require_reader, scope_of, send_notification
from planner_mcp.settings import Settings
from planner_mcp.text import Json, timestamp

EXTENSION: Final = "io.modelcontextprotocol/events"
_REFUSALS: Final[tuple[tuple[type[PlannerError], ...], ...]] = (
    (NotFoundError,),
    (InsufficientScopeError, AccessError),
    (QuotaExceededError,),
    (UnsupportedFeatureError,),
    (EndpointForbiddenError, EndpointUnreachableError, EndpointUnverifiedError),
)
NUMBERS: Final = {
    setting: {error: first - place for place, errors in enumerate(_REFUSALS) for error in errors}
    for setting, first in (("sketch", -32011), ("sep", -32023))
}
"""By the setting `events_errors`. Others keep the number they have everywhere."""
NEXT_POLL_MS: Final = 5_000
MOST_EVENTS: Final = 100
"""Of one poll."""
HEARTBEAT_S: Final = 15.0
MOST_MS: Final = 10**13
"""Of an age or a life; what is longer than is kept counts as that."""
CAPACITY_S: Final = 5.0
"""Between two looks at the workers."""


class EventParams(types.RequestParams):
    """Parameters of `events/poll` and `events/stream`."""

    name: str = Field(max_length=100)
    arguments: Json = Field(default_factory=dict)
    cursor: str | None = Field(None, max_length=4000)
    max_age_ms: int | None = Field(None, ge=0, le=MOST_MS)
    max_events: int = Field(MOST_EVENTS, ge=1)


class EventEndpoint(BaseModel):
    """Where events of a subscription go."""

    mode: Literal["webhook"] = "webhook"
    url: str


class SecretEndpoint(EventEndpoint):
    """The same with what signs them."""

    mode: Literal["webhook"]
    secret: str = Field(max_length=200)


class UnsubscribeParams(types.RequestParams):
    """Parameters of `events/unsubscribe`."""

    name: str = Field(max_length=100)
    arguments: Json = Field(default_factory=dict)
    delivery: EventEndpoint


class SubscribeParams(UnsubscribeParams):
    """Parameters of `events/subscribe`."""

    delivery: SecretEndpoint
    cursor: str | None = Field(None, max_length=4000)
    max_age_ms: int | None = Field(None, ge=0, le=MOST_MS)
    ttl_ms: int | None = Field(None, ge=1, le=MOST_MS)


@dataclass(frozen=True)
class Events:
    """Serves events.

    Args:
        job_service: Whose streams are read.
        settings: Error numbers, and who is informed that there are events.
        streams: How many streams each principal has open here.
        drain: Set when the streams of this replica shall end.
        webhooks: Keeps subscriptions.
    """

    job_service: JobService
    settings: Settings
    streams: StreamLimit
    drain: anyio.Event
    webhooks: EventWebhooks

    def install(self, server: Any) -> None:
        """Add the methods and the capability to the SDK's server."""
        server.add_request_handler("events/list", types.PaginatedRequestParams, self._numbered(self.list_events))
        server.add_request_handler("events/poll", EventParams, self._numbered(self.poll))
        server.add_request_handler("events/stream", EventParams, self._numbered(self.stream))
        server.add_request_handler("events/subscribe", SubscribeParams, self._numbered(self.subscribe))
        server.add_request_handler("events/unsubscribe", UnsubscribeParams, self._numbered(self.unsubscribe))
        declare_extension(server, EXTENSION, {"listChanged": False})
        add_capabilities(server, self._advertised, ("initialize", "server/discover"))

    def _advertised(self, ctx: Context, _answer: Json) -> Json:
        """Advertise events beside the extensions, where some clients look: to those that asked, or to all (setting)."""
        is_shown = self.settings.events_advertised == "always" or is_asked_for(ctx, EXTENSION)
        return {"events": {}} if is_shown else {}

    async def list_events(self, ctx: Context, _params: types.PaginatedRequestParams | None) -> Json:
        """Answer `events/list`."""
        principal = require_reader(ctx)
        listed = [each.as_json(with_webhook=principal != LOCAL) for each in self._types(principal)]
        return {"resultType": "complete", "events": listed}

    async def poll(self, ctx: Context, params: EventParams) -> Json:
        """Answer `events/poll`: what happened after a cursor; without one, where to begin."""
        principal, event_type = self._asked(ctx, params)
        if event_type is CAPACITY:
            return await self._capacity_poll(params)
        steps = await self.job_service.past_events(principal, _job_cursor(params) or "")
        found = [*Occurrences(event_type, params.arguments, since=_since(params)).of(steps)]
        shown = found[: min(params.max_events, MOST_EVENTS)]
        has_more = len(found) > len(shown)
        return {
            **_POLLED,
            "events": [each.as_json() for each in shown],
            "cursor": shown[-1].cursor if has_more else steps[-1].position,
            "truncated": params.cursor is not None and steps[0].is_start,
            "hasMore": has_more,
        }

    async def stream(self, ctx: Context, params: EventParams) -> Json:
        """Answer `events/stream` at its end; what happens is sent as notifications on its own stream."""
        principal, event_type = self._asked(ctx, params)
        sender = _EventStream(ctx)
        with self.streams.counted(principal.id):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_cancel_after, tasks.cancel_scope, self.drain.wait)
                tasks.start_soon(_cancel_after, tasks.cancel_scope, lambda: until_refused(scope_of(ctx)))
                if event_type is CAPACITY:
                    await self._capacity_stream(sender, params)
                else:
                    occurrences = Occurrences(event_type, params.arguments, since=_since(params))
                    await self._job_stream(sender, principal, occurrences, params)
        return {"resultType": "complete", "_meta": sender.meta}

    async def subscribe(self, ctx: Context, params: SubscribeParams) -> Json:
        """Answer `events/subscribe`: deliver by webhook from now on; asked again, it renews."""
        principal, event_type = self._subscriber(ctx, params)
        with self.streams.counted(principal.id):  # while its endpoint is asked
            found = await self.webhooks.subscribe(
                principal,
                event_type,
                params.arguments,
                url=params.delivery.url,
                secret=params.delivery.secret,
                cursor=_job_cursor(params),
                life=None if params.ttl_ms is None else timedelta(milliseconds=params.ttl_ms),
                since=_since(params),
            )
        return {
            "resultType": "complete",
            "id": found.subscription.id,
            "refreshBefore": timestamp(found.subscription.until),
            "cursor": found.cursor,
            "truncated": found.is_truncated,
            "deliveryStatus": _delivery_status(found.endpoint),
        }

    async def unsubscribe(self, ctx: Context, params: UnsubscribeParams) -> Json:
        """Answer `events/unsubscribe`; a subscription that is not there is none."""
        principal, event_type = self._subscriber(ctx, params)
        await self.webhooks.unsubscribe(principal, event_type, params.arguments, params.delivery.url)
        return {"resultType": "complete"}

    async def _job_stream(
        self, sender: "_EventStream", principal: Principal, occurrences: Occurrences, params: EventParams
    ) -> None:
        async with aclosing(self.job_service.follow_all(principal, _job_cursor(params) or "")) as steps:
            is_first = True
            async for step in steps:
                if is_first:
                    is_first, is_behind = False, step.is_start and params.cursor is not None
                    begins_at = step.position if step.event is None else params.cursor
                    await sender.send("active", {"cursor": begins_at, "truncated": is_behind})
                for each in occurrences.of([step]):
                    await sender.send("event", each.as_json())
                await sender.beat(step.position)

    async def _capacity_stream(self, sender: "_EventStream", params: EventParams) -> None:
        last = params.cursor or (await self._capacity()).cursor
        await sender.send("active", {"cursor": last, "truncated": False})
        while True:
            now = await self._capacity()
            if now.cursor != last:
                await sender.send("event", now.as_json())
                last = now.cursor
            await sender.beat(last)
            await anyio.sleep(CAPACITY_S)

    async def _capacity_poll(self, params: EventParams) -> Json:
        now = await self._capacity()
        events = [now.as_json()] if params.cursor not in (None, now.cursor) else []
        return {**_POLLED, "events": events, "cursor": now.cursor, "truncated": False, "hasMore": False}

    async def _capacity(self) -> Occurrence:
        return capacity(await self.job_service.stats(), datetime.now(UTC))

    def _types(self, principal: Principal) -> list[EventType]:
        """Return the types a principal may ask for."""
        has_reviews = self.settings.approval != "off"
        return [each for each in TYPES if principal.may(each.scope) and (has_reviews or each is not REVIEWED)]

    def _asked(self, ctx: Context, params: EventParams | UnsubscribeParams) -> tuple[Principal, EventType]:
        """Return who asks for which type.

        Raises:
            NotFoundError: There is no such type here.
            InsufficientScopeError: It needs a scope that the principal lacks.
            InputError: The arguments are not of the type.
        """
        principal = require_reader(ctx)
        found = next((each for each in TYPES if each.name == params.name), None)
        if found is None or (found not in self._types(principal) and principal.may(found.scope)):
            raise NotFoundError("There is no such event type; events/list has them.")
        principal.require(found.scope, f"The event type {found.name}")
        found.checked(params.arguments)
        return principal, found

    def _subscriber(self, ctx: Context, params: UnsubscribeParams) -> tuple[Principal, EventType]:
        """Return who asks for which type by webhook.

        Raises:
            AccessError: Nobody is signed in here.
            UnsupportedFeatureError: The type is not delivered so.
        """
        principal, event_type = self._asked(ctx, params)
        if not event_type.kinds:
            raise UnsupportedFeatureError(f"{event_type.name} is not delivered by webhook; poll or stream it.")
        if principal == LOCAL:
            raise AccessError("Subscriptions by webhook need a server with authorization; poll or stream events here.")
        return principal, event_type

    def _numbered(self, method: Callable[[Context, Any], Awaitable[Json]]) -> Any:
        """Return a method whose refusals have the numbers of the extension."""

        async def answer(ctx: Context, params: Any) -> Json:
            try:
                with ungrouped():
                    return await method(ctx, params)
            except PlannerError as error:
                raise self._as_mcp(error) from error

        return answer

    def _as_mcp(self, error: PlannerError) -> Exception:
        number = NUMBERS[self.settings.events_errors].get(type(error))
        return error if number is None else MCPError(number, error.message, rpc_data(error))


def _job_cursor(params: EventParams | SubscribeParams) -> str | None:
    """Return the cursor of a reader of job events.

    Raises:
        InputError: It is no position in them.
    """
    positions_in(params.cursor or "", "/cursor")
    return params.cursor


_POLLED: Final = {"resultType": "complete", "nextPollMs": NEXT_POLL_MS}


class _EventStream:
    """Sends the notifications of one stream.

    Args:
        ctx: The request it answers.
    """

    def __init__(self, ctx: Context) -> None:
        self.meta: Json = {SUBSCRIPTION: ctx.request_id}
        self._ctx = ctx
        self._sent_at = anyio.current_time()

    async def send(self, kind: str, params: Mapping[str, Any]) -> None:
        """Send one."""
        self._sent_at = anyio.current_time()
        stamped = {**params, "_meta": self.meta}
        await send_notification(self._ctx.session, f"notifications/events/{kind}", stamped, self._ctx.request_id)

    async def beat(self, cursor: str | None) -> None:
        """Say where the stream is, where nothing was sent for a while."""
        if anyio.current_time() - self._sent_at >= HEARTBEAT_S:
            await self.send("heartbeat", {"cursor": cursor})


async def _cancel_after(scope: anyio.CancelScope, end: Callable[[], Awaitable[object]]) -> None:
    await end()
    scope.cancel()


def _since(params: EventParams | SubscribeParams) -> datetime | None:
    """Return the time of the oldest event that is wanted."""
    return None if params.max_age_ms is None else datetime.now(UTC) - timedelta(milliseconds=params.max_age_ms)


def _delivery_status(endpoint: WebhookEndpoint | None) -> Json:
    """Return how an endpoint does; of errors their kind alone."""
    if endpoint is None:
        return {"active": True, "lastDeliveryAt": None, "lastError": None, "failedSince": None, "throttled": False}
    is_failing, rests_until = endpoint.failing_since is not None, endpoint.rests_until
    wait_s = 0.0 if rests_until is None else max(0.0, (rests_until - datetime.now(UTC)).total_seconds())
    error = "unreachable" if endpoint.status is None else f"answer {endpoint.status // 100}xx"
    return {
        "active": endpoint.state is not EndpointState.DISABLED,
        "lastDeliveryAt": None if endpoint.last_at is None else timestamp(endpoint.last_at),
        "lastError": error if is_failing else None,
        "failedSince": None if endpoint.failing_since is None else timestamp(endpoint.failing_since),
        "throttled": rests_until is not None,
        **({"retryAfterMs": round(wait_s * 1000)} if rests_until is not None else {}),
    }
