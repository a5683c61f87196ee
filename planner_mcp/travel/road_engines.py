"""The road engines of a deployment, by the name that clients use: those of a setting, and the one of this host.

Owns finding the daemon of this host and waiting for it: while its map is built, and while it is started again. A
question that was open when the daemon died is asked again of the next one. `road_daemon.py` runs it.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio
import httpx2 as httpx

from planner_mcp.errors import RoutingProviderUnavailableError
from planner_mcp.routing.scenario.coordinates import Position
from planner_mcp.routing.scenario.travel_matrices import Packed
from planner_mcp.settings import ROADS, RouterSettings, Settings
from planner_mcp.text import ATTRIBUTION
from planner_mcp.travel.osrm_provider import Osrm
from planner_mcp.travel.road_daemon import DaemonState, daemon_state
from planner_mcp.travel.routing_provider import Block, RoutingProvider
from planner_mcp.travel.valhalla_provider import Valhalla

_PROVIDERS: Final[Mapping[str, Callable[[RouterSettings], RoutingProvider]]] = {"osrm": Osrm, "valhalla": Valhalla}
_BLOCKS: Final = {"osrm": 500, "valhalla": 100}
"""Places of a block, which takes about a second."""
_COSTINGS: Final = {"car": "auto", "foot": "pedestrian"}
"""Valhalla's words for our profiles, where they differ."""
_POLL_S: Final = 0.05
_CHANGE_S: Final = 1.0
"""Time in which the death of the daemon is seen after a question failed."""
_ABSENT_S: Final = 10.0
"""Time in which another process of the host takes the daemon over, or the first one starts."""
_MARGIN_S: Final = 0.3
"""Left of the caller's time when it is said what the daemon is doing."""
_WAITING: Final = {
    "absent": "No process of this host runs the road engine; its map is set by PLANNER_ROADS_PBF.",
    "building": "The road engine is still building its map.",
    "starting": "The road engine is being started again.",
    "failed": "The map of the road engine could not be built; `planner-mcp roads status` says why.",
}


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
        settings = self.described.get(name)
        return None if settings is None else _PROVIDERS[settings.kind](settings)


class EmbeddedRoads:
    """What `PLANNER_ROADS_PBF` started."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        engine = settings.roads_engine
        self.description = RouterSettings(
            kind=engine, url="http://127.0.0.1", profile=settings.roads_profile, block=_BLOCKS[engine]
        )
        """Engine, profile and block size; the URL is found when it is asked."""

    @property
    def is_ready(self) -> bool:
        """Whether it answers now."""
        return daemon_state(self._settings).phase == "ready"

    def made(self, known: Packed) -> bool:
        """Return whether stored matrices come from the map that is served now; true where none is."""
        key = daemon_state(self._settings).map_key
        return not key or json.loads(known["provenance"]).get("map") == key

    async def facts(self, http: httpx.AsyncClient) -> dict[str, str]:
        """Return version and map, and whom to name for it."""
        state = await self._ready()
        return {"source": state.engine, "version": state.version, "map": state.map_key, "attribution": ATTRIBUTION}

    async def block(self, http: httpx.AsyncClient, origins: Sequence[Position], targets: Sequence[Position]) -> Block:
        """Return the legs from each origin to each target.

        Raises:
            RoutingProviderUnavailableError: As `RoutingProvider.block`; the map is still built, or could not be, when
                the time of the caller ends.
        """
        while True:
            state = await self._ready()
            try:
                return await self._provider(state).block(http, origins, targets)
            except RoutingProviderUnavailableError:
                if not await self._was_restarted(state):
                    raise

    async def line(self, http: httpx.AsyncClient, places: Sequence[Position]) -> list[Position]:
        """Return the points of the way over some places; without waiting: a map can do without."""
        state = daemon_state(self._settings)
        if state.phase != "ready":
            raise RoutingProviderUnavailableError(_WAITING[state.phase])
        return await self._provider(state).line(http, places)

    def _provider(self, state: DaemonState) -> RoutingProvider:
        """Return how the daemon is asked that runs: until its process ends, that is the one it was started as."""
        profile = self.description.profile
        words = _COSTINGS.get(profile, profile) if state.engine == "valhalla" else profile
        found = {"kind": state.engine, "url": state.url, "profile": words}
        return _PROVIDERS[state.engine](self.description.model_copy(update=found))

    async def _ready(self) -> DaemonState:
        """Return the state once the daemon answers."""
        absent_until = anyio.current_time() + _ABSENT_S
        until = anyio.current_effective_deadline() - _MARGIN_S
        while (state := daemon_state(self._settings)).phase != "ready":
            now = anyio.current_time()
            is_hopeless = state.phase == "failed" or (state.phase == "absent" and now > absent_until)
            if is_hopeless or now > until:
                raise RoutingProviderUnavailableError(_WAITING[state.phase])
            await anyio.sleep(_POLL_S)
        return state

    async def _was_restarted(self, before: DaemonState) -> bool:
        with anyio.move_on_after(_CHANGE_S):
            while daemon_state(self._settings) == before:  # noqa: ASYNC110 — another process changes the file
                await anyio.sleep(_POLL_S)
            return True
        return False
