"""Plans of one day that weigh things differently, and how they weigh up on the day's own terms (SPEC T5).

Owns the styles and the table. A style is a patch that changes prices only, so that every plan of the patched day keeps
all promises of the day itself; there each plan is priced anew, and so all rows can be compared. It adds to the prices
there are, and changes how tickets are served, not whether: that was decided by the day's own prices. How different two
plans are is measured by `advice/compare.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.routing.analysis.plan_comparison import difference
from planner_mcp.routing.analysis.plan_repricing import candidate_on, plan_at_stated_times
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Problem
from planner_mcp.routing.scenario.field_types import MAX_NUMBER
from planner_mcp.routing.scenario.scenario_patch import merge, revise
from planner_mcp.routing.verification.plan_verification import verify

Json = dict[str, Any]
DUPLICATE_BELOW: Final = 0.05
"""Plans that differ by less are one plan to people."""
WEIGHT: Final = 3.0
"""What a style cares for weighs this many times all that the plan costs now."""
DEFAULT_PER_KM: Final = 1000.0
"""What driving costs where nobody names a rate (`compile/prices.py`); a style that adds a rate must name it."""
_MAX_EXTRA: Final = 1e8
"""A style adds no more to a price, so that wanted tickets still outweigh it (`compile/prices.py`)."""


def styles(body: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Json]:
    """Return the styles that make a difference on a day, each as a patch; an empty one means another search.

    Args:
        body: The scenario as stored.
        plan: Its plan so far, as `Plan.as_json()`: what things cost now.
    """
    found = {name: build(body, plan) for name, build in _STYLES.items()}
    served = _as_served(body, plan)
    return {name: patch and merge(served, patch) for name, patch in found.items() if patch is not None}


def _as_served(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json:
    """Return the patch under which what is priced is wanted where the plan serves it, else worth nothing."""
    served = {visit["ticket_id"] for route in plan["routes"] for visit in route["visits"]}
    tickets = {
        ticket["id"]: {"penalty": None if ticket["id"] in served else 0}
        for ticket in body["tickets"]
        if ticket.get("penalty") is not None
    }
    groups = [
        group if group.get("penalty") is None else {**group, "penalty": None if served & {*group["tickets"]} else 0}
        for group in body.get("groups") or ()
    ]
    return {name: part for name, part in {"tickets": tickets, "groups": groups}.items() if part}


def _fewest_agents(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json | None:
    if plan["agents_used"] < 2:
        return None
    extra = WEIGHT * plan["cost"]
    return _agents(body, lambda agent: {"fixed_cost": _raised(agent.get("fixed_cost"), extra)})


def _balanced(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json | None:
    longest_h = max((route["end_s"] - route["start_s"] for route in plan["routes"]), default=0) / 3600
    if plan["agents_used"] < 2 or not longest_h:
        return None
    own = (body.get("options") or {}).get("balance_cost_per_hour")
    return {"options": {"balance_cost_per_hour": _raised(own, WEIGHT * plan["cost"] / longest_h)}}


def _quickest(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json | None:
    hours = plan["duration_s"] / 3600
    if not hours:
        return None
    extra = WEIGHT * plan["cost"] / hours
    driving = {} if _is_any_rate(body) else {"cost_per_km": DEFAULT_PER_KM}
    return _agents(body, lambda agent: {**driving, "cost_per_hour": _raised(agent.get("cost_per_hour"), extra)})


def _punctual(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json | None:
    soft = [ticket for ticket in body["tickets"] if ticket.get("soft_close") is not None]
    if not soft:
        return None
    extra = 60 * WEIGHT * plan["cost"]
    prices = {ticket["id"]: _raised(ticket.get("lateness_cost_per_hour"), extra) for ticket in soft}
    return {"tickets": {name: {"lateness_cost_per_hour": price} for name, price in prices.items()}}


def _shortest(body: Mapping[str, Any], plan: Mapping[str, Any]) -> Json | None:
    if not plan["distance_m"] or not _is_any(body, "fixed_cost", "cost_per_km", "cost_per_hour"):
        return None
    extra = WEIGHT * plan["cost"] / (plan["distance_m"] / 1000)
    unnamed = 0 if _is_any_rate(body) else DEFAULT_PER_KM
    return _agents(body, lambda agent: {"cost_per_km": _raised(agent.get("cost_per_km") or unnamed, extra)})


def _other_search(_body: Mapping[str, Any], _plan: Mapping[str, Any]) -> Json:
    return {}


_STYLES: Final[dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Json | None]]] = {
    "fewest_agents": _fewest_agents,
    "balanced": _balanced,
    "quickest": _quickest,
    "punctual": _punctual,
    "shortest": _shortest,
    "other_search": _other_search,
}
"""In the order they are tried."""


def _is_any(body: Mapping[str, Any], *names: str) -> bool:
    return any(agent.get(name) for agent in body["agents"] for name in names)


def _is_any_rate(body: Mapping[str, Any]) -> bool:
    """Return whether somebody names a rate, be it nothing: then who names none drives for nothing."""
    return any(agent.get(name) is not None for agent in body["agents"] for name in ("cost_per_km", "cost_per_hour"))


def _agents(body: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Json]) -> Json:
    return {"agents": {agent["id"]: change(agent) for agent in body["agents"]}}


def _raised(own: float | None, extra: float) -> float:
    return min((own or 0) + max(1, round(min(extra, _MAX_EXTRA))), MAX_NUMBER)


_VARIED_PRICES: Final = {
    "agents": ("fixed_cost", "cost_per_km", "cost_per_hour"),
    "tickets": ("lateness_cost_per_hour", "penalty"),
}
"""Prices that a style changes, beside `balance_cost_per_hour` and what groups are worth."""


def with_prices_of(body: Mapping[str, Any], day: Mapping[str, Any]) -> Json:
    """Return a style's day, or a revision of it, with the prices of the day that the style was made for.

    Agents, tickets and groups that day does not know keep theirs.
    """
    patch: Json = {"options": {"balance_cost_per_hour": (day.get("options") or {}).get("balance_cost_per_hour")}}
    for kind, fields in _VARIED_PRICES.items():
        own = {entry["id"]: {field: entry.get(field) for field in fields} for entry in day[kind]}
        patch[kind] = {entry["id"]: own[entry["id"]] for entry in body[kind] if entry["id"] in own}
    if body.get("groups"):
        worth = {_members(group): group.get("penalty") for group in day.get("groups") or ()}
        patch["groups"] = [
            {**group, "penalty": worth.get(_members(group), group.get("penalty"))} for group in body["groups"]
        ]
    return revise(body, patch)


def _members(group: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a group is known by: a patch replaces the list, so its place tells nothing."""
    return (group["kind"], *group["tickets"])


