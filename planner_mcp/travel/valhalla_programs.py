"""Valhalla as a road engine of this host: the wheel `pyvalhalla` (extra `roads-valhalla`).

Owns its settings: those that the wheel writes for its own version, less what is not there (borders, time zones,
traffic), with the bounds of a block as they are asked. One set of tiles serves all profiles.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import httpx2 as httpx

from planner_mcp.errors import RoadMapError
from planner_mcp.text import Json
from planner_mcp.travel.road_programs import RoadPrograms, RunProgram, output_of

_SETTINGS: Final = "valhalla.json"
_ABSENT: Final = frozenset(
    ("tile_extract", "traffic_extract", "admin", "landmarks", "timezone", "transit_dir", "transit_feeds_dir")
)
_REACHABILITY: Final = 100
"""Nodes that a street leads to and is reached from, where a place may snap to it: the most that Valhalla takes.

Of all legs between 160 random places in 2 km² of Helsinki 15 % had no road with its default of 50; 6 % with 100; and
none where in addition a leg that is not found is looked for again without the marks of private roads.
"""
_MAX_PLACES: Final = 2000
_MAX_PAIRS: Final = 250_000
_MAX_METRES: Final = 5_000_000.0
_POLL_S: Final = 0.05


class ValhallaPrograms(RoadPrograms):
    """One installation of Valhalla."""

    __slots__ = ()
    title = "Valhalla"
    package = "valhalla"
    needed = ("valhalla_service", "valhalla_build_tiles")
    extra = "roads-valhalla"
    suffixes = (".osm.pbf",)

    async def build(self, extract: Path, profile: str, run: RunProgram) -> None:
        """Build tiles."""
        (extract.parent / "tiles").mkdir()
        await self._write_settings(extract.parent, 0)
        await run("valhalla_build_tiles", ["-c", _SETTINGS, extract.name])

    async def serve(self, folder: Path, port: int, inherited: Sequence[int]) -> asyncio.subprocess.Process:
        """Start `valhalla_service`."""
        await self._write_settings(folder, port)
        return await self.start("valhalla_service", [_SETTINGS], folder=folder, inherited=inherited)

    async def answers(self, daemon: asyncio.subprocess.Process, port: int) -> bool:
        """Return true once it says its status; it writes nothing when it begins."""
        async with httpx.AsyncClient(trust_env=False) as http:
            while daemon.returncode is None:
                try:
                    await http.get(f"http://127.0.0.1:{port}/status")
                except httpx.TransportError:
                    await asyncio.sleep(_POLL_S)
                else:
                    return daemon.returncode is None
        return False

    async def _write_settings(self, folder: Path, port: int) -> None:
        """Write the settings of build and daemon into the folder of a map, in which both run."""
        script = self.folder / "valhalla_build_config.py"
        process = await asyncio.create_subprocess_exec(
            *[sys.executable, "-I", "-S", str(script)],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        output = await output_of(process)
        try:
            settings = _adapted(json.loads(output), port)
        except (ValueError, KeyError, TypeError) as error:
            raise RoadMapError("Valhalla does not say its settings: its wheel is incomplete, or too new.") from error
        (folder / _SETTINGS).write_text(json.dumps(settings), encoding="utf-8")


def _adapted(settings: Json, port: int) -> Json:
    """Return settings for tiles beside them, a daemon on loopback, and large blocks."""
    graph = {name: value for name, value in settings["mjolnir"].items() if name not in _ABSENT}
    settings["mjolnir"] = {**graph, "tile_dir": "tiles"}
    settings["logging"] = {"type": "std_out", "color": False}
    settings["httpd"]["service"]["listen"] = f"tcp://127.0.0.1:{port}"
    settings["loki"]["service_defaults"]["minimum_reachability"] = _REACHABILITY
    settings["loki"]["use_connectivity"] = False  # places that no road joins are named one by one
    settings["thor"]["costmatrix"]["allow_second_pass"] = True
    for limits in settings["service_limits"].values():
        if isinstance(limits, dict) and limits.get("max_matrix_location_pairs"):
            limits |= {
                "max_locations": _MAX_PLACES,
                "max_distance": _MAX_METRES,
                "max_matrix_distance": _MAX_METRES,
                "max_matrix_location_pairs": _MAX_PAIRS,
            }
    return settings
