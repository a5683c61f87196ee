"""Goods that a day under way takes to be on board of an agent that set out without them (SPEC T10).

Owns the sentences that say so. A delivery is on board from the start of the trip that serves it, and what was loaded
before the hour it is is not recorded: neither engines nor the verifier keep a delivery from an agent that is out. Two
fields do: `release_time`, and `held.stay` of `keep_agents`.
"""

from collections.abc import Iterator

from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.scenario_model import Scenario, Ticket
from planner_mcp.text import clock, named


def goods_on_board(scenario: Scenario, plan: Plan, *, are_kept: bool) -> list[str]:
    """Return sentences on deliveries that an agent may serve that is out, though others have their goods.

    Args:
        scenario: With `held` of the hour it is.
        plan: What has happened, and was to happen.
        are_kept: Whether planned tickets stay with their agents.
    """
    if (held := scenario.held) is None or not held.until_s:
        return []
    out = {route.agent: route.start_s for route in held.routes if route.end_s is None}
    if not out:
        return []
    over = {route.agent for route in held.routes if route.end_s is not None}
    fixed = {visit.ticket for route in held.routes for visit in route.visits}
    fixed |= {route.next_ticket for route in held.routes}
    planned = {ticket: route.agent_id for route in plan.routes for ticket in route.tickets}
    first_s = min(out.values())
    ahead = [
        ticket
        for ticket in _loaded_with_the_trip(scenario)
        if ticket.id not in fixed and (ticket.release_time is None or ticket.release_time <= first_s)
    ]
    sentences = []
    if waiting := [ticket.id for ticket in ahead if planned.get(ticket.id) in (None, *over)]:
        hour = clock(held.until_s)
        sentences.append(
            f"The goods for {named(waiting)} are assumed to be on vehicles already under way ({named(list(out))}). "
            f"If they are at the depot, set release_time to {hour}."
        )
    if not are_kept and len(scenario.agents) > 1 and any(planned.get(ticket.id) in out for ticket in ahead):
        sentences.append(
            "Goods on board of one agent may be given to another as if it had them: keep_agents=true prevents it."
        )
    return sentences


def _loaded_with_the_trip(scenario: Scenario) -> Iterator[Ticket]:
    """Yield the tickets that bring something which no other ticket collects."""
    collected = {ticket.pickup for ticket in scenario.tickets}
    for ticket in scenario.tickets:
        is_whole = ticket.pickup is None and ticket.id not in collected
        if ticket.kind == "delivery" and is_whole and any(ticket.demand.values()):
            yield ticket
