"""What a scenario leaves open and the planner assumes, told without measuring the whole day.

Owns no sentence: it compiles a sketch of the day (one place and one agent of each kind, nothing that refers to anything
else) and hands on what `compile/compiler.py` says about it. Compiling thousands of tickets for a sentence would cost
seconds and hundreds of megabytes.
"""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.scenario.checks.reference_checks import named_places
from planner_mcp.routing.scenario.scenario_model import Agent, Scenario, Ticket, end_of, start_of
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices


def assumptions_of(scenario: Scenario) -> tuple[str, ...]:
    """Return what is assumed of travel and open ends on a day that `checks/logic.py` accepted; roundings come later."""
    sketch = _representative_scenario(scenario)
    travel_matrices = scenario.travel_matrices
    if travel_matrices is None and scenario.refers_to_matrices:
        travel_matrices = _placeholder_matrices(sketch)
    return compile_scenario(sketch.with_travel_matrices(travel_matrices)).assumptions


def _placeholder_matrices(sketch: Scenario) -> TravelMatrices:
    """Return tables that say nothing but where travel will come from."""
    places = tuple(sorted(named_places(sketch)))
    nothing = np.zeros((len(places), len(places)))
    router = sketch.travel.router
    asked = "The matrix of this day is looked up" if router is None else f"Travel is asked of the road engine {router}"
    return TravelMatrices(places, nothing, nothing, {"said": f"{asked} when the day is solved."})


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
