"""What passes the border of the store, and as what."""

import errno
import ssl

import pytest
from redis import exceptions as redis_errors

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.store.border import border, greeting


def test_a_connection_lost_while_it_is_opened_is_an_outage() -> None:
    """SPEC J7: the client library then stumbles over a writer that is gone; callers are told to come back."""
    writer = None
    with pytest.raises(StoreUnavailableError), border():
        writer.writelines([b""])  # type: ignore[attr-defined]


def test_a_mistake_of_ours_is_no_outage() -> None:
    """Our choice: what is wrong in the code must not look like a store that is away."""
    with pytest.raises(AttributeError), border():
        "text".no_such_method()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (ssl.SSLCertVerificationError("self-signed"), "ssl_ca_certs"),
        (ssl.SSLError("WRONG_VERSION_NUMBER"), "begins with redis://"),
        (ssl.SSLError("X509: NO_CERTIFICATE_OR_CRL_FOUND"), "certificate files"),
        (ssl.SSLCertVerificationError("Hostname mismatch, certificate is not valid"), "another host"),
        (OSError(f"Multiple exceptions: [Errno {errno.ECONNREFUSED}] refused"), "Nobody listens"),
        (redis_errors.ConnectionError("Connection closed by server."), "begins with rediss://"),
        (TimeoutError(), "a port that speaks TLS"),
        (redis_errors.AuthenticationError("AUTH <password> called without any password configured"), "no password"),
        (redis_errors.NoPermissionError("User ada has no permissions"), "The user in PLANNER_REDIS_URL"),
        (redis_errors.ResponseError("DB index is out of range"), "no database"),
        (redis_errors.BusyLoadingError("Redis is loading the dataset in memory"), StoreUnavailableError.summary),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Exception) else "",
)
def test_a_greeting_that_fails_is_told_by_its_cause(error: Exception, remedy: str) -> None:
    """SPEC O3, J7: however deep the client library hides it; what passes by itself stays "try again"."""
    with pytest.raises(StoreError) as told, greeting():
        try:
            raise error
        except OSError:
            raise redis_errors.ConnectionError("Error 1 connecting to store") from None
    assert remedy in told.value.message and "ada" not in told.value.message


def test_a_store_that_is_loading_is_told_as_such_whatever_was_tried_before() -> None:
    """SPEC J7: a refusal of an earlier try is no cause of what passes by itself."""
    with pytest.raises(StoreUnavailableError) as told, greeting():
        try:
            raise ConnectionRefusedError
        except OSError:
            raise redis_errors.BusyLoadingError("Redis is loading the dataset in memory")  # noqa: B904
    assert told.value.message == StoreUnavailableError.summary
