"""Resources through two replicas, in both eras (SPEC R1, R2)."""

import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.jobs.job_model import Progress
from planner_mcp.jobs.job_ports import Claim
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.resources import resource_listing
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker, replica

pytestmark = pytest.mark.anyio
VISIT: dict[str, Any] = {
    "ticket_id": "t-1", "location": "LOC_A", "kind": "ticket", "arrival_s": 0, "start_s": 0, "departure_s": 60,
    "distance_m": 0.0, "late_s": 0, "load": {},
}  # fmt: skip
ROUTE: dict[str, Any] = {
    "agent_id": "veh-1", "visits": [VISIT], "start_location": None, "end_location": None, "start_s": 0, "end_s": 60,
    "distance_m": 0.0, "cost": 10.0, "travel_s": 0, "waiting_s": 0,
}  # fmt: skip
PLAN: dict[str, Any] = {
    "status": "feasible", "cost": 10.0, "distance_m": 0.0, "duration_s": 60, "agents_used": 1, "tickets_served": 1,
    "tickets_total": 1, "routes": [ROUTE], "unassigned": [], "assumptions": ["Each leg counts 1."], "engine": "tiny",
    "seed": 0, "versions": {}, "input_hash": "",
}  # fmt: skip
PNG = b"\x89PNG\r\n\x1a\n"
UNKNOWN = "job-0-aaaaaaaaaaaaaaaaaaaaaaaaaa"


@pytest.fixture(params=["legacy", "modern"])
async def caller(request: pytest.FixtureRequest, app_replicas: Two, legacy: Caller, modern: Caller) -> Caller:
    """A client of each era, ready to ask."""
    if request.param == "modern":
        modern.extensions = {}
        return modern
    await legacy.initialize(app_replicas[0])
    return legacy


async def read(caller: Caller, on: Replica, uri: str) -> dict[str, Any]:
    """Return the only contents of a resource."""
    (contents,) = (await caller.result(on, "resources/read", uri, uri=uri))["contents"]
    assert contents["uri"] == uri
    return dict(contents)


async def solved(caller: Caller, on: Replica, worker: Worker) -> str:
    """Return a job that ended with a plan."""
    job_id = (await caller.solve(on))["structuredContent"]["job_id"]
    await complete(worker, await worker.take())
    return str(job_id)


async def complete(worker: Worker, claim: Claim) -> None:
    """End a job with a plan that has every field."""
    await worker.store.complete(claim, Progress(99, 10.0, 1, 1, 2, 1.0), PLAN)


