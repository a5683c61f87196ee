"""Health probes: `/healthz` (the process is alive) and `/readyz` (it can serve requests) (SPEC O3, J7)."""

from typing import Final

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import planner_mcp
from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.server.http.responses.http_responses import json_answer, refusal

ALIVE_PATH: Final = "/healthz"
READY_PATH: Final = "/readyz"
PATHS: Final = (ALIVE_PATH, READY_PATH)
READY_S: Final = 1.5
"""The store must answer and take writes within this time."""


async def healthz(_request: Request) -> Response:
    """Answer while the event loop turns."""
    return json_answer({"status": "ok", "version": planner_mcp.__version__})


async def readyz(request: Request) -> Response:
    """Answer 200 with the queue at a glance when the store takes writes, in some pool at least, else 503."""
    try:
        with anyio.fail_after(READY_S):
            stats = await request.app.state.services.job_service.ready()
    except (StoreError, TimeoutError):
        return refusal(StoreUnavailableError())
    queue = {"queued": stats.queued, "solving": stats.solving}
    workers = {"live_workers": stats.live_workers, "live_slots": stats.live_slots}
    away = {"pools_away": stats.pools_away} if stats.pools_away else {}
    return json_answer({"status": "ready", **queue, **workers, **away})


def health_routes() -> list[Route]:
    """Return the routes to mount."""
    return [Route(ALIVE_PATH, healthz), Route(READY_PATH, readyz)]
