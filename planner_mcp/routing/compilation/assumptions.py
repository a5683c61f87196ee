"""The assumptions the planner makes for fields that a scenario leaves out, found without compiling all of it.

Owns no sentence. It compiles a small representative scenario (one location and one agent of each kind, no references)
and returns the assumptions of `compilation/scenario_compiler.py`. Compiling thousands of tickets for these sentences
would take seconds and hundreds of megabytes.
"""

from collections.abc import Hashable, Iterable
from typing import Any

from planner_mcp import arrays as np
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.scenario.checks.reference_checks import named_places
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket, end_of, start_of
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices


def assumptions_of(scenario: Scenario) -> tuple[str, ...]:
    """Return the assumptions about travel and open ends of a checked scenario, without those about rounding."""
    sketch = _representative_scenario(scenario)
    travel_matrices = scenario.travel_matrices
    if travel_matrices is None and scenario.refers_to_matrices:
        travel_matrices = _placeholder_matrices(sketch)
    return compile_scenario(sketch.with_travel_matrices(travel_matrices)).assumptions


def _placeholder_matrices(sketch: Scenario) -> TravelMatrices:
    """Return matrices of zeros, whose provenance states where the travel data will come from."""
    places = tuple(sorted(named_places(sketch)))
    nothing = np.zeros((len(places), len(places)))
    router = sketch.travel.router
    action = (
        "The stored matrix is read" if router is None else f"Travel times are requested from the road engine {router}"
    )
    return TravelMatrices(places, nothing, nothing, {"said": f"{action} when the scenario is solved."})


def _representative_scenario(scenario: Scenario) -> Scenario:
    places = {place.id: (place.lat is None, place.x is None) for place in scenario.locations}
    ends = {agent.id: (start_of(scenario, agent), end_of(scenario, agent)) for agent in scenario.agents}
    stops = [ticket.location for ticket in scenario.tickets] + [end for pair in ends.values() for end in pair if end]
    visited = _one_of_each((places.get(name), name) for name in stops)
    drivers = _one_of_each(((start is None, end is None), name) for name, (start, end) in ends.items())
    return Scenario.model_construct(
        name=scenario.name,
        planning_date=scenario.planning_date,
        agents=tuple(
            Agent.model_construct(id=name, capacity={}, start_location=ends[name][0], end_location=ends[name][1])
            for name in drivers
        ),
        tickets=tuple(Ticket.model_construct(id=name, location=name, demand={}) for name in visited),
        locations=scenario.locations,
        travel=scenario.travel.model_copy(update={"distances": None, "durations": None}),
    )


def _one_of_each(named: Iterable[tuple[Hashable, str]]) -> list[str]:
    """Return the first name of each kind."""
    found: dict[Any, str] = {}
    for kind, name in named:
        found.setdefault(kind, name)
    return list(found.values())
