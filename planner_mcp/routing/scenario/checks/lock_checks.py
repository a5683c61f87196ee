"""Checks on locked visits: what an agent must serve first, in an order, and may not.

Owns what is certain without travel of the locked visits and of what must be served with them: whatever comes after only
takes more. Where a reload could help, nothing is said. Whether the agent can keep its hours and limits is proved on the
compiled problem by `feasibility/infeasible_locks.py`.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.amount_checks import AMOUNT_TOLERANCE, total
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.routing.scenario.checks.shipment_checks import other_halves
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket, most_reloads
from planner_mcp.text import figure

UNLOCK: Final = "Unlock the last of them, or move them to another agent."


def locked_against_each_other(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that exclude each other: incompatible ones of one agent, two of which one may be served.

    What a locked visit brings along is checked with it: the delivery of its shipment, the rest of an all-or-none group.
    """
    locked_by = served_by_locks(scenario)
    clashes: dict[str, InfeasibilityReason] = {}
    for names in scenario.incompatible:
        firsts: dict[int, str] = {}
        for name in names:
            agent, path = locked_by.get(name, (None, ""))
            if agent is not None and firsts.setdefault(agent, path) != path:
                clashes[path] = InfeasibilityReason.INCOMPATIBLE
    for group in scenario.groups:
        if group.kind == "one_of":
            served = [name for name in dict.fromkeys(group.tickets) if name in locked_by]
            for name in islice(served, 1, None):
                clashes.setdefault(locked_by[name][1], InfeasibilityReason.GROUP_OTHER_CHOSEN)
    for path, reason in clashes.items():
        problem = "The ticket, or what must be served with it, is locked beside another that excludes it."
        # Certain without it; kept back with the other faults of eligibility.
        needs = (FaultDependency.ELIGIBILITY,)
        yield Fault(path, problem, "one of the two", "Unlock one of the two.", "logic", needs=needs, reason=reason)


def served_by_locks(scenario: Scenario) -> dict[str, tuple[int | None, str]]:
    """Return every ticket that is served because of a locked visit: whose it is, where that is known, and that visit.

    A locked pickup brings its delivery to the same agent; of an all-or-none group all others come, to any agent.
    """
    other = other_halves(scenario)
    together: dict[str, list[str]] = {}
    for group in scenario.groups:
        for name in group.tickets if group.kind == "all" else ():
            together.setdefault(name, []).extend(group.tickets)
    locked_by: dict[str, tuple[int | None, str]] = {
        name: (agent, path) for path, agent, _before, name in _locked(scenario)
    }
    left = list(locked_by)
    while left:
        name = left.pop()
        agent, path = locked_by[name]
        half = other.get(name)
        for mate in (half, *together.pop(name, ())):
            if mate is not None and mate not in locked_by:
                locked_by[mate] = (agent if mate == half else None, path)
                left.append(mate)
    return locked_by


