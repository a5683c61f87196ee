"""Which engine stands behind settings."""

from collections.abc import Callable, Mapping
from typing import Final

from planner_mcp.settings import RouterSettings
from planner_mcp.travel.osrm_provider import Osrm
from planner_mcp.travel.routing_provider import RoutingProvider
from planner_mcp.travel.valhalla_provider import Valhalla

_PROVIDERS: Final[Mapping[str, Callable[[RouterSettings], RoutingProvider]]] = {"osrm": Osrm, "valhalla": Valhalla}


def routing_provider_of(settings: RouterSettings) -> RoutingProvider:
    """Return the engine that settings describe."""
    return _PROVIDERS[settings.kind](settings)
