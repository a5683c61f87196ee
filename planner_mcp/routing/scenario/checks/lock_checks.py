"""Checks on locked visits: what an agent must serve first, in an order, and cannot or may not.

Owns what is certain of the locked visits and of what must be served with them: whatever comes after only takes more.
Where a reload could help, nothing is said.
"""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.agent_limits import SLACK_S, AgentLimits, locations_with_certain_setup
from planner_mcp.routing.scenario.checks.amount_checks import total
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.routing.scenario.checks.leg_lookup import Leg, LegLookup
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket
from planner_mcp.text import figure

_UNLOCK = "Unlock the last of them, or move them to another agent."


def locked_against_each_other(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked visits that exclude each other: incompatible ones of one agent, two of which one may be served.

    What a locked visit brings along is judged with it: the delivery of its shipment, the rest of an all-or-none group.
    """
    locked_by = served_by_locks(scenario)
    clashes: dict[str, None] = {}
    for names in scenario.incompatible:
        firsts: dict[int, str] = {}
        for name in names:
            agent, path = locked_by.get(name, (None, ""))
            if agent is not None and firsts.setdefault(agent, path) != path:
                clashes[path] = None
    for group in scenario.groups:
        if group.kind == "one_of":
            served = [name for name in dict.fromkeys(group.tickets) if name in locked_by]
            clashes.update((locked_by[name][1], None) for name in islice(served, 1, None))
    for path in clashes:
        problem = "The ticket, or what must be served with it, is locked beside another that excludes it."
        # Certain without it; kept back with the other faults of who serves what.
        yield Fault(
            path, problem, "one of the two", "Unlock one of the two.", "logic", needs=(FaultDependency.ELIGIBILITY,)
        )


def served_by_locks(scenario: Scenario) -> dict[str, tuple[int | None, str]]:
    """Return every ticket that is served because of a locked visit: whose it is, where that is known, and that visit.

    A locked pickup brings its delivery to the same agent; of an all-or-none group all others come, to any agent.
    """
    other = {ticket.id: ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    other |= {pickup: name for name, pickup in other.items()}
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
            yield Fault(path, problem, f"at most {agent.max_tickets}", _UNLOCK, "logic")
        single = [ticket for ticket in tickets if ticket.pickup is None and ticket.id not in delivery]
        name = None if _may_reload(agent) else _overloaded(agent, single)
        if name := name or _overloaded_by_shipments(agent, tickets, delivery):
            problem = f"The locked visits need more {name} than the capacity."
            accepted = f"at most {figure(agent.capacity.get(name, 0))} in all"
            yield Fault(
                path, problem, accepted, _UNLOCK, "logic", needs=(FaultDependency.ELIGIBILITY, FaultDependency.AMOUNTS)
            )


def _deliveries(scenario: Scenario) -> dict[str, Ticket]:
    """Return the delivery of each shipment by the id of its pickup."""
    return {ticket.pickup: ticket for ticket in scenario.tickets if ticket.pickup is not None}


def _may_reload(agent: Agent) -> bool:
    return bool(agent.reload_locations) and agent.max_reloads != 0


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
    return next((name for name, need in needed.items() if need > agent.capacity.get(name, 0.0) + 1e-6), None)


def locked_to_ineligible_agents(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked tickets that their agent may not serve, or may not deliver once picked up."""
    eligibility = Eligibility(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    delivery = _deliveries(scenario)
    for path, agent, _before, name in _locked(scenario):
        hint = "Lock it to another agent or relax the ticket."
        if name in by_id and not eligibility.may(agent, by_id[name]):
            problem = "The agent may not serve this locked ticket."
            yield Fault(
                path, problem, "a ticket that this agent may serve", hint, "logic", needs=(FaultDependency.ELIGIBILITY,)
            )
        elif name in delivery and not eligibility.may(agent, delivery[name]):
            problem = "The agent may not serve the delivery of this locked pickup."
            yield Fault(
                path,
                problem,
                "a shipment that this agent may serve",
                hint,
                "logic",
                needs=(FaultDependency.ELIGIBILITY,),
            )


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
            yield Fault(path, problem, "deliveries before pickups", hint, "logic", needs=(FaultDependency.AMOUNTS,))


def locked_out_of_order(scenario: Scenario) -> Iterator[Fault]:
    """Yield locked deliveries of shipments whose pickup is not locked in front of them."""
    pickups = {ticket.id: ticket.pickup for ticket in scenario.tickets}
    for path, _agent, before, name in _locked(scenario):
        pickup = pickups.get(name)
        if pickup is not None and pickup not in before:
            problem, hint = "The delivery is locked without its pickup in front of it.", "Lock the pickup before it."
            yield Fault(path, problem, "a delivery behind its pickup, at the same agent", hint, "logic")


def infeasible_locks(
    scenario: Scenario, *, unfit: frozenset[int] = frozenset(), spared: frozenset[str] = frozenset()
) -> Iterator[Fault]:
    """Yield locked visits that cannot be kept in their order, even with nothing else to do than what they bring along.

    Args:
        scenario: The day.
        unfit: Agents about whom something else is wrong, who are not judged.
        spared: Ids of tickets the same holds of; an agent who has one of them locked is not judged.
    """
    leg_lookup, set_up = LegLookup(scenario), locations_with_certain_setup(scenario)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    delivery = _deliveries(scenario)
    for index, agent in enumerate(scenario.agents):
        names = agent.locked_tickets
        if index in unfit or not names or agent.reload_locations:
            continue
        owed = {name: delivery[name] for name in names if name in delivery and delivery[name].id not in names}
        if spared.isdisjoint({*names, *(ticket.id for ticket in owed.values())}):
            drops = {
                name: _OwedDelivery(last, last.setup_time_s * (last.location in set_up)) for name, last in owed.items()
            }
            visits = _LockedVisits(f"/agents/{index}/locked_tickets", tuple(by_id[name] for name in names), drops)
            yield from _infeasible(AgentLimits.of(scenario, agent), visits, leg_lookup)


@dataclass(frozen=True, slots=True)
class _OwedDelivery:
    """The delivery of a locked pickup, with the setup that no other ticket at its place can spare it."""

    ticket: Ticket
    setup: float


@dataclass(frozen=True, slots=True)
class _LockedVisits:
    """The locked visits of an agent, in order, and the deliveries that must follow them, by the id of their pickup."""

    path: str
    tickets: tuple[Ticket, ...]
    drops: Mapping[str, _OwedDelivery]


@dataclass(frozen=True, slots=True)
class _Tour:
    """What the visits so far have taken at least."""

    now: float
    place: str | None
    metres: float = 0.0
    busy: float = 0.0
    legs: int = 0

    def then(self, agent_limits: AgentLimits, ticket: Ticket, leg: Leg, setup: float) -> "_Tour | None":
        """Return the same with one visit more, None where it cannot be reached in its window."""
        seconds = leg[1] / agent_limits.speed + setup
        ready, slack = self.now + seconds, SLACK_S * (self.legs + 1)
        windows = sorted(ticket.time_windows) or [(0.0, float("inf"))]
        start = next((max(ready, opens) for opens, closes in windows if ready <= closes + slack), None)
        if start is None:
            return None
        busy = self.busy + seconds + ticket.service_time_s
        return _Tour(start + ticket.service_time_s, ticket.location, self.metres + leg[0], busy, self.legs + 1)

    def excess(self, agent_limits: AgentLimits, leg_lookup: LegLookup) -> Iterator[str]:
        """Yield the limits that are too narrow for it with the way to the end of the route."""
        length, seconds = (0.0, 0.0) if self.place is None else leg_lookup.path_from(self.place, agent_limits.end)
        limits = {
            "The locked visits take longer than the shift.": self.now
            + seconds / agent_limits.speed
            - agent_limits.closes,
            "The locked visits take longer than max_duration_s.": self.busy
            + seconds / agent_limits.speed
            - agent_limits.max_duration,
            "The locked visits are farther than the distance limit.": self.metres + length - agent_limits.max_distance,
        }
        yield from (problem for problem, over in limits.items() if over > SLACK_S * (self.legs + 1))


def _infeasible(agent_limits: AgentLimits, visits: _LockedVisits, leg_lookup: LegLookup) -> Iterator[Fault]:
    carried = [*visits.tickets, *(owed_delivery.ticket for owed_delivery in visits.drops.values())]
    tour = _Tour(max([agent_limits.opens, *(ticket.release_time or 0.0 for ticket in carried)]), agent_limits.start)
    for at, ticket in enumerate(visits.tickets):
        setup = ticket.setup_time_s if at == 0 or tour.place != ticket.location else 0.0
        after = tour.then(agent_limits, ticket, leg_lookup.leg(tour.place, ticket.location), setup)
        if after is None:
            problem, hint = "The visit cannot be reached in its window.", "Unlock it, or widen its window."
            yield Fault(f"{visits.path}/{at}", problem, "a visit that can follow those before it", hint, "logic")
            return
        tour = after
    problems = list(tour.excess(agent_limits, leg_lookup))
    for problem in problems:
        yield Fault(visits.path, problem, "visits that the agent can make", _UNLOCK, "logic")
    if not problems:
        yield from islice(_undelivered(agent_limits, visits, tour, leg_lookup), 1)


def _undelivered(
    agent_limits: AgentLimits, visits: _LockedVisits, tour: _Tour, leg_lookup: LegLookup
) -> Iterator[Fault]:
    """Yield what keeps the agent from the delivery of a locked pickup, each by itself, after the last locked visit."""
    for at, ticket in enumerate(visits.tickets):
        if (owed_delivery := visits.drops.get(ticket.id)) is None:
            continue
        leg = leg_lookup.path_to(owed_delivery.ticket.location, tour.place)
        if (after := tour.then(agent_limits, owed_delivery.ticket, leg, owed_delivery.setup)) is None:
            problem = "The delivery of this locked pickup cannot be reached in its window."
            hint = "Unlock it, or widen the window of its delivery."
            yield Fault(f"{visits.path}/{at}", problem, "a shipment that this agent can make", hint, "logic")
            continue
        for problem in after.excess(agent_limits, leg_lookup):
            problem_text = f"{problem} Deliveries of locked pickups count."
            yield Fault(visits.path, problem_text, "visits that the agent can make", _UNLOCK, "logic")


def _locked(scenario: Scenario) -> Iterator[tuple[str, int, AbstractSet[str], str]]:
    """Yield every locked visit: where it stands, whose it is, those in front of it, its ticket."""
    for index, agent in enumerate(scenario.agents):
        before: set[str] = set()
        for at, name in enumerate(agent.locked_tickets):
            yield f"/agents/{index}/locked_tickets/{at}", index, before, name
            before.add(name)
