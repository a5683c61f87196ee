"""Subscribing to MCP Events by webhook (SPEC O6, SEP-3415).

Owns the order of steps: the URL is judged, its endpoint verified, the subscription kept, and what happened after a
cursor scheduled. An endpoint is verified when its first subscription is made, and again after it was out of service: it
has to return a challenge, so nobody is sent events who did not ask for them.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from secrets import token_urlsafe
from typing import Any, Final

from planner_mcp.errors import EndpointUnverifiedError, Fault, QuotaExceededError, input_error
from planner_mcp.jobs.events.event_types import REVIEWED, EventType, Occurrences
from planner_mcp.jobs.ids import subscription_id
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.jobs.webhooks import webhook_signing
from planner_mcp.jobs.webhooks.address_guard import check_callback_url
from planner_mcp.jobs.webhooks.delivery_records import EndpointState, WebhookEndpoint, WebhookStore
from planner_mcp.jobs.webhooks.endpoint_policy import endpoint_id
from planner_mcp.jobs.webhooks.event_subscriptions import ID_HEADER, EventSubscription, EventSubscriptionStore
from planner_mcp.jobs.webhooks.webhook_client import WebhookClient
from planner_mcp.settings import Settings
from planner_mcp.text import compact

MOST_SUBSCRIPTIONS: Final = 50
"""Of one principal."""
MOST_MISSED: Final = 100
"""Past events that are delivered to a new subscription with a cursor."""
USUAL_LIFE: Final = timedelta(days=1)
LONGEST_LIFE: Final = timedelta(days=7)
SHORTEST_LIFE: Final = timedelta(minutes=1)
MAX_ECHO_BYTES: Final = 4096
SECRET_BYTES: Final = range(24, 65)


@dataclass(frozen=True, slots=True)
class Subscribed:
    """A subscription as it stands after it was asked for."""

    subscription: EventSubscription
    cursor: str
    """Up to where its past events were looked at."""
    is_truncated: bool
    """Whether events after the cursor that was given are not delivered."""
    endpoint: WebhookEndpoint | None


class EventWebhooks:
    """Subscribes and unsubscribes.

    Args:
        job_service: Whose events.
        store: Where subscriptions are kept.
        webhooks: How endpoints do.
        webhook_client: Sends the challenge.
        settings: Which URLs may be called.
    """

    def __init__(
        self,
        job_service: JobService,
        store: EventSubscriptionStore,
        webhooks: WebhookStore,
        webhook_client: WebhookClient,
        settings: Settings,
    ) -> None:
        self._job_service = job_service
        self._store = store
        self._webhooks = webhooks
        self._webhook_client = webhook_client
        self._settings = settings

    async def subscribe(
        self,
        principal: Principal,
        event_type: EventType,
        arguments: Mapping[str, Any],
        *,
        url: str,
        secret: str,
        cursor: str | None,
        life: timedelta | None,
        since: datetime | None = None,
    ) -> Subscribed:
        """Deliver events of a type to a URL from now on, or from a cursor on.

        Raises:
            EndpointForbiddenError: The URL may not be called.
            EndpointUnreachableError: It did not answer the challenge.
            EndpointUnverifiedError: Its answer does not hold the challenge.
            InputError: The secret or the cursor cannot be used.
            QuotaExceededError: The principal has as many subscriptions as are kept.
        """
        check_callback_url(url, self._settings, path="/delivery/url")
        _check_secret(secret)
        steps = await self._job_service.past_events(principal, cursor or "")
        kept = await self._store.of(principal.id)
        subscription = EventSubscription(
            id=identity(principal, event_type, arguments, url),
            principal=principal.id,
            type=event_type,
            arguments=arguments,
            url=url,
            is_masked=not principal.may(SENSITIVE),
            until=datetime.now(UTC) + min(max(life or USUAL_LIFE, SHORTEST_LIFE), LONGEST_LIFE),
            group=self._job_service.reviews.group_of(principal) if event_type is REVIEWED else "",
        )
        if len(kept) >= MOST_SUBSCRIPTIONS and all(each.id != subscription.id for each in kept):
            raise QuotaExceededError(
                f"At most {MOST_SUBSCRIPTIONS} subscriptions to events are kept; unsubscribe from one."
            )
        endpoint = await self._webhooks.endpoint(endpoint_id(principal.id, url))
        is_closed = endpoint is not None and endpoint.state is EndpointState.DISABLED
        if is_closed or all(each.url != url for each in kept):
            await self._verify(subscription, secret)
        if is_closed:
            await self._webhooks.reopen(endpoint_id(principal.id, url))
        await self._store.put(subscription, secret)
        if cursor is None:
            return Subscribed(subscription, steps[-1].position, is_truncated=False, endpoint=endpoint)
        # what happened since it was looked is delivered by both ways, once
        steps = await self._job_service.past_events(principal, cursor)
        found = [*Occurrences(event_type, arguments, since=since).of(steps)]
        missed = found[-MOST_MISSED:]
        await self._store.deliver(subscription, missed)
        is_truncated = steps[0].is_start or len(missed) < len(found)
        return Subscribed(subscription, steps[-1].position, is_truncated, endpoint)

    async def unsubscribe(
        self, principal: Principal, event_type: EventType, arguments: Mapping[str, Any], url: str
    ) -> None:
        """End a subscription; nothing where there is none."""
        await self._store.drop(principal.id, identity(principal, event_type, arguments, url))

    async def _verify(self, subscription: EventSubscription, secret: str) -> None:
        """Check that an endpoint returns a challenge."""
        challenge = token_urlsafe(32)
        body = compact({"type": "verification", "challenge": challenge, "subscriptionId": subscription.id}).encode()
        headers = webhook_signing.headers([secret], f"msg_verification_{token_urlsafe(12)}", int(time.time()), body)
        response = await self._webhook_client.post(
            subscription.url, headers | {ID_HEADER: subscription.id}, body, keep_bytes=MAX_ECHO_BYTES
        )
        if not 200 <= response.status < 300 or _echo(response.body) != challenge:
            raise EndpointUnverifiedError


def identity(principal: Principal, event_type: EventType, arguments: Mapping[str, Any], url: str) -> str:
    """Return the id of a subscription."""
    return subscription_id(principal.id, url, event_type.name, json.dumps(arguments, sort_keys=True))


def _echo(body: bytes) -> object:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return answer.get("challenge") if isinstance(answer, dict) else None


def _check_secret(secret: str) -> None:
    try:
        is_secret = len(webhook_signing.key_of(secret)) in SECRET_BYTES
    except ValueError:
        is_secret = False
    if not is_secret:
        accepted = f"whsec_ and base64 of {SECRET_BYTES.start} to {SECRET_BYTES.stop - 1} bytes"
        raise input_error([Fault("/delivery/secret", "The secret cannot sign webhooks.", accepted)])
