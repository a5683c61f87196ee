"""The language that a scenario is written in, which its printed pages and what its drivers read are in (SPEC T5).

Owns this judgement. A scenario names no language: it is Chinese where at least a third of the letters that people wrote
(names, addresses, notes) are Chinese characters, else English.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from planner_mcp.routing.scenario.shown_scenario import ShownScenario
from planner_mcp.text import MASK

Language = Literal["en", "zh"]


def language_of(scenario: ShownScenario) -> Language:
    """Return the language that a scenario is written in."""
    letters = [letter for text in _texts(scenario) for letter in text if letter.isalpha()]
    chinese = sum("\u3400" <= letter <= "\u9fff" for letter in letters)
    return "zh" if chinese and 3 * chinese >= len(letters) else "en"


def _texts(scenario: ShownScenario) -> Iterator[str]:
    """Yield what people wrote: no ids, which are codes as often as names, but the name of the day."""
    yield str(scenario.get("name", ""))
    yield from _of(scenario.get("locations") or (), "name", "address")
    yield from _of(scenario["tickets"], "name", "address", "notes")


def _of(records: Iterable[Mapping[str, Any]], *names: str) -> Iterator[str]:
    for record in records:
        yield from (text for name in names if (text := record.get(name)) and text != MASK)
