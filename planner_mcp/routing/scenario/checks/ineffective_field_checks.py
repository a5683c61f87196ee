"""Checks on fields that change nothing as the day stands: another would have to give them their meaning."""

from collections.abc import Iterator
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.scenario_model import Scenario

_NEEDS: Final = {
    "agents": {
        "overtime_s": "shift_end",
        "overtime_cost_per_hour": "overtime_s",
        "max_reloads": "reload_locations",
    },
    "tickets": {
        "lateness_cost_per_hour": "soft_close",
        "preferred_agent": "switch_cost",
        "switch_cost": "preferred_agent",
    },
}
"""By list and field: the field without which it has no effect."""


def fields_without_effect(scenario: Scenario) -> Iterator[Fault]:
    """Yield fields without the one that gives them their meaning; whose a ticket is may count in a day under way."""
    for section, needs in _NEEDS.items():
        for index, entry in enumerate(getattr(scenario, section)):
            for field, needed in needs.items():
                is_missing = getattr(entry, needed) == type(entry).model_fields[needed].default
                is_held = field == "preferred_agent" and scenario.held is not None
                if getattr(entry, field) and is_missing and not is_held:
                    problem, hint = f"Without {needed} this has no effect.", f"Set {needed}, or remove this."
                    yield Fault(f"/{section}/{index}/{field}", problem, "", hint, "warning")


def soft_closes_without_effect(scenario: Scenario) -> Iterator[Fault]:
    """Yield promises that no visit can break, because no window is open after them."""
    for index, ticket in enumerate(scenario.tickets):
        closes = max((close for _, close in ticket.time_windows), default=None)
        if closes is None or ticket.soft_close is None or not ticket.lateness_cost_per_hour:
            continue
        if ticket.soft_close >= closes:
            problem = "No window is open after soft_close, so it has no effect."
            hint = "Set it before the last window closes."
            yield Fault(f"/tickets/{index}/soft_close", problem, "", hint, "warning")


def soft_closes_without_cost(scenario: Scenario) -> Iterator[Fault]:
    """Yield promises that cost nothing to break."""
    for index, ticket in enumerate(scenario.tickets):
        if ticket.soft_close is not None and ticket.lateness_cost_per_hour == 0:
            problem = "Being late costs nothing, so soft_close has no effect."
            yield Fault(f"/tickets/{index}/soft_close", problem, "", "Set lateness_cost_per_hour.", "warning")


def group_penalties_without_effect(scenario: Scenario) -> Iterator[Fault]:
    """Yield penalties of groups that have none of their own: leaving out all of them costs what its tickets cost."""
    for index, group in enumerate(scenario.groups):
        if group.kind == "all" and group.penalty is not None:
            problem, hint = "A group of kind all has no penalty, so this has no effect.", "Give its tickets a penalty."
            yield Fault(f"/groups/{index}/penalty", problem, "", hint, "warning")
