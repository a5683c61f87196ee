"""`planner-mcp doctor`: check that this configuration works, and say what to do where it does not.

Owns the list of checks. Each check does the real thing (the store is opened and written to) and leaves nothing behind.
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

import typer

import planner_mcp
from planner_mcp.app import AppServices, open_application
from planner_mcp.cli.environment_settings import (
    doubtful_settings,
    store_address,
    unknown_variable_line,
    unknown_variables,
)
from planner_mcp.cli.processes.http_server import exposure, listen
from planner_mcp.errors import PlannerError, RoadMapError, StoreUnavailableError
from planner_mcp.jobs.store.connection.error_translation import explained_refusals
from planner_mcp.render.standalone_map import can_draw
from planner_mcp.settings import Settings
from planner_mcp.travel.road_daemon import daemon_state
from planner_mcp.travel.road_map_builder import check_extract, find_road_programs

HEALTH_S: Final = 2.0
"""Timeout of the health request to a process that already listens on the address."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    name: str
    is_well: bool
    detail: str


async def examine(settings: Settings) -> AsyncIterator[CheckResult]:
    """Yield the result of each check, in the order in which problems should be solved."""
    yield CheckResult("version", True, planner_mcp.__version__)
    yield _environment(settings)
    yield _engines()
    yield _fonts()
    yield _address(settings)
    if refusal := exposure(settings):
        yield _access(settings, refusal)
    for name, folder in (("reports", settings.reports_dir), ("files", settings.files_dir)):
        if folder is not None:
            yield _folder(name, folder)
    if settings.roads_pbf is not None:
        yield _roads(settings)
    where = store_address(settings)
    try:
        async with open_application(settings.model_copy(update={"roads_pbf": None})) as services:
            with explained_refusals(has_url=bool(settings.redis_url)):
                stats = await services.job_service.ready()
                replica = await _replica(services) if settings.replication != "none" else None
    except PlannerError as error:
        yield CheckResult("store", False, f"{where}: {error.message}")
        return
    yield CheckResult("store", True, f"{where} takes writes; {stats.queued} queued, {stats.solving} solving")
    if replica is not None:
        yield replica
    has_workers = stats.live_workers > 0 or settings.workers > 0
    detail = f"{stats.live_workers} alive; `serve` starts {settings.workers}"
    yield CheckResult("workers", has_workers, detail if has_workers else f"{detail}: jobs will stay queued")


def _environment(settings: Settings) -> CheckResult:
    """Report `PLANNER_` variables that are no settings; one that resembles a setting, or does harm, fails the check."""
    strange, doubtful = unknown_variables(), doubtful_settings(settings)
    detail = [*(unknown_variable_line(name, near) for name, near in strange.items()), *doubtful]
    is_well = not (doubtful or any(strange.values()))
    return CheckResult("settings", is_well, "; ".join(detail) or "every PLANNER_ variable is one")


def _engines() -> CheckResult:
    """Report the installed engines and how to install the others; `auto` uses the installed ones."""
    from workers.engines.selection import engine_registry  # loads the solvers, which a server does not need

    here = [
        f"{name} {version}" for engine in engine_registry.available() for name, version in engine.versions().items()
    ]
    lacking = [f"no {name}: {instruction}" for name, instruction in engine_registry.unavailable().items()]
    return CheckResult("engines", bool(here), "; ".join([", ".join(here), *lacking]))


def _fonts() -> CheckResult:
    """Say whether PNG maps can show names; a plan needs no font, so none is no failure."""
    missing = [name for name, character in (("Latin", "A"), ("Chinese", "中")) if not can_draw(character)]
    lack = f"no font with {' and '.join(missing)} letters: PNG maps leave such names out; install fonts-noto-cjk"
    return CheckResult("fonts", True, lack if missing else "PNG maps show names in Latin and Chinese letters")


def _address(settings: Settings) -> CheckResult:
    """Check that `serve` can listen on the configured address, or that a planner already does."""
    address = f"{settings.host}:{settings.port}"
    try:
        listen(settings.host, settings.port).close()
    except typer.BadParameter as refusal:
        error = refusal.__cause__
        number = error.errno if isinstance(error, OSError) else None
        if number == errno.EADDRINUSE and _is_planner(settings.host, settings.port):
            return CheckResult("address", True, f"a planner answers at {address}")
        is_elsewhere = isinstance(error, socket.gaierror) or number == errno.EADDRNOTAVAIL
        setting = "PLANNER_HOST" if is_elsewhere else "PLANNER_PORT"
        return CheckResult("address", False, f"{refusal.message}; choose another with {setting}")
    return CheckResult("address", True, f"{address} is free")


def _access(settings: Settings, refusal: str) -> CheckResult:
    """Report why `serve` refuses to listen, unless a planner already runs there with `--insecure`."""
    if _is_planner(settings.host, settings.port):
        return CheckResult("access", True, f"a planner runs there as with --insecure: {refusal}")
    return CheckResult("access", False, f"`serve` refuses: {refusal}")


def _folder(name: str, folder: Path) -> CheckResult:
    """Check that the folder of reports, or of files to import, can be read; nothing else reports a missing one."""
    is_well = os.path.isdir(folder) and os.access(folder, os.R_OK | os.X_OK)  # noqa: PTH112 - is_dir() may raise
    detail = "is served" if is_well else f"is no folder that can be read; make it or change PLANNER_{name.upper()}_DIR"
    return CheckResult(name, is_well, f"{folder} {detail}")


def _roads(settings: Settings) -> CheckResult:
    """Check extract and programs of the road engine, and that a running one does not report a failure."""
    try:
        extract = check_extract(settings)
        find_road_programs(settings)
    except RoadMapError as error:
        return CheckResult("roads", False, error.message)
    state = daemon_state(settings)
    detail = state.detail or f"{extract}; the engine is {state.phase}"
    return CheckResult("roads", state.phase != "failed", detail)


async def _replica(services: AppServices) -> CheckResult:
    """Write as a submit does and check that a replica confirms it; start and readiness do not check this."""
    pools = services.settings.pools
    try:
        lacking = pools - len(await services.store.confirm())
    except StoreUnavailableError:
        lacking = pools
    where = f" to {lacking} of {pools} pools" if pools > 1 else ""
    detail = f"none confirms a write{where} in time, so submits are refused" if lacking else "confirms what is written"
    return CheckResult("replica", not lacking, detail)


def _is_planner(host: str, port: int) -> bool:
    """Return whether `/healthz` of an address says what ours says."""
    connection = http.client.HTTPConnection(host, port, timeout=HEALTH_S)
    try:
        connection.request("GET", "/healthz")
        detail = json.loads(connection.getresponse().read(1000))
        return isinstance(detail, dict) and detail.keys() == {"status", "version"}
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