async def test_a_day_is_read_from_its_scenario_to_its_report(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC R1: each template, each with its type, on either replica."""
    scenario_id = await caller.scenario(app_replicas[0])
    job_id = (await caller.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id}))["structuredContent"][
        "job_id"
    ]
    early = json.loads((await read(caller, app_replicas[1], f"scenario://{scenario_id}/result"))["text"])
    assert (early["job_id"], early["status"], "plan" in early) == (job_id, "QUEUED", False)
    await complete(worker, await worker.take())
    plan_id = job_id.replace("job-", "plan-", 1)
    types = {
        f"scenario://{scenario_id}": "application/json",
        f"scenario://{scenario_id}/result": "application/json",
        f"job://{job_id}": "application/json",
        "jobs://vrp/status/completed?page=1&size=20": "application/json",
        f"plan://{plan_id}": "application/json",
        f"plan://{plan_id}/map.svg": "image/svg+xml",
        f"plan://{plan_id}/map.png": "image/png",
        f"plan://{plan_id}/report.html": "text/html",
        f"plan://{plan_id}/sheets.html": "text/html",
        f"plan://{plan_id}/routes/1.ics": "text/calendar",
        f"plan://{plan_id}/stops.csv": "text/csv",
    }
    found = {uri: await read(caller, app_replicas[1], uri) for uri in types}
    assert {uri: contents["mimeType"] for uri, contents in found.items()} == types
    assert base64.b64decode(found[f"plan://{plan_id}/map.png"]["blob"]).startswith(PNG)
    scenario = json.loads(found[f"scenario://{scenario_id}"]["text"])
    assert (scenario["scenario"]["name"], scenario["last_job_id"]) == ("a day", job_id)
    assert json.loads(found[f"scenario://{scenario_id}/result"]["text"])["plan"]["cost"] == 10
    listed = json.loads(found["jobs://vrp/status/completed?page=1&size=20"]["text"])
    assert listed["jobs"][0]["job_id"] == job_id
    assert "http" not in found[f"plan://{plan_id}/report.html"]["text"], "the report fetches nothing"


async def test_a_scenario_whose_last_job_expired_has_no_result(
    app_replicas: Two, caller: Caller, store: RedisStore, worker: Worker
) -> None:
    """SPEC R1, R2, J9: what is listed can be read; a scenario outlives its jobs."""
    scenario_id = await caller.scenario(app_replicas[0])
    await caller.call(app_replicas[0], "solve_vrp", {"scenario_id": scenario_id})
    await complete(worker, claim := await worker.take())
    await store.redis.delete(f"{{p0}}:job:{claim.job.id}")
    listed = [each["uri"] for each in (await caller.result(app_replicas[1], "resources/list"))["resources"]]
    assert [uri for uri in listed if scenario_id in uri] == [f"scenario://{scenario_id}"]
    assert json.loads((await read(caller, app_replicas[1], f"scenario://{scenario_id}"))["text"])["last_job_id"] is None
    result = f"scenario://{scenario_id}/result"
    assert "has expired" in (await caller.error(app_replicas[1], "resources/read", result, uri=result))["message"]


async def test_jobs_are_paged_by_their_uri(app_replicas: Two, caller: Caller) -> None:
    """SPEC R1: `jobs://vrp/status/{status}?page={page}&size={size}`, each page naming the next."""
    made = {(await caller.solve(app_replicas[0]))["structuredContent"]["job_id"] for _ in range(5)}
    uri, seen = "jobs://vrp/status/QUEUED?page=1&size=2", []
    while uri:
        page = json.loads((await read(caller, app_replicas[1], uri))["text"])
        seen += [job["job_id"] for job in page["jobs"]]
        uri = page.get("next", "")
    assert page["total"] == len(seen)
    assert made <= set(seen)
    assert len(seen) == len(set(seen))


async def test_everything_is_listed_once_over_pages_and_replicas(
    app_replicas: Two, caller: Caller, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R2: opaque cursors; a job submitted meanwhile makes nothing come twice and hides nothing."""
    monkeypatch.setattr(resource_listing, "PAGE", 4)
    before = {await solved(caller, app_replicas[0], worker) for _ in range(4)}
    uris: list[str] = []
    cursor: dict[str, str] = {}
    turn = 0
    while True:
        page = await caller.result(app_replicas[turn % 2], "resources/list", **cursor)
        uris += [resource["uri"] for resource in page["resources"]]
        if "nextCursor" not in page:
            break
        cursor, turn = {"cursor": page["nextCursor"]}, turn + 1
        if turn == 2:
            await caller.solve(app_replicas[0])
    assert len(uris) == len(set(uris))
    assert {f"job://{job_id}" for job_id in before} <= set(uris)
    assert {f"plan://{job_id.replace('job-', 'plan-', 1)}" for job_id in before} <= set(uris)
    assert sum(uri.startswith("scenario://") for uri in uris) >= 8
    assert turn >= 4


async def test_a_listed_resource_says_what_it_is(app_replicas: Two, caller: Caller, worker: Worker) -> None:
    """SPEC R1, R2: name, title, description, type, annotations; what is listed can be read."""
    job_id = await solved(caller, app_replicas[0], worker)
    page = await caller.result(app_replicas[1], "resources/list")
    listed = {resource["uri"]: resource for resource in page["resources"]}
    job = listed[f"job://{job_id}"]
    assert {"name", "title", "description", "mimeType", "annotations"} <= job.keys()
    assert set(job["annotations"]) == {"audience", "priority", "lastModified"}
    for uri in listed:
        await read(caller, app_replicas[0], uri)


async def test_unknown_is_answered_with_the_code_of_the_revision(
    app_replicas: Two, legacy: Caller, modern: Caller
) -> None:
    """Spec 2025-11-25 and 2026-07-28, resources: −32002 and −32602; our data in both."""
    await legacy.initialize(app_replicas[0])
    for caller, code in ((legacy, -32002), (modern, -32602)):
        for uri in (f"job://{UNKNOWN}", "file:///etc/passwd", "plan://x", "http://example.org/"):
            error = await caller.error(app_replicas[1], "resources/read", uri, uri=uri)
            assert (error["code"], error["data"]["type"], error["data"]["uri"]) == (code, "NotFound", uri)
            (fault,) = error["data"]["errors"]
            assert (fault["path"], uri.partition("//")[0] in fault["accepted"] or "http" in uri) == ("/uri", True)


async def test_modern_lists_carry_cache_hints(app_replicas: Two, modern: Caller) -> None:
    """Spec 2026-07-28, caching: `ttlMs` and `cacheScope`; nothing of a principal is public."""
    lists = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]
    found = {method: await modern.result(app_replicas[0], method) for method in lists}
    assert all(result["ttlMs"] > 0 for result in found.values())
    scopes = {method: result["cacheScope"] for method, result in found.items()}
    assert scopes == {method: "public" if method == "prompts/list" else "private" for method in lists}


