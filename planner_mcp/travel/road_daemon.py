"""The road engine of a host: one daemon on loopback for all servers and workers of a data folder.

Owns which process runs it, by one lock: whoever has `daemon.lock` builds the map, keeps the daemon alive and writes
`daemon.json`; all others read that file. The daemon inherits the lock, and the kernel kills it with its parent, so the
next process of the host takes both over. The map of a running daemon changes when its process ends.
"""

import asyncio
import fcntl
import json
import logging
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import asdict, dataclass
from typing import IO, Final, Literal

import httpx2 as httpx

from planner_mcp.errors import RoadMapError
from planner_mcp.file_locks import take_lock
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.travel.road_map_builder import (
    RoadMap,
    build_road_map,
    check_extract,
    exclusive,
    find_road_programs,
    remove_other_maps,
)
from planner_mcp.travel.road_programs import RoadPrograms, kill_group, stop_process
from planner_mcp.travel.street_register_builder import build_street_register

log = logging.getLogger("planner.roads")

START_S: Final = 120.0
"""Time the daemon has to load its map."""
BACKOFF_FIRST_S: Final = 0.2
BACKOFF_LONGEST_S: Final = 10.0
HEALTHY_S: Final = 10.0
"""A daemon that ran this long is restarted after the shortest delay."""
PROBE_S: Final = 15.0
"""Time between two questions whether the daemon still answers."""
SILENT_S: Final = 60.0
"""A daemon that leaves such a question unanswered for so long hangs, and is killed: tables of a second each that wait
before it on a busy machine take less."""
Phase = Literal["absent", "building", "starting", "ready", "failed"]


@dataclass(frozen=True, slots=True)
class DaemonState:
    """What is known of the daemon of a data folder."""

    phase: Phase
    detail: str = ""
    """The last progress line, or why it failed; for operators, since it names files."""
    url: str = ""
    pid: int = 0
    """Of the daemon; changes with each start."""
    map_key: str = ""
    engine: str = ""
    """Its kind; that of another process may differ from the one set here."""
    version: str = ""
    since: float = 0.0
    """Seconds of the epoch."""


