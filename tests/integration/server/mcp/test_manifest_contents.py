"""What the manifest says of contents, held against contents that a running server gives (SPEC M1, W2)."""

import json
from typing import Any

import httpx2 as httpx
import jsonschema
import pytest

import manifest
from planner_mcp.jobs.ids import plan_of
from tests.integration.server.mcp.app_replicas import Caller, Two, Worker
from tests.integration.server.mcp.test_resource_methods import caller, complete, read

pytestmark = pytest.mark.anyio
__all__ = ["caller"]
MANIFEST = manifest.load()
RESOURCES = {each["name"]: each for each in MANIFEST["resources"]}
(SOLVE,) = (tool for tool in MANIFEST["tools"] if tool["name"] == "solve_vrp")

NOTIFICATIONS = {
    schema["properties"]["method"]["const"]: schema["properties"]["params"]["properties"]
    for schema in SOLVE["_meta"]["callbackPayloadSchema"]["oneOf"]
}
"""Fields of each notification."""


def check(name: str, contents: dict[str, Any]) -> None:
    """Hold contents against the schema of their kind; its references lie in the manifest."""
    schema = {**RESOURCES[name]["schema"], "components": MANIFEST["components"]}
    jsonschema.validate(json.loads(contents["text"]), schema)


async def test_resources_follow_the_schemas_of_the_manifest(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC M1: every kind of data, read from a job that was solved."""
    on = app_replicas[0]
    scenario_id = await caller.scenario(on)
    job_id = (await caller.call(on, "solve_vrp", {"scenario_id": scenario_id}))["structuredContent"]["job_id"]
    await complete(worker, await worker.take())
    check("scenario", await read(caller, on, f"scenario://{scenario_id}"))
    check("scenario-result", await read(caller, on, f"scenario://{scenario_id}/result"))
    check("job", await read(caller, on, f"job://{job_id}"))
    check("jobs", await read(caller, on, "jobs://vrp/status/all?page=1&size=5"))
    check("plan", await read(caller, on, f"plan://{plan_of(job_id)}"))


def test_every_resource_has_a_schema_and_names_its_sensitive_fields() -> None:
    """SPEC M1, R3: `x-sensitive-fields` [D 2.3]."""
    assert [name for name, each in RESOURCES.items() if "schema" not in each] == []
    assert {"phone", "address", "lat", "lon"} <= {*RESOURCES["scenario"]["x-sensitive-fields"]}
    assert "cost" in RESOURCES["plan"]["x-sensitive-fields"]


@pytest.mark.parametrize("end", ["complete", "fail", "obey"])
async def test_notifications_follow_the_schema_of_callbacks(
    app_replicas: Two, caller: Caller, worker: Worker, web: httpx.AsyncClient, end: str
) -> None:
    """SPEC W2, J3: progress, complete and cancelled, each typed by itself; what is sent is one of them."""
    solved = (await caller.solve(app_replicas[0]))["structuredContent"]
    claim = await worker.take()
    await worker.improve(claim, 40)
    if end == "obey":
        await worker.store.cancel("local", solved["job_id"], keep_best=True)
    await getattr(worker, end)(claim)
    events = (await web.get(solved["events_url"], headers={"accept": "application/json"})).json()["events"]
    assert len(events) >= 3
    for event in events:
        body = {name: event[name] for name in ("jsonrpc", "method", "params")}
        jsonschema.validate(body, SOLVE["_meta"]["callbackPayloadSchema"])
        fields = NOTIFICATIONS[event["method"]]
        for name in ("result", "summary"):
            assert event["params"].get(name, {}).keys() <= fields.get(name, {"properties": {}})["properties"].keys()
