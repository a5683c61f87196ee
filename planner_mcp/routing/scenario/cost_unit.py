"""What the costs of a day are in, for those who show them."""

from typing import Final

from planner_mcp.routing.scenario.shown_scenario import ShownScenario

METRES: Final = "metres"
"""Where no agent has a price by km or hour."""


def cost_unit(scenario: ShownScenario) -> str | None:
    """Return the currency that a scenario names, `METRES` where it has no prices; None where nobody says."""
    agents = scenario.get("agents", ())
    if currency := (scenario.get("options") or {}).get("currency"):
        return currency
    prices = ("cost_per_km", "cost_per_hour")
    return None if not agents or any(name in agent for agent in agents for name in prices) else METRES
