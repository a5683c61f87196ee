"""Checks on shipments: halves that do not belong together, cannot follow each other or are kept apart.

Whether some agent can make a shipment in time is proved by `feasibility/unservable_tickets.py`.
"""

from collections.abc import Iterator, Sequence

from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.scenario.agent_eligibility import Eligibility
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.routing.scenario.scenario_model import Scenario, Ticket


def shipments(scenario: Scenario) -> Iterator[tuple[int, Ticket, Ticket]]:
    """Yield (index of the delivery, delivery, pickup)."""
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    for index, ticket in enumerate(scenario.tickets):
        if ticket.pickup is not None and ticket.pickup in by_id:
            yield index, ticket, by_id[ticket.pickup]


def other_halves(scenario: Scenario) -> dict[str, str]:
    """Return the other half of each ticket of a shipment, by id."""
    other = {ticket.id: ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    return other | {pickup: name for name, pickup in other.items()}


def broken_shipments(scenario: Scenario) -> Iterator[Fault]:
    """Yield pickups that are deliveries themselves, in a circle or not, or that two deliveries share."""
    taken: set[str] = set()
    for index, delivery, pickup in shipments(scenario):
        path = f"/tickets/{index}/pickup"
        if pickup.pickup is not None:
            problem = "The ticket named here is itself delivered from a pickup."
            yield Fault(path, problem, "a ticket without pickup", "Make it two shipments.", "logic")
        if pickup.id in taken:
            problem = "Two deliveries name this pickup."
            yield Fault(path, problem, "a pickup of its own", "Split the pickup into two tickets.", "logic")
        if delivery.kind == "pickup":
            problem = "The ticket has a pickup and is a pickup itself."
            yield Fault(f"/tickets/{index}/kind", problem, "delivery", "Remove kind.", "logic")
        taken.add(pickup.id)


def unequal_shipments(scenario: Scenario) -> Iterator[Fault]:
    """Yield shipments whose halves differ in demand, or that no one agent may serve."""
    eligibility = Eligibility(scenario)
    for index, delivery, pickup in shipments(scenario):
        if nonzero_demand(delivery) != nonzero_demand(pickup):
            path, problem = f"/tickets/{index}/demand", "The delivery has another demand than its pickup."
            needs = (FaultDependency.ELIGIBILITY, FaultDependency.AMOUNTS)
            yield Fault(path, problem, "the same demand", "Make them equal.", "logic", needs=needs)
        ours, theirs = eligibility.agents(delivery), eligibility.agents(pickup)
        if ours and theirs and ours.isdisjoint(theirs):
            path, problem = f"/tickets/{index}", "No agent may serve both the delivery and its pickup."
            accepted, hint, reason = "an agent for both", "Relax one of the two.", InfeasibilityReason.SKILL_OR_AGENT
            yield Fault(path, problem, accepted, hint, "logic", needs=(FaultDependency.ELIGIBILITY,), reason=reason)


def nonzero_demand(ticket: Ticket) -> dict[str, float]:
    """Return the demand without the dimensions in which there is none."""
    return {name: amount for name, amount in ticket.demand.items() if amount}


def late_pickups(scenario: Scenario) -> Iterator[Fault]:
    """Yield shipments that can be picked up only after they must be delivered."""
    for index, delivery, pickup in shipments(scenario):
        if not pickup.time_windows or not delivery.time_windows:
            continue
        ready = min(opens for opens, _ in pickup.time_windows) + pickup.service_time_s
        if ready > max(closes for _, closes in delivery.time_windows):
            problem = "The delivery closes before its pickup can be done."
            hint = "Widen this window or open the pickup earlier."
            yield Fault(f"/tickets/{index}/time_windows", problem, "a window after the pickup's", hint, "logic")


def separated_shipments(scenario: Scenario) -> Iterator[Fault]:
    """Yield shipments that can never be served, because both halves are kept apart or only one may be chosen."""
    pickups = {ticket.id: ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    lists = [(f"/incompatible/{index}", names) for index, names in enumerate(scenario.incompatible)]
    chosen = [
        (f"/groups/{i}/tickets", group.tickets) for i, group in enumerate(scenario.groups) if group.kind == "one_of"
    ]
    for path, names in [*lists, *chosen]:
        for at in _behind_their_pickups(names, pickups):
            problem = "The list holds a delivery and its pickup, which one agent must serve both."
            hint = "Remove one of the two from the list, or make alternatives a one_of group of each half."
            accepted = "at most one half of a shipment"
            # Certain without it; kept back with the other faults of eligibility.
            yield Fault(f"{path}/{at}", problem, accepted, hint, "logic", needs=(FaultDependency.ELIGIBILITY,))


def _behind_their_pickups(names: Sequence[str], pickups: dict[str, str]) -> Iterator[int]:
    members = set(names)
    return (at for at, name in enumerate(names) if pickups.get(name) in members)


def orphaned_shipment_halves(scenario: Scenario) -> Iterator[Fault]:
    """Yield alternatives that are one half of a shipment, where the other half is wanted whatever is chosen."""
    other = other_halves(scenario)
    groups = [(i, group.tickets) for i, group in enumerate(scenario.groups) if group.kind == "one_of"]
    excused = {name for _, names in groups for name in names}
    excused |= {ticket.id for ticket in scenario.tickets if ticket.penalty is not None}
    for index, names in groups:
        for at, name in enumerate(names):
            if name in other and other[name] not in excused:
                problem = "When another of the group is served, the other half of this shipment is still wanted."
                hint = "Make the other halves a one_of group too, or give them a penalty."
                yield Fault(f"/groups/{index}/tickets/{at}", problem, "", hint, "warning")
