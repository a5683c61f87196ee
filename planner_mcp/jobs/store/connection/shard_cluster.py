"""Redis Cluster through redis-py, changed where one node's failure would reach the others (SPEC J7).

redis-py owns the slot map, the redirections and the connections of each node. Four of its habits are changed:

1. One try asks one node. A step names only the hash tag as its key, so redis-py would follow `ASK` for every step while
   a slot moves, and the step would see half of its shard. `MOVED` updates the map and the next try asks the new node;
   after `ASK` the slot counts as unavailable.
2. Reading the slot map goes on when the caller that started it is cancelled: redis-py would close the connections to
   all nodes. The node that failed last is asked last, whoever reads the map.
3. After `CLUSTERDOWN`, which a node says while it comes back, the slot map is read again; redis-py would close the
   connections to all nodes as well.
4. A client can be opened while the first primary of the map is down.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from redis.asyncio.cluster import ClusterNode, PipelineCommand, RedisCluster
from redis.cluster import PRIMARY
from redis.exceptions import ClusterDownError, ClusterError, MovedError
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import TimeoutError as NoAnswerError
from typing_extensions import override

STREAM_READS: Final = frozenset({"XREAD", "XREADGROUP"})
STALE_MAP: Final = (ConnectionLostError, NoAnswerError, ClusterDownError, MovedError)
"""Errors after which the slot map is read again."""


class ShardCluster(RedisCluster):
    """A client of a cluster whose nodes fail one by one."""

    RedisClusterRequestTTL = 1
    ERRORS_ALLOW_RETRY = (*RedisCluster.ERRORS_ALLOW_RETRY, ClusterError)  # type: ignore[assignment]  # one more
    _reading: "asyncio.Future[None] | None" = None
    """The one reading of the slot map under way, which all callers wait for."""

    @override
    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> "ShardCluster":
        """Read the slot map when there is none, or when it is stale."""
        if self._initialize:
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
            (answer,) = await self.run_together(args[args.index("STREAMS") + 1], [args])
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
            await node.execute_pipeline(pending)
        except STALE_MAP:
            self._note_failure(node.name)
            raise
        answers = [command.result for command in pending]
        if any(isinstance(answer, STALE_MAP) for answer in answers):
            self._note_failure(node.name)
        return answers

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
        for _ in range(1 + len(nodes.startup_nodes)):
            try:
                await super().initialize(last_failed_node_name=last_failed or next(reversed(nodes.startup_nodes), None))
                return
            except (ConnectionLostError, NoAnswerError) as error:
                failed = error  # the map was read, but its first primary does not answer
                last_failed = nodes.get_nodes_by_server_type(PRIMARY)[0].name
                nodes.move_node_to_end_of_cached_nodes(last_failed)
        raise failed
