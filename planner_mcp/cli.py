"""The command line: `serve`, `worker`, `manifest`, `doctor`, `bench`; no command speaks MCP over stdio.

Owns processes and signals. A first SIGTERM or SIGINT drains: streams end so that their clients go to another replica,
workers finish or hand back; a second one leaves at once. Standard output carries what a command prints, or the
protocol; the log goes to standard error.
"""

import asyncio
import importlib.util
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import typer
import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from typing_extensions import override

import planner_mcp
from planner_mcp import file_cli
from planner_mcp.app import hearing, open_app, open_house
from planner_mcp.doctor import examine
from planner_mcp.errors import PlannerError
from planner_mcp.keys_cli import app as keys
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from planner_mcp.web.deadlines import DeadlineProtocol
from planner_mcp.web.manifest import served
from planner_mcp.webhook_cli import app as webhooks
from workers.pool import Pool, run_pool

log = logging.getLogger(__name__)

app = typer.Typer(
    name="planner-mcp",
    help="An async, job-oriented MCP server for vehicle routing. Without a command it speaks MCP over stdio.",
    add_completion=False,
    pretty_exceptions_enable=False,
)

app.add_typer(webhooks)
app.add_typer(keys)

RedisUrl = Annotated[str | None, typer.Option(help="Redis or Valkey; empty: the bundled server in the data folder.")]
DataDir = Annotated[Path | None, typer.Option(help="Folder of the bundled store.")]


def _tell_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"planner-mcp {planner_mcp.__version__}")
        raise typer.Exit


OpenApp = Callable[..., AbstractAsyncContextManager[Starlette]]
"""Opens one replica: `planner_mcp.app.open_app`, or a variant of it given as the application's context object."""


