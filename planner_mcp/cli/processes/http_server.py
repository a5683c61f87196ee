"""The HTTP server as a process: its socket, its signals, and who may reach it.

Owns what the command line needs of uvicorn and the operating system. A first SIGTERM or SIGINT drains: streams end, so
that their clients reconnect to another replica. A second one stops at once. `http_app.py` has the routes.
"""

import gc
import ipaddress
import logging
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from typing import Final

import anyio
import typer
import uvicorn
from starlette.applications import Starlette
from typing_extensions import override

import planner_mcp
from planner_mcp.cli.processes.server_processes import workers_beside
from planner_mcp.process_limits import return_large_blocks
from planner_mcp.server.http.slow_clients import SlowClientProtocol
from planner_mcp.settings import Settings
from planner_mcp.text import counted
from workers.supervisor import signals_to

YOUNG_OBJECTS: Final = 10_000
"""New container objects between two collections; one open request has about 200."""
STALL_S: Final = 60.0
"""A connection whose client acknowledges no data for this long is closed by the operating system (Linux)."""

log = logging.getLogger("planner_mcp.cli")


class Server(uvicorn.Server):
    """uvicorn without its own signal handling, which announces its URL once it listens.

    Objects made during start-up are excluded from garbage collection: a full collection over them paused every request
    for 85 ms. Young objects are collected less often, because requests make few reference cycles.
    """

    def __init__(self, config: uvicorn.Config, announce: Callable[[str, int], None]) -> None:
        super().__init__(config)
        self._announce = announce

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        return_large_blocks()
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        self._announce(f"http://{shown}:{port}", port)

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def uvicorn_config(web: Starlette, settings: Settings) -> uvicorn.Config:
    """Return the configuration of uvicorn: no lifespan, no log of its own, no Server header."""
    return uvicorn.Config(
        web,
        http=SlowClientProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",  # each junk or upgrade request would be a warning
        access_log=False,
        server_header=False,
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),  # uvicorn would believe whoever is on loopback
        timeout_graceful_shutdown=settings.grace_s,
    )


OpenApp = Callable[..., AbstractAsyncContextManager[Starlette]]
"""Opens one replica: `planner_mcp.http_app.open_app`, or a variant of it given as the application's context object."""


async def serve_http(settings: Settings, opening: OpenApp) -> None:
    """Run one replica and its workers until a signal drains them."""
    drain = anyio.Event()
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(listen(settings.host, settings.port))
        settings = settings.model_copy(update={"port": listener.getsockname()[1]})  # of 0 the free one it took
        web = await stack.enter_async_context(opening(settings, drain=drain))
        drain_workers = await stack.enter_async_context(workers_beside(settings, settings.workers))
        server = Server(uvicorn_config(web, settings), _announcement(settings))

        def stop() -> None:
            server.force_exit = server.should_exit
            server.should_exit = True
            drain.set()
            drain_workers()

        with signals_to(stop):
            await server.serve(sockets=[listener])


def _announcement(settings: Settings) -> Callable[[str, int], None]:
    """Return where the server listens, as text: three lines for a person at a terminal, else a line of the log."""

    def announce(url: str, port: int) -> None:
        if not sys.stderr.isatty():
            log.info("listening", extra={"url": url, "port": port})
            return
        pages = "" if settings.server != "planner" else f", dashboard at {url}/ui"
        who = "one user, nobody is asked who they are" if not settings.has_auth else "with authorization"
        store = "a shared store" if settings.redis_url else f"data in {settings.data_dir}"
        typer.echo(f"planner-mcp {planner_mcp.__version__}: MCP at {url}/mcp{pages}", err=True)
        typer.echo(f"{counted(settings.workers, 'worker')}, {store}, {who}. Ctrl-C stops it.", err=True)
        typer.echo(f"Connect a client: planner-mcp config claude-code --url {url}/mcp", err=True)

    return announce


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket.

    Raises:
        typer.BadParameter: The address cannot be used; the message says why.
    """
    try:
        family, kind, proto, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise typer.BadParameter(f"cannot listen on {host}: {error.strerror}") from error
    listener = socket.socket(family, kind, proto)  # asyncio sets TCP_NODELAY only where the protocol is named
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # inherited by every connection
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(STALL_S * 1000))
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise typer.BadParameter(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


def check_exposure(settings: Settings, *, is_allowed: bool) -> None:
    """Log that there is no authorization; refuse to listen beyond loopback then, unless allowed (SPEC A3)."""
    if settings.has_auth:
        return
    refusal = exposure(settings)
    if refusal and not is_allowed:
        raise typer.BadParameter(refusal)
    reach = "anybody who can reach this address" if refusal else "loopback only"
    log.log(logging.WARNING if refusal else logging.INFO, f"no authorization configured: one user, {reach}")


def exposure(settings: Settings) -> str:
    """Return why `serve` needs `--insecure`: others reach the server and nobody is authenticated; empty otherwise."""
    if settings.has_auth or _is_loopback(settings.host):
        return ""
    return f"{settings.host} is reachable by others and no authorization is configured; --insecure does it anyway."


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
