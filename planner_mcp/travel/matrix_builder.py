"""The table of a whole day, asked of its road engine block by block.

Owns the cut into blocks, how many are asked at a time, the time for all of them, and which places lie off the road
network: they come with the table, and whoever reads the day decides what that means. What an engine says of itself is
no part of the table, which stands without it. It keeps nothing: whoever asks keeps the answer.
"""

import logging
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

import anyio
import httpx2 as httpx

from planner_mcp import arrays as np
from planner_mcp.arrays import Flags, Floats
from planner_mcp.bounded_requests import http_client
from planner_mcp.errors import Fault, InvalidScenarioError, RoutingProviderUnavailableError, TooLargeError, ungrouped
from planner_mcp.routing.compilation.matrix_request import MatrixRequest
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import RouterSettings, Settings
from planner_mcp.text import Json
from planner_mcp.travel.road_engines import RoadEngines
from planner_mcp.travel.routing_provider import NO_ROAD_M, Block, RoutingProvider

_AT_ONCE: Final = 4
_TRIES: Final = 2
"""A block is asked again once: engines are restarted, connections closed."""
_FACTS_S: Final = 5.0
"""Time an engine has to say what it is, beyond that for the table."""

log = logging.getLogger("planner.roads")

Span = tuple[int, int]


class MatrixBuilder:
    """Asks the road engines of a deployment."""

    def __init__(self, engines: RoadEngines, settings: Settings) -> None:
        self._engines = engines
        self._settings = settings

    async def travel_matrices(self, question: MatrixRequest) -> TravelMatrices:
        """Return all legs between the places of a question.

        Raises:
            InputError: No engine has this name; too many places.
            RoutingProviderUnavailableError: The engine did not answer, in time or in its own form.
        """
        router, limit = self._engines.provider(question.router), self._settings.max_matrix_locations
        if router is None:
            fault = Fault("/travel/router", "There is no road engine of this name.", ", ".join(self._engines.described))
            raise InvalidScenarioError(fault.problem, errors=[fault])
        if len(question.ids) > limit:
            raise TooLargeError(f"Roads are asked between at most {limit} locations.")
        chosen = self._engines.described[question.router]
        async with http_client(self._settings.router_request_s) as http:
            full_matrix = await self._in_time(question, chosen, router, http)
            facts = full_matrix.facts | await self._facts(question, router, http)
        return TravelMatrices(
            question.ids,
            _without_holes(full_matrix.distances),
            _without_holes(full_matrix.durations),
            _provenance(question, chosen, facts),
            _off_network(question, full_matrix, self._settings.router_snap_m),
        )

    async def _in_time(
        self, question: MatrixRequest, chosen: RouterSettings, router: RoutingProvider, http: httpx.AsyncClient
    ) -> Block:
        """Return the whole table as one block."""
        try:
            with anyio.fail_after(self._settings.router_total_s):
                return await _full_matrix(question, chosen, router, http)
        except TimeoutError as error:
            log.warning("road engine too slow", extra={"router": question.router, "places": len(question.ids)})
            raise RoutingProviderUnavailableError("The road engine did not answer in time.") from error
        except RoutingProviderUnavailableError as error:
            log.warning("road engine failed: %s", error.message, extra={"router": question.router})
            raise

    async def _facts(self, question: MatrixRequest, router: RoutingProvider, http: httpx.AsyncClient) -> dict[str, str]:
        """Return what an engine says of itself; nothing where it does not say it: settings may know."""
        try:
            with anyio.fail_after(min(_FACTS_S, self._settings.router_request_s)):
                return await router.facts(http)
        except (RoutingProviderUnavailableError, TimeoutError) as error:
            log.warning("road engine says nothing of itself: %s", error, extra={"router": question.router})
            return {}


