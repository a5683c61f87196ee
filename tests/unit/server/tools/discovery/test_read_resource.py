"""What `read_resource` says of the resources there are, for hosts that show their model none."""

import os
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from planner_mcp.jobs.principals import LOCAL, Principal
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.server.auth.access_links import AccessLinks
from planner_mcp.server.mcp.methods.tool_methods import call_result
from planner_mcp.server.resources import report_folder
from planner_mcp.server.resources.downloads import Downloads
from planner_mcp.server.resources.report_folder import ROOT, ReportFolder
from planner_mcp.server.resources.resource_catalogue import FIXED, TEMPLATES
from planner_mcp.server.tools.discovery.read_resource import MAX_BYTES, TOOL
from planner_mcp.server.tools.tool_definition import ToolContext
from tests.shared.scenarios.scenario_builders import agent, body, ticket
from tests.shared.scenarios.stored_plans import Call, created, solved

pytestmark = pytest.mark.anyio


def reading(ctx: ToolContext, principal: Principal = LOCAL, folder: Path | None = None) -> ToolContext:
    """Return a context in which a principal reads resources, and reports where there is a folder of them."""
    here = replace(ctx.reading, principal=principal, job_service=ctx.job_service, reports=ReportFolder(folder))
    return replace(ctx, principal=principal, reading=here)


def test_every_kind_of_resource_is_named() -> None:
    """SPEC T6, R1: a model that sees no templates learns of none otherwise."""
    starts = {template.uri_template.partition("{")[0] for template in (*TEMPLATES, *FIXED)} | {ROOT}
    ends = {template.uri_template.rpartition("}")[2].lstrip("/") for template in TEMPLATES}
    assert [part for part in sorted(starts | ends) if part not in TOOL.description] == []


async def test_the_error_of_an_unknown_uri_names_the_forms_there_are(call: Call) -> None:
    """SPEC T7, A2: by what it begins with, so that an unknown name and a foreign one are answered alike."""
    name = "plan-0-" + "z" * 26
    answered = {}
    for uri in (f"plan://{name}/export.csv", f"plan://{name}/stops.csv", "http://x", "logs://vrp/today"):
        refused = (await call("read_resource", {"uri": uri})).structured
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
    assert answered["logs://vrp/today"] == "logs://vrp/{date}, logs://vrp/{date}.txt"


async def test_a_plan_that_is_not_there_yet_is_reported_where_it_was_asked_for(call: Call) -> None:
    """SPEC T7: the mistake is the URI, read too early."""
    job = await call("solve_vrp", {"scenario_id": await created(call)})
    uri = f"plan://{job.structured['job_id'].replace('job', 'plan', 1)}"
    early = (await call("read_resource", {"uri": uri})).structured
    assert (early["type"], [fault["path"] for fault in early["errors"]]) == ("PlanNotReady", ["/uri"])


async def test_a_map_of_a_plane_is_refused_where_it_was_asked_for(call: Call, store: RedisStore) -> None:
    """SPEC T7: the mistake is the URI, and what such a day does have is named."""
    job_id = await solved(call, store, await created(call), ["a", "b"], ["c"])
    plan = f"plan://{job_id.replace('job', 'plan', 1)}"
    assert (await call("read_resource", {"uri": f"{plan}/stops.csv"})).text.startswith("agent_id,stop")
    for form in ("geojson", "gpx"):
        refused = (await call("read_resource", {"uri": f"{plan}/routes.{form}"})).structured
        (fault,) = refused["errors"]
        assert (fault["path"], f"{plan}/stops.xlsx" in fault["accepted"]) == ("/uri", True)


async def test_over_stdio_a_report_is_a_file_of_this_machine(call: Call, ctx: ToolContext, tmp_path: Path) -> None:
    """SPEC T5, T6: whatever a page or a file holds, no model reads it; a repeated call writes the same file."""
    (tmp_path / "b.PDF").write_bytes(b"%PDF-1.7\xff")
    asked = {"uri": "file:///b.PDF"}
    found = await call("read_resource", asked, reading(ctx, folder=tmp_path))
    path = ctx.settings.data_dir / "downloads" / "b.PDF"
    assert found.structured == {**asked, "mime_type": "application/pdf", "size": 9, "download": str(path)}
    assert found.text.endswith(f"Saved as {path}")
    assert path.read_bytes() == b"%PDF-1.7\xff"
    assert call_result(found)["content"] == [{"type": "text", "text": found.text}]
    assert (await call("read_resource", asked, reading(ctx, folder=tmp_path))).structured == found.structured
    refused = await call("read_resource", {**asked, "offset": 5}, reading(ctx, folder=tmp_path))
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/offset"]


async def test_files_of_long_ago_are_removed_when_one_is_written(call: Call, ctx: ToolContext, tmp_path: Path) -> None:
    """SPEC J9: nothing is kept for ever."""
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")
    folder = ctx.settings.data_dir / "downloads"
    folder.mkdir(parents=True)
    (folder / "old.pdf").write_bytes(b"")
    os.utime(folder / "old.pdf", (0, 0))
    await call("read_resource", {"uri": "file:///b.pdf"}, reading(ctx, folder=tmp_path))
    assert [path.name for path in folder.iterdir()] == ["b.pdf"]


async def test_a_long_export_comes_as_a_download_and_in_pieces(call: Call, store: RedisStore) -> None:
    """SPEC T5, T9: a model may read it, a person need not; JSON is for the model alone."""
    many = [ticket(f"stop {number}") for number in range(60)]
    job_id = await solved(call, store, await created(call, body([agent("v")], many)), [each["id"] for each in many])
    plan = f"plan://{job_id.replace('job', 'plan', 1)}"
    export = (await call("read_resource", {"uri": f"{plan}/stops.csv"})).structured
    saved = await anyio.Path(export["download"]).read_bytes()
    assert saved.decode().startswith(export["text"])
    assert export["next_offset"] > 0
    assert "download" not in (await call("read_resource", {"uri": plan})).structured


async def test_pieces_keep_their_size_beside_a_long_download(call: Call, ctx: ToolContext, tmp_path: Path) -> None:
    """SPEC T6, T9: whatever a report is named, each piece is short and the next one goes on."""
    (tmp_path / f"{'配送报告' * 20}.md").write_text("line\n" * 2000)
    (report,) = ReportFolder(tmp_path).reports()
    downloads = Downloads(ctx.settings, AccessLinks(open_cipher(ctx.settings), "download"))
    by_url = downloads.by_url(LOCAL, {"server": ("localhost", 8080), "scheme": "http"})
    here = replace(reading(ctx, folder=tmp_path), offer_download=by_url)
    first = (await call("read_resource", {"uri": report.uri}, here)).structured
    assert 300 < first["next_offset"] == len(first["text"]) <= MAX_BYTES


async def test_bytes_beyond_the_limit_of_resources_are_refused_by_the_tool_too(
    call: Call, ctx: ToolContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T6, X3: one limit, whichever way is taken."""
    monkeypatch.setattr(report_folder, "MAX_BYTES", 4)
    (tmp_path / "b.pdf").write_bytes(b"%PDF-")
    refused = await call("read_resource", {"uri": "file:///b.pdf"}, reading(ctx, folder=tmp_path))
    assert refused.structured["type"] == "TooLarge"
