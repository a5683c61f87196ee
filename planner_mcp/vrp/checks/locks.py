"""Checks on locked visits: what an agent must serve first, in an order, and cannot or may not.

Owns what is certain of the locked visits alone: whatever comes after them only takes more. Where a reload, or a table
of travel that knows shorter ways round, could help, nothing is said.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks.amounts import total
from planner_mcp.vrp.checks.reach import Reach
from planner_mcp.vrp.checks.times import SLACK_S, Duty
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Agent, Scenario, Ticket

_UNLOCK = "Unlock the last of them, or move them to another agent."


def locked_against_each_other(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that exclude each other: incompatible ones of one agent, two of which one may be served."""
    held = {name: (agent, path) for path, agent, _before, name in _locked(scenario)}
    clashes: dict[str, None] = {}
    for names in scenario.incompatible:
        firsts: dict[int, str] = {}
        locked = (name for name in names if name in held)
        clashes.update((name, None) for name in locked if firsts.setdefault(held[name][0], name) != name)
    for group in scenario.groups:
        if group.kind == "one_of":
            locked = (name for name in dict.fromkeys(group.tickets) if name in held)
            clashes.update((name, None) for name in islice(locked, 1, None))
    for name in clashes:
        problem = "The ticket is locked beside another that excludes it."
        yield Fault(held[name][1], problem, "one of the two", "Unlock one of the two.", "logic")


def locked_too_many(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that are more than their agent may serve, or can carry without a reload."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    shipped = {ticket.pickup for ticket in scenario.tickets}
    for index, agent in enumerate(scenario.agents):
        tickets = [by_id[name] for name in dict.fromkeys(agent.locked_tickets) if name in by_id]
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
        needed = total(ticket.demand for ticket in tickets if ticket.kind == kind)
        if short := [name for name, need in needed.items() if need > agent.capacity.get(name, 0.0) + 1e-6]:
            return short[0]
    return None


def locked_to_strangers(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked tickets that their agent may not serve."""
    eligible = Eligible(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for path, agent, _before, name in _locked(scenario):
        if name in by_id and not eligible.may(agent, by_id[name]):
            problem = "The agent may not serve this locked ticket."
            hint = "Lock it to another agent or relax the ticket."
            yield Fault(path, problem, "a ticket that this agent may serve", hint, "logic")


def locked_out_of_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked deliveries of shipments whose pickup is not locked in front of them."""
    pickups = {ticket.id: ticket.pickup for ticket in scenario.tickets}
    for path, _agent, before, name in _locked(scenario):
        pickup = pickups.get(name)
        if pickup is not None and pickup not in before:
            problem, hint = "The delivery is locked without its pickup in front of it.", "Lock the pickup before it."
            yield Fault(path, problem, "a delivery behind its pickup, at the same agent", hint, "logic")


def unkept_locks(
    scenario: Scenario, *, unfit: frozenset[int] = frozenset(), spared: frozenset[str] = frozenset()
) -> Iterator[Fault]:
    """Yield locked visits that cannot be kept in their order, even with nothing else to do.

    Args:
        scenario: The day.
        unfit: Agents about whom something else is wrong, who are not judged.
        spared: Ids of tickets the same holds of; an agent who has one of them locked is not judged.
    """
    reach = Reach(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for index, agent in enumerate(scenario.agents):
        is_judged = index not in unfit and spared.isdisjoint(agent.locked_tickets)
        if is_judged and agent.locked_tickets and not agent.reload_locations:
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


def _locked(scenario: Scenario) -> Iterator[tuple[str, int, AbstractSet[str], str]]:
    """Yield every locked visit: where it stands, whose it is, those in front of it, its ticket."""
    for index, agent in enumerate(scenario.agents):
        before: set[str] = set()
        for at, name in enumerate(agent.locked_tickets):
            yield f"/agents/{index}/locked_tickets/{at}", index, before, name
            before.add(name)
