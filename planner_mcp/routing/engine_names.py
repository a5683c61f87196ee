"""The names of the engines that a caller can ask for.

Owns the one list of these names, which the tools' schemas show. The engines themselves are in `workers.engines`, which
this package does not import; a test compares the list with their registry. What each supports (`engine_features.py`)
stands apart, because an idle worker needs names and loads no problem.
"""

from typing import Final, Literal

EngineName = Literal["auto", "cuopt", "ortools", "pyvrp", "sisr"]
AUTO: Final[EngineName] = "auto"
"""Combines the engines that support the scenario."""
PROVE: Final = "prove"
"""Stands in the place of an engine in a job that proves a plan and searches none. No caller can choose it."""
PROVE_MAX_TICKETS: Final = 256
"""Tickets of a scenario up to which plans are proved: the sets of visited tickets have so many bits."""
