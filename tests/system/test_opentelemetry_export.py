"""Spans of a whole planner, received by a collector over OTLP (SPEC O3)."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import anyio
import pytest
from mcp import Client
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from examples.planner_server import running_server
from tests.shared.scenarios.client_scenarios import SMALLEST, submit, wait_for

pytestmark = pytest.mark.anyio


class Collector(ThreadingHTTPServer):
    """Takes spans in."""

    def __init__(self) -> None:
        self.spans: dict[tuple[str, str], Span] = {}
        super().__init__(("127.0.0.1", 0), Inbox)


class Inbox(BaseHTTPRequestHandler):
    """One request of an exporter."""

    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        for process in ExportTraceServiceRequest.FromString(body).resource_spans:
            facts = {fact.key: fact.value.string_value for fact in process.resource.attributes}
            for scope in process.scope_spans:
                self.server.spans |= {(facts["service.name"], span.name): span for span in scope.spans}
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        serving = threading.Thread(target=collector.serve_forever)
        serving.start()
        yield collector
        collector.shutdown()
        serving.join()


async def test_a_call_its_job_and_the_solve_are_one_trace_of_two_processes(
    collector: Collector, tmp_path: Path
) -> None:
    """SPEC O3: linked by trace context, under the trace id of the worker's log lines; nothing of the day is told."""
    log = tmp_path / "log"
    told = {"PLANNER_OTEL": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}"}
    with anyio.fail_after(100):
        async with (
            running_server(tmp_path, workers=1, settings=told, log=log) as planner_server,
            Client(planner_server.mcp) as client,
        ):
            job_id = await submit(client, SMALLEST, "PT1S")
            await wait_for(client, job_id, "COMPLETED")
    call = collector.spans["planner-mcp", "tools/call solve_vrp"]
    job, solve = (collector.spans["planner-mcp-worker", name] for name in ("job", "solve"))
    assert (job.parent_span_id, solve.parent_span_id) == (call.span_id, job.span_id)
    assert call.trace_id == job.trace_id == solve.trace_id
    assert f'"trace_id": "{call.trace_id.hex()}", "job_id": "{job_id}"' in log.read_text(encoding="utf-8")
    said = str(list(collector.spans.values()))
    assert job_id in said
    assert not any(word in said for word in ("veh-1", "LOC_A", "t-1"))


async def test_a_trace_that_a_stranger_names_is_not_taken_over(collector: Collector, tmp_path: Path) -> None:
    """SPEC O3, ADR 19: neither spans nor log lines carry an id a client chose."""
    told = {"PLANNER_OTEL": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}"}
    chosen = {"traceparent": f"00-{'ab' * 16}-{'cd' * 8}-01"}
    with anyio.fail_after(100):
        async with (
            running_server(tmp_path, workers=0, settings=told) as planner_server,
            Client(planner_server.mcp) as client,
        ):
            await client.call_tool("create_scenario", SMALLEST, meta=chosen)  # type: ignore[arg-type]  # any key may stand there
    call = collector.spans["planner-mcp", "tools/call create_scenario"]
    assert call.trace_id.hex() != "ab" * 16
    assert call.parent_span_id == b""
