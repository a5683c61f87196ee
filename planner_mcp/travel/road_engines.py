"""The road engines of a deployment, by the name that clients use: those of a setting, and the one of this host."""

from collections.abc import Mapping

from planner_mcp.settings import ROADS, RouterSettings, Settings
from planner_mcp.travel.embedded_roads import EmbeddedRoads
from planner_mcp.travel.routing_provider import RoutingProvider
from planner_mcp.travel.routing_providers import routing_provider_of


class RoadEngines:
    """The engines that settings describe."""

    def __init__(self, settings: Settings) -> None:
        self.embedded = None if settings.roads_pbf is None else EmbeddedRoads(settings)
        """That of this host."""
        own = {} if self.embedded is None else {ROADS: self.embedded.description}
        self.described: Mapping[str, RouterSettings] = {**settings.routers, **own}

    def provider(self, name: str) -> RoutingProvider | None:
        """Return the engine of a name, None where there is none."""
        if name == ROADS and self.embedded is not None:
            return self.embedded
        return routing_provider_of(self.described[name]) if name in self.described else None
