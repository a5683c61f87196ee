"""The cost of a plan on a scenario other than its own (SPEC T5).

Owns when such a cost is defined: the scenario must have every stop of the plan. The cost itself is computed by
`evaluation/plan_builder.py`. A plan of a revision carries the prices of that revision, and an alternative plan those of
its style (`analysis/alternative_plans.py`), so the costs of two plans are comparable on one scenario only.

By default a plan is scheduled as a plan of that scenario. That is wrong for a plan made at another time of day: a
vehicle sent out at noon would be scheduled from the morning on. Such a plan keeps its stated times.
"""

from dataclasses import replace
from typing import Final

from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.plan import Plan, PlannedRoute
from planner_mcp.routing.problem import BreakSpec, Candidate, Problem, StopKind

_NO_BREAK: Final = BreakSpec((0, 0), 0)
"""Replaces a break that the plan does not take; it never conflicts with a route."""


def candidate_on(problem: Problem, plan: Plan) -> Candidate | None:
    """Return the stops of a plan as a candidate; None where the problem lacks one of them."""
    candidate = candidate_of(problem, plan)
    found = sum(len(route.stops) for route in candidate.routes)
    return candidate if found == sum(len(route.visits) for route in plan.routes) else None


def plan_at_stated_times(problem: Problem, stops: Candidate, plan: Plan) -> Plan:
    """Return a plan evaluated on a problem, with each visit and break at the times the plan states.

    Args:
        problem: The problem, whose prices, soft closes, shift ends and travel matrices apply.
        stops: The candidate of the plan on this problem, as `candidate_on` returns it.
        plan: The plan.
    """
    return build_plan(_pinned(problem, stops, plan), stops)


def _pinned(problem: Problem, stops: Candidate, plan: Plan) -> Problem:
    """Return the problem with every time of the routes of a plan fixed."""
    agents, tickets = list(problem.agents), list(problem.tickets)
    planned_routes = {route.agent_id: route for route in plan.routes}

    def unit(seconds: float) -> int:
        return round(seconds * problem.scale)

    for route in stops.routes:
        agent = agents[route.agent]
        pinned_breaks = [_NO_BREAK] * len(agent.breaks)
        planned = planned_routes[agent.id]
        for stop, visit in zip(route.stops, planned.visits, strict=True):
            start, leave = unit(visit.start_s), unit(visit.departure_s)
            if stop.kind is StopKind.BREAK:
                pinned_breaks[stop.index] = BreakSpec((start, start), leave - start)
            elif stop.kind is StopKind.TICKET:
                spec = tickets[stop.index]
                tickets[stop.index] = replace(
                    spec,
                    windows=((start, start),),
                    setup=min(spec.setup, start - unit(visit.arrival_s)),  # frozen visits have no setup time
                    service=leave - start,
                    release=0,
                )
        agents[route.agent] = replace(agent, shift=(unit(planned.start_s), agent.shift[1]), breaks=tuple(pinned_breaks))
    return replace(problem, agents=tuple(agents), tickets=tuple(tickets))


def repriced_on(problem: Problem, plan: Plan) -> Plan | None:
    """Return a plan with its costs and penalty on another scenario, all else unchanged; None where these are undefined.

    Args:
        problem: The other scenario.
        plan: The plan.
    """
    if (measured := measured_on(problem, plan)) is None:
        return None
    pairs = zip(plan.routes, measured.routes, strict=True)
    routes = tuple(replace(route, cost=other.cost) for route, other in pairs)
    return replace(plan, cost=measured.cost, penalty=measured.penalty, routes=routes)


def measured_on(problem: Problem, plan: Plan, *, keeps_stated_times: bool = False) -> Plan | None:
    """Return a plan with costs, distances and times of its routes as on another scenario, its visits unchanged.

    None where these are undefined. A plan measured so is for comparison: the way home that a vehicle lacks after a
    breakdown is no more a difference in distance than in cost.

    Args:
        problem: The other scenario.
        plan: The plan.
        keeps_stated_times: Whether the plan keeps its stated times; otherwise it is scheduled again.
    """
    if (candidate := candidate_on(problem, plan)) is None:
        return None
    measured = plan_at_stated_times(problem, candidate, plan) if keeps_stated_times else build_plan(problem, candidate)
    others = {route.agent_id: route for route in measured.routes}
    return replace(
        plan,
        cost=measured.cost,
        penalty=measured.penalty,
        distance_m=measured.distance_m,
        duration_s=measured.duration_s,
        routes=tuple(_measured_as(route, others.get(route.agent_id)) for route in plan.routes),
    )


def _measured_as(route: PlannedRoute, other: PlannedRoute | None) -> PlannedRoute:
    if other is None:
        return replace(route, cost=None)
    return replace(route, cost=other.cost, distance_m=other.distance_m, start_s=other.start_s, end_s=other.end_s)
