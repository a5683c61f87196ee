"""How an endpoint is treated: what an answer means, when the next attempt is due, when to leave an endpoint alone.

Owns the policy as pure functions; `jobs/store/webhooks/outbox.py` carries it out atomically and
`workers/webhook_dispatcher.py` asks it. An endpoint is a principal's URL without its query, so one that is broken
costs only itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from planner_mcp.text import digest_of

MAX_RETRY_AFTER_S: Final = 86400.0
"""The most that a `Retry-After` is believed."""
PAUSE_S: Final = 5.0
"""How long an endpoint that asks for less is left alone when it does not say for how long."""
ENDED: Final = frozenset({410, 413})
"""Answers after which the same body is never sent again."""
GONE: Final = 410
"""The endpoint itself says that it is no more: nothing is sent there until somebody asks for it."""
THROTTLED: Final = frozenset({429, 502, 504})
"""Answers that ask for less, whether or not they say for how long."""


@dataclass(frozen=True, slots=True)
class DeliveryDecision:
    """What one attempt means for its delivery and its endpoint."""

    is_delivered: bool
    error: str = ""
    """Why not, in words fit for a client: `answer 500`, `unreachable`."""
    delay_s: float | None = None
    """Time to the next attempt; None when there is none."""
    pause_s: float = 0.0
    """How long the whole endpoint is left alone."""
    is_gone: bool = False
    is_withdrawn: bool = False
    """Nothing was sent, because nobody wants it any more: it says nothing of its endpoint."""


WITHDRAWN: Final = DeliveryDecision(is_delivered=False, is_withdrawn=True, error="subscription ended")


def endpoint_id(principal: str, url: str) -> str:
    """Return the short name of an endpoint: the same for one principal's URLs that differ in their query alone."""
    return digest_of(f"{principal}\n{url.partition('?')[0]}")[:24]


def decide_delivery(
    status: int | None, retry_after: str, *, attempt: int, schedule_s: Sequence[float], jitter: float, now: datetime
) -> DeliveryDecision:
    """Return what an attempt means.

    Args:
        status: Of the answer, None when there was none. 2xx alone is success.
        retry_after: Header as sent, seconds or a date.
        attempt: Attempts made so far, this one included.
        schedule_s: Delay before each attempt.
        jitter: Factor for the next delay, around 1.
        now: UTC, to read a date.
    """
    if status is not None and 200 <= status < 300:
        return DeliveryDecision(is_delivered=True)
    error = "unreachable" if status is None else f"answer {status}"
    if status in ENDED:
        return DeliveryDecision(is_delivered=False, error=error, is_gone=status == GONE)
    asked = parse_retry_after(retry_after, now)
    if attempt >= len(schedule_s):
        return DeliveryDecision(is_delivered=False, error=error, pause_s=asked)
    delay = max(schedule_s[attempt] * jitter, asked)
    pause = asked or (min(PAUSE_S, delay) if status in THROTTLED else 0.0)
    return DeliveryDecision(is_delivered=False, error=error, delay_s=delay, pause_s=pause)


def parse_retry_after(retry_after: str, now: datetime) -> float:
    """Return the seconds a `Retry-After` header asks for, 0 when it says nothing that can be read."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(float(text), MAX_RETRY_AFTER_S)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # also a date that no calendar holds
        return 0.0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return min(max((when - now).total_seconds(), 0.0), MAX_RETRY_AFTER_S)
