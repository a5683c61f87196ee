"""Sends one webhook: a POST to a checked address, and nothing a receiver could stretch (SPEC W4).

Owns a single attempt. The name is resolved once and judged by `notify/guard.py`; the connection goes to exactly that
address while TLS is verified by name; redirects are not followed, the proxy environment is not read, no connection is
used twice; the whole attempt has one deadline and reads a bounded part of the answer. When to try again is not decided
here.
"""

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import anyio
import httpcore2

from planner_mcp.errors import EndpointForbiddenError, EndpointUnreachableError
from planner_mcp.notify import guard
from planner_mcp.notify.guard import Endpoint, Lookup
from planner_mcp.settings import Settings

MAX_ANSWER_BYTES: Final = 64 * 1024
ANSWER_S: Final = 2.0
"""Time a receiver has, once its status is known, to finish an answer that nobody reads."""
ADDRESSES_TRIED: Final = 3


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint said to one attempt."""

    status: int
    retry_after: str = ""
    """The `Retry-After` header as sent."""


class Sender:
    """The guarded client.

    Args:
        settings: Networks and ports opened for tests, and the deadline of one attempt.
        lookup: Asks a name service; the system's unless a test brings its own.
        tls: Trust of the connections; the system's unless a test brings its own.
    """

    def __init__(self, settings: Settings, *, lookup: Lookup | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._settings = settings
        self._lookup = lookup
        self._tls = tls or httpcore2.default_ssl_context()

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Make one attempt and return the status of the answer, whatever it is.

        Raises:
            EndpointUnreachableError: No status within the deadline, for whatever reason; the reason is never told.
        """
        told: list[Answer] = []  # the status stands, whatever becomes of the rest of the answer
        try:
            with anyio.fail_after(self._settings.webhook_timeout_s):
                endpoint = guard.check_callback_url(url, self._settings)
                addresses = await guard.resolve(endpoint, self._settings, self._lookup)
                await self._exchange(endpoint, addresses, headers, body, told)
        except (
            TimeoutError,
            OSError,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            EndpointForbiddenError,
        ) as error:
            if not told:
                raise EndpointUnreachableError from error
        return told[0]

    async def _exchange(
        self, endpoint: Endpoint, addresses: list[str], headers: Mapping[str, str], body: bytes, told: list[Answer]
    ) -> None:
        connection = httpcore2.AsyncHTTPConnection(
            httpcore2.Origin(endpoint.scheme.encode(), endpoint.host.encode(), endpoint.port),
            ssl_context=self._tls,
            network_backend=PinnedBackend(addresses),
        )
        async with connection:
            response = await connection.handle_async_request(_request(endpoint, headers, body))
            told.append(Answer(response.status, _header(response, b"retry-after")))
            try:
                await _drain(response)
            finally:
                await response.aclose()


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to addresses that were checked, whatever name it is asked for.

    Args:
        addresses: In the order to try.
    """

    def __init__(self, addresses: list[str]) -> None:
        self._addresses = addresses[:ADDRESSES_TRIED]
        self._tcp = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Return a stream to the first address that accepts; the name is for TLS alone."""
        for address in self._addresses[:-1]:
            try:
                return await self._tcp.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError:
                continue
        return await self._tcp.connect_tcp(self._addresses[-1], port, timeout, local_address, socket_options)


def _request(endpoint: Endpoint, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
    sent = {
        "host": endpoint.authority,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "user-agent": "planner-mcp-webhooks",
        "connection": "close",
        **headers,
    }
    url = httpcore2.URL(
        scheme=endpoint.scheme.encode(),
        host=endpoint.host.encode(),
        port=endpoint.port,
        target=endpoint.target.encode(),
    )
    return httpcore2.Request("POST", url, headers=list(sent.items()), content=body)


async def _drain(response: httpcore2.Response) -> None:
    """Let the receiver finish a short answer; the status stands whatever comes of it."""
    seen = 0
    with anyio.move_on_after(ANSWER_S):
        try:
            async for chunk in response.aiter_stream():
                seen += len(chunk)
                if seen > MAX_ANSWER_BYTES:
                    return
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            return


def _header(response: httpcore2.Response, name: bytes) -> str:
    found = next((value for key, value in response.headers if key.lower() == name), b"")
    return found[:64].decode("latin-1")
