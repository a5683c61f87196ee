"""`/metrics`: what tools cost, by tool (SPEC T9)."""

import re
from base64 import b64encode

import httpx2 as httpx
import pytest

from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter, cost_of
from planner_mcp.server.tools.tool_definition import ImageContent, ResourceBytes, ToolResult
from tests.integration.server.mcp.app_replicas import Caller, Replica

pytestmark = pytest.mark.anyio
Two = tuple[Replica, Replica]
_LINE = re.compile(r'[a-z_]+(\{[a-z]+="[a-z_]+"(,[a-z]+="[a-z]+")?\})? [0-9.]+')


async def figures(web: httpx.AsyncClient, on: Replica) -> dict[str, float]:
    """Return the samples of a replica."""
    answer = await web.get(f"{on.url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = [line for line in answer.text.splitlines() if not line.startswith("# ")]
    assert all(_LINE.fullmatch(line) for line in lines)
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


async def test_calls_bytes_and_tokens_are_counted_by_tool(
    app_replicas: Two, modern: Caller, web: httpx.AsyncClient
) -> None:
    """SPEC T9: calls by outcome; bytes and estimated tokens of what went out, and of each tool in the list."""
    before = await figures(web, app_replicas[0])
    await modern.scenario(app_replicas[0])
    await modern.call(app_replicas[0], "query_vrp_status", {})
    after = await figures(web, app_replicas[0])

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown('planner_tool_calls_total{tool="create_scenario",outcome="ok"}') == 1
    assert grown('planner_tool_calls_total{tool="query_vrp_status",outcome="error"}') == 1
    assert grown('planner_tool_answer_bytes_total{tool="create_scenario"}') > 100
    assert 20 < grown('planner_tool_answer_tokens_total{tool="create_scenario"}') < 400
    assert 100 < after['planner_tool_listing_tokens{tool="create_scenario"}'] <= 1000  # rather too many than too few
    assert after["planner_jobs_queued"] == 0


@pytest.mark.parametrize("text", ["", "create a plan for the day", "北京城配", "plan 北京 for a day"])
def test_the_estimate_is_that_of_answers(text: str) -> None:
    """SPEC T9: counted from bytes and characters alone."""
    assert cost_of(text).tokens == round(estimated_tokens(text))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1000])
def test_pictures_and_files_count_as_they_are_sent(size: int) -> None:
    """SPEC T9: bytes of what went out; a map is most of its answer."""
    meter, data = UsageMeter(), b"x" * size
    meter.count("words", ToolResult({}, "map"))
    meter.count(
        "both",
        ToolResult({}, "map", images=(ImageContent(data, "image/png"),), blobs=(ResourceBytes("u", data, "a/b"),)),
    )
    assert meter.bytes["both"] - meter.bytes["words"] == 2 * len(b64encode(data))
    assert meter.tokens["both"] == meter.tokens["words"]
