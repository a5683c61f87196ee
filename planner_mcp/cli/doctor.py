"""`planner-mcp doctor`: is everything in place for this configuration, and if not, what to do.

Owns the list of checks. Each is done for real (the store is opened and written to) and changes nothing that lasts.
"""

import errno
import http.client
import json
import os
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import typer

import planner_mcp
from planner_mcp.app import House, open_house
from planner_mcp.cli.environment import strange_names
from planner_mcp.cli.serving import exposure, listen
from planner_mcp.errors import PlannerError, StoreUnavailableError
from planner_mcp.settings import Settings
from planner_mcp.store.border import explained

HEALTH_S: Final = 2.0
"""Time whoever listens where `serve` would has to say that it is a planner."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    is_well: bool
    told: str


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Yield what each check found, in the order in which one would mend them."""
    yield Finding("version", True, planner_mcp.__version__)
    yield _environment()
    yield _engines()
    yield _address(settings)
    if refusal := exposure(settings):
        yield _access(settings, refusal)
    if settings.reports_dir is not None:
        yield _reports(settings.reports_dir)
    where = _store_of(settings)
    try:
        async with open_house(settings) as house:
            with explained(has_url=bool(settings.redis_url)):
                stats = await house.planner.ready()
                replica = await _replica(house) if settings.replication != "none" else None
    except PlannerError as error:
        yield Finding("store", False, f"{where}: {error.message}")
        return
    yield Finding("store", True, f"{where} takes writes; {stats.queued} queued, {stats.solving} solving")
    if replica is not None:
        yield replica
    has_workers = stats.live_workers > 0 or settings.workers > 0
    told = f"{stats.live_workers} alive; `serve` starts {settings.workers}"
    yield Finding("workers", has_workers, told if has_workers else f"{told}: jobs will stay queued")


def _environment() -> Finding:
    """Tell variables that nobody reads: nearly a setting's name is a mistake, another may be somebody else's."""
    strange = strange_names()
    told = [f"{name} is no setting" + (f"; {near} is" if near else "") for name, near in strange.items()]
    return Finding("settings", not any(strange.values()), "; ".join(told) or "every PLANNER_ variable is one")


def _engines() -> Finding:
    """Tell which engines are here and how to get the others; `auto` does with those there are."""
    from workers.engines import registry  # loads the solvers, which who serves has no use for

    here = [f"{engine.name} {engine.version()}" for engine in registry.present()]
    lacking = [f"no {name}: {remedy}" for name, remedy in registry.absent().items()]
    return Finding("engines", bool(here), "; ".join([", ".join(here), *lacking]))


def _address(settings: Settings) -> Finding:
    """Look whether `serve` could listen where the settings say, or does."""
    address = f"{settings.host}:{settings.port}"
    try:
        listen(settings.host, settings.port).close()
    except typer.BadParameter as refusal:
        error = refusal.__cause__
        number = error.errno if isinstance(error, OSError) else None
        if number == errno.EADDRINUSE and _is_planner(settings.host, settings.port):
            return Finding("address", True, f"a planner answers at {address}")
        is_elsewhere = isinstance(error, socket.gaierror) or number == errno.EADDRNOTAVAIL
        setting = "PLANNER_HOST" if is_elsewhere else "PLANNER_PORT"
        return Finding("address", False, f"{refusal.message}; choose another with {setting}")
    return Finding("address", True, f"{address} is free")


def _access(settings: Settings, refusal: str) -> Finding:
    """Tell why `serve` refuses to listen; a planner that listens all the same was let to on purpose."""
    if _is_planner(settings.host, settings.port):
        return Finding("access", True, f"a planner runs there as with --insecure: {refusal}")
    return Finding("access", False, f"`serve` refuses: {refusal}")


def _reports(folder: Path) -> Finding:
    """Look whether there is a folder to serve reports from; without one there are none, and nothing else says so."""
    is_well = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)  # noqa: PTH112 - is_dir() may raise
    told = "is served" if is_well else "is no folder that can be read; make it or change PLANNER_REPORTS_DIR"
    return Finding("reports", is_well, f"{folder} {told}")


def _store_of(settings: Settings) -> str:
    """Return where the store is, without who asks and the password: they may stand before the host and in the query."""
    if not settings.redis_url:
        return f"bundled server in {settings.data_dir}"
    nodes = [urlsplit(url) for url in settings.redis_url.split(",")]
    return ",".join(f"{node.scheme}://{node.netloc.rpartition('@')[2]}{node.path}" for node in nodes)


async def _replica(house: House) -> Finding:
    """Write as a submit does and look who confirms it; a start and readiness ask no replica: it may be back soon."""
    pools = house.settings.pools
    try:
        lacking = pools - len(await house.store.confirm())
    except StoreUnavailableError:
        lacking = pools
    where = f" to {lacking} of {pools} pools" if pools > 1 else ""
    told = f"none confirms a write{where} in time, so submits are refused" if lacking else "confirms what is written"
    return Finding("replica", not lacking, told)


def _is_planner(host: str, port: int) -> bool:
    """Return whether `/healthz` of an address says what ours says."""
    connection = http.client.HTTPConnection(host, port, timeout=HEALTH_S)
    try:
        connection.request("GET", "/healthz")
        told = json.loads(connection.getresponse().read(1000))
        return isinstance(told, dict) and told.keys() == {"status", "version"}
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
