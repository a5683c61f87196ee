"""Generated pages are fresh, and what they are made of is described."""

from docs.build import stale
from planner_mcp.settings import Settings


def test_reference_pages_are_fresh() -> None:
    """Our choice: run `make docs` after a change of settings, errors, tools or the scenario."""
    assert stale() == []


def test_every_setting_says_what_it_means() -> None:
    """Our choice: the reference has no blank line."""
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
