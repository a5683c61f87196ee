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


def self_excluding_groups(scenario: Scenario) -> Iterator[Fault]:
    """Yield `one_of` groups with two tickets that `all` groups serve only together: none of these is ever served."""
    leader: dict[str, str] = {}
    for group in scenario.groups:
        if group.kind == "all":
            leaders = [_leader_of(name, leader) for name in group.tickets]
            leader.update(dict.fromkeys(leaders, leaders[0]) if leaders else {})
    for index, group in enumerate(scenario.groups):
        seen = set[str]()
        for at, name in enumerate(group.tickets if group.kind == "one_of" else ()):
            first = _leader_of(name, leader)
            if first in seen and name not in group.tickets[:at]:
                problem = (
                    "Another group serves this ticket only with one that this group excludes, so neither is served."
                )
                yield Fault(
                    f"/groups/{index}/tickets/{at}", problem, "", "Take it out of one of the groups.", "warning"
                )
                break
            seen.add(first)


def _leader_of(name: str, leader: dict[str, str]) -> str:
    """Return the ticket that stands for all that are served together with one; ways to it are made shorter."""
    while (above := leader.setdefault(name, name)) != name:
        leader[name] = leader[above]
        name = above
    return name
