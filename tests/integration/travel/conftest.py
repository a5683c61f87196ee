"""A road engine, and a day on its streets."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.travel.fake_routing_servers import RoadEngine, road_engine


@pytest.fixture
def engine() -> Iterator[RoadEngine]:
    with road_engine() as engine:
        yield engine


def routers(engine: RoadEngine, **further: Any) -> dict[str, Any]:
    """Return the settings of both engines."""
    car = {"kind": "osrm", "url": engine.url, "version": "5.27.1", **further}
    return {"car": car, "lorry": {"kind": "valhalla", "url": engine.url, "profile": "truck", **further}}
