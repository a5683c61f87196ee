"""Checks on locked visits: what an agent must serve first, in an order, and cannot or may not.

Owns what is certain of the locked visits alone: whatever comes after them only takes more. Where a reload, or a table
of travel that knows shorter ways round, could help, nothing is said.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks.reach import Reach
from planner_mcp.vrp.checks.times import SLACK_S, Duty
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Agent, Scenario, Ticket

_UNLOCK = "Unlock the last of them, or move them to another agent."


def locked_against_each_other(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that exclude each other: incompatible ones of one agent, two of which one may be served."""
    held = {name: agent for agent, spec in enumerate(scenario.agents) for name in spec.locked_tickets}
    pairs = [pair for group in scenario.incompatible for pair in combinations(group, 2)]
    clashes = {pair for pair in pairs if held.get(pair[0], -1) == held.get(pair[1], -2)}
    for group in scenario.groups:
        if group.kind == "one_of":
            clashes |= {pair for pair in combinations(group.tickets, 2) if held.keys() >= set(pair)}
    for _, name in sorted(pair for pair in clashes if pair[0] != pair[1]):
        problem = "The ticket is locked beside another that excludes it."
        yield Fault(_path(scenario, held[name], name), problem, "one of the two", "Unlock one of the two.", "logic")


def locked_too_many(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that are more than their agent may serve, or can carry without a reload."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    shipped = {ticket.pickup for ticket in scenario.tickets}
    for index, agent in enumerate(scenario.agents):
        tickets = [by_id[name] for name in agent.locked_tickets if name in by_id]
        if agent.max_tickets is not None and len(tickets) > agent.max_tickets:
            path, problem = f"/agents/{index}/locked_tickets", "There are more locked visits than max_tickets."
            yield Fault(path, problem, f"at most {agent.max_tickets}", _UNLOCK, "logic")
        single = [ticket for ticket in tickets if ticket.pickup is None and ticket.id not in shipped]
        if not agent.reload_locations and (name := _overloaded(agent, single)):
            path, problem = f"/agents/{index}/locked_tickets", f"The locked visits need more {name} than the capacity."
            yield Fault(path, problem, f"at most {agent.capacity.get(name, 0):g} in all", _UNLOCK, "logic")


def _overloaded(agent: Agent, tickets: Sequence[Ticket]) -> str | None:
    """Return the dimension of which goods brought, or goods collected, take more than there is."""
    for kind in ("delivery", "pickup"):
        goods = [ticket.demand for ticket in tickets if ticket.kind == kind]
        for name in dict.fromkeys(name for amount in goods for name in amount):
            if sum(amount.get(name, 0.0) for amount in goods) > agent.capacity.get(name, 0.0) + 1e-6:
                return name
    return None


def locked_to_strangers(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked tickets that their agent may not serve."""
    eligible = Eligible(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for path, agent, _before, name in _locked(scenario):
        if name in by_id and agent not in eligible.agents(by_id[name]):
            problem = "The ticket is locked to an agent that may not serve it."
            yield Fault(path, problem, "", "Lock it to another agent or relax the ticket.", "logic")


def locked_out_of_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked deliveries of shipments whose pickup is not locked in front of them."""
    pickups = {ticket.id: ticket.pickup for ticket in scenario.tickets}
    for path, _agent, before, name in _locked(scenario):
        pickup = pickups.get(name)
        if pickup is not None and pickup not in before:
            problem = "The delivery is locked without its pickup in front of it."
            yield Fault(path, problem, "", "Lock the pickup before it, to the same agent.", "logic")


def unkept_locks(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that cannot be kept in their order, even with nothing else to do."""
    reach = Reach(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for index, agent in enumerate(scenario.agents):
        if agent.locked_tickets and not agent.reload_locations:
            tickets = [by_id[name] for name in agent.locked_tickets]
            yield from _unkept(Duty.of(scenario, agent), tickets, reach, index, may_detour=scenario.tables is not None)


def _unkept(duty: Duty, tickets: Sequence[Ticket], reach: Reach, agent: int, *, may_detour: bool) -> Iterator[Fault]:
    path = f"/agents/{agent}/locked_tickets"
    now = max([duty.opens, *(ticket.release_time or 0.0 for ticket in tickets)])
    place, metres, busy = duty.start, 0.0, 0.0
    for at, ticket in enumerate(tickets):
        length, seconds = reach.leg(place, ticket.location)
        setup = ticket.setup_time_s if at == 0 or place != ticket.location else 0.0
        slack = SLACK_S * (at + 1)
        ready = now + seconds / duty.speed + setup
        windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
        start = next((max(ready, opens) for opens, closes in windows if ready <= closes + slack), None)
        if start is None:
            problem, hint = "The visit cannot be reached in its window.", "Unlock it, or widen its window."
            yield Fault(f"{path}/{at}", problem, "a visit that can follow those before it", hint, "logic")
            return
        now, place, metres = start + ticket.service_time_s, ticket.location, metres + length
        busy += seconds / duty.speed + setup + ticket.service_time_s
    length, seconds = (0.0, 0.0) if may_detour else reach.leg(place, duty.end)
    slack = SLACK_S * (len(tickets) + 1)
    limits = {
        "The locked visits take longer than the shift.": now + seconds / duty.speed - duty.closes,
        "The locked visits take longer than max_duration_s.": busy + seconds / duty.speed - duty.max_duration,
        "The locked visits are farther than the distance limit.": metres + length - duty.max_distance,
    }
    for problem, over in limits.items():
        if over > slack:
            yield Fault(path, problem, "visits that the agent can make", _UNLOCK, "logic")


def _locked(scenario: Scenario) -> Iterator[tuple[str, int, Sequence[str], str]]:
    """Yield every locked visit: where it stands, whose it is, those in front of it, its ticket."""
    for index, agent in enumerate(scenario.agents):
        for at, name in enumerate(agent.locked_tickets):
            yield f"/agents/{index}/locked_tickets/{at}", index, agent.locked_tickets[:at], name


def _path(scenario: Scenario, agent: int, name: str) -> str:
    return f"/agents/{agent}/locked_tickets/{scenario.agents[agent].locked_tickets.index(name)}"
