"""Checks on tickets chosen together or kept apart, where they are halves of shipments, and on prices of groups."""

from collections.abc import Iterator, Sequence

from planner_mcp.errors import Fault
from planner_mcp.vrp.day.model import Scenario


def torn_shipments(scenario: Scenario) -> Iterator[Fault]:
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
            yield Fault(f"{path}/{at}", problem, "at most one half of a shipment", hint, "logic")


def _behind_their_pickups(names: Sequence[str], pickups: dict[str, str]) -> Iterator[int]:
    held = set(names)
    return (at for at, name in enumerate(names) if pickups.get(name) in held)


def halves_left_over(scenario: Scenario) -> Iterator[Fault]:
    """Yield alternatives that are one half of a shipment, where the other half is wanted whatever is chosen."""
    other = {ticket.id: ticket.pickup for ticket in scenario.tickets if ticket.pickup is not None}
    other |= {pickup: name for name, pickup in other.items()}
    groups = [(i, group.tickets) for i, group in enumerate(scenario.groups) if group.kind == "one_of"]
    excused = {name for _, names in groups for name in names}
    excused |= {ticket.id for ticket in scenario.tickets if ticket.penalty is not None}
    for index, names in groups:
        for at, name in enumerate(names):
            if name in other and other[name] not in excused:
                problem = "When another of the group is served, the other half of this shipment is still wanted."
                hint = "Make the other halves a one_of group too, or give them a penalty."
                yield Fault(f"/groups/{index}/tickets/{at}", problem, "", hint, "warning")


def idle_penalties(scenario: Scenario) -> Iterator[Fault]:
    """Yield penalties of groups that have none of their own: leaving out all of them costs what its tickets cost."""
    for index, group in enumerate(scenario.groups):
        if group.kind == "all" and group.penalty is not None:
            problem, hint = "A group of kind all has no penalty, so this has no effect.", "Give its tickets a penalty."
            yield Fault(f"/groups/{index}/penalty", problem, "", hint, "warning")
