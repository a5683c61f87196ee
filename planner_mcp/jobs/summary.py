"""The figures of a plan that a status, an event and a webhook carry."""

from typing import Any, Final

FIGURES: Final = ("status", "cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total")


def summary_of(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the key figures of a plan given as `Plan.as_json()`, and how many tickets it leaves out."""
    figures: dict[str, Any] = {name: plan[name] for name in FIGURES if name in plan}
    return figures | {"unassigned": len(plan.get("unassigned", ()))}
