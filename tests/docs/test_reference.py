"""Generated pages are fresh, and what they are made of is described."""

from typing import Any

from docs.build import codes_page, main, scenario_page, settings_page, tools_page
from planner_mcp.routing.feasibility.verified_fixes import FIX_KINDS
from planner_mcp.routing.infeasibility_reasons import REASON_TEXTS, REASONS, InfeasibilityReason
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.tools.answers.plan_pages import VIEWS
from planner_mcp.settings import Settings


def test_reference_pages_are_fresh() -> None:
    """Our choice: run `make docs` after a change of settings, errors, tools or the scenario."""
    assert main(["--check"]) == 0


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


def test_bounds_of_settings_stand_on_their_page() -> None:
    """Our choice: what is refused at the start can be read before; of a list each entry, of a choice all words."""
    page = settings_page()
    for name, accepted in {
        "POOLS": "1…64",
        "LOG_LEVEL": "`debug` or `info` or `warning` or `error`",
        "REPLICATION_WAIT_S": ">0…2.5",
        "WEBHOOK_ALLOW_PORTS": "each 1…65535",
        "AUTH_TYPES": "at least 1 item",
    }.items():
        (row,) = (line for line in page.splitlines() if line.startswith(f"| `PLANNER_{name}` |"))
        assert f" | {accepted} | " in row
    assert "| `block` |  | integer | Largest number of origins, and of targets, of one request; 1…1000;" in page


def test_bounds_of_arguments_stand_on_their_page() -> None:
    """SPEC T6: lengths of lists, and bounds of what may be null."""
    assert "these agents; at most 50 items; each at most 100 characters; e.g." in tools_page()
    assert "of revisions the latest; 2…6 items; each at most 100 characters; e.g." in tools_page()
    assert "| `decimals` |  | integer |" in scenario_page() and "all with matrices; 0…3 |" in scenario_page()


def test_every_code_of_advice_stands_on_a_page() -> None:
    """SPEC T5: what plans, explain_unassigned and suggest_fixes answer can be looked up, and nothing else is there."""
    page = codes_page()
    assert list(REASON_TEXTS) == list(InfeasibilityReason)
    of_agents = {code for code, words in REASONS.items() if words.limit}
    assert FIX_KINDS.keys() == {*of_agents, "TIME_WINDOW", "SKILL_OR_AGENT", "NONE", "ADD_AGENT", "PENALTY"}
    for meanings in (REASON_TEXTS, FIX_KINDS):
        assert [word for word, meaning in meanings.items() if f"| `{word}` | {meaning} |" not in page] == []
    columns = {column for view in VIEWS.values() for column in view.columns}
    assert [column for column in columns if f"`{column}`" not in page] == []


def test_columns_that_come_unasked_stand_apart() -> None:
    """SPEC T5: lateness and overtime are shown without being asked for where there is any."""
    rows = {name: line.split(" | ") for name in VIEWS for line in codes_page().splitlines() if f"| `{name}` |" in line}
    for name, view in VIEWS.items():
        assert rows[name][2].strip(" |") == ", ".join(f"`{column}`" for column in view.if_any), name
    assert ("late_s" in rows["visits"][2], "overtime_s" in rows["routes"][2]) == (True, True)
