"""`planner-mcp jobs` beside a running server on the same data folder, and against it by its URL."""

import json
import signal
import sys
from pathlib import Path

import anyio
import pytest
from click.testing import Result
from mcp import Client
from typer.testing import CliRunner

from examples.planner_server import PlannerServer, running_server
from planner_mcp.cli.command_line import app
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use

pytestmark = pytest.mark.anyio
UNKNOWN = "job-0-aaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, server: PlannerServer, server_dir: Path) -> tuple[str, str]:
    """The option that says whom the commands ask."""
    return ("--data-dir", str(server_dir)) if request.param == "store" else ("--url", server.mcp)


async def _jobs(place: tuple[str, ...], *command: str, key: str = "") -> Result:
    """Run `planner-mcp jobs …` in this process, in a thread."""
    return await _run("jobs", *command, *place, PLANNER_API_KEY=key)


async def _run(*command: str, **variables: str) -> Result:
    return await anyio.to_thread.run_sync(lambda: CliRunner(env=variables).invoke(app, command))


async def test_a_job_is_watched_to_its_end_and_listed(server: PlannerServer, place: tuple[str, str]) -> None:
    """SPEC J3, J5: every event once and in order, as text and as JSON alone on standard output."""
    day = ring()
    day["agents"][0]["name"] = "Ada"
    async with Client(server.mcp) as client:
        job_id = await submit(client, day, "PT1S", fresh=True)
    watched = await _jobs(place, "watch", job_id, "--json")
    events = [json.loads(line) for line in watched.stdout.splitlines()]
    assert watched.exit_code == 0
    assert (events[0]["status"], events[-1]["status"]) == ("QUEUED", "COMPLETED")
    shown = await _jobs(place, "wait", job_id)
    assert (shown.exit_code, shown.stdout.split()[:2]) == (0, [job_id, "COMPLETED"])
    assert " cost " in shown.stdout, "who owns the store sees what the server shows"
    listed = await _jobs(place, "list", "--state", "completed", "--count", "1000", "--json")
    assert job_id in {json.loads(line)["job_id"] for line in listed.stdout.splitlines()}


async def test_a_job_is_cancelled_or_finished_from_a_shell(server: PlannerServer, place: tuple[str, str]) -> None:
    """SPEC T4: the exit status of a wait says whether there is a plan."""
    async with Client(server.mcp) as client:
        dropped = await submit(client, ring(), "PT60S", fresh=True)
        kept = await submit(client, ring(), "PT60S", fresh=True)
    assert (await _jobs(place, "cancel", dropped)).exit_code == 0
    assert (await _jobs(place, "wait", dropped)).exit_code == 1
    assert (await _jobs(place, "finish", kept)).exit_code == 0
    assert (await _jobs(place, "wait", kept)).exit_code == 0


@pytest.mark.slow
async def test_ctrl_c_ends_a_watch_and_leaves_the_job(server: PlannerServer) -> None:
    """SPEC J3: exit status 130, without a traceback; the job goes on."""
    async with Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT60S", fresh=True)
        command = (sys.executable, "-m", "planner_mcp", "jobs", "watch", job_id, "--url", server.mcp)
        with anyio.fail_after(60):
            async with await anyio.open_process(command) as watching:
                assert watching.stdout is not None and watching.stderr is not None
                await watching.stdout.receive()
                watching.send_signal(signal.SIGINT)
                shown = b"".join([part async for part in watching.stderr])
                assert (await watching.wait(), b"Traceback" in shown) == (130, False)
        job = await use(client, "query_vrp_status", job_id=job_id)
        await use(client, "cancel_vrp_job", job_id=job_id)
    assert job["status"] == "SOLVING"


@pytest.mark.parametrize("command", ["status", "wait", "watch", "cancel", "finish"])
@pytest.mark.parametrize("job_id", [UNKNOWN, "no id", ""])
async def test_an_unknown_job_is_one_line_and_status_1(place: tuple[str, str], command: str, job_id: str) -> None:
    """SPEC T7: no traceback, nothing on standard output."""
    refused = await _jobs(place, command, job_id)
    assert (refused.exit_code, refused.stdout, type(refused.exception)) == (1, "", SystemExit)
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (("--url", "http://127.0.0.1:9"), "does not answer"),
        (("--url", "ftp://x"), "no address"),
        (("--url", "http://ann:secret@127.0.0.1"), "no address"),
        (("--url", "http://127.0.0.1:9", "--data-dir", "x"), "leave out"),
    ],
)
async def test_an_unreachable_server_is_reported_in_one_line(given: tuple[str, ...], error: str) -> None:
    """SPEC T7: no traceback, no password, nothing on standard output."""
    refused = await _jobs(given, "list")
    assert refused.exit_code in (1, 2)
    assert refused.stdout == ""
    assert error in " ".join(refused.stderr.replace("│", "").split())
    assert "secret" not in refused.stderr


@pytest.mark.slow
async def test_a_server_with_keys_is_asked_with_one(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SPEC A1, A2: the key is taken from the environment; without it one line says so; it sees its own jobs."""
    folder = tmp_path_factory.mktemp("keyed")
    async with running_server(folder, workers=0, settings={"PLANNER_AUTH_API_KEYS": "true"}) as server:
        made = [
            (await _run("keys", "create", name, "--data-dir", str(folder))).stdout.strip() for name in ("ann", "bob")
        ]
        place = ("--url", f"{server.url}/")
        async with http_client(headers={"authorization": f"Bearer {made[0]}"}) as http:
            asked = {"tool": "create_scenario", "arguments": SMALLEST}
            day = (await http.post(f"{server.url}/ui/call", json=asked)).json()["structured"]["scenario_id"]
            asked = {"tool": "solve_vrp", "arguments": {"scenario_id": day, "solve_time": "PT1S"}}
            job_id = (await http.post(f"{server.url}/ui/call", json=asked)).json()["structured"]["job_id"]
        assert (await _jobs(place, "status", job_id, key=made[0])).stdout.startswith(f"{job_id}  QUEUED")
        assert job_id in (await _jobs(place, "list", key=made[0])).stdout
        assert (await _jobs(place, "list", key=made[1])).stdout == ""
        for key, error in ((made[1], "known here"), ("", "PLANNER_API_KEY"), ("pmk_wrong", "PLANNER_API_KEY")):
            refused = await _jobs(place, "status", job_id, key=key)
            assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (1, "", 1)
            assert error in refused.stderr
        assert (await _jobs(place, "cancel", job_id, key=made[0])).exit_code == 0
        assert (await _jobs(place, "wait", job_id, key=made[0])).exit_code == 1
