"""The one place where an error of Redis becomes an error of the planner."""

import errno
import socket
import ssl
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
_HUNG_UP: Final = (
    "The job store hangs up: where its port speaks TLS, {url} begins with rediss://, "
    "and it may want ?ssl_certfile= and ssl_keyfile=."
)
_SILENT: Final = (
    "The host in {url} is not found in time, or nobody answers there; rediss:// is for a port that speaks TLS."
)
_NOBODY: Final = "Nobody listens where {url} points to."
_CAUSES: Final = (
    (redis_errors.AuthenticationError, "required", "The job store asks for a password; write it into {url}."),
    (redis_errors.AuthenticationError, "without any", "The job store has no password, so {url} must not name one."),
    (redis_errors.AuthenticationError, "", "The job store refuses the password, or the user name, in {url}."),
    (redis_errors.NoPermissionError, "", "The user in {url} may not do there what the planner does."),
    (redis_errors.ResponseError, "DB index", "The job store has no database of the number in {url}."),
    (socket.gaierror, "", "The host in {url} is not found."),
    (ConnectionRefusedError, "", _NOBODY),
    (OSError, f"[Errno {errno.ECONNREFUSED}]", _NOBODY),  # of a name with several addresses, in one error for all
    (FileNotFoundError, "", "A socket or file that {url} names is not there."),
    (PermissionError, "", "A socket or file that {url} names may not be opened."),
    (ssl.SSLCertVerificationError, "mismatch", "The store's certificate is of another host than {url} names."),
    (ssl.SSLCertVerificationError, "", "The store's certificate is not trusted; ?ssl_ca_certs=FILE in {url} may help."),
    (
        ssl.SSLError,
        "WRONG_VERSION",
        "No TLS with the job store; where its port speaks none, {url} begins with redis://.",
    ),
    (ssl.SSLError, "", "No TLS with the job store; look at the certificate files that {url} names."),
    (TimeoutError, "", _SILENT),
    (redis_errors.TimeoutError, "", _SILENT),
    (ConnectionResetError, "", _HUNG_UP),
    (redis_errors.ConnectionError, "closed by server", _HUNG_UP),
)
"""What an error at the greeting comes from, by its kind and words: the first that fits says where to mend it."""


@contextmanager
def greeting() -> Iterator[None]:
    """Be the border for the first words with a store that the settings name: say what to mend where that is clear."""
    try:
        with border():
            yield
    except StoreError as error:
        raise type(error)(_cause_of(error)) from error


def _cause_of(error: BaseException) -> str | None:
    """Return the sentence for the first error behind one that has a sentence: redis-py wraps what the socket said.

    What passes by itself has none, whatever an earlier try met.
    """
    behind: BaseException | None = error
    while behind is not None and not _passes(behind):
        for kind, words, told in _CAUSES:
            if isinstance(behind, kind) and words in str(behind):
                return told.format(url="PLANNER_REDIS_URL")
        behind = behind.__cause__ or behind.__context__
    return None


def _passes(error: BaseException) -> bool:
    return isinstance(error, redis_errors.BusyLoadingError) or str(error).startswith(REFUSALS)


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
