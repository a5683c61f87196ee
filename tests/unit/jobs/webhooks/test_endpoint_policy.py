"""What an answer means (SPEC W3)."""

from datetime import UTC, datetime

import pytest

from planner_mcp.jobs.webhooks.endpoint_policy import (
    MAX_RETRY_AFTER_S,
    PAUSE_S,
    DeliveryDecision,
    decide_delivery,
    endpoint_id,
    parse_retry_after,
)
from planner_mcp.settings import Settings

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
SCHEDULE = Settings().webhook_schedule_s


def judged(status: int | None, retry_after: str = "", *, attempt: int = 1, jitter: float = 1.0) -> DeliveryDecision:
    return decide_delivery(status, retry_after, attempt=attempt, schedule_s=SCHEDULE, jitter=jitter, now=NOW)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
def test_2xx_alone_is_success(status: int) -> None:
    """Our choice: 2xx alone is success."""
    assert judged(status) == DeliveryDecision(is_delivered=True)


@pytest.mark.parametrize("status", [101, 199, 300, 301, 302, 307, 308, 400, 401, 404, 409, 500, 503, 599])
def test_anything_else_comes_again(status: int) -> None:
    """SPEC W3: a redirect is a failure like any other."""
    assert judged(status) == DeliveryDecision(is_delivered=False, error=f"answer {status}", delay_s=5)


def test_no_answer_comes_again_and_says_no_more() -> None:
    """SPEC W4: why there was no answer is not told."""
    assert judged(None) == DeliveryDecision(is_delivered=False, error="unreachable", delay_s=5)


def test_the_schedule_is_that_of_the_issue() -> None:
    """Our choice: 0 s, 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h."""
    assert SCHEDULE == [0, 5, 300, 1800, 7200, 18000, 36000, 36000]
    assert [judged(500, attempt=n).delay_s for n in range(1, 9)] == [*SCHEDULE[1:], None]


def test_jitter_stretches_a_delay() -> None:
    """Our choice: ±20 % jitter."""
    assert judged(500, attempt=2, jitter=1.2).delay_s == 360


def test_410_and_413_end_a_delivery_and_410_its_endpoint() -> None:
    """SPEC W3."""
    assert judged(410) == DeliveryDecision(is_delivered=False, error="answer 410", is_gone=True)
    assert judged(413) == DeliveryDecision(is_delivered=False, error="answer 413")


@pytest.mark.parametrize("status", [429, 502, 504])
def test_an_endpoint_that_asks_for_less_is_left_alone_for_a_while(status: int) -> None:
    """Standard Webhooks: 429, 502 and 504 throttle."""
    assert judged(status).pause_s == PAUSE_S
    assert judged(status, "60") == DeliveryDecision(
        is_delivered=False, error=f"answer {status}", delay_s=60, pause_s=60
    )


@pytest.mark.parametrize(("delay_s", "pause_s"), [(1.0, 1.0), (PAUSE_S, PAUSE_S), (1800.0, PAUSE_S)])
def test_an_endpoint_that_asks_for_less_is_left_alone_no_longer_than_its_delivery(
    delay_s: float, pause_s: float
) -> None:
    """SPEC W3: late in the schedule the others do not wait for hours, early in a quick one nobody waits needlessly."""
    decision = decide_delivery(502, "", attempt=1, schedule_s=[0, delay_s], jitter=1.0, now=NOW)
    assert (decision.delay_s, decision.pause_s) == (delay_s, pause_s)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("0", 0),
        (" 120 ", 120),
        ("99999999999999", MAX_RETRY_AFTER_S),
        ("-5", 0),
        ("1.5", 0),
        ("soon", 0),
        ("١٢", 0),
        ("Sat, 21 Nov 2026 08:01:00 GMT", 60),
        ("Sat, 21 Nov 2026 07:00:00 GMT", 0),
        ("Sat, 21 Nov 2026 08:01:00 -0000", 60),
        ("Sat, 99 Nov 2026 08:01:00 GMT", 0),
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", 0),
        ("Sat, 21 Nov 2026 99999999999999999999:01:00 GMT", 0),
        ("Sat, 21 Nov 2026 08:01:00 +99999999999999", 0),
        ("Sat, 21 Nov 2026 08:01:00 +9999", 0),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(text: str, expected: float) -> None:
    """RFC 9110 §10.2.3; what cannot be read says nothing."""
    assert parse_retry_after(text, NOW) == expected


def test_an_endpoint_is_a_principals_url_without_its_query() -> None:
    """Our choice: one broken endpoint costs only itself."""
    assert endpoint_id("ann", "https://a/x?job=1") == endpoint_id("ann", "https://a/x?job=2")
    others = [("ann", "https://a/x"), ("bob", "https://a/x"), ("ann", "https://a/y")]
    assert len({endpoint_id(principal, url) for principal, url in others}) == 3
