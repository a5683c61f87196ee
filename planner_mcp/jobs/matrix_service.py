"""Travel matrices that scenarios refer to by id: stored once, used by any number of scenarios.

The text of an upload is read in a process of its own (ADR 0036), which hands the tables over block by block; this
process never holds them whole.

Owns their ids. The id of an upload comes from its content, so that an id never changes its meaning. The id of an answer
of a road engine comes from the question. Both belong to a principal; others get "not found". Road engines are asked by
workers, through `planner_mcp.travel`.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import anyio.to_thread

from planner_mcp.bounded_calls.call_server import ask_caller
from planner_mcp.errors import NotFoundError
from planner_mcp.jobs import ids
from planner_mcp.jobs.job_ports import MatrixParts, MatrixStore
from planner_mcp.jobs.limits.reading_limits import read_bounded
from planner_mcp.routing.compilation.matrix_request import MatrixRequest, matrix_request_of
from planner_mcp.routing.scenario.matrix_json_reader import read_matrix_blocks
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import BLOCK_CHARS, NAMES, Packed, TravelMatrices
from planner_mcp.settings import Settings


class MatrixService:
    """The tables of all principals.

    Args:
        store: Where they are kept.
        settings: The number of shards, and how large uploads may be.
    """

    def __init__(self, store: MatrixStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    async def keep(self, principal: str, travel_matrices: TravelMatrices) -> str:
        """Keep uploaded tables; return their name.

        Raises:
            QuotaExceededError: The principal keeps as many as it may.
        """
        name, words = await anyio.to_thread.run_sync(packed_upload, principal, travel_matrices, self._settings.pools)
        await self._put(principal, name, words, is_cache=False)
        return name

    async def keep_upload(self, principal: str, body: Iterator[bytes | bytearray]) -> "UploadedMatrix":
        """Keep the tables of an uploaded text; they are read in a process of their own and stored block by block.

        Raises:
            InputError: Every fault of the text.
            QuotaExceededError: The principal keeps as many as it may.
        """
        parts = MatrixParts("")

        async def answer(question: "UploadQuestion") -> bytes | bytearray | None:
            if question.name:
                parts.matrix_id = question.matrix
                await self._store.put_matrix_block(parts, question.name, question.text)
                return None
            return next(body, b"")

        uploaded, words = await read_bounded(
            principal,
            self._settings,
            read_upload,
            principal,
            self._settings.pools,
            self._settings.max_matrix_locations,
            answer=answer,
        )
        parts.matrix_id = uploaded.name
        await self._store.put_matrix(principal, parts, words, is_cache=False)
        return uploaded

    async def keep_routed(self, principal: str, question: MatrixRequest, travel_matrices: TravelMatrices) -> Packed:
        """Store the answer of a road engine; return it packed."""
        words = await anyio.to_thread.run_sync(travel_matrices.pack)
        await self._put(principal, self._routed_id(principal, question), words, is_cache=True)
        return words

    async def _put(self, principal: str, name: str, words: Packed, *, is_cache: bool) -> None:
        parts = MatrixParts(name)
        for table, block in _blocks(words):
            await self._store.put_matrix_block(parts, table, block)
        await self._store.put_matrix(principal, parts, _without_tables(words), is_cache=is_cache)

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

    async def for_scenario(self, principal: str, body: ScenarioBody) -> TravelMatrices | None:
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
        asked = question.router, question.ids, question.positions, self._settings.router_snap_m
        return _name(self._settings.pools, principal, "roads", *asked, *self._engine(question.router))

    def _engine(self, router: str) -> tuple[str, ...]:
        """Return what settings say of an engine, other than where it is: with another profile it answers otherwise."""
        engine = self._settings.routers.get(router)
        return () if engine is None else (engine.kind, engine.profile, engine.version, engine.data_date)


@dataclass(frozen=True, slots=True)
class UploadedMatrix:
    """An uploaded table as its uploader sees it."""

    name: str
    locations: int
    given: list[str]


@dataclass(frozen=True, slots=True)
class UploadQuestion:
    """What the process that reads an upload wants: the next part of the body, or a block of a table stored."""

    matrix: str = ""
    name: str = ""
    """Of the table the block belongs to; empty where more of the body is wanted."""
    text: str = ""


def read_upload(principal: str, shard_count: int, max_locations: int) -> tuple[UploadedMatrix, Packed]:
    """Read tables that the caller hands over, hand back their blocks, and return what else is stored; in a child."""
    body = iter(lambda: ask_caller(UploadQuestion()), b"")
    travel_matrices = read_matrix_blocks(body, max_locations=max_locations)
    name, words = packed_upload(principal, travel_matrices, shard_count)
    for table, block in _blocks(words):
        ask_caller(UploadQuestion(name, table, block))
    return UploadedMatrix(name, len(travel_matrices.locations), sorted(travel_matrices.given)), _without_tables(words)


def _blocks(words: Packed) -> Iterator[tuple[str, str]]:
    """Yield the tables of a packed upload block by block, each with the name of its table."""
    for table in (table for table in NAMES if table in words):
        for start in range(0, len(words[table]), BLOCK_CHARS):
            yield table, words[table][start : start + BLOCK_CHARS]


def _without_tables(words: Packed) -> Packed:
    return {field: word for field, word in words.items() if field not in NAMES}


def packed_upload(principal: str, travel_matrices: TravelMatrices, shard_count: int) -> tuple[str, Packed]:
    """Return the name of uploaded tables, which comes from what they hold, and them packed; the provenance names it."""
    words = travel_matrices.pack()
    tables = words["locations"], words.get("distances"), words.get("durations")
    name = _name(shard_count, principal, "upload", *tables)
    return name, {**words, "provenance": json.dumps({**travel_matrices.provenance, "matrix": name})}


def _name(shard_count: int, principal: str, *parts: object) -> str:
    digest = hashlib.sha256(json.dumps([principal, *parts]).encode()).digest()
    return ids.derived_id("mat", digest, shard_count)


def matrix_id_of(body: Any) -> str | None:
    """Return the name of the uploaded matrices that a scenario refers to, where it is well-formed."""
    travel = body.get("travel") if isinstance(body, dict) else None
    name = travel.get("matrix") if isinstance(travel, dict) else None
    return name if isinstance(name, str) else None


async def routing_request(body: ScenarioBody) -> MatrixRequest | None:
    """Return the matrices that a scenario needs from a road engine. A large one is read in a thread."""
    if (body.get("travel") or {}).get("router") is None:
        return None
    return await anyio.to_thread.run_sync(_routing_request, body)


def _routing_request(body: ScenarioBody) -> MatrixRequest | None:
    return matrix_request_of(read_stored(body))
