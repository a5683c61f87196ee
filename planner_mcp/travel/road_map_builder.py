"""The data of a road engine, built once from an OpenStreetMap extract.

Owns the folder of a map: its name comes from the content of the extract, engine, version and profile, so that the same
extract is built once, and another one never reuses its data. A map is built beside its place and renamed as a
whole, under a lock, so that a killed build leaves nothing that looks finished.
"""

import asyncio
import hashlib
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

import anyio.to_thread

from planner_mcp.errors import RoadMapError
from planner_mcp.file_locks import take_lock
from planner_mcp.settings import Settings
from planner_mcp.travel.osrm_programs import OsrmPrograms
from planner_mcp.travel.road_programs import RoadPrograms, stop_process
from planner_mcp.travel.valhalla_programs import ValhallaPrograms

Progress = Callable[[str], None]
"""Takes one line for a person."""
_ENGINES: Final[Mapping[str, type[RoadPrograms]]] = {"osrm": OsrmPrograms, "valhalla": ValhallaPrograms}
_DISK_FACTOR: Final = 12
"""Bytes of disk for each byte of the extract, while it is built."""
_DISK_BASE: Final = 64 * 1024 * 1024
_MAX_OUTPUT_BYTES: Final = 64_000
_REPORT_S: Final = 10.0
_LOCK_POLL_S: Final = 0.2
_ERROR_CHARS: Final = 300


@dataclass(frozen=True, slots=True)
class RoadMap:
    """A map, which is built once its folder is there."""

    key: str
    """Of content, engine, version and profile."""
    folder: Path
    version: str
    """Of the engine."""

    @property
    def content(self) -> str:
        """Of the extract alone."""
        return self.key.partition("-")[0]


def find_road_programs(settings: Settings) -> RoadPrograms:
    """Return the programs of the engine that settings choose.

    Raises:
        RoadMapError: They are not installed.
    """
    return _ENGINES[settings.roads_engine].find()


def check_extract(settings: Settings) -> Path:
    """Return the absolute path of the extract, after a look at it that costs nothing.

    Raises:
        RoadMapError: It is missing, too large, or no extract.
    """
    path = settings.roads_pbf
    if path is None:
        raise RoadMapError("No extract is set: PLANNER_ROADS_PBF is the path of an .osm.pbf file.")
    engine = _ENGINES[settings.roads_engine]
    if not path.name.endswith(engine.suffixes):
        problem = f"{path} is no OpenStreetMap extract that {engine.title} reads; its name ends in .osm.pbf."
        raise RoadMapError(f"PLANNER_ROADS_PBF: {problem}")
    try:
        with path.open("rb") as file:
            begin = file.read(4096)
        size = path.stat().st_size
    except OSError as error:
        raise RoadMapError(f"PLANNER_ROADS_PBF: {path} cannot be read: {error.strerror}.") from error
    if size > settings.roads_max_bytes:
        raise RoadMapError(
            f"PLANNER_ROADS_PBF: {path} has {_megabytes(size)}, more than PLANNER_ROADS_MAX_BYTES "
            f"({_megabytes(settings.roads_max_bytes)}). Cut out the region you need, or raise the limit."
        )
    is_extract = b"OSMHeader" in begin[:32] if path.name.endswith(".pbf") else begin[:3] == b"BZh" or b"<osm" in begin
    if not is_extract:
        raise RoadMapError(f"PLANNER_ROADS_PBF: {path} is no OpenStreetMap extract: it begins with something else.")
    return path.absolute()


async def road_map_of(extract: Path, programs: RoadPrograms, settings: Settings) -> RoadMap:
    """Return the map that an extract makes, built or not.

    Raises:
        RoadMapError: The extract cannot be read.
    """
    try:
        digest = await anyio.to_thread.run_sync(_digest, extract)
    except OSError as error:
        raise RoadMapError(f"PLANNER_ROADS_PBF: {extract} cannot be read: {error.strerror}.") from error
    version = await programs.version()
    key = f"{digest[:16]}-{programs.package}{version}-{settings.roads_profile}"
    return RoadMap(key, settings.roads_folder / key, version)


