"""Translates errors of Redis into errors of the planner.

Clients hear only that the store failed. The reply of Redis is for the operator: its code is logged, and the command
line prints a sentence that says what to change.
"""

import errno
import logging
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic
from typing import Final

from redis import exceptions as redis_errors

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.store.embedded_server import LOW_DISK_BYTES
from planner_mcp.task_cancellation import cancellation_kept

UNAVAILABLE_ERRORS: Final = (
    redis_errors.ConnectionError,  # refused, lost, LOADING, no free connection
    redis_errors.TimeoutError,
    redis_errors.ReadOnlyError,
    redis_errors.OutOfMemoryError,
    redis_errors.MasterDownError,
    redis_errors.TryAgainError,
    redis_errors.ClusterError,
    redis_errors.MovedError,  # a shard that is moved to another node
    redis_errors.AskError,
    redis_errors.RedisClusterException,
    OSError,
)
TRANSIENT_REPLIES: Final = (
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
LOG_INTERVAL_S: Final = 60.0
"""Shortest time between two log lines about the same refusal."""
_logged_at: Final[dict[str, float]] = {}
"""When each code of a refusal was last logged, on a monotonic clock."""

log = logging.getLogger("planner.store")

_CONNECTION_CLOSED: Final = (
    "The job store closes the connection: if its port speaks TLS, {url} must begin with rediss://, "
    "and it may need ?ssl_certfile= and ssl_keyfile=."
)
_NO_ANSWER: Final = (
    "The host in {url} is not found in time, or nobody answers there; rediss:// is for a port that speaks TLS."
)
_NOT_LISTENING: Final = "Nothing listens at the address in {url}."
_REFUSAL_CAUSES: Final = (
    (redis_errors.AuthenticationError, "required", "The job store asks for a password; write it into {url}."),
    (redis_errors.AuthenticationError, "without any", "The job store has no password, so {url} must not name one."),
    (redis_errors.AuthenticationError, "", "The job store refuses the password, or the user name, in {url}."),
    (redis_errors.NoPermissionError, "", "The user in {url} may not do there what the planner does."),
    (redis_errors.ReadOnlyError, "", "The job store is a replica and takes no writes; {url} must name its primary."),
    (redis_errors.OutOfMemoryError, "", "The job store is full and takes no writes; raise its maxmemory."),
    (
        redis_errors.ResponseError,
        "NOREPLICAS",
        "The job store takes no writes while fewer replicas follow it than its min-replicas-to-write.",
    ),
    (
        redis_errors.ResponseError,
        "MISCONF",
        "The job store cannot write to its disk and takes no writes; its own log says why.",
    ),
    (redis_errors.ResponseError, "DB index", "The job store has no database of the number in {url}."),
)
"""Causes of a refusal by error class and text; the first that fits is used."""
_EMBEDDED_CAUSES: Final = (
    (
        redis_errors.ResponseError,
        "NOREPLICAS",
        "The disk of the data folder is nearly full: the store takes no writes until "
        f"{2 * LOW_DISK_BYTES // 1024**2} MiB are free.",
    ),
    *_REFUSAL_CAUSES,
)
"""Those of the embedded store, which has no replicas and refuses writes in that way itself."""
_CONNECT_CAUSES: Final = (
    (socket.gaierror, "", "The host in {url} is not found."),
    (ConnectionRefusedError, "", _NOT_LISTENING),
    (
        OSError,
        f"[Errno {errno.ECONNREFUSED}]",
        _NOT_LISTENING,
    ),  # of a name with several addresses, in one error for all
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
    (TimeoutError, "", _NO_ANSWER),
    (redis_errors.TimeoutError, "", _NO_ANSWER),
    (ConnectionResetError, "", _CONNECTION_CLOSED),
    (redis_errors.ConnectionError, "closed by server", _CONNECTION_CLOSED),
)
"""Causes of a failed first connection. They do not apply to a store that has answered before."""
_Causes = tuple[tuple[type[BaseException], str, str], ...]


@contextmanager
def explained_connect_errors() -> Iterator[None]:
    """Translate errors of the first contact with the store in the settings, with what to change where it is known."""
    with _explained((*_REFUSAL_CAUSES, *_CONNECT_CAUSES), has_url=True), translated_errors():
        yield


@contextmanager
def explained_refusals(*, has_url: bool) -> Iterator[None]:
    """Add to a refusal what the operator can change, where it is known.

    The store has answered before, so a lost connection only means that it is unavailable.

    Args:
        has_url: Whether the settings name the store. For the embedded store no sentence mentions the URL.
    """
    with _explained(_REFUSAL_CAUSES if has_url else _EMBEDDED_CAUSES, has_url=has_url):
        yield


@contextmanager
def _explained(causes: _Causes, *, has_url: bool) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if error.message != error.summary or (cause := _cause_of(error, causes, has_url=has_url)) is None:
            raise  # it has its own message, or the cause is unknown
        raise type(error)(cause) from error


def _cause_of(error: BaseException, causes: _Causes, *, has_url: bool) -> str | None:
    """Return the sentence for the first error in the chain that has one: redis-py wraps errors of the socket.

    A transient error has none, whatever an earlier try met.
    """
    source: BaseException | None = error
    while source is not None:
        for kind, words, sentence in causes:
            if isinstance(source, kind) and words in str(source) and (has_url or "{url}" not in sentence):
                return sentence.format(url="PLANNER_REDIS_URL")
        if _is_transient(source):
            return None
        source = source.__cause__ or source.__context__
    return None


def _is_transient(error: BaseException) -> bool:
    return isinstance(error, redis_errors.BusyLoadingError) or str(error).startswith(TRANSIENT_REPLIES)


@contextmanager
def translated_errors() -> Iterator[None]:
    """Raise `StoreUnavailableError` for transient errors, `StoreError` for any other refusal of Redis.

    Every call of Redis stands in such a block, so a cancellation that redis-py swallows is raised here too.
    """
    try:
        with cancellation_kept():
            yield
    except UNAVAILABLE_ERRORS as error:
        _log_refusal(error)
        raise StoreUnavailableError from error
    except redis_errors.RedisError as error:
        _log_refusal(error)
        raise _translated(_reply(error)) from error
    except UnicodeDecodeError as error:
        raise StoreError from error  # an answer that is not text: something else wrote these keys
    except AttributeError as error:
        if "'NoneType' object" not in str(error):
            raise
        raise StoreUnavailableError from error  # redis-py: a connection lost while it is opened has no writer any more


def _log_refusal(error: BaseException) -> None:
    """Log the code of a refusal, at most once in `LOG_INTERVAL_S`; callers hear only that the store failed.

    An error without such a code is no reply of Redis.
    """
    if not isinstance(error, redis_errors.ResponseError):
        return
    word = error.status_code or _reply(error).partition(" ")[0]
    if word.isupper() and (now := monotonic()) - _logged_at.get(word, -inf) >= LOG_INTERVAL_S:
        _logged_at[word] = now
        log.warning("the job store refuses: %s", word)


def _reply(error: Exception) -> str:
    """Return the reply of Redis, without the command that redis-py puts before it in a pipeline."""
    return str(error).rpartition("of pipeline caused error: (")[2].lstrip("'\"")


def _translated(reply: str) -> StoreError:
    return StoreUnavailableError() if reply.startswith(TRANSIENT_REPLIES) else StoreError()
