"""What a deployment offers, in a word that changes with it."""

from pathlib import Path
from typing import Any

from planner_mcp.server.mcp.notifications.list_capabilities import ListCapabilities
from planner_mcp.settings import Settings


def test_fingerprints_are_the_same_in_every_process_and_differ_between_lists(tmp_path: Path) -> None:
    """SPEC T9: what is shown, what may be switched on, and whether there are reports."""

    def of(**settings: Any) -> dict[str, str]:
        return ListCapabilities(Settings(**settings)).fingerprints()

    assert of() == of()
    assert of(toolsets="core,data")["tools"] != of()["tools"] != of(toolsets_allowed="core")["tools"]
    assert of(reports_dir=tmp_path)["resources"] != of()["resources"]
    assert of(reports_dir=tmp_path)["prompts"] == of()["prompts"]
