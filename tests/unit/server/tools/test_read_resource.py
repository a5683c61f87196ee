"""What `read_resource` says of the resources there are, for hosts that show their model none."""

from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest

from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.server.mcp.methods.tool_methods import call_result
from planner_mcp.server.resources import report_folder
from planner_mcp.server.resources.report_folder import ROOT, ReportFolder
from planner_mcp.server.resources.resource_catalogue import FIXED, TEMPLATES
from planner_mcp.server.resources.resource_definition import ReadContext
from planner_mcp.server.tools.read_resource import TOOL
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.stored_plans import Call, created, solved

pytestmark = pytest.mark.anyio


def reading(ctx: ToolContext, principal: Principal = LOCAL, folder: Path | None = None) -> ToolContext:
    """Return a context that reads resources, and reports where there is a folder of them."""
    return replace(ctx, principal=principal, reading=ReadContext(principal, ctx.job_service, ReportFolder(folder)))


def test_every_kind_of_resource_is_named() -> None:
    """SPEC T6, R1: a model that sees no templates learns of none otherwise."""
    starts = {template.uri_template.partition("{")[0] for template in (*TEMPLATES, *FIXED)} | {ROOT}
    ends = {template.uri_template.rpartition("}")[2].lstrip("/") for template in TEMPLATES}
    assert [part for part in sorted(starts | ends) if part not in TOOL.description] == []


async def test_a_uri_of_no_form_is_told_the_forms_there_are(call: Call, ctx: ToolContext) -> None:
    """SPEC T7, A2: by what it begins with, so that an unknown name and a foreign one are answered alike."""
    here = reading(ctx)
    name = "plan-0-" + "z" * 26
    answered = {}
    for uri in (f"plan://{name}/export.csv", f"plan://{name}/stops.csv", "http://x", "logs://vrp/2025-07-15"):
        refused = (await call("read_resource", {"uri": uri}, here)).structured
        assert refused["type"] == "NotFound"
        (fault,) = refused["errors"]
        assert fault["path"] == "/uri"
        answered[uri] = fault["accepted"]
    assert answered[f"plan://{name}/export.csv"] == answered[f"plan://{name}/stops.csv"]
    assert all(
        f"plan://{{plan_id}}{end}" in answered[f"plan://{name}/export.csv"] for end in ("", "/stops.csv", "/map.png")
    )
    assert {"scenario://{scenario_id}", "plan://{plan_id}/stops.csv", "limits://vrp"} <= {
        *answered["http://x"].split(", ")
    }
    assert answered["logs://vrp/2025-07-15"] == "logs://vrp/{date}"


async def test_a_plan_that_is_not_there_yet_is_told_where_it_was_asked_for(call: Call, ctx: ToolContext) -> None:
    """SPEC T7: the mistake is the URI, read too early."""
    job = await call("solve_vrp", {"scenario_id": await created(call)})
    uri = f"plan://{job.structured['job_id'].replace('job', 'plan', 1)}"
    early = (await call("read_resource", {"uri": uri}, reading(ctx))).structured
    assert (early["type"], [fault["path"] for fault in early["errors"]]) == ("PlanNotReady", ["/uri"])


async def test_a_map_of_a_plane_is_refused_where_it_was_asked_for(
    call: Call, ctx: ToolContext, store: RedisStore
) -> None:
    """SPEC T7: the mistake is the URI, and what such a day does have is named."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    plan = f"plan://{job_id.replace('job', 'plan', 1)}"
    assert (await call("read_resource", {"uri": f"{plan}/stops.csv"}, reading(ctx))).text.startswith("agent_id,stop")
    for form in ("geojson", "gpx"):
        refused = (await call("read_resource", {"uri": f"{plan}/routes.{form}"}, reading(ctx))).structured
        (fault,) = refused["errors"]
        assert (fault["path"], f"{plan}/stops.csv" in fault["accepted"]) == ("/uri", True)


@pytest.mark.parametrize("has_links", [True, False])
async def test_a_report_in_bytes_comes_with_its_bytes(
    call: Call, ctx: ToolContext, tmp_path: Path, has_links: bool
) -> None:
    """SPEC T6: what can be read as a resource can be read by a tool, in revisions that have no links too."""
    (tmp_path / "b.PDF").write_bytes(b"%PDF-1.7\xff")
    found = await call("read_resource", {"uri": "file:///b.PDF"}, reading(ctx, folder=tmp_path))
    assert found.structured == {"uri": "file:///b.PDF", "mime_type": "application/pdf", "size": 9}
    (_text, embedded) = call_result(found, has_links=has_links)["content"]
    assert (embedded["type"], embedded["resource"]["uri"]) == ("resource", "file:///b.PDF")
    assert embedded["resource"]["mimeType"] == "application/pdf"
    assert b64decode(embedded["resource"]["blob"]) == b"%PDF-1.7\xff"


async def test_bytes_beyond_the_limit_of_resources_are_refused_by_the_tool_too(
    call: Call, ctx: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6, X3: one limit, whichever way is taken."""
    monkeypatch.setattr(report_folder, "MAX_BYTES", 4)
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")
    refused = await call("read_resource", {"uri": "file:///b.pdf"}, reading(ctx, folder=tmp_path))
    assert refused.structured["type"] == "TooLarge"
