"""Alternative plans of one scenario, under changed prices, and their comparison at the scenario's own prices (SPEC T5).

Owns the styles and the trade-off table. A style is a patch that changes prices only, so every plan of the patched
scenario keeps all constraints of the original. There each plan is repriced, which makes all rows comparable. A style
adds to the existing prices. It changes how tickets are served, not which: that was decided at the original prices. The
difference of two plans is measured by `analysis/plan_comparison.py`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from planner_mcp.routing.analysis.frozen_prefix import without_assignments
from planner_mcp.routing.analysis.pareto_front import Criterion, value_of
from planner_mcp.routing.analysis.plan_comparison import difference
from planner_mcp.routing.analysis.plan_repricing import candidate_on, plan_at_stated_times
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Problem
from planner_mcp.routing.scenario.field_types import MAX_NUMBER
from planner_mcp.routing.scenario.scenario_body import ScenarioBody, ScenarioPatch
from planner_mcp.routing.scenario.scenario_model import PRICE_OF_METRES, Agent, Scenario, has_travel_price
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.scenario_patch import merge, revise
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.routing.verification.plan_verification import verify

DUPLICATE_BELOW: Final = 0.05
"""Plans that differ by less than this share of neighbours count as duplicates."""
Name = TypeVar("Name")
"""What a plan is called."""
WEIGHT: Final = 3.0
"""A style's main criterion weighs this many times the present cost of the plan."""
_LEAST_SHARE: Final = 0.1
_MOST_SHARE: Final = 10.0
"""What a criterion costs under the prices of a front, as a share of the cost of the plan."""
_MAX_EXTRA: Final = 1e8
"""The most a style adds to a price, so that the penalty of wanted tickets still exceeds it."""


def styles(scenario: Scenario, plan: Plan) -> dict[str, ScenarioPatch]:
    """Return the styles that can change the plan, each as a patch; an empty patch means another search.

    Args:
        scenario: The scenario as stored.
        plan: Its present plan, the source of the present costs.
    """
    found = {name: build(scenario, plan) for name, build in _STYLES.items()}
    served = _as_served(scenario, plan)
    return {name: patch and merge(served, patch) for name, patch in found.items() if patch is not None}


def front_styles(scenario: Scenario, plan: Plan, criterion: Criterion, count: int) -> dict[str, ScenarioPatch]:
    """Return patches that put rising prices on a criterion, by name; none where the plan cannot be better by it.

    Args:
        scenario: The scenario as stored.
        plan: Its present plan. What it has of the criterion costs from a tenth to ten times what all of it costs.
        criterion: What is priced: each agent, each hour late, each hour of the longest route.
        count: How many prices.
    """
    value = value_of(plan, criterion)
    if not value or (criterion != "lateness" and plan.agents_used < 2):
        return {}
    served = _as_served(scenario, plan)
    unit = value / 60 if criterion == "lateness" else value
    return {
        f"{criterion} {share:.3g}": merge(served, _PRICED[criterion](scenario, share * plan.cost / unit))
        for share in _shares(count)
    }


def _shares(count: int) -> list[float]:
    """Return rising shares of the cost of a plan, evenly apart by their ratio."""
    if count == 1:
        return [1.0]
    return [_LEAST_SHARE * (_MOST_SHARE / _LEAST_SHARE) ** (number / (count - 1)) for number in range(count)]


def _as_served(scenario: Scenario, plan: Plan) -> ScenarioPatch:
    """Return the patch that makes optional tickets wanted where the plan serves them, and worthless elsewhere."""
    served = {ticket for route in plan.routes for ticket in route.tickets}
    tickets = {
        ticket.id: {"penalty": None if ticket.id in served else 0}
        for ticket in scenario.tickets
        if ticket.penalty is not None
    }
    groups: list[dict[str, Any]] = []
    for group in scenario.groups:
        priced = {} if group.penalty is None else {"penalty": None if served & {*group.tickets} else 0}
        groups.append({"kind": group.kind, "tickets": [*group.tickets], **priced})
    return {name: part for name, part in {"tickets": tickets, "groups": groups}.items() if part}