async def build_road_map(settings: Settings, programs: RoadPrograms, progress: Progress) -> RoadMap:
    """Return the map of the extract, built now unless it was before.

    Args:
        progress: Is called with a line at each step, and every ten seconds.

    Raises:
        RoadMapError: The extract cannot be used, the disk is full, or the engine refuses it.
    """
    extract = check_extract(settings)
    folder = settings.roads_folder
    built = await road_map_of(extract, programs, settings)
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        async with exclusive(folder / "build.lock"):
            if not built.folder.is_dir():
                size, profile = extract.stat().st_size, settings.roads_profile
                _check_disk(size, folder)
                progress(f"roads: building {_megabytes(size)} of {extract} for {profile}")
                await _build(extract, built, programs, profile, progress)
    except OSError as error:
        raise RoadMapError(f"The roads cannot be built in {folder}: {error.strerror}.") from error
    return built


def remove_other_maps(kept: RoadMap) -> None:
    """Delete the maps of other extracts: a running daemon has its own in memory."""
    for folder in kept.folder.parent.iterdir():
        if folder.is_dir() and folder != kept.folder:
            shutil.rmtree(folder, ignore_errors=True)


def _check_disk(size: int, folder: Path) -> None:
    """Refuse to begin what could not be finished."""
    needed, free = _DISK_BASE + _DISK_FACTOR * size, shutil.disk_usage(folder).free
    if free < needed:
        raise RoadMapError(f"The roads need {_megabytes(needed)} of disk in {folder}; {_megabytes(free)} are free.")


async def _build(extract: Path, built: RoadMap, programs: RoadPrograms, profile: str, progress: Progress) -> None:
    began = time.monotonic()
    beside = built.folder.with_name(f"{built.key}.part")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()

    async def run(name: str, words: Sequence[str]) -> str:
        return await _step(programs, name, words, beside, progress)

    try:
        suffix = next(suffix for suffix in programs.suffixes if extract.name.endswith(suffix))
        (source := beside / f"map{suffix}").symlink_to(extract)
        await programs.build(source, profile, run)
        source.unlink()
        beside.rename(built.folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    progress(f"roads: built in {time.monotonic() - began:.1f} s")


async def _step(programs: RoadPrograms, name: str, words: Sequence[str], folder: Path, progress: Progress) -> str:
    """Run one program to its end, a progress line now and then; return the end of what it wrote."""
    began = time.monotonic()
    process = await programs.start(name, words, folder=folder)
    reading = asyncio.create_task(_last_lines(process))
    try:
        while True:
            done, _ = await asyncio.wait({reading}, timeout=_REPORT_S)
            if done:
                break
            progress(f"roads: {name} has run for {time.monotonic() - began:.0f} s")
        code = await process.wait()
    finally:
        reading.cancel()
        await stop_process(process)
    if code != 0:
        reason = _reason(reading.result()) or f"{name} ended with {code}"
        raise RoadMapError(f"{programs.title} cannot use the extract: {reason}.")
    progress(f"roads: {name} took {time.monotonic() - began:.1f} s")
    return reading.result()


async def _last_lines(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None  # noqa: S101 — it was started with a pipe
    text = b""
    while part := await process.stdout.read(65536):
        text = (text + part)[-_MAX_OUTPUT_BYTES:]
    return text.decode(errors="replace")


def _reason(text: str) -> str:
    """Return why a program gave up: what its exception says, else its last error or warning."""
    lines = [re.sub(r"^\[[^]]*\]\s*", "", line.strip()) for line in text.splitlines()]
    thrown = [line.partition("what():")[2].strip() for line in lines if "what():" in line]
    errors = [line for line in lines if line.startswith("[error]")]
    return (thrown or errors or lines or [""])[-1].removeprefix("[error]").strip(" .")[:_ERROR_CHARS]


@asynccontextmanager
async def exclusive(path: Path) -> AsyncIterator[IO[str]]:
    """Yield the lock of a file once no other process of the host has it."""
    with path.open("a") as lock:
        while not take_lock(lock):  # noqa: ASYNC110 — another process holds it
            await asyncio.sleep(_LOCK_POLL_S)
        yield lock


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