async def _full_matrix(
    question: MatrixRequest, chosen: RouterSettings, router: RoutingProvider, http: httpx.AsyncClient
) -> Block:
    size = len(question.ids)
    full_matrix = Block(np.zeros((size, size)), np.zeros((size, size)), {})
    snaps = [0.0] * size
    slots = anyio.Semaphore(_AT_ONCE)

    async def fill(rows: Span, columns: Span) -> None:
        async with slots:
            block = await _block_with_retry(router, http, question, rows, columns)
        full_matrix.distances[slice(*rows), slice(*columns)] = block.distances
        full_matrix.durations[slice(*rows), slice(*columns)] = block.durations
        full_matrix.facts.update(block.facts)
        snaps[rows[0] : rows[0] + len(block.snaps)] = block.snaps

    with ungrouped():
        async with anyio.create_task_group() as asking:
            for rows, columns in product(list(_spans(size, chosen.block)), repeat=2):
                asking.start_soon(fill, rows, columns)
    return replace(full_matrix, snaps=tuple(snaps))


async def _block_with_retry(
    router: RoutingProvider, http: httpx.AsyncClient, asked: MatrixRequest, rows: Span, columns: Span
) -> Block:
    origins, targets = asked.positions[slice(*rows)], asked.positions[slice(*columns)]
    for _ in range(_TRIES - 1):
        try:
            return await router.block(http, origins, targets)
        except RoutingProviderUnavailableError:
            continue
    return await router.block(http, origins, targets)


def _spans(size: int, block: int) -> Iterator[Span]:
    for low in range(0, size, block):
        yield low, min(low + block, size)


def _off_network(question: MatrixRequest, full_matrix: Block, max_snap_m: float) -> dict[str, str]:
    """Return the places that no road leads to or from, each with why.

    A road engine moves a place to the nearest road, however far. Of places that no road joins the fewest are named
    whose removal leaves no hole.
    """
    far = [at for at, metres in enumerate(full_matrix.snaps) if metres > max_snap_m]
    found = {
        at: _too_far(full_matrix.snaps[at], max_snap_m) for at in sorted(far, key=lambda at: -full_matrix.snaps[at])
    }
    holes = np.isnan(full_matrix.distances) | np.isnan(full_matrix.durations)
    np.fill_diagonal(holes, val=False)
    holes[far, :] = holes[:, far] = False
    for at in _unreachable_places(holes, frozenset(question.depots)):
        cut_off = int((holes[at] | holes[:, at]).sum())
        found[at] = f"without a road to or from {cut_off} of the {len(holes) - 1 - len(far)} others"
    return {question.ids[at]: why for at, why in found.items()}


def _too_far(metres: float, limit: float) -> str:
    accepted = f"at most {_length(limit)} are accepted"
    if metres == NO_ROAD_M:
        return f"no road of the map is near; {accepted}"
    return f"{_length(metres)} from the nearest road of the map; {accepted}"


def _length(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < 10_000 else f"{metres / 1000:,.0f} km"


def _unreachable_places(holes: Flags, kept: Container[int]) -> list[int]:
    """Return the fewest places, found greedily, whose removal leaves no hole; of equal ones those to be kept last."""
    left = holes | holes.T
    found = []
    while left.any():
        counts = left.sum(axis=0)
        worst = max(range(len(counts)), key=lambda at: (counts[at], at not in kept, -at))
        found.append(worst)
        left[worst, :] = left[:, worst] = False
    return found


def _without_holes(table: Floats) -> Floats:
    """Return a table with its longest leg in place of each hole: tables hold numbers, and nobody drives there."""
    return np.where(np.isnan(table), np.nanmax(table, initial=0.0), table)


def _provenance(question: MatrixRequest, chosen: RouterSettings, found: Mapping[str, str]) -> Json:
    stated = {"version": chosen.version, "data_date": chosen.data_date, **found}
    profile = chosen.profile or ("driving" if chosen.kind == "osrm" else "auto")
    kind = found.get("source", chosen.kind)
    facts = {"source": kind, "router": question.router, "profile": profile}
    provenance = f"Travel by road: {question.router} ({kind}, {profile})."
    if "attribution" in found:
        provenance += f" Roads: {found['attribution']}."
    return {**facts, **{name: value for name, value in stated.items() if value}, "said": provenance}
