"""`planner-mcp keys` as an operator uses it."""

from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from planner_mcp.cli import app

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(database_url: str) -> Run:
    def command(*words: str) -> tuple[int, str]:
        ended = CliRunner().invoke(app, ["keys", *words, "--redis-url", database_url])
        return ended.exit_code, ended.output.strip()

    return command


def test_a_key_is_made_listed_and_revoked(run: Run) -> None:
    """SPEC A1: shown once, listed without its secret, gone when revoked."""
    status, key = run("create", "ada", "--scope", "planner:read", "--tenant", "acme")
    assert status == 0
    key_id = key.split("_")[1]
    _status, listed = run("list")
    mine = [line for line in listed.splitlines() if line.startswith(key_id)]
    assert len(mine) == 1 and mine[0].endswith("ada  acme  planner:read")
    assert key not in listed
    assert run("revoke", key_id)[0] == 0
    assert run("revoke", key_id) == (1, "no key has this id")
    assert run("create", "ada", "--scope", "root")[0] == 1
