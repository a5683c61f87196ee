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

from planner_mcp.jobs.store.connection.shared_connection import DedicatedConnections, SharedConnection

Address = tuple[str, int]
TRIES: Final = 3
"""A slot may have moved, and then moved on; every step may be repeated."""
REFRESH_TIMEOUT_S: Final = 0.5
"""A node that has not told the map by then is passed over."""
REFRESH_INTERVAL_S: Final = 0.1
"""While a node is away and nobody takes its place, the map is read no more often."""


@dataclass(frozen=True, slots=True)
class ClusterNode:
    """The ways to ask one node; none connects before it is used."""

    shared: SharedConnection
    """For what is answered at once."""
    commands: Redis
    """For what is waited for on the connection that wrote."""
    blocking: DedicatedConnections
    """For reads that block, each on a connection of its own."""
    bulk: DedicatedConnections
    """For answers that may be large, each on a connection of its own."""

    async def aclose(self) -> None:
        """Hang up; who waits there is told that the connection was lost."""
        for client in (self.shared, self.commands, self.blocking, self.bulk):
            with suppress(OSError):
                await client.aclose()
        with suppress(OSError):
            await self.commands.connection_pool.disconnect()


class ClusterClient:
    """The nodes of a cluster.

    Args:
        first: The node that is asked when no other answers.
        dial: Makes the ways to ask a node.
    """

    def __init__(self, first: Address, connect_node: Callable[[Address], ClusterNode]) -> None:
        self._first = first
        self._connect_node = connect_node
        self._nodes: dict[Address, ClusterNode] = {}
        self._slots: list[tuple[int, int, Address]] = []
        """First and last slot of a range, and its primary; the first range that fits holds."""
        self._members: list[Address] = []
        self._turn = count()
        """Who is asked for the map first: a node that is cut off from the others tells an old one."""
        self._is_stale = True
        self._refreshed_at = 0.0
        self._refreshing = asyncio.Lock()
        self._closing: set[asyncio.Task[None]] = set()

    async def ask(self, select: Callable[[ClusterNode], Any], words: Sequence[Any]) -> Any:
        """Run one command at the node that holds its keys.

        Raises:
            RedisError: Refused or not answered, by whoever holds the slot by now.
        """
        tag = next(word for word in words if isinstance(word, str) and word.startswith("{p"))
        for tries_left in reversed(range(TRIES)):
            try:
                async with self.node_for(tag) as node:
                    return await select(node).execute_command(*words)
            except (MovedError, ConnectionLostError):
                if not tries_left:
                    raise
        raise AssertionError

    @asynccontextmanager
    async def node_for(self, tag: str) -> AsyncIterator[ClusterNode]:
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

    def _node(self, address: Address) -> ClusterNode:
        if address not in self._nodes:
            self._nodes[address] = self._connect_node(address)
        return self._nodes[address]

    # ---- the map

    async def _address(self, slot: int) -> Address:
        if self._is_stale:
            await self._refresh_slots()
        for first, last, address in self._slots:
            if first <= slot <= last:
                return address
        raise ClusterDownError("No node holds this slot.")

    async def _refresh_slots(self) -> None:
        """Read the map, from the first node that tells it; without one the old map stands."""
        async with self._refreshing:
            if not self._is_stale or monotonic() - self._refreshed_at < REFRESH_INTERVAL_S:
                return
            at = next(self._turn) % max(1, len(self._members))
            for address in [*self._members[at:], *self._members[:at], self._first]:
                with suppress(RedisError, OSError):
                    async with asyncio.timeout(REFRESH_TIMEOUT_S):
                        ranges = await self._node(address).shared.execute_command("CLUSTER", "SLOTS")
                    self._set_slots(ranges, address[0])
                    break
            self._refreshed_at = monotonic()

    def _set_slots(self, ranges: Sequence[Any], reported_by: str) -> None:
        """Take the map over; who is no more in the cluster, or known to have failed, is hung up on."""
        self._slots = [(first, last, _address_of(primary, reported_by)) for first, last, primary, *_replicas in ranges]
        self._members = sorted({_address_of(node, reported_by) for _first, _last, *nodes in ranges for node in nodes})
        self._is_stale = False
        for address in self._nodes.keys() - {*self._members}:
            task = asyncio.create_task(self._nodes.pop(address).aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)


class RoutedClient:
    """One way to ask whichever node holds a key: what a client is to a single server.

    Args:
        shards: The nodes.
        way: Which client of a node is used.
        answer_s: Longest wait for an answer, that for the map included; None where the caller has a limit of its own.
    """

    def __init__(
        self, cluster_client: ClusterClient, select: Callable[[ClusterNode], Any], answer_s: float | None = None
    ) -> None:
        self._cluster_client = cluster_client
        self._select = select
        self._answer_s = answer_s

    async def execute_command(self, *words: Any) -> Any:
        """Run one command and return its answer."""
        async with asyncio.timeout(self._answer_s):
            return await self._cluster_client.ask(self._select, words)


def _address_of(node: Sequence[Any], reported_by: str) -> Address:
    """Return where a node of the map listens; one that names no host listens where it was asked."""
    return node[0] or reported_by, int(node[1])
