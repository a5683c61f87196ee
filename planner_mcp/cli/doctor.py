"""`planner-mcp doctor`: is everything in place for this configuration, and if not, what to do.

Owns the list of checks. Each is done for real (the store is opened and written to) and changes nothing that lasts.
"""

import errno
import http.client
import json
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final

import planner_mcp
from planner_mcp.app import open_house
from planner_mcp.cli.environment import strange_names
from planner_mcp.errors import PlannerError
from planner_mcp.settings import Settings
from workers.engines import registry

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
    yield _port(settings)
    where = settings.redis_url or f"bundled server in {settings.data_dir}"
    try:
        async with open_house(settings) as house:
            stats = await house.planner.ready()
    except PlannerError as error:
        yield Finding("store", False, f"{where}: {error.message}")
        return
    yield Finding("store", True, f"{where} takes writes; {stats.queued} queued, {stats.solving} solving")
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
    here = [f"{engine.name} {engine.version()}" for engine in registry.present()]
    lacking = [f"no {name}: {remedy}" for name, remedy in registry.absent().items()]
    return Finding("engines", bool(here), "; ".join([", ".join(here), *lacking]))


def _port(settings: Settings) -> Finding:
    """Look whether `serve` could listen where the settings say, or does."""
    address = f"{settings.host}:{settings.port}"
    try:
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        with socket.create_server((settings.host, settings.port), family=family):
            return Finding("address", True, f"{address} is free")
    except OSError as error:
        if error.errno == errno.EADDRINUSE and _is_planner(settings.host, settings.port):
            return Finding("address", True, f"a planner answers at {address}")
        return Finding("address", False, f"{address}: {error.strerror}; choose another with PLANNER_PORT")


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
