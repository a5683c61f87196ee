"""A store that answers and takes no writes: an operator is told why, in a sentence (SPEC O3)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.errors import StoreUnavailableError
from tests.shared.store.valkey_server import Valkey

REFUSING = [
    ({"replicaof": "127.0.0.1 1"}, "READONLY", "The job store is a replica"),
    ({"maxmemory": "100kb"}, "OOM", "raise its maxmemory"),
    ({"min_replicas_to_write": "1"}, "NOREPLICAS", "min-replicas-to-write"),
]


@pytest.mark.parametrize(("options", "word", "why"), REFUSING, ids=[word for _options, word, _why in REFUSING])
def test_the_cause_is_printed_when_the_store_takes_no_writes(
    options: dict[str, Any], word: str, why: str, tmp_path: Path
) -> None:
    """SPEC O3, A3: by `doctor`, and by `serve`, which does not start: its log is JSON, without a stack trace."""
    with Valkey(tmp_path / "store", **options) as valkey:
        status, printed = cli_output(valkey.url, tmp_path, "doctor")
        assert (status, why in printed) == (1, True), printed
        status, printed = cli_output(valkey.url, tmp_path, "serve")
    lines = [json.loads(line)["message"] for line in printed.splitlines()]
    assert (status, why in lines[-1], "Traceback" in printed) == (1, True, False)
    assert [line for line in lines if "refuses" in line] in ([], [f"the job store refuses: {word}"])


@pytest.mark.parametrize("command", [("doctor",), ("serve",), ("keys", "list")], ids=lambda words: words[0])
def test_missing_permissions_of_the_store_user_are_reported(command: tuple[str, ...], tmp_path: Path) -> None:
    """SPEC O3: it did answer, and trying again is of no use."""
    with Valkey(tmp_path / "store") as valkey:
        valkey.ask("ACL", "SETUSER", "ada", "on", ">s3cret", "~none:*", "&*", "+@all")
        status, printed = cli_output(valkey.url.replace("//", "//ada:s3cret@"), tmp_path, *command)
    assert (status, "The user in PLANNER_REDIS_URL may not" in printed) == (1, True), printed
    assert "s3cret" not in printed and "Traceback" not in printed


def test_doctor_reports_that_the_user_may_not_wait_for_a_replica(tmp_path: Path) -> None:
    """SPEC O3, J7: submits are refused for that, though the store takes writes."""
    with Valkey(tmp_path / "store") as valkey:
        valkey.ask("ACL", "SETUSER", "ada", "on", ">s3cret", "~*", "&*", "+@all", "-wait")
        url = valkey.url.replace("//", "//ada:s3cret@")
        status, printed = cli_output(url, tmp_path, "doctor", PLANNER_REPLICATION="wait")
    assert (status, "The user in PLANNER_REDIS_URL may not" in printed, "takes writes" in printed) == (
        1,
        True,
        False,
    ), printed


def test_a_store_that_greets_and_writes_nothing_in_time_is_not_available(tmp_path: Path) -> None:
    """SPEC O3, J7: its address is right, and trying again is of use."""
    with Valkey(tmp_path / "store") as valkey:
        valkey.ask("CLIENT", "PAUSE", "60000", "WRITE")
        status, printed = cli_output(valkey.url, tmp_path, "doctor")
    assert (status, StoreUnavailableError.summary in printed, "PLANNER_REDIS_URL" in printed) == (1, True, False), (
        printed
    )


def test_a_worker_that_may_not_says_so_without_a_stack_trace(tmp_path: Path) -> None:
    """SPEC O3, A3: it meets the refusal inside its groups of tasks; its log stays one JSON object a line."""
    with Valkey(tmp_path / "store") as valkey:
        valkey.ask("ACL", "SETUSER", "ada", "on", ">s3cret", "~*", "&*", "+@all", "-eval", "-evalsha")
        env = {
            **os.environ,
            "PLANNER_REDIS_URL": valkey.url.replace("//", "//ada:s3cret@"),
            "PLANNER_DATA_DIR": str(tmp_path),
        }
        ended = subprocess.run(
            [sys.executable, "-m", "workers"], env=env, capture_output=True, text=True, timeout=110, check=False
        )
    lines = [json.loads(line)["message"] for line in ended.stderr.splitlines()]
    assert (ended.returncode, lines[-1]) == (
        os.EX_UNAVAILABLE,
        "the store cannot be used: The user in PLANNER_REDIS_URL may not do there what the planner does.",
    ), ended.stderr
    assert "the job store refuses: NOPERM" in lines


def cli_output(url: str, folder: Path, *command: str, **variables: str) -> tuple[int, str]:
    """Return the exit status of a command and what it says."""
    env = {"PLANNER_REDIS_URL": url, "PLANNER_DATA_DIR": str(folder), "PLANNER_PORT": "0", "PLANNER_WORKERS": "0"}
    printed = CliRunner().invoke(app, command, env=env | variables)
    return printed.exit_code, printed.output
