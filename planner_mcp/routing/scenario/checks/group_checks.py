"""Checks on groups of tickets: what they name, and what they share."""

from collections.abc import Iterator

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.scenario_model import Scenario


def invalid_groups(scenario: Scenario) -> Iterator[Fault]:
    """Yield groups that are empty, name a ticket twice, or share one with another group of alternatives."""
    taken: set[str] = set()
    for index, group in enumerate(scenario.groups):
        path = f"/groups/{index}/tickets"
        if not group.tickets:
            yield Fault(path, "The group is empty.", "ids of tickets", "Add tickets or remove the group.", "logic")
        if len(set(group.tickets)) < len(group.tickets):
            yield Fault(path, "The group names a ticket twice.", "each ticket once", "Remove the repetition.", "logic")
        if group.kind == "one_of" and not taken.isdisjoint(group.tickets):
            problem = "A ticket of this group already is in another one_of group."
            yield Fault(path, problem, "each ticket in one such group", "Join the groups or split the ticket.", "logic")
        taken.update(group.tickets if group.kind == "one_of" else ())
