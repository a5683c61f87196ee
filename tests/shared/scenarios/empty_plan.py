"""A plan without routes, for tests of jobs to which plans are texts that come and go."""

from typing import Any


def empty_plan(tickets: int = 1) -> dict[str, Any]:
    """Return a plan that says it serves so many tickets."""
    return {
        **dict.fromkeys(("distance_m", "duration_s", "agents_used"), 0),
        "status": "feasible",
        "cost": 10.0,
        "tickets_served": tickets,
        "tickets_total": tickets,
        "routes": [],
        "unassigned": [],
    }
