"""The lines of a plan's routes along the roads, for maps and exports.

Owns what is asked, its bounds, and going without: a plan whose travel comes from elsewhere, a large one, or an engine
that does not answer at once has no lines, and is drawn straight from stop to stop. Lines are asked when they are
needed, the latest kept; they are no part of the plan, which stands without them.
"""

import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Final

import anyio

from planner_mcp.bounded_requests import http_client
from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.plan import Plan, PlannedRoute
from planner_mcp.routing.scenario.coordinates import Lines, Position
from planner_mcp.settings import Settings
from planner_mcp.travel.road_engines import RoadEngines
from planner_mcp.travel.routing_provider import RoutingProvider

MAX_LEGS: Final = 2000
"""Of a plan whose lines are asked for."""
MAX_POINTS: Final = 200_000
"""Of all lines of a plan: 8 MB as GeoJSON."""
_TOTAL_S: Final = 10.0
_REQUEST_S: Final = 5.0
_MOST_PLACES: Final = 100
"""Of one question."""
_KEPT: Final = 16

log = logging.getLogger("planner.roads")

_Tracks = tuple[tuple[str, tuple[Position, ...]], ...]


class RouteGeometry:
    """Asks road engines for lines."""

    def __init__(self, settings: Settings) -> None:
        self._engines = RoadEngines(settings)
        self._kept: OrderedDict[tuple[str, _Tracks], Lines] = OrderedDict()
        """By the plan and what its routes go over: a job that is solved has one plan after another under one id."""

    async def lines(self, plan_id: str, plan: Plan, places: Mapping[str, Position]) -> Lines:
        """Return the line of each route; empty where there is none to be had.

        Args:
            plan_id: Under which the lines are kept.
        """
        tracks = {route.agent_id: list(_track(route, places)) for route in plan.routes}
        name = plan_id, tuple((agent, tuple(track)) for agent, track in tracks.items())
        if name in self._kept:
            self._kept.move_to_end(name)
            return self._kept[name]
        provider = self._provider(plan)
        if provider is None or sum(map(len, tracks.values())) > MAX_LEGS:
            return {}
        try:
            with anyio.fail_after(_TOTAL_S):
                found = await _lines(provider, {agent: track for agent, track in tracks.items() if len(track) > 1})
        except (RoutingProviderUnavailableError, TimeoutError) as error:
            log.warning("no lines of roads: %s", error or "no answer in time", extra={"plan_id": plan_id})
            return {}
        self._kept[name] = found
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return found

    def _provider(self, plan: Plan) -> RoutingProvider | None:
        """Return the engine that the travel of a plan comes from, where it is still configured."""
        name = plan.travel.get("router")
        return self._engines.provider(name) if isinstance(name, str) else None


def _track(route: PlannedRoute, places: Mapping[str, Position]) -> Iterator[Position]:
    """Yield the positions that a route goes over, each once where it stays."""
    names = [route.start_location, *(visit.location for visit in route.visits), route.end_location]
    last = None
    for name in names:
        if name is not None and name in places and places[name] != last:
            last = places[name]
            yield last


async def _lines(provider: RoutingProvider, tracks: Mapping[str, list[Position]]) -> Lines:
    found: dict[str, list[Position]] = {}
    points = 0
    async with http_client(_REQUEST_S) as http:
        for name, track in tracks.items():
            line: list[Position] = []
            for low in range(0, len(track) - 1, _MOST_PLACES - 1):
                line += await provider.line(http, track[low : low + _MOST_PLACES])
            points += len(line)
            if points > MAX_POINTS:
                raise RoutingProviderUnavailableError("The lines of the plan have too many points.")
            found[name] = line
    return found
