"""What `serve` refuses and says without authorization (SPEC A3)."""

import json
from typing import Any

import pytest

from tests.shared.cli.command_runs import run_command_line

NOWHERE = "redis://127.0.0.1:1"
"""A store that does not answer: the command says what it has to say, and ends."""


def serve(*options: str, **settings: str) -> tuple[int, str, list[dict[str, Any]]]:
    """Run `planner-mcp serve` until it ends; return its status, what it said, and the lines about authorization."""
    variables = {f"PLANNER_{name}": value for name, value in settings.items()}
    ended = run_command_line("serve", "--port", "0", "--redis-url", NOWHERE, *options, **variables)
    return ended.exit_code, ended.stderr, log_lines(ended.stderr)


def log_lines(log: str) -> list[dict[str, Any]]:
    """Return the lines of a log that speak of authorization."""
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    return [line for line in lines if "authorization" in line["message"]]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "planner.example", "192.0.2.7"])  # noqa: S104 - to be refused
def test_another_address_is_refused(host: str) -> None:
    """SPEC A3: whichever way it is given, and the refusal names the way out."""
    for status, said, lines in (serve("--host", host), serve(HOST=host)):
        assert status == 2
        assert "--insecure" in said and host in said
        assert lines == []


def test_insecure_says_it_aloud() -> None:
    """SPEC A3: one warning, then it goes on; here as far as its store, which is away."""
    status, _said, lines = serve("--host", "0.0.0.0", "--insecure")  # noqa: S104 - never gets as far as listening
    assert status == 1
    assert [(line["level"], line["message"]) for line in lines] == [
        ("warning", "no authorization configured: one user, anybody who can reach this address")
    ]


def test_with_authorization_any_address_is_accepted_without_a_warning() -> None:
    """SPEC A3: the line is about its absence."""
    status, _said, lines = serve("--host", "0.0.0.0", AUTH_API_KEYS="true")  # noqa: S104 - never listens
    assert status == 1
    assert lines == []