def locked_too_many(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that are more than their agent may serve, or can carry; deliveries of shipments count too."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    delivery = _deliveries(scenario)
    for index, agent in enumerate(scenario.agents):
        path = f"/agents/{index}/locked_tickets"
        tickets = [by_id[name] for name in dict.fromkeys(agent.locked_tickets) if name in by_id]
        served = {ticket.id for ticket in tickets} | {delivery[each.id].id for each in tickets if each.id in delivery}
        if agent.max_tickets is not None and len(served) > agent.max_tickets:
            problem = "There are more locked visits than max_tickets."
            problem += " Deliveries of locked pickups count." if len(served) > len(tickets) else ""
            reason = InfeasibilityReason.MAX_TICKETS
            yield Fault(path, problem, f"at most {agent.max_tickets}", UNLOCK, "logic", reason=reason)
        single = [ticket for ticket in tickets if ticket.pickup is None and ticket.id not in delivery]
        name = None if most_reloads(agent) else _overloaded(agent, single)
        if name := name or _overloaded_by_shipments(agent, tickets, delivery):
            problem = f"The locked visits need more {name} than the capacity."
            accepted = f"at most {figure(agent.capacity.get(name, 0))} in all"
            needs = (FaultDependency.ELIGIBILITY, FaultDependency.AMOUNTS)
            yield Fault(path, problem, accepted, UNLOCK, "logic", needs=needs, reason=InfeasibilityReason.CAPACITY)


def _deliveries(scenario: Scenario) -> dict[str, Ticket]:
    """Return the delivery of each shipment by the id of its pickup."""
    return {ticket.pickup: ticket for ticket in scenario.tickets if ticket.pickup is not None}


def _overloaded(agent: Agent, tickets: Sequence[Ticket]) -> str | None:
    """Return the dimension of which goods brought, or goods collected, take more than there is."""
    for kind in ("delivery", "pickup"):
        if name := _exceeded_dimension(agent, total(ticket.demand for ticket in tickets if ticket.kind == kind)):
            return name
    return None


def _overloaded_by_shipments(agent: Agent, tickets: Sequence[Ticket], delivery: Mapping[str, Ticket]) -> str | None:
    """Return the dimension of which shipments, in the order of the visits, take more; they stay through a reload."""
    aboard: dict[str, Ticket] = {}
    for ticket in tickets:
        if ticket.id in delivery:
            aboard[ticket.id] = ticket
        aboard.pop(ticket.pickup or "", None)
        if name := _exceeded_dimension(agent, total(each.demand for each in aboard.values())):
            return name
    return None


def _exceeded_dimension(agent: Agent, needed: Mapping[str, float]) -> str | None:
    room = agent.capacity
    return next((name for name, need in needed.items() if need > room.get(name, 0.0) + AMOUNT_TOLERANCE), None)


def locked_to_ineligible_agents(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked tickets that their agent may not serve, or may not deliver once picked up."""
    eligibility = Eligibility(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    delivery = _deliveries(scenario)
    for path, agent, _before, name in _locked(scenario):
        if name in by_id and not eligibility.may(agent, by_id[name]):
            yield _ineligible(path, "The agent may not serve this locked ticket.", "a ticket that this agent may serve")
        elif name in delivery and not eligibility.may(agent, delivery[name]):
            yield _ineligible(
                path,
                "The agent may not serve the delivery of this locked pickup.",
                "a shipment that this agent may serve",
            )


def _ineligible(path: str, problem: str, accepted: str) -> Fault:
    hint = "Lock it to another agent or relax the ticket."
    needs, reason = (FaultDependency.ELIGIBILITY,), InfeasibilityReason.SKILL_OR_AGENT
    return Fault(path, problem, accepted, hint, "logic", needs=needs, reason=reason)


def locked_backhaul(scenario: Scenario) -> Iterator[Fault]:
    """Yield deliveries locked behind a pickup where deliveries come first and no reload can stand between the two."""
    if not scenario.options.backhaul:
        return
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    shipped = _deliveries(scenario)
    collecting: set[int] = set()
    for path, agent, _before, name in _locked(scenario):
        ticket = by_id.get(name)
        if ticket is None or ticket.pickup is not None or name in shipped or most_reloads(scenario.agents[agent]):
            continue
        if ticket.kind == "pickup":
            collecting.add(agent)
        elif agent in collecting:
            problem, hint = "The delivery is locked behind a pickup on a backhaul day.", "Lock deliveries first."
            needs, reason = (FaultDependency.AMOUNTS,), InfeasibilityReason.ORDER
            yield Fault(path, problem, "deliveries before pickups", hint, "logic", needs=needs, reason=reason)


def locked_out_of_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked deliveries of shipments whose pickup is not locked in front of them."""
    pickups = {ticket.id: ticket.pickup for ticket in scenario.tickets}
    for path, _agent, before, name in _locked(scenario):
        pickup = pickups.get(name)
        if pickup is not None and pickup not in before:
            problem, hint = "The delivery is locked without its pickup in front of it.", "Lock the pickup before it."
            accepted = "a delivery behind its pickup, at the same agent"
            yield Fault(path, problem, accepted, hint, "logic", reason=InfeasibilityReason.ORDER)


def _locked(scenario: Scenario) -> Iterator[tuple[str, int, AbstractSet[str], str]]:
    """Yield every locked visit: where it stands, whose it is, those in front of it, its ticket."""
    for index, agent in enumerate(scenario.agents):
        before: set[str] = set()
        for at, name in enumerate(agent.locked_tickets):
            yield f"/agents/{index}/locked_tickets/{at}", index, before, name
            before.add(name)