@app.callback(invoke_without_command=True)
def stdio(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Speak MCP over standard input and output, with one worker in the background."""
    if context.invoked_subcommand is None:
        settings = _settings()
        _run(_serve_stdio(settings))


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes beside the server; 0 for none.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
    insecure: Annotated[bool, typer.Option(help="Listen beyond loopback although nobody is authenticated.")] = False,
) -> None:
    """Run the HTTP server and its workers."""
    settings = _settings(host=host, port=port, workers=workers, redis_url=redis_url, data_dir=data_dir)
    _check_exposure(settings, is_allowed=insecure)
    _run(_serve(settings, context.obj or open_app))


@app.command()
def worker(
    redis_url: RedisUrl = None,
    processes: Annotated[int, typer.Option(min=1, help="Worker processes; each solves one job at a time.")] = 1,
    data_dir: DataDir = None,
) -> None:
    """Run workers for a store that servers share."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    _run(run_pool(settings, processes))


File = Annotated[Path, typer.Argument(help="A scenario as JSON, as create_scenario takes it; - for standard input.")]


@app.command()
def validate(file: File) -> None:
    """Tell all that is wrong or odd about a scenario; exit status 1 when it cannot be planned."""
    sys.exit(0 if file_cli.validate(file, _settings()) else 1)


@app.command()
def solve(
    file: File,
    seconds: Annotated[int, typer.Option(min=1, help="Longest search.")] = 10,
    output: Annotated[Path | None, typer.Option(help="File for the plan; absent: standard output.")] = None,
    redis_url: RedisUrl = None,
    data_dir: DataDir = None,
) -> None:
    """Plan a scenario and print the plan as JSON; exit status 1 when there is none."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    plans: list[dict[str, Any]] = []
    _run(_solve(file, seconds, settings, plans.append))
    if not plans:
        sys.exit(1)
    file_cli.write_plan(plans[0], output)


async def _solve(file: Path, seconds: int, settings: Settings, take: Callable[[dict[str, Any]], None]) -> None:
    async with open_house(settings) as house, _workers(settings, 1):
        if plan := await file_cli.solve(house.planner, file, seconds, settings=settings):
            take(plan)


@app.command(name="manifest")
def show_manifest() -> None:
    """Print what the server offers, as served at /manifest."""
    typer.echo(json.dumps(served(_settings()), ensure_ascii=False, indent=2))


@app.command()
def doctor(redis_url: RedisUrl = None, data_dir: DataDir = None) -> None:
    """Check that everything is in place; exit status 1 when something is not."""
    settings = _settings(redis_url=redis_url, data_dir=data_dir)
    _run(_doctor(settings))


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []})
def bench(context: typer.Context) -> None:
    """Compare engines on published instances; `bench --help` lists its options. Runs from a checkout."""
    if importlib.util.find_spec("benchmarks") is None:
        raise typer.BadParameter("the benchmark is not part of the installed package; run it from a checkout.")
    sys.exit(importlib.import_module("benchmarks.plans").main(context.args))


async def _doctor(settings: Settings) -> None:
    is_well = True
    async for finding in examine(settings):
        is_well &= finding.is_well
        typer.echo(f"{'ok ' if finding.is_well else 'BAD'} {finding.name:8} {finding.told}")
    if not is_well:
        sys.exit(1)


def main() -> None:
    """Run the command line."""
    app()


# ---- serving


class _Server(uvicorn.Server):
    """uvicorn without its own signal handling, that tells when it listens."""

    @override
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = (sockets or self.servers[0].sockets)[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        log.info("listening", extra={"url": f"http://{shown}:{port}", "port": port})

    @override
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(settings: Settings, opening: OpenApp) -> None:
    drain = anyio.Event()
    listener = _listen(settings.host, settings.port)
    async with (
        opening(settings, drain=drain) as web,
        _workers(settings, settings.workers) as drain_workers,
    ):
        server = _Server(_uvicorn_config(web, settings))

        def stop() -> None:
            server.force_exit = server.should_exit
            server.should_exit = True
            drain.set()
            drain_workers()

        with _signals_to(stop):
            await server.serve(sockets=[listener])


def _uvicorn_config(web: Starlette, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        web,
        http=DeadlineProtocol,  # h11: httptools would not trim header values
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=max(1, round(settings.drain_s)),
    )


async def _serve_stdio(settings: Settings) -> None:
    stopped = asyncio.Event()
    async with open_house(settings) as house, hearing(house), _workers(settings, settings.workers):
        with _signals_to(stopped.set):
            serving = asyncio.create_task(house.kernel.serve_stdio())
            stopping = asyncio.create_task(stopped.wait())
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if not serving.done():
        os._exit(0)  # a thread of the SDK still reads standard input and cannot be stopped
    serving.result()


@asynccontextmanager
async def _workers(settings: Settings, processes: int) -> AsyncIterator[Callable[[], None]]:
    """Run workers beside the block and drain them after it.

    Yields a function that drains them before; called again, it makes them leave at once.
    """
    pool = Pool(settings, processes)
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


@contextmanager
def _signals_to(handler: Callable[[], Any]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, proto, _name, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise typer.BadParameter(f"cannot listen on {host}: {error.strerror}") from error
    listener = socket.socket(family, kind, proto)  # asyncio sets TCP_NODELAY only where the protocol is named
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise typer.BadParameter(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return listener


# ---- parts


def _settings(**given: Any) -> Settings:
    """Return the settings of the environment under what the command line says, and set the log up."""
    try:
        settings = Settings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()]
        raise typer.BadParameter("; ".join(wrong)) from error
    configure_logging(settings)
    return settings


def _check_exposure(settings: Settings, *, is_allowed: bool) -> None:
    """Say in one line that nobody is authenticated; refuse to let others reach such a server unasked (SPEC A3)."""
    if settings.has_auth:
        return
    is_reachable = not _is_loopback(settings.host)
    if is_reachable and not is_allowed:
        raise typer.BadParameter(
            f"{settings.host} is reachable by others and no authorization is configured; --insecure does it anyway."
        )
    reach = "whoever reaches this address" if is_reachable else "loopback only"
    log.log(logging.WARNING if is_reachable else logging.INFO, f"no authorization configured: one user, {reach}")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _run(work: Any) -> None:
    """Run to the end; what the planner refuses is one line and exit status 1."""
    try:
        asyncio.run(work)
    except PlannerError as error:
        log.error(error.message, extra={"code": error.code, "type": error.type})
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
