"""The figures of a plan that a status, an event and a webhook carry."""

from collections import Counter
from typing import Any, Final

FIGURES: Final = ("status", "cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total")
MAX_REASONS: Final = 5
"""Reasons that are counted, the most frequent first."""


def summary_of(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the key figures of a plan given as `Plan.as_json()`, how many tickets it leaves out, and why."""
    figures: dict[str, Any] = {name: plan[name] for name in FIGURES if name in plan}
    left_out = plan.get("unassigned", ())
    reasons = Counter(entry["code"] for entry in left_out if "code" in entry)
    told = {"unassigned_reasons": dict(reasons.most_common(MAX_REASONS))} if reasons else {}
    return figures | {"unassigned": len(left_out)} | told
