"""Checks on locked visits: what an agent must serve first, in an order, and cannot or may not.

Owns what is certain of the locked visits and of what must be served with them: whatever comes after only takes more.
Where a reload could help, nothing is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice

from planner_mcp.errors import Fault
from planner_mcp.text import figure
from planner_mcp.vrp.checks.amounts import total
from planner_mcp.vrp.checks.reach import Reach
from planner_mcp.vrp.checks.times import SLACK_S, Duty
from planner_mcp.vrp.day.eligible import Eligible
from planner_mcp.vrp.day.model import Agent, Scenario, Ticket

_UNLOCK = "Unlock the last of them, or move them to another agent."


def locked_against_each_other(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that exclude each other: incompatible ones of one agent, two of which one may be served.

    What a locked visit brings along is judged with it: the delivery of its shipment, the rest of an all-or-none group.
    """
    held = _held(scenario)
    clashes: dict[str, None] = {}
    for names in scenario.incompatible:
        firsts: dict[int, str] = {}
        for name in names:
            agent, path = held.get(name, (None, ""))
            if agent is not None and firsts.setdefault(agent, path) != path:
                clashes[path] = None
    for group in scenario.groups:
        if group.kind == "one_of":
            served = [name for name in dict.fromkeys(group.tickets) if name in held]
            clashes.update((held[name][1], None) for name in islice(served, 1, None))
    for path in clashes:
        problem = "The ticket, or what must be served with it, is locked beside another that excludes it."
        yield Fault(path, problem, "one of the two", "Unlock one of the two.", "logic")


def _held(scenario: Scenario) -> dict[str, tuple[int | None, str]]:
    """Return every ticket that is served because of a locked visit: whose it is, where that is known, and that visit.

    A locked pickup brings its delivery to the same agent; of an all-or-none group all others come, to any agent.
    """
    other = {ticket.id: ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    other |= {pickup: name for name, pickup in other.items()}
    together: dict[str, list[str]] = {}
    for group in scenario.groups:
        for name in group.tickets if group.kind == "all" else ():
            together.setdefault(name, []).extend(group.tickets)
    held: dict[str, tuple[int | None, str]] = {name: (agent, path) for path, agent, _before, name in _locked(scenario)}
    left = list(held)
    while left:
        name = left.pop()
        agent, path = held[name]
        half = other.get(name)
        for mate in (half, *together.pop(name, ())):
            if mate is not None and mate not in held:
                held[mate] = (agent if mate == half else None, path)
                left.append(mate)
    return held


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
            yield Fault(path, problem, f"at most {agent.max_tickets}", _UNLOCK, "logic")
        single = [ticket for ticket in tickets if ticket.pickup is None and ticket.id not in delivery]
        name = None if _may_reload(agent) else _overloaded(agent, single)
        if name := name or _crammed(agent, tickets, delivery):
            problem = f"The locked visits need more {name} than the capacity."
            yield Fault(path, problem, f"at most {figure(agent.capacity.get(name, 0))} in all", _UNLOCK, "logic")


def _deliveries(scenario: Scenario) -> dict[str, Ticket]:
    """Return the delivery of each shipment by the id of its pickup."""
    return {ticket.pickup: ticket for ticket in scenario.tickets if ticket.pickup is not None}


def _may_reload(agent: Agent) -> bool:
    return bool(agent.reload_locations) and agent.max_reloads != 0


def _overloaded(agent: Agent, tickets: Sequence[Ticket]) -> str | None:
    """Return the dimension of which goods brought, or goods collected, take more than there is."""
    for kind in ("delivery", "pickup"):
        if name := _short(agent, total(ticket.demand for ticket in tickets if ticket.kind == kind)):
            return name
    return None


def _crammed(agent: Agent, tickets: Sequence[Ticket], delivery: Mapping[str, Ticket]) -> str | None:
    """Return the dimension of which shipments, in the order of the visits, take more; they stay through a reload."""
    aboard: dict[str, Ticket] = {}
    for ticket in tickets:
        if ticket.id in delivery:
            aboard[ticket.id] = ticket
        aboard.pop(ticket.pickup or "", None)
        if name := _short(agent, total(each.demand for each in aboard.values())):
            return name
    return None


def _short(agent: Agent, needed: Mapping[str, float]) -> str | None:
    return next((name for name, need in needed.items() if need > agent.capacity.get(name, 0.0) + 1e-6), None)


def locked_to_strangers(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked tickets that their agent may not serve, or may not deliver once picked up."""
    eligible = Eligible(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    delivery = _deliveries(scenario)
    for path, agent, _before, name in _locked(scenario):
        hint = "Lock it to another agent or relax the ticket."
        if name in by_id and not eligible.may(agent, by_id[name]):
            problem = "The agent may not serve this locked ticket."
            yield Fault(path, problem, "a ticket that this agent may serve", hint, "logic")
        elif name in delivery and not eligible.may(agent, delivery[name]):
            problem = "The agent may not serve the delivery of this locked pickup."
            yield Fault(path, problem, "a shipment that this agent may serve", hint, "logic")


def locked_backhaul(scenario: Scenario) -> Iterator[Fault]:
    """Yield deliveries locked behind a pickup where deliveries come first and no reload can stand between the two."""
    if not scenario.options.backhaul:
        return
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    shipped = _deliveries(scenario)
    collecting: set[int] = set()
    for path, agent, _before, name in _locked(scenario):
        ticket = by_id.get(name)
        if ticket is None or ticket.pickup is not None or name in shipped or _may_reload(scenario.agents[agent]):
            continue
        if ticket.kind == "pickup":
            collecting.add(agent)
        elif agent in collecting:
            problem, hint = "The delivery is locked behind a pickup on a backhaul day.", "Lock deliveries first."
            yield Fault(path, problem, "deliveries before pickups", hint, "logic")


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
            yield from _unkept(Duty.of(scenario, agent), tickets, reach, index)


def _unkept(duty: Duty, tickets: Sequence[Ticket], reach: Reach, agent: int) -> Iterator[Fault]:
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
    length, seconds = (0.0, 0.0) if place is None else reach.way_from(place, duty.end)
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
