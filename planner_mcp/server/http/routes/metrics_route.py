"""`GET /metrics`: figures of this replica, of jobs and of the queue, in Prometheus' text format (SPEC T9, O3).

Owns names and wording of the figures. Calls and requests are those of this replica; jobs, webhooks and the queue are
those of the whole deployment, and every replica shows the same. Where callers are authenticated they need the scope of
an operator.
"""

import time
from collections.abc import Iterable, Iterator
from typing import Final

from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4, CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from planner_mcp.errors import InsufficientScopeError, StoreError
from planner_mcp.jobs.job_ports import QueueStats
from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import ADMIN
from planner_mcp.jobs.records import measurements
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.responses.http_responses import refusal
from planner_mcp.server.http.routes.http_endpoint import METHODS
from planner_mcp.server.tools.answers.tool_usage_meter import listings
from planner_mcp.server.tools.tool_definition import Tool

BUCKETS_S: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)
UNROUTED: Final = "other"
"""Label of requests that were refused before a route was found, and of methods that no route has."""
_STORED: Final = (
    (measurements.JOB_DURATION, "planner_job_duration_seconds", "From the first claim of a job to its end.", "outcome"),
    (measurements.QUEUE_WAIT, "planner_job_queue_wait_seconds", "From submission to the first claim.", ""),
    (measurements.FIRST_PLAN, "planner_job_first_plan_seconds", "From the first claim to the first plan.", ""),
    (measurements.WEBHOOK_ATTEMPT, "planner_webhook_attempt_seconds", "Attempts to deliver a webhook.", "outcome"),
)
"""What the store measures: its name there, the name and help text here, and the label if there is one."""


class RequestMetrics:
    """The ASGI layer that measures requests, from the request to the start of its answer: a stream may last for hours.

    Args:
        app: The application behind it.
        registry: The registry of the application that is measured.
    """

    def __init__(self, app: ASGIApp, registry: CollectorRegistry) -> None:
        self._app = app
        labels = ("method", "route", "status")
        help_text = "Time from a request to the start of its answer."
        self._seconds = Histogram(
            "planner_http_request_seconds", help_text, labels, registry=registry, buckets=BUCKETS_S
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def measured(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in METHODS else UNROUTED
                route = getattr(scope.get("route"), "path", UNROUTED)
                self._seconds.labels(method, route, message["status"]).observe(time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, measured)


def metrics_routes(registry: CollectorRegistry, tools: tuple[Tool, ...]) -> list[Route]:
    """Return the route to mount.

    Args:
        registry: The metrics of this replica.
        tools: Those that are listed.
    """
    _register_listings(tools, registry)

    async def metrics(request: Request) -> Response:
        try:
            principal_of(request.scope).require(ADMIN)
        except InsufficientScopeError as error:
            return refusal(error)
        stored = _Collected(await _stored_metrics(request.app.state.services.job_service))
        text = generate_latest(registry) + generate_latest(stored)
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    return [Route("/metrics", metrics)]


def _register_listings(tools: tuple[Tool, ...], registry: CollectorRegistry) -> None:
    sizes = Gauge("planner_tool_listing_bytes", "Bytes of a tool in tools/list.", ("tool",), registry=registry)
    help_text = "Estimated tokens (o200k) of a tool in tools/list."
    tokens = Gauge("planner_tool_listing_tokens", help_text, ("tool",), registry=registry)
    for name, cost in listings(tools):
        sizes.labels(name).set(cost.bytes)
        tokens.labels(name).set(cost.tokens)


class _Collected(Collector):
    """Metrics that were read before."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = metrics

    @override
    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def _stored_metrics(job_service: JobService) -> list[Metric]:
    """Return the metrics of the whole deployment; none while the store is away."""
    try:
        stats, fields = await job_service.stats(), await job_service.measurements()
    except StoreError:
        return []
    return [*_queue(stats), *_histograms(measurements.histograms_of(fields))]


def _queue(stats: QueueStats) -> Iterator[Metric]:
    figures = {
        "planner_jobs_queued": ("Jobs that wait for a worker.", stats.queued),
        "planner_jobs_solving": ("Jobs that are being solved.", stats.solving),
        "planner_workers_live": ("Workers that sent a heartbeat in time.", stats.live_workers),
        "planner_slots_live": ("Solves those workers take at a time.", stats.live_slots),
        "planner_pools_away": ("Pools whose node does not answer; they are not counted above.", stats.pools_away),
    }
    for name, (help_text, value) in figures.items():
        yield GaugeMetricFamily(name, help_text, value)


def _histograms(known: dict[str, dict[str, measurements.Histogram]]) -> Iterator[Metric]:
    for name, metric_name, help_text, label in _STORED:
        family = HistogramMetricFamily(metric_name, help_text, labels=[label] if label else [])
        for value, histogram in sorted(known.get(name, {}).items()):
            family.add_metric([value] if label else [], list(histogram.cumulative()), histogram.sum_ms / 1000)
        yield family
