"""One request to a checked address, and its answer: how webhooks and bridges call servers that others named (SPEC W4).

Owns a single exchange. The name is resolved once and judged by `jobs/webhooks/address_guard.py`; the connection goes to
exactly that address while TLS is verified by name; redirects are not followed, the proxy environment is not read, no
connection is used twice, and the whole exchange has one deadline. How much of an answer is read, and what it means, is
the caller's.
"""

import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import anyio
import httpcore2

from planner_mcp.errors import EndpointUnreachableError
from planner_mcp.jobs.webhooks import address_guard
from planner_mcp.jobs.webhooks.address_guard import Lookup, Network, WebhookUrl

ADDRESSES_TRIED: Final = 3
MAX_HEADER_CHARS: Final = 200
_FAILURES: Final = (
    TimeoutError,
    OSError,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
)


@dataclass(frozen=True, slots=True)
class GuardedRequest:
    """What is sent to a URL that `check_url` returned."""

    method: str
    url: WebhookUrl
    headers: dict[str, str]
    """By name in lower case; those of the connection are added."""
    body: bytes = b""


class GuardedExchange:
    """Makes exchanges.

    Args:
        timeout_s: Deadline of one exchange, with the question to the name service.
        lookup: Asks a name service; the system's unless a test brings its own.
        tls: Trust of the connections; the system's unless a test brings its own.
    """

    def __init__(self, timeout_s: float, *, lookup: Lookup | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._timeout_s = timeout_s
        self._lookup = lookup
        self._tls = tls

    @asynccontextmanager
    async def response(
        self, request: GuardedRequest, allowed: tuple[Network, ...]
    ) -> AsyncIterator[httpcore2.Response]:
        """Yield the answer to a request, whose body is still to be read, and close the connection.

        Args:
            request: What is sent.
            allowed: Networks that were opened beside the public ones.

        Raises:
            EndpointUnreachableError: The exchange failed or took too long; the reason is not disclosed.
        """
        url = request.url
        try:
            with anyio.fail_after(self._timeout_s):
                connection = httpcore2.AsyncHTTPConnection(
                    httpcore2.Origin(url.scheme.encode(), url.host.encode(), url.port),
                    ssl_context=self._tls or (_system_trust() if url.scheme == "https" else None),
                    network_backend=_PinnedBackend(await address_guard.resolve(url, allowed, self._lookup)),
                )
                async with connection:
                    response = await connection.handle_async_request(_http_request(request))
                    try:
                        yield response
                    finally:
                        await response.aclose()
        except _FAILURES as error:
            raise EndpointUnreachableError from error


def header_of(response: httpcore2.Response, name: bytes) -> str:
    """Return the first characters of a header, whose name is given in lower case; empty where there is none."""
    value = next((value for key, value in response.headers if key.lower() == name), b"")
    return value[:MAX_HEADER_CHARS].decode("latin-1").strip()


@cache
def _system_trust() -> ssl.SSLContext:
    """Return the certificates of this system, or of `SSL_CERT_FILE`, read once for the first URL that needs them."""
    return httpcore2.default_ssl_context()


class _PinnedBackend(httpcore2.AsyncNetworkBackend):
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


def _http_request(request: GuardedRequest) -> httpcore2.Request:
    url = request.url
    sent = {"host": url.authority} | request.headers | {"host": url.authority, "connection": "close"}
    if request.body or request.method not in ("GET", "HEAD"):
        sent["content-length"] = str(len(request.body))
    target = httpcore2.URL(
        scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
    )
    return httpcore2.Request(request.method, target, headers=list(sent.items()), content=request.body)
