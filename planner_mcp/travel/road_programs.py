"""What a road engine of this host is: its programs, how they build a map, and how its daemon is started and asked.

Owns what both engines share: where a wheel's files are looked for, and how one program is started. Every program runs
as a child that the kernel kills when its parent dies (Linux; elsewhere it ends with its work or by the next signal).
`osrm_programs.py` and `valhalla_programs.py` say what is different.
"""

import asyncio
import importlib.util
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final, Self

from planner_mcp.errors import RoadMapError
from planner_mcp.process_limits import bound_to_parent
from planner_mcp.task_cancellation import cancellation_kept

UNPACKED: Final = Path(sys.prefix) / "share" / "roads"
"""Where `make setup-roads` puts what the wheels contain."""

RunProgram = Callable[[str, Sequence[str]], Awaitable[str]]
"""Runs a program by its name to its end in the folder of the map; returns the end of what it wrote."""


@dataclass(frozen=True, slots=True)
class RoadPrograms(ABC):
    """One installation of a road engine."""

    folder: Path
    """Has `bin`."""
    title: ClassVar[str]
    """As people write it."""
    package: ClassVar[str]
    """What the wheel is imported as."""
    needed: ClassVar[tuple[str, ...]]
    """Programs."""
    extra: ClassVar[str]
    """Of planner-mcp, which installs the wheel."""
    suffixes: ClassVar[tuple[str, ...]]
    """By the end of its name the engine reads a file."""

    @classmethod
    def find(cls) -> Self:
        """Return the installation on this machine: that of the wheel, else its files unpacked beside this Python.

        Raises:
            RoadMapError: There is none; the message says how to install one.
        """
        package = importlib.util.find_spec(cls.package)
        installed = [Path(folder) for folder in package.submodule_search_locations or ()] if package else []
        for folder in (*installed, UNPACKED / cls.package):
            programs = cls(folder)
            if all(os.access(programs.program(name), os.X_OK) for name in cls.needed):
                return programs
        hint = f"install the extra planner-mcp[{cls.extra}] (Python 3.12 or newer), or run make setup-roads"
        raise RoadMapError(f"PLANNER_ROADS_PBF needs {cls.title}, which is not installed: {hint}.")

    def program(self, name: str) -> Path:
        """Return the path of a program."""
        return self.folder / "bin" / name

    async def version(self) -> str:
        """Return the version, as `26.10.0`."""
        output = await output_of(await self.start(self.needed[0], ["--version"]))
        return output.decode(errors="replace").strip().removeprefix("v")[:40] or "unknown"

    async def start(
        self, name: str, arguments: Sequence[str], *, folder: Path | None = None, inherited: Sequence[int] = ()
    ) -> asyncio.subprocess.Process:
        """Start a program; what it writes comes through one pipe.

        Args:
            inherited: Descriptors that stay open in it.
        """
        return await asyncio.create_subprocess_exec(
            *bound_to_parent([str(self.program(name)), *arguments]),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=folder,
            pass_fds=inherited,
            process_group=0,  # a terminal's Ctrl-C is for the planner, which stops it in order
        )

    @abstractmethod
    async def build(self, extract: Path, profile: str, run: RunProgram) -> None:
        """Build the map of an extract in the folder that the extract lies in.

        Raises:
            RoadMapError: A program refuses the extract.
        """

    @abstractmethod
    async def serve(self, folder: Path, port: int, inherited: Sequence[int]) -> asyncio.subprocess.Process:
        """Start the daemon for the map in a folder, on a port of loopback."""

    @abstractmethod
    async def answers(self, daemon: asyncio.subprocess.Process, port: int) -> bool:
        """Return true once a daemon takes requests, false where it ends before."""


async def output_of(process: asyncio.subprocess.Process) -> bytes:
    """Return what a program with one pipe wrote to it until it ended; it is ended where nobody waits any longer."""
    try:
        output, errors = await process.communicate()
    finally:
        await stop_process(process)
    return output or errors or b""


def kill_group(process: asyncio.subprocess.Process) -> None:
    """Kill a program that was started in a process group of its own, with what it started."""
    with suppress(ProcessLookupError):  # it has just ended
        os.killpg(process.pid, signal.SIGKILL)


async def stop_process(process: asyncio.subprocess.Process) -> None:
    """End a program that still runs and what it started, read its pipes to their end, and wait for it.

    Nobody else reads its pipes any longer.

    Killing loses nothing: maps are only read, or built anew. A caller that is cancelled again meanwhile waits all the
    same, as `cancel_and_wait` cancels it, and a loop that ends cancels every task: a loop that is closed before the
    program has ended leaves its pipes open.
    """
    if process.returncode is None:
        kill_group(process)
    is_ended = False
    with cancellation_kept():
        while not is_ended:
            with suppress(asyncio.CancelledError):
                await process.communicate()
                is_ended = True
