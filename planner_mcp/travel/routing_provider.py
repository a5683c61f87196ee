"""What a road engine is.

Owns the interface every engine stands behind, and reading an answer with bounds on time and size. Clients name an
engine; where it lives is the deployment's to say, so no call can make this server fetch what its sender likes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import httpx2 as httpx

from planner_mcp import arrays as np
from planner_mcp.arrays import Floats
from planner_mcp.bounded_requests import UpstreamError, fetch_json
from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.scenario.coordinates import Position

_SIGN_ERROR: Final = 10.0
"""Metres below which a negative length is one: OSRM 26.10 answers -0.6 m between two places on one segment."""
NO_ROAD_M: Final = math.inf
"""Metres to the nearest road where the engine finds none at all."""
MAX_ANSWER_BYTES: Final = 32 * 1024 * 1024
"""A block of 500 by 500 takes 10 MB as JSON."""


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Part of a table: metres and seconds; NaN where there is no road."""

    distances: Floats
    durations: Floats
    facts: dict[str, str]
    """What the answer itself said of the engine or its map."""
    snaps: tuple[float, ...] = ()
    """(origins,) metres from each origin to the nearest road; empty where the engine does not say so."""


class RoutingProvider(Protocol):
    """One road engine."""

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return what the engine says of itself: `version`, `data_date`; nothing where it says nothing."""
        ...

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target.

        Raises:
            RoutingProviderUnavailableError: No answer in time, a refusal, or an answer of another shape.
        """
        ...

    async def line(self, http: httpx.AsyncClient, places: Sequence[Position]) -> list[Position]:
        """Return the points of the way over two places or more, in order.

        Raises:
            RoutingProviderUnavailableError: No answer, no way, or an answer of another shape.
        """
        ...


async def request_json(http: httpx.AsyncClient, request: httpx.Request) -> Any:
    """Send a request; return the JSON of a good answer, an object or a list. What the engine says goes to no client."""
    try:
        payload = await fetch_json(http, request, max_bytes=MAX_ANSWER_BYTES)
    except UpstreamError as error:
        raise RoutingProviderUnavailableError(f"The road engine {error}.") from error
    if not isinstance(payload, dict | list):
        raise RoutingProviderUnavailableError("The road engine answered with something that is not a table.")
    return payload


def line_of(payload: Any) -> list[Position]:
    """Return the points of the first route of an answer in the form of OSRM, with its line as GeoJSON.

    Raises:
        RoutingProviderUnavailableError: It has another shape.
    """
    try:
        return [_position(point) for point in payload["routes"][0]["geometry"]["coordinates"]]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise RoutingProviderUnavailableError("The road engine answered with something that is no line.") from error


def _position(point: Any) -> Position:
    lon, lat = float(point[0]), float(point[1])
    if not (math.isfinite(lon) and math.isfinite(lat) and abs(lon) <= 180 and abs(lat) <= 90):
        raise ValueError("no position")
    return lat, lon


def matrix_of(rows: Any, shape: tuple[int, int], unit: float = 1.0) -> Floats:
    """Return a table of an answer, null as NaN.

    Raises:
        RoutingProviderUnavailableError: It has another shape, or holds something that is no length.
    """
    try:
        table = np.array(rows, dtype=np.float64) * unit
    except (TypeError, ValueError) as error:
        raise RoutingProviderUnavailableError("The road engine answered with something that is not a table.") from error
    table = np.where((table < 0) & (table > -_SIGN_ERROR), -table, table)
    if table.shape != shape or np.any(table < 0) or np.any(np.isinf(table)):
        raise RoutingProviderUnavailableError("The road engine answered with a table of another shape.")
    return table
