"""Checks on what a small body could grow into: pairs of tickets, dimensions, tables of travel.

Owns the bounds of what compiling makes of a day beyond what the body itself holds. What is counted here is never made.
"""

from collections.abc import Iterable, Iterator, Sized
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.checks.reference_checks import named_places
from planner_mcp.routing.scenario.scenario_model import Scenario

MAX_PAIRS: Final = 200_000
"""Pairs of tickets that exclude each other: one group of 632, or 2000 groups of 14. A pair takes about 100 bytes."""
MAX_DIMENSIONS: Final = 20
"""Dimensions of the whole day; each is a number of every agent and every ticket."""
MAX_TICKETS: Final = 10_000
"""Most tickets of a scenario where a deployment sets no limit."""
MAX_AGENTS: Final = 1000
"""Most agents of a scenario where a deployment sets no limit."""
MAX_CELLS: Final = 404_000_000
"""Numbers in all tables of travel, 4 bytes each: 10,000 tickets and their depots at three speeds, 14,200 places at
one."""


def too_many_pairs(scenario: Scenario) -> Iterator[Fault]:
    """Yield groups that exclude too many pairs of tickets, reported at the largest of them."""
    sizes = [len(names) for names in scenario.incompatible]
    if (pairs := pairs_of(scenario.incompatible)) > MAX_PAIRS:
        path = f"/incompatible/{sizes.index(max(sizes))}"
        hint = "Make the groups smaller: each ticket of a group takes an agent of its own."
        problem = f"The groups make {pairs} pairs of tickets that exclude each other."
        yield Fault(path, problem, f"at most {MAX_PAIRS} pairs in all groups together", hint, "logic")


def pairs_of(groups: Iterable[Sized]) -> int:
    """Return how many pairs of tickets groups make, one of two groups counted twice."""
    return sum(len(names) * (len(names) - 1) // 2 for names in groups)


def too_many_dimensions(scenario: Scenario) -> Iterator[Fault]:
    """Yield days with more kinds of capacity and demand than a plan keeps count of."""
    names = {name for agent in scenario.agents for name in agent.capacity}
    if (count := len(names.union(*(ticket.demand for ticket in scenario.tickets)))) > MAX_DIMENSIONS:
        problem = f"There are {count} different dimensions of capacity and demand."
        yield Fault("/agents", problem, f"at most {MAX_DIMENSIONS} in all", "Use the same names for all.", "logic")


def cells_for(max_tickets: int) -> int:
    """Return how many numbers the tables of travel may have where a day may have so many tickets.

    A deployment that lets in more tickets has room for their tables, at as many speeds; one that lets in fewer loses
    nothing by it.
    """
    return max(MAX_CELLS, MAX_CELLS * max_tickets**2 // MAX_TICKETS**2)


def matrices_too_large(scenario: Scenario, max_tickets: int = MAX_TICKETS) -> Iterator[Fault]:
    """Yield days whose tables of travel would have too many numbers: every place in use, once for each speed."""
    places = len(named_places(scenario))
    speeds = len({agent.speed_factor for agent in scenario.agents})
    most = cells_for(max_tickets)
    if (1 + speeds) * places**2 > most:
        problem = f"{places} locations in use, at {speeds} different speed_factor, need too large tables of travel."
        accepted = f"locations² · (1 + different speed_factor) up to {most}"
        hint = "Split the scenario, or use fewer reload_locations and rounder speed_factor."
        yield Fault("/agents", problem, accepted, hint, "logic")
