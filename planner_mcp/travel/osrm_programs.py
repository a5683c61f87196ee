"""The programs of OSRM on this machine: where they are, their version, and how one is started.

Owns the search: the wheel `osrm-bindings` (extra `roads`, Python 3.12 and newer), else its files unpacked beside this
Python, which `make setup-roads` does where the wheel cannot be installed. Every program runs as a child that the
kernel kills when its parent dies (Linux; elsewhere it ends with its work or by the next signal).
"""

import asyncio
import importlib.util
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from planner_mcp.errors import RoadMapError
from planner_mcp.process_limits import bound_to_parent

UNPACKED: Final = Path(sys.prefix) / "share" / "osrm" / "osrm"
"""Where `make setup-roads` puts what the wheel contains."""
INSTALL_HINT: Final = "install the extra planner-mcp[roads] (Python 3.12 or newer), or run make setup-roads"


@dataclass(frozen=True, slots=True)
class OsrmPrograms:
    """One installation."""

    folder: Path
    """Has `bin` and `share/profiles`."""

    def program(self, name: str) -> Path:
        """Return the path of `osrm-{name}`."""
        return self.folder / "bin" / f"osrm-{name}"

    def profile(self, name: str) -> Path:
        """Return the path of a routing profile: car, bicycle or foot."""
        return self.folder / "share" / "profiles" / f"{name}.lua"

    async def version(self) -> str:
        """Return the version, as `26.10.0`."""
        process = await self.start("routed", ["--version"])
        output, _ = await process.communicate()
        return output.decode(errors="replace").strip().removeprefix("v")[:40] or "unknown"

    async def start(
        self, name: str, arguments: Sequence[str], *, folder: Path | None = None, inherited: Sequence[int] = ()
    ) -> asyncio.subprocess.Process:
        """Start a program; what it writes comes through one pipe.

        Args:
            name: As `extract` or `routed`.
            arguments: Its arguments.
            folder: Where it runs.
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


def find_osrm() -> OsrmPrograms:
    """Return the installation on this machine.

    Raises:
        RoadMapError: There is none; the message says how to install one.
    """
    package = importlib.util.find_spec("osrm")
    installed = [Path(folder) for folder in package.submodule_search_locations or ()] if package else []
    for folder in (*installed, UNPACKED):
        programs = OsrmPrograms(folder)
        if all(os.access(programs.program(name), os.X_OK) for name in ("extract", "contract", "routed")):
            return programs
    raise RoadMapError(f"PLANNER_ROADS_PBF needs OSRM, which is not installed: {INSTALL_HINT}.")
