"""What adapters of engines have in common: each runs an engine on problems without one of their features.

Owns how such an engine presents itself. What becomes of its plans is the adapter's.
"""

from planner_mcp.routing.problem import Feature
from workers.engines.engine_interface import Engine


class AdaptedEngine:
    """An engine with one more feature; `solve` is its subclasses'.

    Args:
        engine: Supports every other feature of the problem.
        feature: What it gains.
    """

    def __init__(self, engine: Engine, feature: Feature) -> None:
        self.engine = engine
        self.name = engine.name
        self.features = engine.features | {feature}
        self.is_deterministic = engine.is_deterministic

    def is_available(self) -> bool:
        """Return whether the engine is available."""
        return self.engine.is_available()

    def versions(self) -> dict[str, str]:
        """Return the versions of the engine."""
        return self.engine.versions()
