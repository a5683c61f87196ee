"""The HTTP server as a process: its socket, and who may reach it.

Owns what the command line needs of uvicorn and the operating system. What is served is `app.py`'s.
"""

import gc
import ipaddress
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer
import uvicorn
from starlette.applications import Starlette
from typing_extensions import override

from planner_mcp.server.http.wire.deadlines import DeadlineProtocol
from planner_mcp.settings import Settings

YOUNG_OBJECTS: Final = 10_000
"""Containers that come between two collections. One request in flight has some 200."""
STALL_S: Final = 60.0
"""A client that takes nothing of its answer for this long is gone, where the operating system can tell (Linux)."""

log = logging.getLogger("planner_mcp.cli")


class Server(uvicorn.Server):
    """uvicorn without its own signal handling, that tells when it listens.

    What is in memory by then stays, so no later collection looks through it: each full one held everybody up for 85 ms.
    What requests make goes without the collector, so it looks for circles only when far more has come than a crowd of
    requests needs at a time.
    """

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG_OBJECTS)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log.info("listening", extra={"url": f"http://{shown}:{port}", "port": port})

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def uvicorn_config(web: Starlette, settings: Settings) -> uvicorn.Config:
    """Return how the server is run: no lifespan, no log of its own, no header that names it."""
    return uvicorn.Config(
        web,
        http=DeadlineProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.grace_s,
    )


def listen(host: str, port: int) -> socket.socket:
    """Return a bound socket; say in one line why there is none."""
    try:
        family, kind, proto, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise typer.BadParameter(f"cannot listen on {host}: {error.strerror}") from error
    listener = socket.socket(family, kind, proto)  # asyncio sets TCP_NODELAY only where the protocol is named
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections inherit it; without it what nobody takes is kept for ever
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(STALL_S * 1000))
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise typer.BadParameter(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


def check_exposure(settings: Settings, *, is_allowed: bool) -> None:
    """Say in one line that nobody is authenticated; refuse to let others reach such a server unasked (SPEC A3)."""
    if settings.has_auth:
        return
    refusal = exposure(settings)
    if refusal and not is_allowed:
        raise typer.BadParameter(refusal)
    reach = "whoever reaches this address" if refusal else "loopback only"
    log.log(logging.WARNING if refusal else logging.INFO, f"no authorization configured: one user, {reach}")


def exposure(settings: Settings) -> str:
    """Return why such a server does not listen unasked: others reach it and nobody is authenticated. Else nothing."""
    if settings.has_auth or _is_loopback(settings.host):
        return ""
    return f"{settings.host} is reachable by others and no authorization is configured; --insecure does it anyway."


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
