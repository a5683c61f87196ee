"""`planner-mcp doctor`: is everything in place for this configuration, and if not, what to do.

Owns the list of checks. Each is done for real (the store is opened and written to) and changes nothing that lasts.
"""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass

import planner_mcp
from planner_mcp.app import open_house
from planner_mcp.errors import PlannerError
from planner_mcp.settings import Settings
from workers.engines import registry


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found."""

    name: str
    is_well: bool
    told: str


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Yield what each check found, in the order in which one would mend them."""
    yield Finding("version", True, planner_mcp.__version__)
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


def _engines() -> Finding:
    """Tell which engines are here and how to get the others; `auto` does with those there are."""
    here = [f"{engine.name} {engine.version()}" for engine in registry.present()]
    lacking = [f"no {name}: {remedy}" for name, remedy in registry.absent().items()]
    return Finding("engines", bool(here), "; ".join([", ".join(here), *lacking]))


def _port(settings: Settings) -> Finding:
    """Look whether `serve` could listen where the settings say."""
    address = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port)):
            return Finding("address", True, f"{address} is free")
    except OSError as error:
        return Finding("address", False, f"{address}: {error.strerror}; choose another with --port")
