"""What is on board and which way it goes, read from a scenario and its plan.

Owns the reading of amounts for every page. A route is as full as its fullest dimension is at the fullest moment.
"""

from collections.abc import Collection
from typing import Any

from planner_mcp.routing.plan import PlannedRoute, Visit
from planner_mcp.routing.scenario.field_types import read_amount

Json = dict[str, Any]


def picked_up(scenario: Json) -> frozenset[str]:
    """Return the ids of the tickets that put something on board: of kind `pickup`, or named by another's `pickup`."""
    named = {ticket.get("pickup") for ticket in scenario["tickets"]}
    tickets = scenario["tickets"]
    return frozenset(each["id"] for each in tickets if each["id"] in named or each.get("kind") == "pickup")


def load_ratio(route: PlannedRoute, capacity: Any, demands: dict[str, Any], pickups: Collection[str]) -> float:
    """Return the largest share of a capacity that is on board at any moment; a dimension without room is none.

    Args:
        route: One of a plan.
        capacity: Of its agent, a number or an object of them.
        demands: The same of each ticket, by id.
        pickups: As `picked_up` tells.
    """
    room = {name: most for name, most in read_amount(capacity).items() if most > 0}
    boards = [visit.load for visit in route.visits]
    boards += [_before(visit, demands, pickups) for visit in route.visits[:1]]
    return max((board.get(name, 0.0) / most for board in boards for name, most in room.items()), default=0.0)


def _before(visit: Visit, demands: dict[str, Any], pickups: Collection[str]) -> dict[str, float]:
    """Return what is on board before a visit that may drop something."""
    ticket = visit.ticket_id
    dropped = {} if ticket is None or ticket in pickups else read_amount(demands[ticket])
    return {name: load + dropped.get(name, 0.0) for name, load in visit.load.items()}
