"""Which features each engine supports.

Owns the one table; the engines in `workers.engines`, which this package does not import, read their features from it.
What an engine lacks beside that, in combinations and at sizes, is its own `missing`.
"""

from collections.abc import Mapping
from typing import Final

from planner_mcp.errors import Fault, UnsupportedFeatureError
from planner_mcp.routing.engine_names import AUTO, EngineName
from planner_mcp.routing.problem import Feature, Problem

_OF_ALL: Final = frozenset(
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
        Feature.SKILLS,
        Feature.SHIPMENTS,
        Feature.OPTIONAL,
        Feature.PROFILES,
    }
)
"""What every engine supports."""
ENGINE_FEATURES: Final[Mapping[EngineName, frozenset[Feature]]] = {
    "sisr": frozenset(Feature) - {Feature.RUSH_HOURS},
    "cuopt": _OF_ALL | {Feature.MAX_STOPS},
    "pyvrp": _OF_ALL | {Feature.SETUP, Feature.PICKUPS, Feature.BACKHAUL, Feature.RELOAD, Feature.RELEASE},
    "ortools": frozenset(Feature) - {Feature.RUSH_HOURS, Feature.RELOAD, Feature.RELEASE},
}
"""Features by engine."""


def check_engine(engine: EngineName, problem: Problem) -> None:
    """Refuse an engine that lacks a feature of a problem. Rush hours are planned by every engine, through an adapter.

    Raises:
        UnsupportedFeatureError: With the features it lacks, and which engines have each of them.
    """
    needed = problem.features - {Feature.RUSH_HOURS}
    if engine == AUTO or not (lacking := needed - ENGINE_FEATURES[engine]):
        return
    able = [name for name, features in ENGINE_FEATURES.items() if needed <= features]
    table = "; ".join(
        f"{feature.value}: {', '.join(name for name, known in ENGINE_FEATURES.items() if feature in known) or 'none'}"
        for feature in sorted(lacking)
    )
    problem_text = f"{engine} cannot plan this scenario: it lacks {', '.join(sorted(lacking))}."
    fault = Fault("/engine", problem_text, ", ".join([AUTO, *able]), f"Engines that have them: {table}.")
    raise UnsupportedFeatureError(problem_text, errors=[fault])
