"""OSRM: `GET /table/v1/{profile}/{lon},{lat};…` with origins and targets as indexes into the coordinates, and
`GET /route/v1/{profile}/{lon},{lat};…` for the line of a route.

Lengths come in metres and seconds, null where there is no road, each place with its distance from the nearest road. The
engine does not report its version; newer ones report `data_version`, if the map was prepared with one.
"""

from collections.abc import Sequence
from typing import Any

import httpx2 as httpx

from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.scenario.coordinates import Position
from planner_mcp.settings import RouterSettings
from planner_mcp.text import Json
from planner_mcp.travel.routing_provider import Block, line_of, matrix_of, request_json


class Osrm:
    """One OSRM server and profile."""

    def __init__(self, settings: RouterSettings) -> None:
        self._url = settings.url.rstrip("/")
        self._profile = settings.profile or "driving"

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return nothing: an answer says what there is to know."""
        return {}

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target."""
        places = list(dict.fromkeys([*origins, *targets]))
        if len(places) == 1:
            places *= 2  # it wants two coordinates
        index = {place: at for at, place in enumerate(places)}
        asked = {
            "sources": ";".join(str(index[place]) for place in origins),
            "destinations": ";".join(str(index[place]) for place in targets),
            "annotations": "duration,distance",
            "generate_hints": "false",
        }
        payload = await self._ask(http, "table", places, asked)
        shape = (len(origins), len(targets))
        distances, durations = (matrix_of(payload.get(name), shape) for name in ("distances", "durations"))
        date = payload.get("data_version")
        facts = {"data_date": date[:100]} if isinstance(date, str) and date else {}
        return Block(distances, durations, facts, _snaps(payload.get("sources"), len(origins)))

    async def line(self, http: httpx.AsyncClient, places: Sequence[Position]) -> list[Position]:
        """Return the points of the way over two places or more, in order.

        Raises:
            RoutingProviderUnavailableError: No answer, no way, or an answer of another shape.
        """
        asked = {
            "overview": "full",
            "geometries": "geojson",
            "steps": "false",
            "continue_straight": "false",  # as in a table, where each leg begins anew
            "generate_hints": "false",
        }
        return line_of(await self._ask(http, "route", places, asked))

    async def _ask(
        self, http: httpx.AsyncClient, service: str, places: Sequence[Position], asked: dict[str, str]
    ) -> Json:
        coordinates = ";".join(f"{lon:.6f},{lat:.6f}" for lat, lon in places)
        url = f"{self._url}/{service}/v1/{self._profile}/{coordinates}"
        payload = await request_json(http, http.build_request("GET", url, params=asked))
        if not isinstance(payload, dict) or payload.get("code") != "Ok":
            raise RoutingProviderUnavailableError(f"The road engine answered that it has no {service}.")
        return payload


def _snaps(waypoints: Any, count: int) -> tuple[float, ...]:
    """Return metres from each place to the nearest road; nothing where the engine does not say so."""
    if not isinstance(waypoints, list) or len(waypoints) != count:
        return ()
    found = [each.get("distance") if isinstance(each, dict) else None for each in waypoints]
    return tuple(metres if isinstance(metres, int | float) else 0.0 for metres in found)