def daemon_state(settings: Settings) -> DaemonState:
    """Return the state of the daemon; `absent` where no process of this host runs it."""
    folder = settings.roads_folder
    try:
        with (folder / "daemon.lock").open() as lock:
            if take_lock(lock, fcntl.LOCK_SH):
                return DaemonState("absent")
        return DaemonState(**json.loads((folder / "daemon.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return DaemonState("absent")


@asynccontextmanager
async def road_daemon_beside(settings: Settings) -> AsyncIterator[None]:
    """Keep the road engine of this host alive during the block, where a setting asks for one.

    Raises:
        RoadMapError: The extract is missing or none, or the engine is not installed. What takes time fails later, and
            is logged and written into the state.
    """
    if settings.roads_pbf is None:
        yield
        return
    check_extract(settings)
    running = asyncio.create_task(RoadDaemon(settings, find_road_programs(settings)).run(), name="road engine")
    try:
        yield
    finally:
        await cancel_and_wait(running)


class RoadDaemon:
    """Runs the daemon, or waits until the process that runs it ends."""

    def __init__(self, settings: Settings, programs: RoadPrograms) -> None:
        self._settings = settings
        self._programs = programs
        self._folder = settings.roads_folder

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            async with exclusive(self._folder / "daemon.lock") as lock:
                try:
                    await self._serve(lock)
                finally:
                    (self._folder / "daemon.json").unlink(missing_ok=True)
        except OSError as error:
            log.error("roads: the folder %s cannot be used: %s", self._folder, error.strerror)

    async def _serve(self, lock: IO[str]) -> None:
        self._publish("building")
        try:
            road_map = await build_road_map(self._settings, self._programs, self._progress)
        except RoadMapError as error:
            log.error(error.message)
            self._publish("failed", error.message)
            await asyncio.Event().wait()  # the next start may find another file
            return
        remove_other_maps(road_map)
        reading = asyncio.create_task(self._read_streets(road_map), name="street register")
        try:
            await self._keep_running(road_map, lock)
        finally:
            await cancel_and_wait(reading)

    async def _read_streets(self, road_map: RoadMap) -> None:
        """Write the register of streets beside the map; without it addresses have the positions of their cities."""
        try:
            await build_street_register(self._settings, check_extract(self._settings), road_map.content)
        except (RoadMapError, OSError) as error:
            log.warning("roads: %s", error)

    async def _keep_running(self, road_map: RoadMap, lock: IO[str]) -> None:
        backoff_s = BACKOFF_FIRST_S
        while True:
            began = time.monotonic()
            try:
                self._publish("starting")
                ended = f"ended with code {await self._run_once(road_map, lock)}"
            except (OSError, RoadMapError) as error:  # no memory for a process, no room for the state
                ended = f"cannot be started: {error}"
            backoff_s = (
                BACKOFF_FIRST_S if time.monotonic() - began > HEALTHY_S else min(2 * backoff_s, BACKOFF_LONGEST_S)
            )
            log.warning("roads: the road engine %s; starting it again in %.1f s", ended, backoff_s)
            with suppress(OSError):
                self._publish("starting", ended)
            await asyncio.sleep(backoff_s)

    async def _run_once(self, road_map: RoadMap, lock: IO[str]) -> int:
        """Run the daemon until it ends; return its exit status."""
        port = _free_port()
        process = await self._programs.serve(road_map.folder, port, [lock.fileno()])
        assert process.stdout is not None  # noqa: S101 — it was started with a pipe
        try:
            try:
                async with asyncio.timeout(START_S):
                    if await self._programs.answers(process, port):
                        self._publish_ready(road_map, port, process.pid)
            except TimeoutError:
                process.kill()
            probing = asyncio.create_task(self._end_when_silent(process, port), name="road engine probe")
            try:
                while await process.stdout.read(65536):
                    pass  # its log of requests, which holds positions
                return await process.wait()
            finally:
                await cancel_and_wait(probing)
        finally:
            await stop_process(process)

    async def _end_when_silent(self, process: asyncio.subprocess.Process, port: int) -> None:
        """End the daemon once it takes a question and does not answer; what it answers does not matter."""
        async with httpx.AsyncClient(trust_env=False) as http:
            while True:
                await asyncio.sleep(PROBE_S)
                try:
                    await http.get(f"http://127.0.0.1:{port}/status", timeout=SILENT_S)
                except httpx.TimeoutException:
                    log.warning("roads: the road engine has not answered for %.0f s and is ended", SILENT_S)
                    kill_group(process)
                    return
                except httpx.TransportError:
                    continue  # it ends, which is seen by its output

    def _progress(self, line: str) -> None:
        log.info(line)
        self._publish("building", line)

    def _publish_ready(self, road_map: RoadMap, port: int, pid: int) -> None:
        log.info("roads: %s %s answers for map %s", self._programs.title, road_map.version, road_map.key)
        self._write(
            DaemonState(
                "ready",
                url=f"http://127.0.0.1:{port}",
                pid=pid,
                map_key=road_map.key,
                engine=self._programs.package,
                version=road_map.version,
                since=time.time(),
            )
        )

    def _publish(self, phase: Phase, detail: str = "") -> None:
        self._write(DaemonState(phase, detail, since=time.time()))

    def _write(self, state: DaemonState) -> None:
        """Write the state as a whole, so that a reader sees the old one or the new one."""
        beside = self._folder / f"daemon.json.{os.getpid()}"
        beside.write_text(json.dumps(asdict(state)), encoding="utf-8")
        beside.rename(self._folder / "daemon.json")


def _free_port() -> int:
    """Return a port of loopback that nobody has; a daemon that finds it taken ends, and gets another."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