def _fewest_agents(scenario: Scenario, plan: Plan) -> ScenarioPatch | None:
    return None if plan.agents_used < 2 else _priced_agents(scenario, WEIGHT * plan.cost)


def _priced_agents(scenario: Scenario, price: float) -> ScenarioPatch:
    return _agents(scenario, lambda agent: {"fixed_cost": _raised(agent.fixed_cost, price)})


def _balanced(scenario: Scenario, plan: Plan) -> ScenarioPatch | None:
    longest_h = value_of(plan, "balance")
    if plan.agents_used < 2 or not longest_h:
        return None
    return _priced_balance(scenario, WEIGHT * plan.cost / longest_h)


def _priced_balance(scenario: Scenario, hourly: float) -> ScenarioPatch:
    return {"options": {"balance_cost_per_hour": _raised(scenario.options.balance_cost_per_hour, hourly)}}


def _quickest(scenario: Scenario, plan: Plan) -> ScenarioPatch | None:
    hours = plan.duration_s / 3600
    if not hours:
        return None
    surcharge = WEIGHT * plan.cost / hours
    driving = {} if has_travel_price(scenario) else {"cost_per_km": PRICE_OF_METRES}  # no longer by itself
    return _agents(scenario, lambda agent: {**driving, "cost_per_hour": _raised(agent.cost_per_hour, surcharge)})


def _punctual(scenario: Scenario, plan: Plan) -> ScenarioPatch | None:
    has_soft = any(ticket.soft_close is not None for ticket in scenario.tickets)
    return _priced_lateness(scenario, 60 * WEIGHT * plan.cost) if has_soft else None


def _priced_lateness(scenario: Scenario, hourly: float) -> ScenarioPatch:
    soft = (ticket for ticket in scenario.tickets if ticket.soft_close is not None)
    prices = {ticket.id: _raised(ticket.lateness_cost_per_hour, hourly) for ticket in soft}
    return {"tickets": {name: {"lateness_cost_per_hour": price} for name, price in prices.items()}}


def _shortest(scenario: Scenario, plan: Plan) -> ScenarioPatch | None:
    has_price = any(agent.fixed_cost or agent.cost_per_km or agent.cost_per_hour for agent in scenario.agents)
    if not plan.distance_m or not has_price:
        return None
    surcharge = WEIGHT * plan.cost / (plan.distance_m / 1000)
    unnamed = 0 if has_travel_price(scenario) else PRICE_OF_METRES
    return _agents(scenario, lambda agent: {"cost_per_km": _raised(agent.cost_per_km or unnamed, surcharge)})


def _other_search(_scenario: Scenario, _plan: Plan) -> ScenarioPatch:
    return {}


_STYLES: Final[dict[str, Callable[[Scenario, Plan], ScenarioPatch | None]]] = {
    "fewest_agents": _fewest_agents,
    "balanced": _balanced,
    "quickest": _quickest,
    "punctual": _punctual,
    "shortest": _shortest,
    "other_search": _other_search,
}
"""In the order they are tried."""
_PRICED: Final[dict[Criterion, Callable[[Scenario, float], ScenarioPatch]]] = {
    "agents": _priced_agents,
    "lateness": _priced_lateness,
    "balance": _priced_balance,
}
"""The patch that adds a price to each unit of a criterion, hours of time."""


def _agents(scenario: Scenario, change: Callable[[Agent], dict[str, float]]) -> ScenarioPatch:
    return {"agents": {agent.id: change(agent) for agent in scenario.agents}}


def _raised(own: float | None, surcharge: float) -> float:
    """Return a raised price; a whole one without decimals, as callers write it."""
    raised = min((own or 0.0) + max(1, round(min(surcharge, _MAX_EXTRA))), MAX_NUMBER)
    return int(raised) if raised.is_integer() else raised


_VARIED_PRICES: Final = {
    "agents": ("fixed_cost", "cost_per_km", "cost_per_hour"),
    "tickets": ("lateness_cost_per_hour", "penalty"),
}
"""Prices that a style changes, besides `balance_cost_per_hour` and the penalties of groups."""


