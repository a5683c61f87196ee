"""Holds on to an earlier plan while a changed day is planned anew (SPEC T5, S1 locks).

Owns what is held: tickets stay with their agents, or pay a price where they do not, or the visits before an hour stay
first and in order. It is written as a patch of the day, so that every engine and the verifier read it like any other
lock or price. What the changed day no longer allows is not held, because the plan is mended first; a price is put on
all that was planned.
"""

from collections.abc import Mapping
from typing import Any

from planner_mcp.vrp.advice.fits import tickets_of
from planner_mcp.vrp.advice.repair import repair
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.model import Scenario
from planner_mcp.vrp.layout.schedule import candidate_of
from planner_mcp.vrp.problem import Candidate, Problem

Json = dict[str, Any]


def locks(
    scenario: Scenario, plan: Mapping[str, Any], *, agents: bool = False, switch_cost: float = 0.0, until_s: float = 0.0
) -> Json:
    """Return the patch that holds on to a plan.

    Args:
        scenario: The day as it is to be planned.
        plan: An earlier plan, as `Plan.as_json()`.
        agents: Tickets stay with the agent that serves them in the plan.
        switch_cost: What each of them costs that goes to another agent. 0: nothing.
        until_s: Visits that start before this time stay first on their routes, in order. 0: none.
    """
    problem = compile_scenario(scenario)
    planned = candidate_of(problem, plan)
    held = repair(problem, planned)
    patch: Json = {"agents": {}, "tickets": _prices(problem, planned, switch_cost) if switch_cost else {}}
    begun = _begun(plan, until_s)
    for route in held.routes:
        agent, names = problem.agents[route.agent], [problem.tickets[index].id for index in tickets_of(route)]
        first = _prefix(names, begun)
        if len(first) > len(agent.locked):
            patch["agents"][agent.id] = {"locked_tickets": first}
        for name in names if agents else ():
            patch["tickets"].setdefault(name, {})["agents"] = [agent.id]
    return {name: entries for name, entries in patch.items() if entries}


def _prices(problem: Problem, planned: Candidate, switch_cost: float) -> Json:
    """Return what puts a price on each change of agent, save where the agent may come no longer."""
    return {
        problem.tickets[index].id: {"preferred_agent": problem.agents[route.agent].id, "switch_cost": switch_cost}
        for route in planned.routes
        for index in tickets_of(route)
        if route.agent in (problem.tickets[index].agents or (route.agent,))
    }


def _begun(plan: Mapping[str, Any], until_s: float) -> set[str]:
    """Return the tickets whose service starts before the hour."""
    visits = (visit for route in plan["routes"] for visit in route["visits"])
    return {visit["ticket_id"] for visit in visits if visit["ticket_id"] is not None and visit["start_s"] < until_s}


def _prefix(names: list[str], begun: set[str]) -> list[str]:
    count = next((place for place, name in enumerate(names) if name not in begun), len(names))
    return names[:count]
