"""`planner-mcp bridge check`: what an operator sees before a bridge is served."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from examples.bridged_orders import FOLDER
from planner_mcp.cli.command_line import app
from planner_mcp.translation import use_language
from tests.shared.bridge.bridge_documents import config, document, json_body, written


def _check(path: Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["bridge", "check", str(path)])
    return done.exit_code, done.output


def test_the_report_names_each_tool_with_its_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O5, T9: tokens by tool and in all; the secret need not be there."""
    monkeypatch.delenv("ORDER_BOOK_KEY", raising=False)
    code, said = _check(FOLDER / "bridge.yaml")
    assert code == 0
    first, second, last = said.splitlines()
    assert first.startswith("ok ") and "open_orders (reads): The orders" in first
    assert "record_delivery (writes)" in second
    assert last.endswith("of 2400 tokens in all")


def test_an_offer_that_is_too_large_says_what_to_leave_out(tmp_path: Path) -> None:
    """SPEC O5: exit status 1, and the arguments that cost most."""
    long = {"type": "string", "description": "x " * 150}
    body = json_body({"type": "object", "properties": {"a": {"type": "string"}, "long": long}})
    tool = {"operation": "post_a", "effect": "destroy"}
    code, said = _check(written(tmp_path, document(post_a=body), config(tool, budget_tokens=100)))
    assert code == 1
    assert "post_a (destroys)" in said and "BAD" in said
    assert "post_a: hide long (" in said.splitlines()[-2]


def test_a_faulty_configuration_ends_with_its_faults(tmp_path: Path) -> None:
    """SPEC T7: exit status 1, the code, a line a fault."""
    code, said = _check(written(tmp_path, document(), config({"operation": "absent"}, base_url="http://10.0.0.1")))
    assert (code, said.startswith("error 4001 InvalidParameter: /tools/0/operation: ")) == (1, True)


def test_refusals_of_commands_are_in_the_language_of_the_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T11: PLANNER_LANG; values stay."""
    monkeypatch.setenv("PLANNER_LANG", "zh")
    absent = config({"operation": "absent"}, base_url="https://orders.example.com")
    try:
        code, said = _check(written(tmp_path, document(), absent))
    finally:
        use_language("en")
    assert code == 1
    assert "文档中没有操作 absent。" in said
