"""What a trip of an agent is judged by: hours and limits, what is forgiven, where a setup is certain.

Owns what `trips.py` and `locks.py` must judge alike. Agents alike share one duty, so that many cost no more than one.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Final

from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, end_of, start_of

SLACK_S: Final = 2.0
"""Forgiven when a direct trip is judged, because travel is rounded when the day is compiled."""


@dataclass(frozen=True, slots=True)
class AgentLimits:
    """All that decides whether an agent can make a direct trip."""

    start: str | None
    end: str | None
    opens: float
    closes: float
    max_duration: float
    max_distance: float
    speed: float
    reloads: tuple[str, ...] = ()

    @staticmethod
    def of(scenario: Scenario, agent: Agent) -> "AgentLimits":
        """Return the duty of an agent."""
        endless = float("inf")
        kilometres = endless if agent.max_distance_km is None else agent.max_distance_km * 1000
        return AgentLimits(
            start_of(scenario, agent),
            end_of(scenario, agent),
            agent.shift_start or 0.0,
            endless if agent.shift_end is None else agent.shift_end + agent.overtime_s,
            endless if agent.max_duration_s is None else agent.max_duration_s,
            kilometres if agent.max_distance_m is None else agent.max_distance_m,
            agent.speed_factor,
            agent.reload_locations if agent.max_reloads != 0 else (),
        )


def locations_with_certain_setup(scenario: Scenario) -> frozenset[str]:
    """Return where services begin with their setup: behind another ticket or a reload at the place it is not spent."""
    stops_by_location = Counter(ticket.location for ticket in scenario.tickets)
    stops_by_location.update(place for agent in scenario.agents for place in agent.reload_locations)
    return frozenset(ticket.location for ticket in scenario.tickets if stops_by_location[ticket.location] == 1)
