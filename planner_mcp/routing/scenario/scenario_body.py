"""The two JSON objects of a scenario that stay as their caller wrote them, by name.

Owns the names and nothing at run time. A body is kept as it was written, and not as `Scenario` reads it, because a
caller patches what they wrote: `08:30` or seconds, a bare capacity or one by dimension, a field that is absent or null.
Whoever asks what a day means reads it as a `Scenario` (`scenario_model.py`), whoever shows it as a `ShownScenario`.
"""

from planner_mcp.text import Json

ScenarioBody = Json
"""A scenario as it was sent, or as it is stored; unless it is stored, nobody has checked it."""
ScenarioPatch = Json
"""A change of a scenario's body: a JSON merge patch in the dialect of `scenario_patch.py`."""
