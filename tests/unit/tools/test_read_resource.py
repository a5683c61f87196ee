"""What `read_resource` says of the resources there are, for hosts that show their model none."""

from dataclasses import replace

import pytest

from planner_mcp.jobs.model import LOCAL, Principal
from planner_mcp.resources.base import Reading
from planner_mcp.resources.catalogue import FIXED, TEMPLATES
from planner_mcp.resources.reports import ROOT, ReportFolder
from planner_mcp.store.redis_store import RedisStore
from planner_mcp.tools.base import ToolContext
from planner_mcp.tools.read_resource import TOOL
from tests.unit.tools.conftest import Call
from tests.unit.tools.plans import created, solved

pytestmark = pytest.mark.anyio


def reading(ctx: ToolContext, principal: Principal = LOCAL) -> ToolContext:
    """Return a context that reads resources, without a folder of reports."""
    return replace(ctx, principal=principal, reading=Reading(principal, ctx.planner, ReportFolder(None)))


def test_every_kind_of_resource_is_named() -> None:
    """SPEC T6, R1: a model that sees no templates learns of none otherwise."""
    starts = {template.uri_template.partition("{")[0] for template in (*TEMPLATES, *FIXED)} | {ROOT}
    ends = {template.uri_template.rpartition("}")[2].lstrip("/") for template in TEMPLATES}
    assert [part for part in sorted(starts | ends) if part not in TOOL.description] == []


async def test_a_uri_of_no_form_is_told_the_forms_there_are(call: Call, ctx: ToolContext) -> None:
    """SPEC T7, A2: by what it begins with, so that an unknown name and a foreign one are answered alike."""
    here = reading(ctx)
    name = "plan-0-" + "z" * 26
    told = {}
    for uri in (f"plan://{name}/export.csv", f"plan://{name}/stops.csv", "http://x", "logs://vrp/2025-07-15"):
        refused = (await call("read_resource", {"uri": uri}, here)).structured
        assert refused["type"] == "NotFound"
        (fault,) = refused["errors"]
        assert fault["path"] == "/uri"
        told[uri] = fault["accepted"]
    assert told[f"plan://{name}/export.csv"] == told[f"plan://{name}/stops.csv"]
    assert all(
        f"plan://{{plan_id}}{end}" in told[f"plan://{name}/export.csv"] for end in ("", "/stops.csv", "/map.png")
    )
    assert {"scenario://{scenario_id}", "plan://{plan_id}/stops.csv", "limits://vrp"} <= {*told["http://x"].split(", ")}
    assert told["logs://vrp/2025-07-15"] == "logs://vrp/{date}"


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
