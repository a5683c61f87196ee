"""`/metrics`: what tools cost, by tool (SPEC T9), and how long requests and jobs take (SPEC O3)."""

from base64 import b64encode

import httpx2 as httpx
import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from planner_mcp.server.tools.answers.token_estimates import estimated_tokens
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter, cost_of
from planner_mcp.server.tools.tool_definition import ImageContent, ToolResult
from planner_mcp.server.tools.tool_output import ToolOutput
from tests.integration.server.mcp.app_replicas import Caller, Replica, Two, Worker

pytestmark = pytest.mark.anyio


async def figures(web: httpx.AsyncClient, on: Replica) -> dict[str, float]:
    """Return the samples of a replica, as Prometheus reads them: `name{label="value",…}` and a number."""
    answer = await web.get(f"{on.url}/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = [sample for family in text_string_to_metric_families(answer.text) for sample in family.samples]
    found = {_named(sample.name, sample.labels): sample.value for sample in samples}
    assert len(found) == len(samples)
    return found


def _named(name: str, labels: dict[str, str]) -> str:
    inside = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
    return f"{name}{{{inside}}}" if inside else name


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

    assert grown('planner_tool_calls_total{outcome="ok",tool="create_scenario"}') == 1
    assert grown('planner_tool_calls_total{outcome="error",tool="query_vrp_status"}') == 1
    assert grown('planner_tool_answer_bytes_total{tool="create_scenario"}') > 100
    assert 20 < grown('planner_tool_answer_tokens_total{tool="create_scenario"}') < 400
    assert 100 < after['planner_tool_listing_tokens{tool="create_scenario"}'] <= 1000  # rather too many than too few
    assert after["planner_jobs_queued"] == 0


async def test_requests_and_calls_are_timed_by_route_and_outcome(
    app_replicas: Two, modern: Caller, web: httpx.AsyncClient
) -> None:
    """SPEC O3: paths and methods of a stranger make no label of their own."""
    await modern.scenario(app_replicas[0])
    await web.get(f"{app_replicas[0].url}/jobs/job-0-{'a' * 26}")
    await web.request("BREW", f"{app_replicas[0].url}/no/such/path")
    known = await figures(web, app_replicas[0])
    assert known['planner_http_request_seconds_count{method="POST",route="/mcp",status="200"}'] >= 1
    assert known['planner_http_request_seconds_count{method="GET",route="/jobs/{job_id}",status="404"}'] >= 1
    assert known['planner_http_request_seconds_count{method="other",route="other",status="404"}'] >= 1
    assert not [name for name in known if "such" in name or "BREW" in name or "aaaa" in name]
    assert known['planner_tool_call_seconds_count{outcome="ok",tool="create_scenario"}'] >= 1


async def test_every_replica_shows_the_times_of_all_jobs(
    app_replicas: Two, modern: Caller, worker: Worker, web: httpx.AsyncClient
) -> None:
    """SPEC O3: duration by outcome, wait in the queue, time to the first plan."""
    await modern.solve(app_replicas[0])
    await worker.complete(await worker.take())
    known = [await figures(web, each) for each in app_replicas]
    for name in ("planner_job_queue_wait_seconds_count", "planner_job_first_plan_seconds_count"):
        assert known[0][name] == known[1][name] >= 1
    name = 'planner_job_duration_seconds_count{outcome="completed"}'
    assert known[0][name] == known[1][name] >= 1


@pytest.mark.parametrize("text", ["", "create a plan for the day", "北京城配", "plan 北京 for a day"])
def test_the_estimate_is_that_of_answers(text: str) -> None:
    """SPEC T9: counted from bytes and characters alone."""
    assert cost_of(text).tokens == round(estimated_tokens(text))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1000])
def test_pictures_count_as_they_are_sent(size: int) -> None:
    """SPEC T9: bytes of what went out; a map is most of its answer."""
    registry, data = CollectorRegistry(), b"x" * size
    meter = UsageMeter(registry)
    pictures = (ImageContent(data, "image/png"), ImageContent(data, "image/png"))
    meter.count("words", ToolResult(ToolOutput(), "map"), 0.1)
    meter.count("both", ToolResult(ToolOutput(), "map", images=pictures), 0.1)

    def counted(unit: str, tool: str) -> float:
        return registry.get_sample_value(f"planner_tool_answer_{unit}_total", {"tool": tool}) or 0.0

    assert counted("bytes", "both") - counted("bytes", "words") == 2 * len(b64encode(data))
    assert counted("tokens", "both") == counted("tokens", "words")
