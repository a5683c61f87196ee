"""What is on board and which way it goes, read from a scenario and its plan.

Owns the reading of amounts for every page. A route is as full as its fullest dimension is at the fullest moment.
"""

from collections.abc import Collection, Mapping
from typing import Any

from planner_mcp.routing.plan import PlannedRoute
from planner_mcp.routing.scenario.field_types import read_amount
from planner_mcp.routing.scenario.shown_scenario import ShownScenario


def picked_up(scenario: ShownScenario) -> frozenset[str]:
    """Return the ids of the tickets that put something on board: of kind `pickup`, or named by another's `pickup`."""
    named = {ticket.get("pickup") for ticket in scenario["tickets"]}
    tickets = scenario["tickets"]
    return frozenset(each["id"] for each in tickets if each["id"] in named or each.get("kind") == "pickup")


def load_ratio(route: PlannedRoute, capacity: Any, demands: Mapping[str, Any], pickups: Collection[str]) -> float:
    """Return the largest share of a capacity that is on board at any moment; a dimension without room is none.

    Args:
        capacity: Of its agent, a number or an object of them.
        demands: The same of each ticket, by id.
        pickups: As `picked_up` returns.
    """
    room = {name: most for name, most in read_amount(capacity).items() if most > 0}
    boards = [visit.load for visit in route.visits]
    boards.append(load_at_start(route, demands, pickups))
    return max((board.get(name, 0.0) / most for board in boards for name, most in room.items()), default=0.0)


def load_at_start(route: PlannedRoute, demands: Mapping[str, Any], pickups: Collection[str]) -> dict[str, float]:
    """Return what is on board, by dimension, when a route begins."""
    if not route.visits:
        return {}
    first = route.visits[0]
    moved = {} if first.ticket_id is None else read_amount(demands[first.ticket_id])
    sign = -1 if first.ticket_id in pickups else 1
    return {name: load + sign * moved.get(name, 0.0) for name, load in first.load.items()}
