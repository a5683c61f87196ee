"""The one place where an error of Redis becomes an error of the planner."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from redis import exceptions as redis_errors

from planner_mcp.errors import StoreError, StoreUnavailableError

AWAY: Final = (
    redis_errors.ConnectionError,  # refused, lost, LOADING, no free connection
    redis_errors.TimeoutError,
    redis_errors.ReadOnlyError,
    redis_errors.OutOfMemoryError,
    redis_errors.MasterDownError,
    redis_errors.TryAgainError,
    redis_errors.ClusterError,
    redis_errors.MovedError,  # a pool that is moved to another node
    redis_errors.AskError,
    redis_errors.RedisClusterException,
    OSError,
)
REFUSALS: Final = (
    "MISCONF",
    "NOREPLICAS",
    "OOM",
    "READONLY",
    "LOADING",
    "MASTERDOWN",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "BUSY ",
    "UNBLOCKED",
)
"""Starts of replies by which Redis says "not now"; inside a step they arrive as plain script errors. A blocking read
that waits while a primary becomes a replica is answered `UNBLOCKED`."""


@contextmanager
def border() -> Iterator[None]:
    """Raise `StoreUnavailableError` for what passes by itself, `StoreError` for any other refusal of Redis."""
    try:
        yield
    except AWAY as error:
        raise StoreUnavailableError from error
    except redis_errors.RedisError as error:
        raise _translated(str(error)) from error
    except AttributeError as error:
        if "'NoneType' object" not in str(error):
            raise
        raise StoreUnavailableError from error  # redis-py: a connection lost while it is opened has no writer any more


def _translated(reply: str) -> StoreError:
    return StoreUnavailableError() if reply.startswith(REFUSALS) else StoreError()
