"""A road engine, and a day on its streets."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.roads.engines import RoadEngine, road_engine

CORNERS = {"D": (39.90, 116.40), "A": (39.91, 116.40), "B": (39.91, 116.41), "C": (39.90, 116.41), "E": (39.92, 116.4)}


@pytest.fixture
def engine() -> Iterator[RoadEngine]:
    with road_engine() as engine:
        yield engine


def routers(engine: RoadEngine, **further: Any) -> dict[str, Any]:
    """Return the settings of both engines."""
    car = {"kind": "osrm", "url": engine.url, "version": "5.27.1", **further}
    return {"car": car, "lorry": {"kind": "valhalla", "url": engine.url, "profile": "truck", **further}}


def day(router: str = "car", **fields: Any) -> dict[str, Any]:
    """Return a day that asks a road engine."""
    return {
        "name": "roads",
        "planning_date": "2025-07-15",
        "agents": [{"id": "v", "capacity": 10}],
        "tickets": [{"id": name.lower(), "location": name, "demand": 1} for name in "ABCE"],
        "locations": [{"id": name, "lat": lat, "lon": lon} for name, (lat, lon) in CORNERS.items()],
        "depot": "D",
        "travel": {"router": router},
        **fields,
    }
