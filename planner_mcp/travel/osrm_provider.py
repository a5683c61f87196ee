"""OSRM: `GET /table/v1/{profile}/{lon},{lat};…` with origins and targets as indexes into the coordinates.

Lengths come in metres and seconds, null where there is no road. The engine does not report its version; newer
ones report `data_version`, if the map was prepared with one.
"""

from collections.abc import Sequence

import httpx2 as httpx

from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.settings import RouterSettings
from planner_mcp.travel.routing_provider import Block, Position, matrix_of, request_json


class Osrm:
    """One OSRM server and profile."""

    def __init__(self, settings: RouterSettings) -> None:
        self._base = f"{settings.url.rstrip('/')}/table/v1/{settings.profile or 'driving'}"

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return nothing: an answer says what there is to know."""
        return {}

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target."""
        places = list(dict.fromkeys([*origins, *targets]))
        if len(places) == 1:
            places *= 2  # it wants two coordinates
        index = {place: at for at, place in enumerate(places)}
        coordinates = ";".join(f"{lon:.6f},{lat:.6f}" for lat, lon in places)
        asked = {
            "sources": ";".join(str(index[place]) for place in origins),
            "destinations": ";".join(str(index[place]) for place in targets),
            "annotations": "duration,distance",
        }
        payload = await request_json(http, http.build_request("GET", f"{self._base}/{coordinates}", params=asked))
        if payload.get("code") != "Ok":
            raise RoutingProviderUnavailableError("The road engine answered that it has no table.")
        shape = (len(origins), len(targets))
        distances, durations = (matrix_of(payload.get(name), shape) for name in ("distances", "durations"))
        date = payload.get("data_version")
        return Block(distances, durations, {"data_date": date[:100]} if isinstance(date, str) and date else {})
