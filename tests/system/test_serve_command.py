"""`planner-mcp serve` as an operator meets it: its log, its refusals, its end."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest
from mcp import Client

from examples.planner_server import PlannerServer, running_server
from tests.shared.cli.command_runs import run_command_line
from tests.shared.processes.repeated_signal import until_taken
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.client_scenarios import SMALLEST, ring, submit, use, wait_for

pytestmark = pytest.mark.anyio


async def test_log_is_one_json_object_a_line(server: PlannerServer, server_dir: Path) -> None:
    """SPEC A3: one JSON object a line in the log."""
    async with Client(server.mcp) as client:
        await use(client, "create_scenario", **SMALLEST)
    lines = [json.loads(line) for line in (server_dir / "serve.log").read_text().splitlines()]
    listening = [line for line in lines if line["message"] == "listening"]
    assert [line["url"] for line in listening] == [server.url]


async def test_a_server_without_authorization_listens_on_loopback_and_says_so(
    server: PlannerServer, server_dir: Path
) -> None:
    """SPEC A3: by default, in one line."""
    assert server.url.startswith("http://127.0.0.1:")
    lines = [json.loads(line) for line in (server_dir / "serve.log").read_text().splitlines()]
    assert [(line["level"], line["message"]) for line in lines if "authorization" in line["message"]] == [
        ("info", "no authorization configured: one user, loopback only")
    ]


async def test_foreign_host_and_origin_are_refused(server: PlannerServer, http: httpx.AsyncClient) -> None:
    """SPEC X3: no rebinding of a browser's DNS to this server."""
    for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        answer = await http.post(server.mcp, json={}, headers=headers)
        assert answer.status_code in (403, 421), headers


async def test_body_too_large_is_refused_in_words_also_to_who_sends_before_reading(
    server: PlannerServer, http: httpx.AsyncClient
) -> None:
    """SPEC X3, T7: a refusal, not a broken connection."""
    answer = await http.post(server.mcp, content=b" " * (16 << 20))
    assert (answer.status_code, answer.json()["error"]["data"]["type"]) == (413, "TooLarge")


async def test_health_is_reported(server: PlannerServer, http: httpx.AsyncClient) -> None:
    """SPEC O3."""
    assert (await http.get(f"{server.url}/healthz")).status_code == 200
    assert (await http.get(f"{server.url}/readyz")).status_code == 200


async def test_doctor_beside_a_healthy_server_says_that_all_is_well(server: PlannerServer, server_dir: Path) -> None:
    """SPEC O3: an address taken by a planner is no fault."""
    port = server.url.rpartition(":")[2]
    done = await anyio.to_thread.run_sync(
        lambda: run_command_line("doctor", "--data-dir", str(server_dir), PLANNER_PORT=port)
    )
    assert (done.exit_code, "ok  address  a planner answers at 127.0.0.1:" in done.stdout) == (0, True), done.stdout


async def test_manifest_is_served_at_both_places(server: PlannerServer, http: httpx.AsyncClient) -> None:
    """SPEC M1."""
    first = await http.get(f"{server.url}/manifest")
    second = await http.get(f"{server.url}/.well-known/mcp/manifest")
    assert first.json() == second.json()
    assert {"create_scenario", "solve_vrp"} <= {tool["name"] for tool in first.json()["tools"]}


def test_serving_strangers_without_authorization_is_refused(tmp_path: Path) -> None:
    """SPEC A3: without configured auth the server binds to loopback only."""
    ended = run_command_line("serve", "--host", "::", "--data-dir", str(tmp_path))
    assert ended.exit_code == 2
    assert "--insecure" in ended.stderr


@pytest.mark.parametrize(
    "option",
    [
        ["--port", "x"],
        ["--port", "99999"],
        ["--workers", "-1"],
        ["--redis-url", "nonsense"],
        ["--redis-url", "redis://127.0.0.1:1"],
        ["--host", "no-such-host.invalid", "--insecure"],
        ["--data-dir", "/dev/null"],
        ["--data-dir", "/dev/null/below"],
    ],
)
def test_a_wrong_option_is_reported_without_a_stack_trace(tmp_path: Path, option: list[str]) -> None:
    """SPEC T8, in spirit: an operator is told what is wrong, not where in the code it was found."""
    ended = run_command_line("serve", "--data-dir", str(tmp_path), *option)
    assert ended.exit_code in (1, 2)
    assert "Traceback" not in ended.stderr
    assert ended.stderr


