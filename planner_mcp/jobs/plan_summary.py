"""The figures of a plan that a status, an event and a webhook carry."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.routing.plan import UNIT_LEGS, PlanJson
from planner_mcp.routing.scenario.cost_unit import cost_unit
from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.text import Json, first_few, number, stated_fields

FIGURES: Final = ("status", "cost", "distance_m", "duration_s", "agents_used", "tickets_served", "tickets_total")
MAX_REASONS: Final = 5
"""Reasons that are counted, the most frequent first."""
_NAMED_BYTES: Final = 100
"""Room of the tickets that another than their preferred agent serves: a status costs few tokens."""


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """The key figures of a plan. What says nothing is None: lateness of 0, a distance where travel is not known."""

    plan_id: str | None = None
    """In an event; beside a job it stands apart."""
    status: str | None = None
    cost: float | None = None
    distance_m: float | None = None
    duration_s: float | None = None
    agents_used: int | None = None
    tickets_served: int | None = None
    tickets_total: int | None = None
    cost_in: str | None = None
    """What a cost is in, where the scenario of the plan says it; where travel is not known a cost counts legs."""
    unassigned: int | None = None
    unassigned_reasons: Mapping[str, int] | None = None
    """The most frequent ones."""
    late_tickets: int | None = None
    late_max_s: float | None = None
    overtime_s: float | None = None
    not_preferred: int | None = None
    """Tickets that another than their `preferred_agent` serves."""
    not_preferred_ids: Sequence[str] | None = None
    """The first of them."""
    optimal: bool | None = None
    """Whether no plan costs less: proved, and the proof checked. None where that is not proved."""

    def as_json(self) -> Json:
        """Return what it says, as it is stored and sent."""
        return stated_fields(self)


def summary_of(
    plan: PlanJson, scenario: ShownScenario | None = None, priced_on: ShownScenario | None = None
) -> PlanSummary:
    """Return the key figures of a plan: what it leaves out and why, what is late, which preferences it does not keep.

    Args:
        plan: As `Plan.as_json()`.
        scenario: What it plans; None where that is not at hand.
        priced_on: The day whose prices its cost is by; None for the same.
    """
    figures: Json = {
        name: number(value) if isinstance(value := plan[name], float) else value
        for name in figures_of(plan.get("travel"))
        if name in plan
    }
    prices = priced_on or scenario
    unit = cost_unit(prices) if prices is not None and {"cost", "distance_m"} <= figures.keys() else None
    left_out = plan.get("unassigned", ())
    reasons = Counter(entry["code"] for entry in left_out if "code" in entry)
    routes = plan.get("routes", ())
    late_s = (visit.get("late_s") for route in routes for visit in route["visits"])
    shortfalls = shortfalls_of(late_s, (route.get("overtime_s") for route in routes))
    preferences = {} if scenario is None else _not_preferred(routes, scenario)
    return PlanSummary(
        **figures,
        cost_in=unit,
        unassigned=len(left_out),
        unassigned_reasons=dict(reasons.most_common(MAX_REASONS)) or None,
        **shortfalls,
        **preferences,
        optimal=(plan.get("proof") or {}).get("is_optimal") or None,
    )


def _not_preferred(routes: Sequence[Json], scenario: ShownScenario) -> Json:
    """Return how many tickets another than their `preferred_agent` serves, and the first of them; nothing for none."""
    wanted: dict[str, str] = {
        each["id"]: name for each in scenario.get("tickets", ()) if (name := each.get("preferred_agent"))
    }
    if not wanted:
        return {}
    found = [
        visit["ticket_id"]
        for route in routes
        for visit in route["visits"]
        if wanted.get(visit["ticket_id"]) not in (None, route["agent_id"])
    ]
    return {"not_preferred": len(found), "not_preferred_ids": first_few(found, _NAMED_BYTES)} if found else {}


def figures_of(travel: Any) -> tuple[str, ...]:
    """Return the figures that say something: without known travel a distance counts legs and is no length."""
    is_unknown = isinstance(travel, dict) and travel.get("source") == UNIT_LEGS
    return tuple(name for name in FIGURES if not (is_unknown and name == "distance_m"))


def shortfalls_of(late_s: Iterable[float | None], overtime_s: Iterable[float | None]) -> Json:
    """Return lateness and overtime of a plan; figures that are 0 are left out.

    `late_tickets` start after their soft close, the latest of them by `late_max_s`; `overtime_s` is the sum of what
    routes drive after their shift's end.

    Args:
        late_s: Of each visit; None in a plan of a version that did not record it.
        overtime_s: Of each route; None in a plan of a version that did not record it.
    """
    late = [shown_s for value in late_s if (shown_s := number(value) or 0) > 0]
    over = sum(value or 0.0 for value in overtime_s)
    figures = {"late_tickets": len(late), "late_max_s": max(late, default=0), "overtime_s": number(over) or 0}
    return {name: value for name, value in figures.items() if value > 0}
