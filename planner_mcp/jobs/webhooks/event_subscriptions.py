"""Subscriptions to MCP Events that are delivered by webhook (SPEC O6, SEP-3415): who gets what, and where.

Owns the record and the port `EventSubscriptionStore`. The step that writes an event puts it into the outbox of its
subscribers, and `workers/webhook_dispatcher.py` makes a delivery for each subscription of it. Subscribing is
`jobs/webhooks/event_webhooks.py`'s, which dispatchers need not load.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from planner_mcp.jobs.events.event_types import EventType, Improvement, Occurrence, Occurrences
from planner_mcp.jobs.job_events import Event
from planner_mcp.jobs.job_ports import FeedStep
from planner_mcp.jobs.masking.hidden_figures import masked_event

ID_HEADER: Final = "X-MCP-Subscription-Id"


@dataclass(frozen=True, slots=True)
class EventSubscription:
    """One subscription."""

    id: str
    """Made of principal, URL, type and arguments: subscribing again renews."""
    principal: str
    type: EventType
    arguments: Mapping[str, Any]
    url: str
    is_masked: bool
    """Whether its principal lacks `planner:sensitive`."""
    until: datetime
    group: str = ""
    """Whose proposed plans its principal may review; empty where it gets events of its own jobs alone."""

    def occurrences(self, event: Event, reported: dict[str, Improvement], *, is_confidential: bool) -> list[Occurrence]:
        """Return the occurrences that an event of a job is to the subscription; its principal may follow that job.

        Args:
            event: As the store has it.
            reported: Improvements that were sent before; is changed.
            is_confidential: Whether its figures need `planner:sensitive`.
        """
        shown = masked_event(event) if is_confidential and self.is_masked else event
        return [*Occurrences(self.type, self.arguments, reported).of([FeedStep("", shown)])]


class EventSubscriptionStore(Protocol):
    """Subscriptions of principals."""

    async def put(self, subscription: EventSubscription, secret: str) -> None:
        """Keep a subscription until it ends; the secret before this one goes on signing beside it for a day."""
        ...

    async def drop(self, principal: str, subscription: str) -> None:
        """Forget one; nothing where there is none. What waits for delivery is not sent any more."""
        ...

    async def of(self, principal: str) -> Sequence[EventSubscription]:
        """Return those that last."""
        ...

    async def deliver(self, subscription: EventSubscription, found: Sequence[Occurrence]) -> None:
        """Schedule occurrences for delivery, each once however often it is asked."""
        ...
