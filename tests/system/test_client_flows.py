"""The flows a client goes through, over real processes with the official Python client."""

import json
from typing import Any

import anyio
import httpx2 as httpx
import pytest
from mcp import Client, MCPError

from examples.planner_server import PlannerServer
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.client_scenarios import ring, submit, use, wait_for

pytestmark = pytest.mark.anyio
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])


async def test_solve_is_answered_before_it_is_solved(server: PlannerServer) -> None:
    """SPEC T2: a job id at once, the plan later."""
    async with Client(server.mcp) as client:
        watch = Stopwatch()
        job_id = await submit(client, ring(), "PT30S", fresh=True)
        assert watch.spent_s < 1.5
        await wait_for(client, job_id, "SOLVING")
        await use(client, "cancel_vrp_job", job_id=job_id)


@pytest.mark.slow
@both_eras
async def test_waiting_call_reports_rising_progress(server: PlannerServer, mode: str) -> None:
    """SPEC T3, J5: progress for the caller's token while the call is open; never 100 before the end or backwards."""
    heard: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total == 100
        heard.append(progress)

    async with Client(server.mcp, mode=mode) as client:
        job_id = await submit(client, ring(), "PT2S", fresh=True)
        status: dict[str, Any] = {"status": "QUEUED"}
        with anyio.fail_after(60):
            while status["status"] in ("QUEUED", "SOLVING"):
                before = len(heard)
                asked = {"job_id": job_id, "wait_s": 20}
                result = await client.call_tool("query_vrp_status", asked, progress_callback=hear)
                status = result.structured_content
                assert heard[before:] == sorted(set(heard[before:])), "rises within a call"
    assert status["status"] == "COMPLETED"
    assert len(heard) > 1
    assert all(progress < 100 for progress in heard[:-1])


async def test_queued_job_is_cancelled_at_once(server: PlannerServer) -> None:
    """SPEC T4."""
    async with Client(server.mcp) as client:
        running_server = [await submit(client, ring(), "PT20S", fresh=True) for _ in range(2)]
        queued = await submit(client, ring(), "PT20S", fresh=True)
        assert (await use(client, "query_vrp_status", job_id=queued))["status"] == "QUEUED"
        answer = await use(client, "cancel_vrp_job", job_id=queued)
        assert answer["cancelled"] is True
        assert answer["cancelled_at"]
        assert (await use(client, "query_vrp_status", job_id=queued))["status"] == "CANCELLED"
        for job_id in running_server:
            await use(client, "cancel_vrp_job", job_id=job_id)
            await wait_for(client, job_id, "CANCELLED")


async def test_solving_job_is_cancelled_within_a_second_and_keeps_its_plan(server: PlannerServer) -> None:
    """SPEC T4."""
    async with Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT30S", fresh=True)
        with anyio.fail_after(60):
            while "cost" not in str(await use(client, "query_vrp_status", job_id=job_id, wait_s=0.2)):
                pass
        watch = Stopwatch()
        await use(client, "cancel_vrp_job", job_id=job_id)
        await wait_for(client, job_id, "CANCELLED")
        assert watch.spent_s < 1.5  # a second, and the calls on a shared machine
        plan = await use(client, "read_plan", job_id=job_id)
        assert plan["plan_id"] == job_id.replace("job-", "plan-", 1)


async def test_job_channel_resumes_without_loss_or_repeat(server: PlannerServer, http: httpx.AsyncClient) -> None:
    """SPEC J3, J4: the same story whether it is heard at once, in two parts or afterwards."""
    async with Client(server.mcp) as client:
        job_id = await submit(client, ring(), "PT1S", fresh=True)
    url = f"{server.url}/jobs/{job_id}/events"
    with anyio.fail_after(60):
        parts = await _read(http, url, at_most=2)
        parts += await _read(http, url, after=parts[-1][0])
        whole = await _read(http, url)
    assert parts == whole
    assert len({event_id for event_id, _ in whole}) == len(whole)
    notes = [note for _, note in whole]
    assert all(note["jsonrpc"] == "2.0" and "id" not in note for note in notes)
    assert {note["method"] for note in notes[:-1]} == {"notifications/progress"}
    assert notes[-1]["method"] == "notifications/complete"
    assert notes[-1]["params"]["job_id"] == job_id
    assert notes[-1]["params"]["result"]


@both_eras
async def test_unknown_tool_is_a_protocol_error_with_our_data(server: PlannerServer, mode: str) -> None:
    """SPEC T7."""
    async with Client(server.mcp, mode=mode) as client:
        with pytest.raises(MCPError) as caught:
            await client.call_tool("solve_tsp", {})
    assert caught.value.code == -32602
    assert caught.value.data["type"] == "UnknownTool"


async def test_an_unknown_id_is_reported_as_such(server: PlannerServer) -> None:
    """SPEC T7."""
    async with Client(server.mcp) as client:
        result = await client.call_tool("query_vrp_status", {"job_id": "job-0-aaaaaaaaaaaaaaaaaaaaaaaaaa"})
    assert result.is_error
    assert result.structured_content["type"] == "NotFound"


async def _read(
    http: httpx.AsyncClient, url: str, *, after: str = "", at_most: int = 10_000
) -> list[tuple[str, dict[str, Any]]]:
    """Return events of a job channel as `(id, notification)`, until it ends or `at_most` came."""
    found: list[tuple[str, dict[str, Any]]] = []
    event_id = ""
    async with http.stream("GET", url, headers={"last-event-id": after} if after else {}) as stream:
        assert stream.status_code == 200
        async for line in stream.aiter_lines():
            if line.startswith("id:"):
                event_id = line[3:].strip()
            elif line.startswith("data:") and (text := line[5:].strip()):
                found.append((event_id, json.loads(text)))
                if len(found) == at_most:
                    break
    return found