@dataclass(frozen=True, slots=True)
class TradeOff:
    """One plan on the terms of the day: what people trade off."""

    cost: float | None
    """None where the day does not know every stop of the plan."""
    agents_used: int
    distance_m: float
    longest_s: float
    """The longest route, from start to end."""
    spread_s: float
    """From the shortest route to the longest."""
    late_s: float
    tickets_served: int
    difference: float
    """From the first plan; 0 … 1."""
    duplicate_of: int | None
    """The first plan before it that it hardly differs from."""
    is_valid: bool
    """Whether it keeps every word of the day."""


def trade_offs(
    problem: Problem, plans: Sequence[Mapping[str, Any]], at_stated_times: Collection[int] = ()
) -> list[TradeOff]:
    """Return a row for each plan, all priced on one day.

    Args:
        problem: The day.
        plans: As `Plan.as_json()`, of that day or of revisions of it; the first is what the others differ from.
        as_told: Positions of plans whose own hours stand, because they were made at another hour of the day.
    """
    return [_row(problem, plans, number, keeps_stated_times=number in at_stated_times) for number in range(len(plans))]


def _row(problem: Problem, plans: Sequence[Mapping[str, Any]], number: int, *, keeps_stated_times: bool) -> TradeOff:
    stops = candidate_on(problem, plans[number])
    there = None if stops is None else build_plan(problem, stops)
    plan = Plan.from_json(dict(plans[number])) if there is None else there
    if stops is not None and keeps_stated_times:
        plan = plan_at_stated_times(problem, stops, plans[number])
    lengths = [route.end_s - route.start_s for route in plan.routes] or [0.0]
    duplicates = (at for at in range(number) if difference(plans[at], plans[number]) < DUPLICATE_BELOW)
    return TradeOff(
        cost=None if stops is None else plan.cost,
        agents_used=plan.agents_used,
        distance_m=plan.distance_m,
        longest_s=max(lengths),
        spread_s=max(lengths) - min(lengths),
        late_s=_late(plan),
        tickets_served=plan.tickets_served,
        difference=difference(plans[0], plans[number]),
        duplicate_of=next(duplicates, None),
        is_valid=there is not None and not verify(problem, there),
    )


def _late(plan: Plan) -> float:
    return sum(visit.late_s for route in plan.routes for visit in route.visits)
