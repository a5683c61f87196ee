"""What a plan costs on a day other than its own (SPEC T5).

Owns when that can be told: the day must know every stop of the plan. Costs themselves are `layout/schedule.py`'s. A
plan of a revision carries the prices of that revision, and those of an alternative are made up
(`advice/alternatives.py`), so that costs of two plans compare on one day only.
"""

from collections.abc import Mapping
from typing import Any

from planner_mcp.vrp.layout.schedule import candidate_of, lay_out
from planner_mcp.vrp.problem import Candidate, Problem

Json = dict[str, Any]


def stops_on(problem: Problem, plan: Mapping[str, Any]) -> Candidate | None:
    """Return the stops of a plan (`Plan.as_json()`) on a day; None where it does not know each of them."""
    candidate = candidate_of(problem, plan)
    found = sum(len(route.stops) for route in candidate.routes)
    return candidate if found == sum(len(route["visits"]) for route in plan["routes"]) else None


def priced_on(problem: Problem, plan: Mapping[str, Any]) -> Json | None:
    """Return a plan with what it costs on a day, all else as it was; None where that has no answer."""
    if (candidate := stops_on(problem, plan)) is None:
        return None
    there = lay_out(problem, candidate)
    costs = {route.agent_id: route.cost for route in there.routes}
    return _with_costs(plan, there.cost, costs)


def unpriced(plan: Mapping[str, Any]) -> Json:
    """Return a plan whose costs are not told."""
    return _with_costs(plan, None, {})


def _with_costs(plan: Mapping[str, Any], cost: float | None, costs: Mapping[str, float]) -> Json:
    routes = [{**route, "cost": costs.get(route["agent_id"])} for route in plan["routes"]]
    return {**plan, "cost": cost, "routes": routes}
