"""`GET /metrics`: figures of this replica and of the queue, in the text format of Prometheus (SPEC T9).

Owns names and wording of the figures. Where callers are authenticated they need the scope of an operator.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from planner_mcp.errors import InsufficientScopeError, StoreError
from planner_mcp.jobs.principals import ADMIN
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.http_responses import refusal
from planner_mcp.server.tools.answers.tool_usage_meter import UsageMeter, listings
from planner_mcp.server.tools.tool_registry import shown_tools
from planner_mcp.settings import Settings

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
Sample = tuple[Mapping[str, str], float]


def metrics_routes(settings: Settings, meter: UsageMeter) -> list[Route]:
    """Return the route to mount.

    Args:
        settings: Which tools are listed.
        meter: Counts what tools answer.
    """
    listed = list(_listed(settings))

    async def metrics(request: Request) -> Response:
        try:
            principal_of(request.scope).require(ADMIN)
        except InsufficientScopeError as error:
            return refusal(error)
        lines = [*_answered(meter), *listed, *await _queue(request.app.state.services.job_service)]
        return PlainTextResponse("\n".join(lines) + "\n", media_type=MEDIA_TYPE)

    return [Route("/metrics", metrics)]


def _answered(meter: UsageMeter) -> Iterator[str]:
    calls: Iterable[Sample] = (({"tool": tool, "outcome": how}, n) for (tool, how), n in sorted(meter.calls.items()))
    yield from _family("planner_tool_calls_total", "counter", "Calls answered.", calls)
    yield from _family("planner_tool_answer_bytes_total", "counter", "Bytes of answers.", _by_tool(meter.bytes))
    help_text = "Estimated tokens (o200k) of answers."
    yield from _family("planner_tool_answer_tokens_total", "counter", help_text, _by_tool(meter.tokens))


def _listed(settings: Settings) -> Iterator[str]:
    costs = dict(listings(shown_tools(settings)))
    sizes, tokens = {name: cost.bytes for name, cost in costs.items()}, {n: cost.tokens for n, cost in costs.items()}
    yield from _family("planner_tool_listing_bytes", "gauge", "Bytes of a tool in tools/list.", _by_tool(sizes))
    help_text = "Estimated tokens (o200k) of a tool in tools/list."
    yield from _family("planner_tool_listing_tokens", "gauge", help_text, _by_tool(tokens))


async def _queue(job_service: Any) -> list[str]:
    """Return the figures of the queue; none while the store is away."""
    try:
        stats = await job_service.stats()
    except StoreError:
        return []
    figures = {
        "planner_jobs_queued": ("Jobs that wait for a worker.", stats.queued),
        "planner_jobs_solving": ("Jobs that are being solved.", stats.solving),
        "planner_workers_live": ("Workers that sent a sign of life.", stats.live_workers),
        "planner_slots_live": ("Solves those workers take at a time.", stats.live_slots),
        "planner_pools_away": ("Pools whose node does not answer; not counted above.", stats.pools_away),
    }
    return [
        line
        for name, (help_text, value) in figures.items()
        for line in _family(name, "gauge", help_text, [({}, value)])
    ]


def _by_tool(values: Mapping[str, float]) -> Iterator[Sample]:
    return (({"tool": name}, value) for name, value in sorted(values.items()))


def _family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {help_text}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        named = ",".join(f'{label}="{text}"' for label, text in labels.items())
        yield f"{name}{{{named}}} {value}" if named else f"{name} {value}"