@pytest.fixture
async def reporting(store_url: str, tmp_path: Path) -> AsyncIterator[Replica]:
    """A replica with a folder of reports."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "周报.html").write_text("<p>fine</p>")
    (folder / "chart.png").write_bytes(PNG)
    (tmp_path / "other.html").write_text("not a report")
    async with replica(f"{store_url}?db=14", tmp_path, reports_dir=folder) as one:
        yield one


async def test_what_one_may_use_and_uses_can_be_read(app_replicas: Two, caller: Caller) -> None:
    """SPEC J8: limits by the names of their settings, one's own jobs by state, and how busy the deployment is."""
    await caller.solve(app_replicas[0])
    delivered = json.loads((await read(caller, app_replicas[1], "limits://vrp"))["text"])
    assert delivered["limits"]["max_queued_per_principal"] == 1000
    assert delivered["used"]["queued"] + delivered["used"]["solving"] >= 1
    assert delivered["queue"].keys() == {"queued", "solving", "slots"}
    listed = (await caller.result(app_replicas[0], "resources/list"))["resources"]
    assert "limits://vrp" in [each["uri"] for each in listed]


async def test_reports_of_a_folder_are_resources(reporting: Replica, modern: Caller) -> None:
    """SPEC R1: `file://` static reports, with size and time; nothing beside the folder."""
    page = await modern.result(reporting, "resources/list")
    files = {each["uri"]: each for each in page["resources"] if each["uri"].startswith("file:///")}
    assert {uri: each["size"] for uri, each in files.items()} == {
        "file:///%E5%91%A8%E6%8A%A5.html": 11,
        "file:///chart.png": 8,
    }
    assert all("lastModified" in each["annotations"] for each in files.values())
    assert (await read(modern, reporting, "file:///%E5%91%A8%E6%8A%A5.html"))["text"] == "<p>fine</p>"
    assert base64.b64decode((await read(modern, reporting, "file:///chart.png"))["blob"]) == PNG
    for way_out in ("file:///../other.html", "file:///%2e%2e/other.html"):
        assert (await modern.error(reporting, "resources/read", way_out, uri=way_out))["code"] == -32602
    templates = (await modern.result(reporting, "resources/templates/list"))["resourceTemplates"]
    assert "file:///{+path}" in [template["uriTemplate"] for template in templates]


METHODS = ["resources/list", "resources/templates/list", "prompts/list", "tools/list"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("cursor", ["", "0", "é", "00" * 40, "ff" * 28, "a" * 5000, '[0,0,""]', "\x00"])
async def test_a_forged_cursor_is_refused(app_replicas: Two, caller: Caller, method: str, cursor: str) -> None:
    """SPEC R2: cursors are sealed; −32602 and the place of the mistake."""
    error = await caller.error(app_replicas[0], method, cursor=cursor)
    assert error["code"] == -32602
    assert error["data"]["errors"][0]["path"] == "/cursor"


async def test_a_cursor_is_good_for_one_list_and_may_be_used_again(
    app_replicas: Two, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R2: not for another list; the same page again when a client repeats itself."""
    monkeypatch.setattr(resource_listing, "PAGE", 3)
    cursor = (await caller.result(app_replicas[0], "resources/list"))["nextCursor"]
    pages = [await caller.result(on, "resources/list", cursor=cursor) for on in app_replicas]
    assert pages[0]["resources"] == pages[1]["resources"]
    assert (await caller.error(app_replicas[0], "tools/list", cursor=cursor))["code"] == -32602
    flipped = cursor[:-1] + ("0" if cursor[-1] != "0" else "1")
    assert (await caller.error(app_replicas[0], "resources/list", cursor=flipped))["code"] == -32602


async def test_a_folder_of_reports_is_an_array_of_contents(reporting: Replica, modern: Caller) -> None:
    """SPEC R1: `resources/read` of a compound resource returns each of its files [D 2.3]."""
    listed = (await modern.result(reporting, "resources/list"))["resources"]
    at_root = [each["uri"] for each in listed if each["uri"].count("/") == 3 and each["uri"].startswith("file:///")]
    contents = (await modern.result(reporting, "resources/read", "file:///", uri="file:///"))["contents"]
    assert [each["uri"] for each in contents] == at_root != []


async def test_reports_are_read_as_the_design_writes_them(reporting: Replica, modern: Caller) -> None:
    """SPEC R1: `file:///var/reports/…` names the same files and folders [D 2.3]."""
    uri = "file:///var/reports/chart.png"
    assert base64.b64decode((await read(modern, reporting, uri))["blob"]) == PNG
    root = "file:///var/reports/"
    contents = (await modern.result(reporting, "resources/read", root, uri=root))["contents"]
    own = (await modern.result(reporting, "resources/read", "file:///", uri="file:///"))["contents"]
    assert [each["uri"] for each in contents] == [root + each["uri"].removeprefix("file:///") for each in own] != []
    for way_out in ("file:///var/reports/../other.html", "file:///var/other/chart.png"):
        assert (await modern.error(reporting, "resources/read", way_out, uri=way_out))["code"] == -32602
