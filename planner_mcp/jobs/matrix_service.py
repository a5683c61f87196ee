"""Travel matrices that scenarios refer to by id: stored once, used by any number of scenarios.

Owns their ids. The id of an upload comes from its content, so that an id never changes its meaning. The id of an answer
of a road engine comes from the question. Both belong to a principal; others get "not found". Road engines are asked by
workers, through `planner_mcp.travel`.
"""

import hashlib
import json
from functools import partial
from typing import Any

import anyio.to_thread

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_ports import MatrixStore
from planner_mcp.routing.compilation.matrix_request import MatrixRequest, matrix_request_of
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import NAMES, Packed, TravelMatrices
from planner_mcp.settings import Settings

Json = dict[str, Any]


class MatrixService:
    """The tables of all principals.

    Args:
        store: Where they are kept.
        settings: The number of shards.
    """

    def __init__(self, store: MatrixStore, settings: Settings) -> None:
        self._store = store
        self._shard_count = settings.pools

    async def keep(self, principal: str, travel_matrices: TravelMatrices) -> str:
        """Keep uploaded tables; return their name.

        Raises:
            QuotaExceededError: The principal keeps as many as it may.
        """
        words = await anyio.to_thread.run_sync(travel_matrices.pack)
        name = self._name(principal, "upload", words["locations"], words.get("distances"), words.get("durations"))
        words["provenance"] = json.dumps({**travel_matrices.provenance, "matrix": name})
        await self._store.put_matrix(principal, name, words, is_cache=False)
        return name

    async def keep_routed(self, principal: str, question: MatrixRequest, travel_matrices: TravelMatrices) -> Packed:
        """Store the answer of a road engine; return it packed."""
        words = await anyio.to_thread.run_sync(travel_matrices.pack)
        await self._store.put_matrix(principal, self._routed_id(principal, question), words, is_cache=True)
        return words

    async def packed(self, principal: str, name: str) -> Packed:
        """Return tables by name, packed.

        Raises:
            NotFoundError: Unknown, expired, or somebody else's.
        """
        return await self._store.get_matrix(principal, name)

    async def outline(self, principal: str, name: str) -> tuple[int, list[str]]:
        """Return how many locations tables have and which tables are given, in order; raises as `packed`."""
        locations, words = await self._store.outline_matrix(principal, name)
        return len(json.loads(locations)), sorted({*words} & {*NAMES})

    async def travel_matrices(self, principal: str, name: str) -> TravelMatrices:
        """Return tables by name; raises as `packed`."""
        words = await self._store.get_matrix(principal, name)
        return await anyio.to_thread.run_sync(TravelMatrices.unpack, words)

    async def drop(self, principal: str, name: str) -> None:
        """Forget tables."""
        await self._store.drop_matrix(principal, name)

    async def find_routed(self, principal: str, question: MatrixRequest) -> Packed | None:
        """Return a road engine's stored answer, packed; None where there is none or it has expired."""
        try:
            return await self._store.get_matrix(principal, self._routed_id(principal, question))
        except NotFoundError:
            return None

    async def for_scenario(self, principal: str, body: Json) -> TravelMatrices | None:
        """Return the stored matrices that a scenario refers to; None where it refers to none."""
        words = None
        if (name := matrix_id_of(body)) is not None:
            try:
                words = await self._store.get_matrix(principal, name)
            except NotFoundError:
                return None
        elif (question := await routing_request(body)) is not None:
            words = await self.find_routed(principal, question)
        return None if words is None else await anyio.to_thread.run_sync(TravelMatrices.unpack, words)

    def _routed_id(self, principal: str, question: MatrixRequest) -> str:
        return self._name(principal, "roads", question.router, question.ids, question.positions)

    def _name(self, principal: str, *parts: object) -> str:
        digest = hashlib.sha256(json.dumps([principal, *parts]).encode()).digest()
        return ids.derived_id("mat", digest, self._shard_count)


def matrix_id_of(body: Any) -> str | None:
    """Return the name of the uploaded matrices that a scenario refers to, where it is well-formed."""
    travel = body.get("travel") if isinstance(body, dict) else None
    name = travel.get("matrix") if isinstance(travel, dict) else None
    return name if isinstance(name, str) else None


async def routing_request(body: Json) -> MatrixRequest | None:
    """Return the matrices that a scenario needs from a road engine. A large one is read in a thread."""
    if (body.get("travel") or {}).get("router") is None:
        return None
    return await anyio.to_thread.run_sync(partial(_routing_request, body))


def _routing_request(body: Json) -> MatrixRequest | None:
    return matrix_request_of(read_stored(body))
