"""Valhalla: `POST /sources_to_targets` with places as objects; `GET /status` for its version and the age of its map.

Lengths come in kilometres and seconds, null where there is no road; as rows of objects, or as two tables where the
server honours `verbose: false`. Both forms are read.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import httpx2 as httpx

from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.settings import RouterSettings
from planner_mcp.travel.routing_provider import Block, Position, matrix_of, request_json

_KILOMETRE = 1000.0


class Valhalla:
    """One Valhalla server and costing."""

    def __init__(self, settings: RouterSettings) -> None:
        self._base = settings.url.rstrip("/")
        self._costing = settings.profile or "auto"

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return its version and the day its map was built."""
        payload = await request_json(http, http.build_request("GET", f"{self._base}/status"))
        facts = {"version": str(payload["version"])[:100]} if "version" in payload else {}
        built = payload.get("tileset_last_modified")
        if isinstance(built, int) and 0 < built < 2**33:
            facts["data_date"] = datetime.fromtimestamp(built, UTC).date().isoformat()
        return facts

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target."""
        asked = {
            "sources": [{"lat": lat, "lon": lon} for lat, lon in origins],
            "targets": [{"lat": lat, "lon": lon} for lat, lon in targets],
            "costing": self._costing,
            "units": "kilometers",
            "verbose": False,
        }
        payload = await request_json(http, http.build_request("POST", f"{self._base}/sources_to_targets", json=asked))
        shape = (len(origins), len(targets))
        distances, durations = _rows(payload.get("sources_to_targets"))
        return Block(matrix_of(distances, shape, _KILOMETRE), matrix_of(durations, shape), {})


def _rows(payload: Any) -> tuple[Any, Any]:
    """Return rows of kilometres and of seconds."""
    try:
        if isinstance(payload, dict):
            return payload["distances"], payload["durations"]
        return tuple([[cell[name] for cell in row] for row in payload] for name in ("distance", "time"))  # type: ignore[return-value]
    except (KeyError, TypeError) as error:
        raise RoutingProviderUnavailableError("The road engine answered with something that is no table.") from error
