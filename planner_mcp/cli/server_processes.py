"""What runs until it is told to stop: a server over HTTP, one over stdio, and workers, alone or beside other work.

Owns processes and signals. A first SIGTERM or SIGINT drains: streams end so that their clients go to another replica,
workers finish or hand back; a second one leaves at once. What is served is `app.py`'s, the socket `serving.py`'s.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

import anyio
from starlette.applications import Starlette

from planner_mcp.app import listening_for_wake_ups, open_application
from planner_mcp.cli.http_server import Server, listen, uvicorn_config
from planner_mcp.jobs.store.security.encryption import open_cipher
from planner_mcp.settings import Settings
from workers.supervisor import Supervisor, run_supervisor, signals_to

OpenApp = Callable[..., AbstractAsyncContextManager[Starlette]]
"""Opens one replica: `planner_mcp.app.open_app`, or a variant of it given as the application's context object."""


async def serve_http(settings: Settings, opening: OpenApp) -> None:
    """Run one replica and its workers until a signal has drained them."""
    drain = anyio.Event()
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})  # of 0 the free one it took
        web = await stack.enter_async_context(opening(settings, drain=drain))
        drain_workers = await stack.enter_async_context(workers_beside(settings, settings.workers))
        server = Server(uvicorn_config(web, settings))

        def stop() -> None:
            server.force_exit = server.should_exit
            server.should_exit = True
            drain.set()
            drain_workers()

        with signals_to(stop):
            await server.serve(sockets=[listener])


async def serve_stdio(settings: Settings) -> None:
    """Speak MCP over standard input and output, until the client closes its end or a signal comes."""
    stopped = asyncio.Event()
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
    """Run workers of a shared store until a signal has drained them."""
    open_cipher(settings)  # without the key its couriers could sign nothing: told here, once
    await run_supervisor(settings, processes)


@asynccontextmanager
async def workers_beside(settings: Settings, processes: int) -> AsyncIterator[Callable[[], None]]:
    """Run workers beside the block and drain them after it.

    Yields a function that drains them before; called again, it makes them leave at once.
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
