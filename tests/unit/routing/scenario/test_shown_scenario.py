"""The types of a shown scenario name nothing that the schema of a scenario lacks."""

from typing import get_type_hints, is_typeddict

import pytest

from planner_mcp.routing.scenario import shown_scenario
from planner_mcp.routing.scenario.scenario_model import Scenario

SCHEMA = Scenario.model_json_schema()
SHOWN = {
    name.removeprefix("Shown"): shown
    for name, shown in vars(shown_scenario).items()
    if is_typeddict(shown) and name != "ShownTicketFields"
}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_keys_of_a_shown_part_are_fields_of_the_schema(name: str) -> None:
    """Our choice: what a reader of a scenario's JSON may look up exists, and what it takes for granted is required."""
    shown, part = SHOWN[name], SCHEMA if name == "Scenario" else SCHEMA["$defs"][name]
    keys = set(get_type_hints(shown))
    assert keys <= part["properties"].keys()
    filled_in = {"location"} if name == "Ticket" else set()
    assert shown.__required_keys__ == keys & {*part.get("required", ()), *filled_in}


def test_every_kind_of_part_that_readers_take_is_held_against_the_schema() -> None:
    """Our choice: a part that is added to the types is added to the comparison."""
    assert sorted(SHOWN) == ["Agent", "Location", "Options", "ResolvedPosition", "Scenario", "Ticket", "Travel"]
