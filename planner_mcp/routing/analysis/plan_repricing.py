"""What a plan costs on a day other than its own (SPEC T5).

Owns when that can be told: the day must know every stop of the plan. Costs themselves are `layout/schedule.py`'s. A
plan of a revision carries the prices of that revision, and those of an alternative are made up
(`advice/alternatives.py`), so that costs of two plans compare on one day only.

On that day a plan is timed as if it had been made for it. For a plan made at another hour that is wrong: a vehicle sent
out at noon is late, and would not be if it were timed from eight on. Such a plan keeps its own hours.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Break, Candidate, Problem, StopKind

Json = dict[str, Any]
_NO_BREAK: Final = Break((0, 0), 0)
"""In place of a break that a plan does not take: none of its routes has to go round it."""


def candidate_on(problem: Problem, plan: Mapping[str, Any]) -> Candidate | None:
    """Return the stops of a plan (`Plan.as_json()`) on a day; None where it does not know each of them."""
    candidate = candidate_of(problem, plan)
    found = sum(len(route.stops) for route in candidate.routes)
    return candidate if found == sum(len(route["visits"]) for route in plan["routes"]) else None


def plan_at_stated_times(problem: Problem, stops: Candidate, plan: Mapping[str, Any]) -> Plan:
    """Return a plan on a day, with each visit and break at the hours the plan tells.

    Args:
        problem: The day, whose prices, soft closes, shift ends and ways hold.
        stops: Of the plan on this day, as `candidate_on` returns them.
        plan: As `Plan.as_json()`.
    """
    return build_plan(_pinned(problem, stops, plan), stops)


def _pinned(problem: Problem, stops: Candidate, plan: Mapping[str, Any]) -> Problem:
    """Return a day that leaves no choice of hours to the routes of a plan."""
    agents, tickets = list(problem.agents), list(problem.tickets)
    planned_routes = {route["agent_id"]: route for route in plan["routes"]}

    def unit(seconds: float) -> int:
        return round(seconds * problem.scale)

    for route in stops.routes:
        agent = agents[route.agent]
        pinned_breaks = [_NO_BREAK] * len(agent.breaks)
        own = planned_routes[agent.id]
        for stop, visit in zip(route.stops, own["visits"], strict=True):
            start, leave = unit(visit["start_s"]), unit(visit["departure_s"])
            if stop.kind is StopKind.BREAK:
                pinned_breaks[stop.index] = Break((start, start), leave - start)
            elif stop.kind is StopKind.TICKET:
                spec = tickets[stop.index]
                tickets[stop.index] = replace(
                    spec,
                    windows=((start, start),),
                    setup=min(spec.setup, start - unit(visit["arrival_s"])),  # a visit begun is held without it
                    service=leave - start,
                    release=0,
                )
        agents[route.agent] = replace(agent, shift=(unit(own["start_s"]), agent.shift[1]), breaks=tuple(pinned_breaks))
    return replace(problem, agents=tuple(agents), tickets=tuple(tickets))


def repriced_on(problem: Problem, plan: Mapping[str, Any], *, keeps_stated_times: bool = False) -> Json | None:
    """Return a plan with what it costs on a day, all else as it was; None where that has no answer.

    Args:
        problem: The day.
        plan: As `Plan.as_json()`.
        is_as_told: The hours of the plan stand; otherwise it is timed as a plan of that day.
    """
    if (candidate := candidate_on(problem, plan)) is None:
        return None
    there = plan_at_stated_times(problem, candidate, plan) if keeps_stated_times else build_plan(problem, candidate)
    costs = {route.agent_id: route.cost for route in there.routes}
    return _with_costs(plan, there.cost, costs)


def without_costs(plan: Mapping[str, Any]) -> Json:
    """Return a plan whose costs are not told."""
    return _with_costs(plan, None, {})


def _with_costs(plan: Mapping[str, Any], cost: float | None, costs: Mapping[str, float]) -> Json:
    routes = [{**route, "cost": costs.get(route["agent_id"])} for route in plan["routes"]]
    return {**plan, "cost": cost, "routes": routes}
