"""Valhalla: `POST /sources_to_targets` with places as objects, `POST /locate` for the roads they snap to, `POST /route`
for the line of a route, and `GET /status` for its version and the age of its map.

Lengths come in kilometres and seconds, null where there is no road; as rows of objects, or as two tables where the
server honours `verbose: false`. Both forms are read. It refuses a whole table for one place that has no road within
35 km, so such places are found first and left out of the question.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import httpx2 as httpx

from planner_mcp import arrays as np
from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.scenario.coordinates import Position, haversine_m
from planner_mcp.settings import RouterSettings
from planner_mcp.text import Json
from planner_mcp.travel.routing_provider import NO_ROAD_M, Block, line_of, matrix_of, request_json

_KILOMETRE: Final = 1000.0
_REQUEST_PLACES: Final = 20
"""Of one line: the most that Valhalla takes unless it is set up otherwise."""


class Valhalla:
    """One Valhalla server and costing."""

    def __init__(self, settings: RouterSettings) -> None:
        self._base = settings.url.rstrip("/")
        self._costing = settings.profile or "auto"

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return its version and the day its map was built."""
        payload = await request_json(http, http.build_request("GET", f"{self._base}/status"))
        status = payload if isinstance(payload, dict) else {}
        facts = {"version": str(status["version"])[:100]} if "version" in status else {}
        built = status.get("tileset_last_modified")
        if isinstance(built, int) and 0 < built < 2**33:
            facts["data_date"] = datetime.fromtimestamp(built, UTC).date().isoformat()
        return facts

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target."""
        snaps = await self._snaps(http, list(dict.fromkeys([*origins, *targets])))
        near = [[at for at, place in enumerate(places) if snaps[place] < NO_ROAD_M] for places in (origins, targets)]
        distances, durations = np.full((2, len(origins), len(targets)), np.nan)
        if all(near):
            asked = {
                "sources": [_location(origins[at]) for at in near[0]],
                "targets": [_location(targets[at]) for at in near[1]],
                "units": "kilometers",
                "verbose": False,
            }
            payload = await self._ask(http, "sources_to_targets", asked)
            kilometres, seconds = _rows(payload.get("sources_to_targets") if isinstance(payload, dict) else None)
            cells, shape = np.ix_(*near), (len(near[0]), len(near[1]))
            distances[cells] = matrix_of(kilometres, shape, _KILOMETRE)
            durations[cells] = matrix_of(seconds, shape)
        return Block(distances, durations, {}, tuple(snaps[place] for place in origins))

    async def line(self, http: httpx.AsyncClient, places: Sequence[Position]) -> list[Position]:
        """Return the points of the way over two places or more, in order.

        Raises:
            RoutingProviderUnavailableError: No answer, no way, or an answer of another shape.
        """
        line: list[Position] = []
        for low in range(0, len(places) - 1, _REQUEST_PLACES - 1):
            asked = {
                "locations": [_location(place) for place in places[low : low + _REQUEST_PLACES]],
                "directions_type": "none",
                "format": "osrm",
                "shape_format": "geojson",
            }
            line += line_of(await self._ask(http, "route", asked))
        return line

    async def _snaps(self, http: httpx.AsyncClient, places: Sequence[Position]) -> dict[Position, float]:
        """Return metres from each place to the nearest road."""
        asked = {"locations": [_location(place) for place in places], "verbose": False}
        payload = await self._ask(http, "locate", asked)
        try:
            roads = [[(road["correlated_lat"], road["correlated_lon"]) for road in each["edges"]] for each in payload]
            found = [
                min((haversine_m(place, road) for road in near), default=NO_ROAD_M)
                for place, near in zip(places, roads, strict=True)
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise RoutingProviderUnavailableError("The road engine does not say which roads are near.") from error
        return dict(zip(places, found, strict=True))

    async def _ask(self, http: httpx.AsyncClient, service: str, asked: Json) -> Any:
        question = {"costing": self._costing, **asked}
        return await request_json(http, http.build_request("POST", f"{self._base}/{service}", json=question))


def _location(place: Position) -> dict[str, float]:
    return {"lat": place[0], "lon": place[1]}


def _rows(payload: Any) -> tuple[Any, Any]:
    """Return rows of kilometres and of seconds."""
    try:
        if isinstance(payload, dict):
            return payload["distances"], payload["durations"]
        return tuple([[cell[name] for cell in row] for row in payload] for name in ("distance", "time"))  # type: ignore[return-value]
    except (KeyError, TypeError) as error:
        raise RoutingProviderUnavailableError("The road engine answered with something that is not a table.") from error
