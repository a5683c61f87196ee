"""The table of a whole day, asked of its road engine block by block.

Owns the cut into blocks, how many are asked at a time, the time for all of them, and the refusal of holes. What an
engine says of itself is no part of the table, which stands without it. It keeps nothing: whoever asks keeps the answer.
"""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final

import anyio
import httpx2 as httpx
import numpy as np
from numpy.typing import NDArray

from planner_mcp.errors import Fault, InvalidScenarioError, RoutingProviderUnavailableError, TooLargeError
from planner_mcp.routing.compilation.matrix_request import MatrixRequest
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import ROADS, RouterSettings
from planner_mcp.text import plain
from planner_mcp.travel.embedded_roads import EmbeddedRoads
from planner_mcp.travel.osrm_provider import Osrm
from planner_mcp.travel.routing_provider import Block, RoutingProvider
from planner_mcp.travel.valhalla_provider import Valhalla

_AT_ONCE: Final = 4
_TRIES: Final = 2
"""A block is asked again once: engines are restarted, connections closed."""
_FACTS_S: Final = 5.0
"""Time an engine has to say what it is, beyond that for the table."""
_MAX_FAULTS: Final = 20

log = logging.getLogger("planner.roads")

Span = tuple[int, int]
Holes = NDArray[np.bool_]


class MatrixBuilder:
    """Asks the road engines of a deployment.

    Args:
        routers: By the name that clients use.
        request_s: Time for one block.
        total_s: Time for all of them.
        max_locations: More places are refused.
        max_snap_m: Places farther from the nearest road are refused.
        embedded: The road engine of this host.
    """

    def __init__(
        self,
        routers: Mapping[str, RouterSettings],
        *,
        request_s: float,
        total_s: float,
        max_locations: int,
        max_snap_m: float = math.inf,
        embedded: EmbeddedRoads | None = None,
    ) -> None:
        self._routers = routers if embedded is None else {**routers, ROADS: embedded.description}
        self._embedded = embedded
        self._max_snap_m = max_snap_m
        self._request_s = request_s
        self._total_s = total_s
        self._max_locations = max_locations

    async def travel_matrices(self, question: MatrixRequest) -> TravelMatrices:
        """Return all legs between the places of a question.

        Raises:
            InputError: No engine has this name; too many places; places that no road joins, each with its path.
            RoadsUnavailableError: The engine did not answer, in time or in its own form.
        """
        chosen = self._routers.get(question.router)
        if chosen is None:
            fault = Fault("/travel/router", "There is no road engine of this name.", ", ".join(self._routers))
            raise InvalidScenarioError(fault.problem, errors=[fault])
        if len(question.ids) > self._max_locations:
            raise TooLargeError(f"Roads are asked between at most {self._max_locations} locations.")
        is_embedded = self._embedded is not None and question.router == ROADS
        router = self._embedded if self._embedded is not None and is_embedded else routing_provider_of(chosen)
        async with httpx.AsyncClient(timeout=self._request_s, follow_redirects=False, trust_env=False) as http:
            full_matrix = await self._in_time(question, chosen, router, http)
            _refuse_far_places(question, full_matrix.snaps, self._max_snap_m)
            _refuse_holes(question, np.isnan(full_matrix.distances) | np.isnan(full_matrix.durations))
            facts = full_matrix.facts | await self._facts(question, router, http)
        return TravelMatrices(
            question.ids, full_matrix.distances, full_matrix.durations, _provenance(question, chosen, facts)
        )

    async def _in_time(
        self, question: MatrixRequest, chosen: RouterSettings, router: RoutingProvider, http: httpx.AsyncClient
    ) -> Block:
        """Return the whole table as one block."""
        try:
            with anyio.fail_after(self._total_s):
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
            with anyio.fail_after(min(_FACTS_S, self._request_s)):
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

    try:
        async with anyio.create_task_group() as asking:
            for rows, columns in product(list(_spans(size, chosen.block)), repeat=2):
                asking.start_soon(fill, rows, columns)
    except ExceptionGroup as group:
        raise _first(group) from group
    return replace(full_matrix, snaps=tuple(snaps))


def routing_provider_of(settings: RouterSettings) -> RoutingProvider:
    """Return the engine that settings describe."""
    return Osrm(settings) if settings.kind == "osrm" else Valhalla(settings)


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


def _first(group: ExceptionGroup[Any]) -> Exception:
    """Return the first error of a group: blocks fail alike."""
    error: Exception = group
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _refuse_far_places(question: MatrixRequest, snaps: Sequence[float], max_snap_m: float) -> None:
    """Refuse places that lie far from any road of the map, which a road engine moves to the nearest, however far."""
    far = sorted((at for at, metres in enumerate(snaps) if metres > max_snap_m), key=lambda at: -snaps[at])
    faults = [
        Fault(
            f"/locations/{question.indexes[at]}",
            f"The nearest road of the map is {_length(snaps[at])} away from {plain(question.ids[at], 60)}.",
            f"a place at most {_length(max_snap_m)} from a road",
            "Check its position; the map may not cover it.",
            "logic",
        )
        for at in far
    ]
    if faults:
        raise InvalidScenarioError(
            f"Travel is not known: {len(faults)} locations lie far from any road.",
            errors=faults[:_MAX_FAULTS],
            found=len(faults),
        )


def _length(metres: float) -> str:
    return f"{metres:,.0f} m" if metres < 10_000 else f"{metres / 1000:,.0f} km"


def _refuse_holes(question: MatrixRequest, holes: Holes) -> None:
    """Refuse places that no road leads to or from; the worst first, since one island makes a hole for every other."""
    np.fill_diagonal(holes, val=False)
    if not holes.any():
        return
    faults: list[Fault] = []
    for place in _unreachable_places(holes):
        cut_off = int((holes[place] | holes[:, place]).sum())
        name = plain(question.ids[place], 60)
        problem = f"The road engine knows no way between {name} and {cut_off} others."
        if cut_off > len(holes) / 2:
            problem += " It is not on the network that vehicles drive on, as a place in a pedestrian area."
        path = f"/locations/{question.indexes[place]}"
        hint = "Move it to a street that vehicles drive on."
        faults.append(Fault(path, problem, "a place on the road network", hint, "logic"))
    raise InvalidScenarioError(
        f"Travel has holes: {len(faults)} locations lie apart from the road network.",
        errors=faults[:_MAX_FAULTS],
        found=len(faults),
    )


def _unreachable_places(holes: Holes) -> list[int]:
    """Return the fewest places, found greedily, whose removal leaves no hole."""
    left = holes | holes.T
    found = []
    while left.any():
        worst = int(left.sum(axis=0).argmax())
        found.append(worst)
        left[worst, :] = left[:, worst] = False
    return found


def _provenance(question: MatrixRequest, chosen: RouterSettings, found: Mapping[str, str]) -> dict[str, Any]:
    stated = {"version": chosen.version, "data_date": chosen.data_date, **found}
    profile = chosen.profile or ("driving" if chosen.kind == "osrm" else "auto")
    facts = {"source": chosen.kind, "router": question.router, "profile": profile}
    provenance = f"Travel by road: {question.router} ({chosen.kind}, {profile})."
    if "attribution" in found:
        provenance += f" Roads: {found['attribution']}."
    return {**facts, **{name: value for name, value in stated.items() if value}, "said": provenance}
