"""`GET /metrics`: figures of this replica and of the queue, in the text format of Prometheus (SPEC T9).

Owns names and wording of the figures. Where callers are authenticated they need the scope of an operator.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from planner_mcp.auth.principal import principal_of
from planner_mcp.errors import InsufficientScopeError, StoreError
from planner_mcp.jobs.model import ADMIN
from planner_mcp.settings import Settings
from planner_mcp.tools.answers.meter import Meter, listings
from planner_mcp.tools.registry import shown_tools
from planner_mcp.web.answers import refusal

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
Sample = tuple[Mapping[str, str], float]


def metrics_routes(settings: Settings, meter: Meter) -> list[Route]:
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
        lines = [*_answered(meter), *listed, *await _queue(request.app.state.house.planner)]
        return PlainTextResponse("\n".join(lines) + "\n", media_type=MEDIA_TYPE)

    return [Route("/metrics", metrics)]


def _answered(meter: Meter) -> Iterator[str]:
    calls: Iterable[Sample] = (({"tool": tool, "outcome": how}, n) for (tool, how), n in sorted(meter.calls.items()))
    yield from _family("planner_tool_calls_total", "counter", "Calls answered.", calls)
    yield from _family("planner_tool_answer_bytes_total", "counter", "Bytes of answers.", _by_tool(meter.bytes))
    told = "Estimated tokens (o200k) of answers."
    yield from _family("planner_tool_answer_tokens_total", "counter", told, _by_tool(meter.tokens))


def _listed(settings: Settings) -> Iterator[str]:
    costs = dict(listings(shown_tools(settings)))
    sizes, tokens = {name: cost.bytes for name, cost in costs.items()}, {n: cost.tokens for n, cost in costs.items()}
    yield from _family("planner_tool_listing_bytes", "gauge", "Bytes of a tool in tools/list.", _by_tool(sizes))
    told = "Estimated tokens (o200k) of a tool in tools/list."
    yield from _family("planner_tool_listing_tokens", "gauge", told, _by_tool(tokens))


async def _queue(planner: Any) -> list[str]:
    """Return the figures of the queue; none while the store is away."""
    try:
        stats = await planner.stats()
    except StoreError:
        return []
    figures = {
        "planner_jobs_queued": ("Jobs that wait for a worker.", stats.queued),
        "planner_jobs_solving": ("Jobs that are being solved.", stats.solving),
        "planner_workers_live": ("Workers that sent a sign of life.", stats.live_workers),
        "planner_slots_live": ("Solves those workers take at a time.", stats.live_slots),
        "planner_pools_away": ("Pools whose node does not answer; not counted above.", stats.pools_away),
    }
    return [line for name, (told, value) in figures.items() for line in _family(name, "gauge", told, [({}, value)])]


def _by_tool(values: Mapping[str, float]) -> Iterator[Sample]:
    return (({"tool": name}, value) for name, value in sorted(values.items()))


def _family(name: str, kind: str, told: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {told}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        named = ",".join(f'{label}="{text}"' for label, text in labels.items())
        yield f"{name}{{{named}}} {value}" if named else f"{name} {value}"
