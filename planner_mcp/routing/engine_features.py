"""Which features each engine supports.

Owns the one table; the engines in `workers.engines`, which this package does not import, read their features from it.
What an engine lacks beside that, in combinations and at sizes, is its own `missing`.
"""

from collections.abc import Mapping
from typing import Final

from planner_mcp.errors import Fault, UnsupportedFeatureError
from planner_mcp.routing.engine_names import AUTO, EngineName
from planner_mcp.routing.problem import Feature, Problem

ENGINE_FEATURES: Final[Mapping[EngineName, frozenset[Feature]]] = {
    "sisr": frozenset(Feature) - {Feature.RUSH_HOURS},
    "cuopt": frozenset(
        {
            Feature.MULTI_CAPACITY,
            Feature.TIME_WINDOWS,
            Feature.HETEROGENEOUS,
            Feature.TIME_COST,
            Feature.MULTI_DEPOT,
            Feature.OPEN_ROUTES,
            Feature.SHIFTS,
            Feature.MAX_DISTANCE,
            Feature.MAX_DURATION,
            Feature.MAX_STOPS,
            Feature.SKILLS,
            Feature.SHIPMENTS,
            Feature.OPTIONAL,
            Feature.PROFILES,
        }
    ),
    "pyvrp": frozenset(
        {
            Feature.MULTI_CAPACITY,
            Feature.TIME_WINDOWS,
            Feature.SETUP,
            Feature.HETEROGENEOUS,
            Feature.TIME_COST,
            Feature.MULTI_DEPOT,
            Feature.OPEN_ROUTES,
            Feature.SHIFTS,
            Feature.MAX_DISTANCE,
            Feature.MAX_DURATION,
            Feature.SKILLS,
            Feature.SHIPMENTS,
            Feature.PICKUPS,
            Feature.BACKHAUL,
            Feature.RELOAD,
            Feature.RELEASE,
            Feature.OPTIONAL,
            Feature.PROFILES,
        }
    ),
    "ortools": frozenset(
        {
            Feature.MULTI_CAPACITY,
            Feature.TIME_WINDOWS,
            Feature.MULTI_WINDOWS,
            Feature.SOFT_WINDOWS,
            Feature.SETUP,
            Feature.HETEROGENEOUS,
            Feature.TIME_COST,
            Feature.MULTI_DEPOT,
            Feature.OPEN_ROUTES,
            Feature.SHIFTS,
            Feature.BREAKS,
            Feature.OVERTIME,
            Feature.MAX_DISTANCE,
            Feature.MAX_DURATION,
            Feature.MAX_STOPS,
            Feature.SKILLS,
            Feature.INCOMPATIBLE,
            Feature.SHIPMENTS,
            Feature.PICKUPS,
            Feature.BACKHAUL,
            Feature.OPTIONAL,
            Feature.LOCKS,
            Feature.PREFERENCES,
            Feature.GROUPS,
            Feature.BALANCE,
            Feature.PROFILES,
            Feature.MIN_LOAD,
        }
    ),
}
"""Features by engine."""


def check_engine(engine: EngineName, problem: Problem) -> None:
    """Refuse an engine that lacks a feature of a problem. Rush hours are planned by every engine, through an adapter.

    Raises:
        UnsupportedFeatureError: With the features it lacks, and which engines have each of them.
    """
    if engine == AUTO or not (lacking := problem.features - ENGINE_FEATURES[engine] - {Feature.RUSH_HOURS}):
        return
    able = [
        name for name, features in ENGINE_FEATURES.items() if not problem.features - features - {Feature.RUSH_HOURS}
    ]
    table = "; ".join(
        f"{feature.value}: {', '.join(name for name, known in ENGINE_FEATURES.items() if feature in known) or 'none'}"
        for feature in sorted(lacking)
    )
    problem_text = f"{engine} cannot plan this scenario: it lacks {', '.join(sorted(lacking))}."
    fault = Fault("/engine", problem_text, ", ".join([AUTO, *able]), f"Engines that have them: {table}.")
    raise UnsupportedFeatureError(problem_text, errors=[fault])