def with_prices_of(body: ScenarioBody, original: ScenarioBody) -> ScenarioBody:
    """Return the scenario of a style, or a revision of it, with the prices of the original scenario.

    Agents, tickets and groups that the original does not have keep their prices.
    """
    hourly = (original.get("options") or {}).get("balance_cost_per_hour")
    patch: ScenarioPatch = {"options": {"balance_cost_per_hour": hourly}}
    for kind, fields in _VARIED_PRICES.items():
        own = {entry["id"]: {field: entry.get(field) for field in fields} for entry in original[kind]}
        patch[kind] = {entry["id"]: own[entry["id"]] for entry in body[kind] if entry["id"] in own}
    if body.get("groups"):
        penalties = {_members(group): group.get("penalty") for group in original.get("groups") or ()}
        patch["groups"] = [
            {**group, "penalty": penalties.get(_members(group), group.get("penalty"))} for group in body["groups"]
        ]
    return revise(body, patch)


def at_prices_of(body: ScenarioBody, original: ScenarioBody, travel_matrices: TravelMatrices | None) -> Problem:
    """Return the day of an alternative by the prices of the day that it was made from, nothing tied to agents.

    Every plan of the first is one of the second, and its costs follow from it.
    """
    stated = with_prices_of(without_assignments(body), original)
    return compile_scenario(read_stored(stated, travel_matrices))


def _members(group: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the identity of a group: a patch replaces the whole list, so positions do not identify groups."""
    return (group["kind"], *group["tickets"])


@dataclass(frozen=True, slots=True)
class TradeOff:
    """One plan, evaluated at the prices of the original scenario."""

    cost: float | None
    """None where the original scenario does not have every stop of the plan."""
    agents_used: int
    distance_m: float
    longest_s: float
    """Duration of the longest route."""
    spread_s: float
    """Difference between the longest and the shortest duration."""
    late_s: float
    tickets_served: int
    difference: float
    """Difference from the first plan, 0 … 1."""
    duplicate_of: int | None
    """Position of the earlier plan that it hardly differs from, as `twin_of`."""
    is_valid: bool
    """Whether it keeps every constraint of the original scenario."""


def twin_of(plan: Plan, others: Mapping[Name, Plan]) -> tuple[Name, float] | None:
    """Return which of some plans another differs least from, and by how much; None where it really differs from all."""
    differences = {name: difference(other, plan) for name, other in others.items()}
    nearest = min(differences, key=lambda name: differences[name], default=None)
    return None if nearest is None or differences[nearest] >= DUPLICATE_BELOW else (nearest, differences[nearest])


def trade_offs(problem: Problem, plans: Sequence[Plan], at_stated_times: Collection[int] = ()) -> list[TradeOff]:
    """Return a row for each plan, all evaluated on one scenario.

    Args:
        problem: The original scenario.
        plans: Plans of that scenario or of revisions of it; the first is the reference.
        at_stated_times: Positions of plans that keep their stated times, because they start at another hour.
    """
    return [_row(problem, plans, number, keeps_stated_times=number in at_stated_times) for number in range(len(plans))]


def _row(problem: Problem, plans: Sequence[Plan], number: int, *, keeps_stated_times: bool) -> TradeOff:
    stops = candidate_on(problem, plans[number])
    repriced = None if stops is None else build_plan(problem, stops)
    plan = plans[number] if repriced is None else repriced
    if stops is not None and keeps_stated_times:
        plan = plan_at_stated_times(problem, stops, plans[number])
    lengths = [route.end_s - route.start_s for route in plan.routes] or [0.0]
    twin = twin_of(plans[number], dict(enumerate(plans[:number])))
    return TradeOff(
        cost=None if stops is None else plan.cost,
        agents_used=plan.agents_used,
        distance_m=plan.distance_m,
        longest_s=max(lengths),
        spread_s=max(lengths) - min(lengths),
        late_s=60 * value_of(plan, "lateness"),
        tickets_served=plan.tickets_served,
        difference=difference(plans[0], plans[number]),
        duplicate_of=None if twin is None else twin[0],
        is_valid=repriced is not None and not verify(problem, repriced),
    )
