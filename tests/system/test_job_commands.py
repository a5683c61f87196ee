"""`planner-mcp jobs` beside a running server, on the same data folder."""

import json
from pathlib import Path

import anyio
import pytest
from click.testing import Result
from mcp import Client
from typer.testing import CliRunner

from examples.planner_server import PlannerServer
from planner_mcp.cli.commands import app
from tests.shared.scenarios.client_scenarios import ring, submit

pytestmark = pytest.mark.anyio
UNKNOWN = "job-0-aaaaaaaaaaaaaaaaaaaaaaaaaa"


async def _jobs(server_dir: Path, *command: str) -> Result:
    """Run `planner-mcp jobs …` in this process, in a thread."""
    given = ["jobs", *command, "--data-dir", str(server_dir)]
    return await anyio.to_thread.run_sync(lambda: CliRunner().invoke(app, given))


async def test_a_job_is_watched_to_its_end_and_listed(server: PlannerServer, server_dir: Path) -> None:
    """SPEC J3, J5: every event once and in order, as text and as JSON alone on standard output."""
    async with Client(server.mcp) as client:
        job_id = await submit(client, ring(8), "PT1S", fresh=True)
    watched = await _jobs(server_dir, "watch", job_id, "--json")
    events = [json.loads(line) for line in watched.stdout.splitlines()]
    assert watched.exit_code == 0
    assert (events[0]["status"], events[-1]["status"]) == ("QUEUED", "COMPLETED")
    shown = await _jobs(server_dir, "wait", job_id)
    assert (shown.exit_code, shown.stdout.split()[:2]) == (0, [job_id, "COMPLETED"])
    listed = await _jobs(server_dir, "list", "--state", "completed", "--count", "1000", "--json")
    assert job_id in {json.loads(line)["job_id"] for line in listed.stdout.splitlines()}


async def test_a_job_is_cancelled_or_finished_from_a_shell(server: PlannerServer, server_dir: Path) -> None:
    """SPEC T4: the exit status of a wait says whether there is a plan."""
    async with Client(server.mcp) as client:
        dropped = await submit(client, ring(), "PT60S", fresh=True)
        kept = await submit(client, ring(), "PT60S", fresh=True)
    assert (await _jobs(server_dir, "cancel", dropped)).exit_code == 0
    assert (await _jobs(server_dir, "wait", dropped)).exit_code == 1
    assert (await _jobs(server_dir, "finish", kept)).exit_code == 0
    assert (await _jobs(server_dir, "wait", kept)).exit_code == 0


@pytest.mark.parametrize("command", ["status", "wait", "watch", "cancel", "finish"])
@pytest.mark.parametrize("job_id", [UNKNOWN, "no id", ""])
async def test_an_unknown_job_is_one_line_and_status_1(
    server: PlannerServer, server_dir: Path, command: str, job_id: str
) -> None:
    """SPEC T7: no traceback, nothing on standard output."""
    refused = await _jobs(server_dir, command, job_id)
    assert (refused.exit_code, refused.stdout, type(refused.exception)) == (1, "", SystemExit)
    assert refused.stderr.count("\n") == 1
