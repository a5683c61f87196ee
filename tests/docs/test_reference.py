"""Generated pages are fresh, and what they are made of is described."""

from typing import Any

from docs.build import stale, tools_page
from planner_mcp.settings import Settings
from planner_mcp.vrp.day.model import Scenario


def test_reference_pages_are_fresh() -> None:
    """Our choice: run `make docs` after a change of settings, errors, tools or the scenario."""
    assert stale() == []


def test_every_setting_says_what_it_means() -> None:
    """Our choice: the reference has no blank line."""
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_every_field_of_a_day_says_what_it_means() -> None:
    """SPEC T1: unit and meaning; an id, and what has a table of its own, say it by their name."""
    whole: dict[str, Any] = Scenario.model_json_schema()
    models = {"Scenario": whole, **whole["$defs"]}
    fields = {f"{name}.{key}": field for name, model in models.items() for key, field in model["properties"].items()}
    silent = [path for path, field in fields.items() if "description" not in field and "$ref" not in field]
    assert [path for path in silent if not path.endswith(".id")] == []


def test_tools_page_names_the_arguments_that_are_not_typed() -> None:
    """SPEC T1: those of rarer days too."""
    assert "groups [{kind (one_of|all)" in tools_page()
