"""What an answer holds, in each revision with a handshake: nothing that a strict client of it rejects (SPEC X1)."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import httpx2 as httpx
import pytest

from planner_mcp.server.resources import report_folder
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker, replica
from tests.integration.server.mcp.test_resource_methods import complete

pytestmark = pytest.mark.anyio
OLDEST: Final = {"text", "image", "resource"}
KINDS: Final = {
    "2024-11-05": OLDEST,
    "2025-03-26": OLDEST | {"audio"},
    "2025-06-18": OLDEST | {"audio", "resource_link"},
    "2025-11-25": OLDEST | {"audio", "resource_link"},
}
"""The content of a `CallToolResult`, from the schema of each revision."""


def kinds(result: dict[str, Any]) -> set[str]:
    """Return the kinds of content of a tool's answer."""
    return {each["type"] for each in result["content"]}


@pytest.mark.parametrize("version", KINDS)
async def test_tools_answer_in_the_kinds_of_content_their_revision_has(
    app_replicas: Two, web: httpx.AsyncClient, worker: Worker, version: str
) -> None:
    """SPEC X1: a client of 2024-11-05 or 2025-03-26 refuses the whole answer for one link; ids stand in the text."""
    on, caller = app_replicas[0].with_sets("all"), Caller(web, version)
    assert (await caller.initialize(on))["protocolVersion"] == version
    solved = await caller.solve(on)
    job_id = solved["structuredContent"]["job_id"]
    await complete(worker, await worker.take())
    ended = await caller.call(on, "query_vrp_status", {"job_id": job_id})
    scenario_id = (await caller.call(on, "list_scenarios", {}))["structuredContent"]["rows"][0][0]
    revised = await caller.call(on, "revise_scenario", {"scenario_id": scenario_id, "patch": {"name": "another"}})
    picture = await caller.call(on, "read_resource", {"uri": f"{job_id.replace('job-', 'plan://plan-', 1)}/map.png"})
    answers = [solved, ended, revised, picture]
    assert [kinds(each) - KINDS[version] for each in answers] == [set()] * len(answers)
    assert "image" in kinds(picture)
    assert job_id in ended["content"][0]["text"]
    assert revised["structuredContent"]["scenario_id"] in revised["content"][0]["text"]
    assert ("resource_link" in kinds(ended)) == (version >= "2025-06-18")


@pytest.fixture
async def reporting(store_url: str, tmp_path: Path) -> AsyncIterator[Replica]:
    """A replica with a report as large as one may be."""
    folder = tmp_path / "reports"
    folder.mkdir()
    (folder / "week.pdf").write_bytes(b"\xff" * report_folder.MAX_BYTES)
    async with replica(f"{store_url}?db=14", tmp_path, reports_dir=folder) as one:
        yield one.with_sets("all")


@pytest.mark.parametrize("version", [*KINDS, "2026-07-28"])
async def test_the_bytes_of_a_report_travel_in_every_revision(
    reporting: Replica, web: httpx.AsyncClient, version: str
) -> None:
    """SPEC T6, X1: by the tool as by `resources/read`, up to the same limit."""
    caller, uri = Caller(web, version), "file:///week.pdf"
    if version in KINDS:
        await caller.initialize(reporting)
    found = (await caller.call(reporting, "read_resource", {"uri": uri}))["structuredContent"]
    assert (await web.get(found["download"])).content == b"\xff" * report_folder.MAX_BYTES
