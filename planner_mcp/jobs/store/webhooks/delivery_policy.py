"""Limits of deliveries: attempts at once to one endpoint, pauses of a failing one, and when a delivery ends.

Owns the numbers; the steps `lua/webhook_*.lua` apply them atomically. `jobs/webhooks/endpoint_policy.py`
says what an answer means.
"""

from typing import Final

from planner_mcp.settings import Settings

MAX_IN_FLIGHT: Final = 8
"""Deliveries in flight to one endpoint that answers; one that does not is tried with one at a time."""
BURST_S: Final = 1.0
"""Attempts to one endpoint that may be made at once: as many as its rate allows in this time."""
CIRCUIT_BREAKER_FAILURES: Final = 10
"""Failures in a row, of any deliveries, after which an endpoint is left alone for a while."""
CIRCUIT_OPEN_S: Final = 30.0
"""First time it is left alone; doubles with each failed probe, up to the longest delay or `MAX_CIRCUIT_OPEN_S`."""
MAX_CIRCUIT_OPEN_S: Final = 900.0
GRACE_S: Final = 3600.0
"""A delivery that its endpoint's state kept back is given up this long after twice its schedule."""


def policy(settings: Settings) -> dict[str, int]:
    """Return the numbers the steps work with, times in milliseconds."""
    schedule = settings.webhook_schedule_s
    horizon_s = sum(schedule) * (1 + settings.webhook_jitter)
    longest_s = max(schedule, default=0.0)
    seconds = {
        "lease": settings.lease_s,
        "keep": settings.job_ttl_s + 2 * horizon_s + 2 * GRACE_S,
        "expire": 2 * horizon_s + GRACE_S,
        "first": schedule[0] if schedule else 0.0,
        "rest": min(CIRCUIT_OPEN_S, longest_s),
        "longest_rest": min(MAX_CIRCUIT_OPEN_S, longest_s),
        "interval": 1 / settings.webhook_rate_per_s,
        "burst": BURST_S,
        "disable": settings.webhook_disable_after_s,
    }
    return {"parallel": MAX_IN_FLIGHT, "trips": CIRCUIT_BREAKER_FAILURES} | {
        f"{name}_ms": int(value * 1000) for name, value in seconds.items()
    }
