"""What passes the border of the store, and as what."""

import asyncio
import errno
import ssl

import pytest
from redis import exceptions as redis_errors

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.store.connection.error_translation import (
    explained_connect_errors,
    explained_refusals,
    translated_errors,
)

pytestmark = pytest.mark.anyio
"""Calls of the store stand in a task."""


async def test_a_connection_lost_while_it_is_opened_is_an_outage() -> None:
    """SPEC J7: the client library then stumbles over a writer that is gone; callers are told to come back."""
    writer = None
    with pytest.raises(StoreUnavailableError), translated_errors():
        writer.writelines([b""])  # type: ignore[attr-defined]


async def test_a_cancellation_that_the_client_library_swallows_ends_the_caller() -> None:
    """SPEC J7: also of whoever uses the client directly, as sessions do."""

    async def call() -> None:
        with translated_errors():
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                return

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_mistake_of_ours_is_no_outage() -> None:
    """Our choice: what is wrong in the code must not look like a store that is away."""
    with pytest.raises(AttributeError), translated_errors():
        "text".no_such_method()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (ssl.SSLCertVerificationError("self-signed"), "ssl_ca_certs"),
        (ssl.SSLError("WRONG_VERSION_NUMBER"), "begins with redis://"),
        (ssl.SSLError("X509: NO_CERTIFICATE_OR_CRL_FOUND"), "certificate files"),
        (ssl.SSLCertVerificationError("Hostname mismatch, certificate is not valid"), "another host"),
        (OSError(f"Multiple exceptions: [Errno {errno.ECONNREFUSED}] refused"), "Nothing listens"),
        (redis_errors.ConnectionError("Connection closed by server."), "must begin with rediss://"),
        (TimeoutError(), "a port that speaks TLS"),
        (redis_errors.AuthenticationError("AUTH <password> called without any password configured"), "no password"),
        (redis_errors.NoPermissionError("User ada has no permissions"), "The user in PLANNER_REDIS_URL"),
        (redis_errors.ReadOnlyError("You can't write against a read only replica."), "a replica"),
        (redis_errors.OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), "its maxmemory"),
        (redis_errors.ResponseError("NOREPLICAS Not enough good replicas to write."), "min-replicas-to-write"),
        (redis_errors.ResponseError("MISCONF Errors writing to the AOF file: No space left"), "write to its disk"),
        (redis_errors.ResponseError("DB index is out of range"), "no database"),
        (redis_errors.BusyLoadingError("Redis is loading the dataset in memory"), StoreUnavailableError.summary),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Exception) else "",
)
async def test_the_cause_of_a_failed_first_connection_is_named(error: Exception, hint: str) -> None:
    """SPEC O3, J7: however deep the client library hides it; what passes by itself stays "try again"."""
    with pytest.raises(StoreError) as refused, explained_connect_errors():
        try:
            raise error
        except OSError:
            raise redis_errors.ConnectionError("Error 1 connecting to store") from None
    assert hint in refused.value.message and "ada" not in refused.value.message


async def test_a_store_that_is_loading_is_reported_as_loading() -> None:
    """SPEC J7: a refusal of an earlier try is no cause of what passes by itself."""
    with pytest.raises(StoreUnavailableError) as refused, explained_connect_errors():
        try:
            raise ConnectionRefusedError
        except OSError:
            raise redis_errors.BusyLoadingError("Redis is loading the dataset in memory")  # noqa: B904
    assert refused.value.message == StoreUnavailableError.summary


async def test_what_already_says_what_it_is_stays_as_it_is() -> None:
    """SPEC O3: a folder that cannot be written is no socket that may not be opened."""
    with pytest.raises(StoreError, match="The data folder"), explained_connect_errors():
        try:
            raise PermissionError
        except OSError as error:
            raise StoreError("The data folder cannot be used.") from error


@pytest.mark.parametrize(
    "error", [TimeoutError(), redis_errors.ConnectionError("Connection closed by server."), ConnectionRefusedError()]
)
async def test_a_store_that_answered_before_is_not_reported_as_elsewhere(error: Exception) -> None:
    """SPEC O3: it was greeted; whoever looks at its address or at TLS mends nothing."""
    with pytest.raises(StoreUnavailableError) as refused, explained_refusals(has_url=True), translated_errors():
        raise error
    assert refused.value.message == StoreUnavailableError.summary


async def test_a_mistake_of_ours_is_explained_by_no_store() -> None:
    """Our choice: where a whole worker runs inside, a file it lacks is none that the URL of the store names."""
    with pytest.raises(FileNotFoundError), explained_refusals(has_url=True):
        raise FileNotFoundError


async def test_nobody_is_sent_to_a_url_that_is_not_set() -> None:
    """SPEC O3: the embedded store has none; that its disk is full is said of it too."""
    with pytest.raises(StoreUnavailableError) as refused, explained_refusals(has_url=False), translated_errors():
        raise ConnectionRefusedError
    assert refused.value.message == StoreUnavailableError.summary
    with (
        pytest.raises(StoreUnavailableError, match="write to its disk"),
        explained_refusals(has_url=False),
        translated_errors(),
    ):
        raise redis_errors.ResponseError("MISCONF Errors writing to the AOF file: No space left on device")


async def test_the_embedded_store_refuses_because_its_disk_is_nearly_full() -> None:
    """SPEC O3: it asks for a replica only to take no writes, so nobody is to look for replicas."""
    with (
        pytest.raises(StoreUnavailableError, match=r"data folder is nearly full: .* 128 MiB"),
        explained_refusals(has_url=False),
        translated_errors(),
    ):
        raise redis_errors.ResponseError("NOREPLICAS Not enough good replicas to write.")


async def test_a_refusal_within_a_pipeline_is_the_same_refusal() -> None:
    """SPEC J7: redis-py puts the command before what Redis said."""
    reply_text = (
        "Command # 1 (HSET mcp:offer) of pipeline caused error: ('NOREPLICAS Not enough good replicas to write.',)"
    )
    with pytest.raises(StoreUnavailableError), translated_errors():
        raise redis_errors.ResponseError(reply_text)


async def test_why_the_store_refuses_is_in_the_log_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC O3, T8: the word for the operator, however many callers hear of it, and no data of theirs."""
    for _call in range(3):
        with pytest.raises(StoreError), translated_errors():
            raise redis_errors.ResponseError("ODDWORD something with ada in it")
        with pytest.raises(StoreError), translated_errors():
            raise redis_errors.ResponseError("not with ada", status_code="OTHERWORD")
    assert [record.getMessage() for record in caplog.records] == [
        "the job store refuses: ODDWORD",
        "the job store refuses: OTHERWORD",
    ]


async def test_an_error_that_is_no_reply_of_redis_is_not_logged_as_a_refusal(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC O3: that no node is known to hold a slot is said by ourselves."""
    with pytest.raises(StoreUnavailableError), translated_errors():
        raise redis_errors.ClusterDownError("No node holds this slot.")
    assert not caplog.records
