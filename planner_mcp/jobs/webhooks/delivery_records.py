"""What is known of a webhook's way to its endpoint, and what is kept of it (SPEC W3).

Owns the records and the port `WebhookStore`, which `planner_mcp.jobs.store.webhooks.webhook_store` implements. What
an answer means is `jobs/webhooks/endpoint_policy.py`; who sends is `workers/webhook_dispatcher.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class DeliveryState(StrEnum):
    """Where a delivery stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    DEAD = "dead"
    """Given up: all attempts failed, the endpoint is gone, or it stayed out of service too long. Can be replayed."""


@dataclass(frozen=True, slots=True)
class DeliveryAttempt:
    """One try of a delivery."""

    at: datetime
    status: int | None
    """Of the answer; None when there was none."""
    error: str
    """Why it failed; empty for a success."""
    took_ms: int


@dataclass(frozen=True, slots=True)
class Delivery:
    """One notification on its way to one URL."""

    id: str
    """What `webhook-id` says, in every attempt."""
    principal: str
    url: str
    job_id: str
    kind: str
    """Kind of the event: `completed`, `failed`, `cancelled` or `test`."""
    body: str
    """Exactly what is sent, in every attempt."""
    state: DeliveryState
    created_at: datetime
    due_at: datetime | None
    """When the next attempt may start; None once it has ended."""
    attempt_count: int
    """Attempts since it was made or last replayed."""
    error: str
    """Why the last attempt failed."""
    attempts: tuple[DeliveryAttempt, ...] = ()
    """Oldest first, those before a replay included; only when one delivery was asked for."""


class EndpointState(StrEnum):
    """How an endpoint does, from good to bad."""

    NEW = "new"
    """No attempt was made yet."""
    WORKING = "working"
    FAILING = "failing"
    RESTING = "resting"
    """Failed often, or asked for a pause: left alone for a while, then probed."""
    DISABLED = "disabled"
    """It said that it is gone, or failed for too long: nothing is sent until its owner replays or tests."""


@dataclass(frozen=True, slots=True)
class WebhookEndpoint:
    """One receiver of a principal's webhooks: a URL without its query."""

    url: str
    state: EndpointState
    pending: int
    """Deliveries that wait or are under way."""
    failures: int
    """Failed attempts in a row."""
    status: int | None
    """Of the last answer; None when there was none."""
    failing_since: datetime | None = None
    last_at: datetime | None = None
    """When the last attempt ended."""
    rests_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class SigningSecret:
    """What a principal may know of its signing secret."""

    secret: str | None
    """The text itself, once: `whsec_…`; None when it was shown before."""
    created_at: datetime
    old_until: tuple[datetime, ...] = ()
    """When the secrets before it stop signing."""


class WebhookStore(Protocol):
    """Everything a principal may ask of webhooks. Another's deliveries are answered like unknown ones."""

    async def deliveries(
        self, principal: str, state: DeliveryState | None, *, offset: int, count: int
    ) -> tuple[Sequence[Delivery], int]:
        """Return deliveries newest first, and how many there are."""
        ...

    async def delivery(self, principal: str, delivery_id: str) -> Delivery:
        """Return one delivery with its attempts."""
        ...

    async def endpoints(self, principal: str, *, offset: int, count: int) -> tuple[Sequence[WebhookEndpoint], int]:
        """Return how endpoints do, those last given something first, each once; and how many there are."""
        ...

    async def endpoint(self, endpoint: str) -> WebhookEndpoint | None:
        """Return how an endpoint does, by its `endpoint_id`; None where nothing was sent to it yet."""
        ...

    async def reopen(self, endpoint: str) -> None:
        """Forget whatever an endpoint was left alone for."""
        ...

    async def replay(self, principal: str, delivery_id: str) -> Delivery:
        """Schedule a delivery that has ended anew, with the same id and body; one still pending is left alone."""
        ...

    async def send_test(self, principal: str, url: str) -> Delivery:
        """Schedule a test delivery to a URL that was checked."""
        ...

    async def reveal(self, principal: str) -> SigningSecret:
        """Return the secret, made on first need, if nobody has seen it yet; otherwise what is known of it."""
        ...

    async def rotate(self, principal: str) -> SigningSecret:
        """Return a new secret; the old one goes on signing beside it for a day."""
        ...
