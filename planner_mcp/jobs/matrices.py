"""Tables of travel that days refer to: kept once, used by as many days as name them.

Owns their names. What is uploaded is named by its content, so the same upload gives the same name and a name never
changes its meaning; what a road engine told is named by the question. Both belong to a principal, and another's are
not found. Asking road engines is `planner_mcp.roads`, done by workers.
"""

import hashlib
import json
from functools import partial
from typing import Any

import anyio.to_thread

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.ports import MatrixStore
from planner_mcp.settings import Settings
from planner_mcp.vrp.compile.roads import RoadQuestion, question_of
from planner_mcp.vrp.day.tables import NAMES, Packed, Tables
from planner_mcp.vrp.scenario import read_stored

Json = dict[str, Any]


class Matrices:
    """The tables of all principals.

    Args:
        store: Where they are kept.
        settings: The number of pools.
    """

    def __init__(self, store: MatrixStore, settings: Settings) -> None:
        self._store = store
        self._pools = settings.pools

    async def keep(self, principal: str, tables: Tables) -> str:
        """Keep uploaded tables; return their name.

        Raises:
            QuotaExceededError: The principal keeps as many as it may.
        """
        words = await anyio.to_thread.run_sync(tables.pack)
        name = self._name(principal, "upload", words["locations"], words.get("distances"), words.get("durations"))
        words["provenance"] = json.dumps({**tables.provenance, "matrix": name})
        await self._store.put_matrix(principal, name, words, is_cache=False)
        return name

    async def keep_roads(self, principal: str, question: RoadQuestion, tables: Tables) -> Packed:
        """Keep what a road engine told; return it packed."""
        words = await anyio.to_thread.run_sync(tables.pack)
        await self._store.put_matrix(principal, self._road_name(principal, question), words, is_cache=True)
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

    async def tables(self, principal: str, name: str) -> Tables:
        """Return tables by name; raises as `packed`."""
        words = await self._store.get_matrix(principal, name)
        return await anyio.to_thread.run_sync(Tables.unpack, words)

    async def drop(self, principal: str, name: str) -> None:
        """Forget tables."""
        await self._store.drop_matrix(principal, name)

    async def known_roads(self, principal: str, question: RoadQuestion) -> Packed | None:
        """Return what a road engine told before, packed; None where it has not been asked, or not of late."""
        try:
            return await self._store.get_matrix(principal, self._road_name(principal, question))
        except NotFoundError:
            return None

    async def of_day(self, principal: str, body: Json) -> Tables | None:
        """Return the tables a stored day refers to, where they are at hand; None where it refers to none."""
        words = None
        if (name := matrix_named(body)) is not None:
            try:
                words = await self._store.get_matrix(principal, name)
            except NotFoundError:
                return None
        elif (question := await road_question(body)) is not None:
            words = await self.known_roads(principal, question)
        return None if words is None else await anyio.to_thread.run_sync(Tables.unpack, words)

    def _road_name(self, principal: str, question: RoadQuestion) -> str:
        return self._name(principal, "roads", question.router, question.ids, question.positions)

    def _name(self, principal: str, *parts: object) -> str:
        digest = hashlib.sha256(json.dumps([principal, *parts]).encode()).digest()
        return ids.derived_name("mat", digest, self._pools)


def matrix_named(body: Any) -> str | None:
    """Return the name of the uploaded tables a day refers to; anything else is judged with the rest of the day."""
    travel = body.get("travel") if isinstance(body, dict) else None
    name = travel.get("matrix") if isinstance(travel, dict) else None
    return name if isinstance(name, str) else None


async def road_question(body: Json) -> RoadQuestion | None:
    """Return what a stored day needs to know of roads, None for nothing. A large day is read in a thread."""
    if (body.get("travel") or {}).get("router") is None:
        return None
    return await anyio.to_thread.run_sync(partial(_question, body))


def _question(body: Json) -> RoadQuestion | None:
    return question_of(read_stored(body))
