"""OSRM as a road engine of this host: the wheel `osrm-bindings` (extra `roads`)."""

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from planner_mcp.travel.road_programs import RoadPrograms, RunProgram

_MAP: Final = "map.osrm"
_MAX_TABLE: Final = 2000
_RUNNING: Final = b"running and waiting for requests"
_NO_LARGE_PART: Final = re.compile(r"Found \d+ SCC \(0 large")
_NETWORK_NODES: Final = re.compile(r"Generated (\d+) nodes .* in edge-expanded graph")
_LARGE_SHARE: Final = 3
"""A part of the network that has a third of its nodes is large where none has OSRM's default, 1000 nodes.

Places snap to a large part where there is one, and the centre of a town has none of 1000 nodes. Of all legs between 100
random places in 2 km² of Helsinki 26 % had no road with the default, and none with a third.
"""


class OsrmPrograms(RoadPrograms):
    """One installation of OSRM."""

    __slots__ = ()
    title = "OSRM"
    package = "osrm"
    needed = ("osrm-routed", "osrm-extract", "osrm-contract")
    extra = "roads"
    suffixes = (".osm.pbf", ".osm.bz2", ".osm")

    async def build(self, extract: Path, profile: str, run: RunProgram) -> None:
        """Build contraction hierarchies for a profile of OSRM: car, bicycle or foot."""
        script = self.folder / "share" / "profiles" / f"{profile}.lua"
        words = ["-p", str(script), "--data_version", "osmosis", extract.name]
        output = await run("osrm-extract", words)
        if _NO_LARGE_PART.search(output) and (nodes := _NETWORK_NODES.search(output)):
            threshold = max(1, int(nodes[1]) // _LARGE_SHARE)
            await run("osrm-extract", ["--small-component-size", str(threshold), *words])
        await run("osrm-contract", [_MAP])

    async def serve(self, folder: Path, port: int, inherited: Sequence[int]) -> asyncio.subprocess.Process:
        """Start `osrm-routed`."""
        words = ["-i", "127.0.0.1", "-p", str(port), "--max-table-size", str(_MAX_TABLE), _MAP]
        return await self.start("osrm-routed", words, folder=folder, inherited=inherited)

    async def answers(self, daemon: asyncio.subprocess.Process, port: int) -> bool:
        """Return true once it writes that it waits for requests."""
        assert daemon.stdout is not None  # noqa: S101 — it was started with a pipe
        while line := await daemon.stdout.readline():
            if _RUNNING in line:
                return True
        return False
