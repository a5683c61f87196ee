"""The messages of the design documents, sent as they are written there (SPEC T11)."""

from typing import Any

import httpx2 as httpx
import pytest

from tests.integration.server.mcp.app_replicas import Caller, Two, Worker
from tests.integration.server.mcp.test_resource_methods import caller

pytestmark = pytest.mark.anyio
__all__ = ["caller"]


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"])
async def test_params_null_is_no_params(app_replicas: Two, legacy: Caller, method: str) -> None:
    """SPEC T11: `{"jsonrpc":"2.0","id":"1","method":"tools/list","params":null}` [D 2.2, 2.3]."""
    await legacy.initialize(app_replicas[0])
    body, headers = legacy.request(method)
    answer = await legacy.http.post(app_replicas[0].mcp, json={**body, "params": None}, headers=headers)
    assert "result" in answer.json(), answer.text


async def test_params_null_where_some_are_needed_says_which(app_replicas: Two, legacy: Caller) -> None:
    """SPEC T7: nothing is guessed."""
    await legacy.initialize(app_replicas[0])
    body, headers = legacy.request("resources/read")
    answer = await legacy.http.post(app_replicas[0].mcp, json={**body, "params": None}, headers=headers)
    assert answer.json()["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("query_status", "query_vrp_status"),
        ("cancel_job", "cancel_vrp_job"),
        ("solve", "solve_vrp"),
        ("create_plan", "plan_day"),
        ("job_status", "query_vrp_status"),
    ],
)
async def test_names_of_the_documents_lead_to_the_tool(
    app_replicas: Two, caller: Caller, name: str, meant: str
) -> None:
    """SPEC T11: `query_status` of the life cycle [D 2.4] is answered with the tool that was meant."""
    error = await caller.error(app_replicas[0], "tools/call", name, name=name, arguments={})
    assert error["data"]["type"] == "UnknownTool"
    assert error["data"]["errors"][0]["hint"] == f"Call {meant}."


async def test_a_name_like_no_tool_is_not_explained(app_replicas: Two, caller: Caller) -> None:
    """SPEC T7: no guess is better than a wrong one."""
    error = await caller.error(app_replicas[0], "tools/call", "xyzzy", name="xyzzy", arguments={})
    (fault,) = error["data"]["errors"]
    assert (fault["path"], fault["accepted"], fault["hint"]) == ("/name", "a tool of tools/list", "")


async def test_a_malformed_callback_url_is_listed_with_the_other_mistakes(app_replicas: Two, caller: Caller) -> None:
    """SPEC T7: all faults at once, those included that the deployment's settings decide."""
    arguments: dict[str, Any] = {"callback_url": "ftp://x", "solve_time": "PT999999S", "seed": -1}
    refused = (await caller.call(app_replicas[0], "solve_vrp", arguments))["structuredContent"]
    assert {fault["path"] for fault in refused["errors"]} == {"/scenario_id", "/callback_url", "/solve_time", "/seed"}


async def test_solve_vrp_names_the_url_where_a_program_watches(
    app_replicas: Two, caller: Caller, web: httpx.AsyncClient, worker: Worker
) -> None:
    """SPEC T2: the job's status and its channel, as URLs that answer [D 2.2]."""
    solved = (await caller.solve(app_replicas[0]))["structuredContent"]
    assert (await web.get(solved["status_url"])).json()["job_id"] == solved["job_id"]
    await worker.complete(await worker.take())
    events = await web.get(solved["events_url"], headers={"accept": "application/json"})
    assert events.json()["events"]


async def test_cancelled_at_is_always_a_time(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC T4: `cancelled_at` is a required string [D 2.1]; of a job that had ended it is the time of its end."""
    job_id = (await caller.solve(app_replicas[0]))["structuredContent"]["job_id"]
    await worker.complete(await worker.take())
    answer = (await caller.call(app_replicas[0], "cancel_vrp_job", {"job_id": job_id}))["structuredContent"]
    assert answer["cancelled"] is False
    assert answer["cancelled_at"].endswith("Z")
