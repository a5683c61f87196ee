"""Makes the redis-py clients that the store uses, for one server or for a cluster.

Owns pool sizes, timeouts and retries. Every step may be repeated, so a command whose connection was lost is sent once
more on a new one. A connection that was refused a write with `READONLY` is closed too: the primary became a replica,
and the name in the URL leads to another server by now.
"""

from typing import Any, Final

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff, NoBackoff
from redis.exceptions import ConnectionError as ConnectionLostError
from redis.exceptions import ReadOnlyError

from planner_mcp.jobs.store.connection.shard_cluster import FREE_CONNECTION_S, ShardCluster

CONNECT_TIMEOUT_S: Final = 1.0
"""Longest wait until a new connection is accepted."""
RETRY_PAUSE_S: Final = 0.02
RETRIES: Final = 1
CLUSTER_RETRIES: Final = 2
"""A slot may have moved, and then moved again."""


def single_client(url: str, *, timeout_s: float, connections: int) -> Redis:
    """Return a client for one server.

    Args:
        url: Of the server.
        timeout_s: Longest wait for an answer.
        connections: Size of the pool. A command waits for a free connection when all are in use.
    """
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=FREE_CONNECTION_S,
        retry=Retry(ConstantBackoff(RETRY_PAUSE_S), RETRIES, supported_errors=(ConnectionLostError, ReadOnlyError)),
        **_options(timeout_s),
    )
    return Redis.from_pool(pool)


def cluster_client(url: str, *, timeout_s: float, connections: int) -> ShardCluster:
    """Return a client for the cluster that one node belongs to; `connections` is the limit at each node."""
    return ShardCluster.from_url(  # type: ignore[return-value]
        url,
        max_connections=connections + 1,  # one to read the slot map with
        retry=Retry(NoBackoff(), CLUSTER_RETRIES),
        reinitialize_steps=0,
        require_full_coverage=False,
        **_options(timeout_s),
    )


def _options(timeout_s: float) -> dict[str, Any]:
    return {
        "decode_responses": True,
        "protocol": 2,
        "socket_timeout": timeout_s,
        "socket_connect_timeout": CONNECT_TIMEOUT_S,
        "client_name": "planner-mcp",
    }
