"""Processes that run until they are stopped: a server on stdio, and workers, alone or beside a server.

Owns signals and the lifetime of workers. A first SIGTERM or SIGINT drains: workers finish their job or hand it back. A
second one stops at once. The HTTP server is `http_server.py`.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from planner_mcp.app import listening_for_wake_ups, open_application
from planner_mcp.cli.environment_settings import store_address
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.settings import ANY_FILE, Settings
from planner_mcp.travel.road_daemon import road_daemon_beside
from workers.supervisor import Supervisor, run_supervisor, signals_to

log = logging.getLogger(__name__)


async def serve_stdio(settings: Settings) -> None:
    """Speak MCP over standard input and output, until the client closes its end or a signal comes."""
    stopped = asyncio.Event()
    if settings.files_dir is None:  # the client runs on this machine, as this user
        settings = settings.model_copy(update={"files_dir": ANY_FILE})
    async with (
        open_application(settings) as services,
        listening_for_wake_ups(services),
        workers_beside(settings, settings.workers),
    ):
        with signals_to(stopped.set):
            serving = asyncio.create_task(services.kernel.serve_stdio())
            stopping = asyncio.create_task(stopped.wait())
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not serving.done():
        os._exit(0)  # a thread of the SDK still reads standard input and cannot be stopped
    serving.result()


async def run_workers(settings: Settings, processes: int) -> None:
    """Run workers of a shared store until a signal drains them."""
    open_cipher(settings)  # without the key webhooks cannot be signed: fail here, once
    log.info("taking jobs", extra={"store": store_address(settings), "processes": processes})
    async with road_daemon_beside(settings):
        await run_supervisor(settings, processes)


@asynccontextmanager
async def workers_beside(settings: Settings, processes: int) -> AsyncIterator[Callable[[], None]]:
    """Run workers beside the block and drain them after it.

    Yields a function that drains them earlier; its second call stops them at once.
    """
    pool = Supervisor(settings, processes)
    running = asyncio.create_task(pool.run(), name="workers")
    is_draining = False

    def drain() -> None:
        nonlocal is_draining
        is_draining = True
        pool.drain()

    try:
        yield drain
    finally:
        if not is_draining:
            drain()
        await running
