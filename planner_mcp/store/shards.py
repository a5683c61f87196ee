"""A Redis Cluster seen as one server: each command goes to the node that holds its pool (SPEC J7).

Owns the map from slots to nodes and the ways to ask each node. Every key of the engine begins with the tag of its pool,
so the tag says where a command goes, and a node that is away costs the pools it holds and no other: nodes share neither
connections nor errors. The map is read anew after whatever went wrong at a node. A slot on its way to another node key
by key (`ASK`) counts as away, for a step would see half of its pool.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from time import monotonic
from typing import Any, Final

from redis.asyncio import Redis
from redis.crc import key_slot
from redis.exceptions import ClusterDownError, MovedError, RedisError, ResponseError
from redis.exceptions import ConnectionError as ConnectionLostError

from planner_mcp.store.line import Line, Lines

Address = tuple[str, int]
TRIES: Final = 3
"""A slot may have moved, and then moved on; every step may be repeated."""
LOOK_S: Final = 0.5
"""A node that has not told the map by then is passed over."""
LOOK_EVERY_S: Final = 0.1
"""While a node is away and nobody takes its place, the map is read no more often."""


@dataclass(frozen=True, slots=True)
class Node:
    """The ways to ask one node; none connects before it is used."""

    line: Line
    """For what is answered at once."""
    commands: Redis
    """For what is waited for on the connection that wrote."""
    blocking: Lines
    """For reads that block, each on a connection of its own."""
    bulk: Lines
    """For answers that may be large, each on a connection of its own."""

    async def aclose(self) -> None:
        """Hang up; who waits there is told that the connection was lost."""
        for client in (self.line, self.commands, self.blocking, self.bulk):
            with suppress(OSError):
                await client.aclose()
        with suppress(OSError):
            await self.commands.connection_pool.disconnect()


class Shards:
    """The nodes of a cluster.

    Args:
        first: The node that is asked when no other answers.
        dial: Makes the ways to ask a node.
    """

    def __init__(self, first: Address, dial: Callable[[Address], Node]) -> None:
        self._first = first
        self._dial = dial
        self._nodes: dict[Address, Node] = {}
        self._slots: list[tuple[int, int, Address]] = []
        """First and last slot of a range, and its primary; the first range that fits holds."""
        self._members: list[Address] = []
        self._turn = count()
        """Who is asked for the map first: a node that is cut off from the others tells an old one."""
        self._is_stale = True
        self._looked_at = 0.0
        self._looking = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def ask(self, way: Callable[[Node], Any], words: Sequence[Any]) -> Any:
        """Run one command at the node that holds its keys.

        Raises:
            RedisError: Refused or not answered, by whoever holds the slot by now.
        """
        tag = next(word for word in words if isinstance(word, str) and word.startswith("{p"))
        for tries_left in reversed(range(TRIES)):
            try:
                async with self.holder(tag) as node:
                    return await way(node).execute_command(*words)
            except (MovedError, ConnectionLostError):
                if not tries_left:
                    raise
        raise AssertionError

    @asynccontextmanager
    async def holder(self, tag: str) -> AsyncIterator[Node]:
        """Yield the node that holds a pool; when it fails inside the block the map is read anew before the next."""
        address = await self._address(key_slot(tag.encode()))
        try:
            yield self._node(address)
        except MovedError as answer:
            self._slots.insert(0, (answer.slot_id, answer.slot_id, (answer.host or address[0], answer.port)))
            self._is_stale = True
            raise
        except ResponseError as answer:
            self._is_stale |= isinstance(answer, ClusterDownError)
            raise
        except BaseException:  # a caller that gave up waiting has learnt that nobody answers there
            self._is_stale = True
            raise

    async def aclose(self) -> None:
        """Close all connections."""
        await asyncio.gather(*self._closing, *(node.aclose() for node in self._nodes.values()))

    def _node(self, address: Address) -> Node:
        if address not in self._nodes:
            self._nodes[address] = self._dial(address)
        return self._nodes[address]

    # ---- the map

    async def _address(self, slot: int) -> Address:
        if self._is_stale:
            await self._look()
        for first, last, address in self._slots:
            if first <= slot <= last:
                return address
        raise ClusterDownError("No node holds this slot.")

    async def _look(self) -> None:
        """Read the map, from the first node that tells it; without one the old map stands."""
        async with self._looking:
            if not self._is_stale or monotonic() - self._looked_at < LOOK_EVERY_S:
                return
            at = next(self._turn) % max(1, len(self._members))
            for address in [*self._members[at:], *self._members[:at], self._first]:
                with suppress(RedisError, OSError):
                    async with asyncio.timeout(LOOK_S):
                        ranges = await self._node(address).line.execute_command("CLUSTER", "SLOTS")
                    self._learn(ranges, address[0])
                    break
            self._looked_at = monotonic()

    def _learn(self, ranges: Sequence[Any], told_by: str) -> None:
        """Take the map over; who is no more in the cluster, or known to have failed, is hung up on."""
        self._slots = [(first, last, _address_of(primary, told_by)) for first, last, primary, *_replicas in ranges]
        self._members = sorted({_address_of(node, told_by) for _first, _last, *nodes in ranges for node in nodes})
        self._is_stale = False
        for address in self._nodes.keys() - {*self._members}:
            task = asyncio.create_task(self._nodes.pop(address).aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


class Way:
    """One way to ask whichever node holds a key: what a client is to a single server.

    Args:
        shards: The nodes.
        way: Which client of a node is used.
        answer_s: Longest wait for an answer, that for the map included; None where the caller has a limit of its own.
    """

    def __init__(self, shards: Shards, way: Callable[[Node], Any], answer_s: float | None = None) -> None:
        self._shards = shards
        self._way = way
        self._answer_s = answer_s

    async def execute_command(self, *words: Any) -> Any:
        """Run one command and return its answer."""
        async with asyncio.timeout(self._answer_s):
            return await self._shards.ask(self._way, words)


def _address_of(node: Sequence[Any], told_by: str) -> Address:
    """Return where a node of the map listens; one that names no host listens where it was asked."""
    return node[0] or told_by, int(node[1])
