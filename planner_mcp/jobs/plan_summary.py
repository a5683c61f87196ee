"""The figures of a plan that a status, an event and a webhook carry."""

from collections import Counter
from typing import Any, Final

from planner_mcp.routing.plan import UNIT_LEGS
from planner_mcp.text import Json, number

FIGURES: Final = ("status", "cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total")
MAX_REASONS: Final = 5
"""Reasons that are counted, the most frequent first."""


def summary_of(plan: Json) -> Json:
    """Return the key figures of a plan given as `Plan.as_json()`, what it leaves out and why, and what is late."""
    figures: Json = {
        name: number(value) if isinstance(value := plan[name], float) else value
        for name in figures_of(plan.get("travel"))
        if name in plan
    }
    left_out = plan.get("unassigned", ())
    reasons = Counter(entry["code"] for entry in left_out if "code" in entry)
    reason_counts = {"unassigned_reasons": dict(reasons.most_common(MAX_REASONS))} if reasons else {}
    return figures | {"unassigned": len(left_out)} | reason_counts | shortfalls_of(plan)


def figures_of(travel: Any) -> tuple[str, ...]:
    """Return the figures that say something: without known travel a distance counts legs and is no length."""
    is_unknown = isinstance(travel, dict) and travel.get("source") == UNIT_LEGS
    return tuple(name for name in FIGURES if not (is_unknown and name == "distance_m"))


def shortfalls_of(plan: Json) -> dict[str, float]:
    """Return lateness and overtime of a plan; figures that are 0 are left out.

    `late_tickets` start after their soft close, the latest of them by `late_max_s`; `overtime_s` is the sum of what
    routes drive after their shift's end.
    """
    routes = plan.get("routes", ())
    late = [late_s for route in routes for visit in route["visits"] if (late_s := number(visit.get("late_s")) or 0) > 0]
    over = sum(route.get("overtime_s", 0.0) for route in routes)  # a plan of an older worker has no such fields
    figures = {"late_tickets": len(late), "late_max_s": max(late, default=0), "overtime_s": number(over) or 0}
    return {name: value for name, value in figures.items() if value > 0}
