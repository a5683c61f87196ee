"""Redis Cluster through redis-py, changed where one node's failure would reach the others (SPEC J7).

redis-py owns the slot map, the redirections and the connections of each node. Five of its habits are changed:

1. One try asks one node. A step names only the hash tag as its key, so redis-py would follow `ASK` for every step while
   a slot moves, and the step would see half of its shard. `MOVED` updates the map and the next try asks the new node;
   after `ASK` the slot counts as unavailable.
2. Reading the slot map goes on when the caller that started it is cancelled, and closes no connection when it fails:
   redis-py would close those to all nodes. The node that failed last is asked last, whoever reads the map.
3. After `CLUSTERDOWN`, which a node says while it comes back, the slot map is read again; redis-py would close the
   connections to all nodes as well.
4. The slot map is read at most every `MAP_INTERVAL_S`, and where the keys of each command are only once. redis-py would
   read both after each error of a node that stays away, and each time renew its connections to all nodes. A client can
   be opened while the first primary of the map is down.
5. A command waits for a free connection to its node. redis-py refuses it when all are in use.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any, Final

from redis.asyncio.cluster import ClusterNode, PipelineCommand, RedisCluster
from redis.exceptions import ClusterDownError, ClusterError, MovedError
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import TimeoutError as NoAnswerError
from typing_extensions import override

STREAM_READS: Final = frozenset({"XREAD", "XREADGROUP"})
FREE_CONNECTION_S: Final = 1.0
"""Longest wait for a free connection to a node."""
MAP_INTERVAL_S: Final = 0.5
"""Shortest time between two readings of the slot map. The old map is used meanwhile."""
STALE_MAP: Final = (ConnectionLostError, NoAnswerError, ClusterDownError, MovedError)
"""Errors after which the slot map is read again."""


class ShardCluster(RedisCluster):
    """A client of a cluster whose nodes fail one by one."""

    RedisClusterRequestTTL = 1
    ERRORS_ALLOW_RETRY = (*RedisCluster.ERRORS_ALLOW_RETRY, ClusterError)  # type: ignore[assignment]  # one more
    _reading: "asyncio.Future[None] | None" = None
    """The one reading of the slot map under way, which all callers wait for."""
    _read_at: float | None = None
    """When the slot map was last read."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._free_connections: dict[str, asyncio.Semaphore] = {}
        """By node; one connection more is left for reading the slot map."""

    @override
    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> "ShardCluster":
        """Read the slot map when there is none, or when it is stale and was not read a moment ago."""
        if self._read_at is None or (self._initialize and monotonic() - self._read_at >= MAP_INTERVAL_S):
            if self._reading is None or self._reading.done():
                self._reading = asyncio.ensure_future(self._read_map(last_failed_node_name))
            await asyncio.shield(self._reading)
        return self

    @override
    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:
        """Run one command at the node that holds its key.

        Without a map redis-py would send it to any node. Before each read of a stream it would ask a node for the
        position of the key.
        """
        await self.initialize()
        if args[0] in STREAM_READS:
            first_key = 1 + next(at for at, word in enumerate(args) if word in ("STREAMS", b"STREAMS"))
            (answer,) = await self.run_together(args[first_key], [args])
            if isinstance(answer, Exception):
                raise answer
            return answer
        return await super().execute_command(*args, **kwargs)

    async def run_together(self, key: str, commands: Sequence[Sequence[Any]]) -> list[Any]:
        """Run commands on one connection to the node that holds a key; return their answers and errors in order."""
        await self.initialize()
        node: ClusterNode = self.get_node_from_key(key)  # type: ignore[assignment]  # None is for replicas
        pending = [PipelineCommand(number, *words) for number, words in enumerate(commands)]
        try:
            async with self._connection_to(node):
                await node.execute_pipeline(pending)
        except STALE_MAP:
            self._note_failure(node.name)
            raise
        answers = [command.result for command in pending]
        if any(isinstance(answer, STALE_MAP) for answer in answers):
            self._note_failure(node.name)
        return answers

    @override
    async def _execute_command(self, target_node: ClusterNode, *args: Any, **kwargs: Any) -> Any:
        async with self._connection_to(target_node):
            return await super()._execute_command(target_node, *args, **kwargs)

    @asynccontextmanager
    async def _connection_to(self, node: ClusterNode) -> AsyncIterator[None]:
        """Wait until the node has a free connection, and hold it for the block.

        Raises:
            TimeoutError: None came free in time.
        """
        free = self._free_connections.setdefault(node.name, asyncio.Semaphore(node.max_connections - 1))
        async with asyncio.timeout(FREE_CONNECTION_S):
            await free.acquire()
        try:
            yield
        finally:
            free.release()

    @override
    async def aclose(self) -> None:
        """Have the slot map read again. redis-py calls this after an error; `close_connections` ends the client."""
        self._initialize = True

    async def close_connections(self) -> None:
        """Close the connections to all nodes."""
        await self.nodes_manager.aclose()
        await self.nodes_manager.aclose("startup_nodes")
        self._initialize = True

    def _note_failure(self, node_name: str) -> None:
        self._initialize = True
        self.nodes_manager.move_node_to_end_of_cached_nodes(node_name)

    async def _read_map(self, last_failed: str | None) -> None:
        nodes = self.nodes_manager
        self._initialize = False  # an error from now on makes the new map stale as well
        try:
            await nodes.initialize(last_failed_node_name=last_failed or next(reversed(nodes.startup_nodes), None))
            if not self.commands_parser.commands:
                await self._read_key_positions()
        except BaseException:
            self._initialize = True
            raise
        self._read_at = monotonic()

    async def _read_key_positions(self) -> None:
        """Ask the first primary that answers where the keys of each command are."""
        for node in self.get_primaries():
            try:
                await self.commands_parser.initialize(node)
                return
            except (ConnectionLostError, NoAnswerError) as error:
                failed = error
        raise failed
