"""Checks on addresses that gave no position: what is there stays unserved, and no route can start there."""

from collections.abc import Iterator
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import NO_POSITION_FIX, InfeasibilityReason
from planner_mcp.routing.scenario.scenario_model import OpenAddress, Scenario
from planner_mcp.text import plain

OPEN_WORDS: Final = {"ambiguous": "ambiguous", "not_found": "not found", "partial": "not sure"}
"""What an open address is, by its status."""
_MAX_SHOWN: Final = 80


def tickets_without_position(scenario: Scenario) -> Iterator[Fault]:
    """Yield tickets whose address is open, each with what it may mean."""
    unknown = scenario.open_places
    for index, ticket in enumerate(scenario.tickets if unknown else ()):
        if (found := unknown.get(ticket.location)) is not None:
            yield Fault(
                f"/tickets/{index}/{'location' if ticket.address is None else 'address'}",
                "Its address gave no position.",
                "an address with its city and state or country, or a position",
                NO_POSITION_FIX,
                "logic",
                reason=InfeasibilityReason.NO_POSITION,
                which=(_seen(found),),
            )


def _seen(found: OpenAddress) -> str:
    choices = "; ".join(plain(each, _MAX_SHOWN) for each in found.candidates)
    status = OPEN_WORDS.get(found.status, found.status)
    return f"{status}: {choices}" if choices else status