@pytest.mark.slow
def test_worker_without_a_store_says_so_in_one_line_and_tries_again(tmp_path: Path) -> None:
    """Our choice: one JSON object a line in the log, and no stack trace for what an operator mends."""
    command = [sys.executable, "-m", "planner_mcp", "worker", "--redis-url", "redis://127.0.0.1:1"]
    command += ["--data-dir", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as worker:
        assert worker.stderr is not None
        lines = [json.loads(worker.stderr.readline()) for _ in range(3)]
        worker.send_signal(signal.SIGINT)
        rest = worker.stderr.read()
    assert [line["level"] for line in lines] == ["info", "error", "warning"]
    assert lines[0]["store"] == "redis://127.0.0.1:1"
    assert lines[1]["type"] == "StoreUnavailable"
    assert "starting another in" in lines[2]["message"]
    assert "Traceback" not in rest


@pytest.mark.slow
async def test_clean_stop_logs_no_error(tmp_path: Path) -> None:
    """SPEC J7: what an operator did on purpose is no alarm."""
    async with running_server(tmp_path, workers=1) as server, Client(server.mcp) as client:
        await wait_for(client, await submit(client, SMALLEST), "COMPLETED")
        os.kill(server.pid, signal.SIGTERM)
    lines = [json.loads(line) for line in (tmp_path / "serve.log").read_text().splitlines()]
    assert [line for line in lines if line["level"] not in ("info", "debug")] == []


@pytest.mark.slow
async def test_sigterm_hands_solves_back_and_another_server_finishes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: nothing acknowledged is lost."""
    monkeypatch.setenv("PLANNER_DRAIN_S", "0")
    async with running_server(tmp_path, workers=1) as server, Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT3S")
        await wait_for(client, job_id, "SOLVING")
    async with running_server(tmp_path, workers=1) as server, Client(server.mcp) as client:
        with anyio.fail_after(60):
            await wait_for(client, job_id, "COMPLETED")


@pytest.mark.parametrize("version", [pytest.param("2025-03-26", marks=pytest.mark.slow), "2025-11-25"])
async def test_waiting_call_hears_of_a_stop_in_time_or_can_go_on_elsewhere(
    tmp_path: Path, http: httpx.AsyncClient, version: str
) -> None:
    """SPEC J4, J7: a stream that ends at SIGTERM has answered its call, or told an event id to resume from."""
    async with running_server(tmp_path, workers=0, settings={"PLANNER_DRAIN_S": "2"}) as server:
        async with Client(server.mcp) as client:
            job_id = await submit(client, ring())
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        headers = {"accept": "application/json, text/event-stream"}
        session = (await http.post(server.mcp, json=hello, headers=headers)).headers["mcp-session-id"]
        call = {"name": "query_vrp_status", "arguments": {"job_id": job_id, "wait_s": 45}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers |= {"mcp-session-id": session, "mcp-protocol-version": version}
        async with http.stream("POST", server.mcp, json=body, headers=headers) as stream:
            assert stream.headers["content-type"].startswith("text/event-stream")
            os.kill(server.pid, signal.SIGTERM)
            lines = [line async for line in stream.aiter_lines()]
    messages = [json.loads(line[6:]) for line in lines if line.startswith("data: {")]
    assert [each["error"]["data"]["type"] for each in messages] == (
        ["AbandonedRequest"] if version < "2025-11-25" else []
    )
    assert any(line.startswith("id: ") for line in lines)


@pytest.mark.slow
async def test_second_sigterm_ends_the_server_at_once(tmp_path: Path) -> None:
    """SPEC J7: an operator in a hurry."""
    async with running_server(tmp_path, workers=1) as server:
        async with Client(server.mcp) as client:
            job_id = await submit(client, ring(), "PT30S")
            await wait_for(client, job_id, "SOLVING")
        os.kill(server.pid, signal.SIGTERM)
        await until_taken(server.pid)
        watch = Stopwatch()
        with anyio.fail_after(60):
            os.kill(server.pid, signal.SIGTERM)
            while _is_alive(server.pid):  # noqa: ASYNC110 another process has no event
                await anyio.sleep(0.02)
        assert watch.spent_s < 5


def _is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(") ")[1][:1]
    except FileNotFoundError:
        return False
