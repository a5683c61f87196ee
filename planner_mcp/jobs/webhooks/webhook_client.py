"""Sends one webhook: a POST to a checked address, and nothing a receiver could stretch (SPEC W4).

Owns a single attempt. The name is resolved once and judged by `jobs/webhooks/address_guard.py`; the connection goes to
exactly that address while TLS is verified by name; redirects are not followed, the proxy environment is not read, no
connection is used twice; the whole attempt has one deadline and reads a bounded part of the answer. When to try again
is not decided here.
"""

import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import anyio
import httpcore2

from planner_mcp.errors import EndpointForbiddenError, EndpointUnreachableError
from planner_mcp.jobs.webhooks import address_guard
from planner_mcp.jobs.webhooks.address_guard import Lookup, WebhookUrl
from planner_mcp.settings import Settings

MAX_ANSWER_BYTES: Final = 64 * 1024
ANSWER_S: Final = 2.0
"""Time a receiver has, once its status is known, to finish an answer that nobody reads."""
ADDRESSES_TRIED: Final = 3


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What an endpoint said to one attempt."""

    status: int
    retry_after: str = ""
    """The `Retry-After` header as sent."""
    body: bytes = b""
    """Its first bytes, where they were asked for."""


class WebhookClient:
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

    async def post(self, url: str, headers: Mapping[str, str], body: bytes, *, keep_bytes: int = 0) -> WebhookResponse:
        """Make one attempt and return the status of the answer, whatever it is.

        Args:
            url: Where to.
            headers: Beside those of every request.
            body: JSON.
            keep_bytes: How much of the answer's body is kept at most; the rest is read and forgotten.

        Raises:
            EndpointUnreachableError: No status within the deadline, for whatever reason; the reason is not disclosed.
        """
        responses: list[WebhookResponse] = []  # the status stands, whatever becomes of the rest of the answer
        kept = bytearray()
        try:
            with anyio.fail_after(self._settings.webhook_timeout_s):
                webhook_url = address_guard.check_callback_url(url, self._settings)
                allowed = address_guard.allowed_networks(self._settings)
                addresses = await address_guard.resolve(webhook_url, allowed, self._lookup)
                await self._exchange(webhook_url, addresses, _request(webhook_url, headers, body), responses, kept)
        except (
            TimeoutError,
            OSError,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            EndpointForbiddenError,
        ) as error:
            if not responses:
                raise EndpointUnreachableError from error
        return replace(responses[0], body=bytes(kept[:keep_bytes]))

    async def _exchange(
        self,
        webhook_url: WebhookUrl,
        addresses: list[str],
        request: httpcore2.Request,
        responses: list[WebhookResponse],
        kept: bytearray,
    ) -> None:
        connection = httpcore2.AsyncHTTPConnection(
            httpcore2.Origin(webhook_url.scheme.encode(), webhook_url.host.encode(), webhook_url.port),
            ssl_context=self._tls,
            network_backend=PinnedBackend(addresses),
        )
        async with connection:
            response = await connection.handle_async_request(request)
            responses.append(WebhookResponse(response.status, _header(response, b"retry-after")))
            try:
                await _drain(response, kept)
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


def _request(webhook_url: WebhookUrl, headers: Mapping[str, str], body: bytes) -> httpcore2.Request:
    sent = {
        "host": webhook_url.authority,
        "content-type": "application/json",
        "content-length": str(len(body)),
        "user-agent": "planner-mcp-webhooks",
        "connection": "close",
        **headers,
    }
    url = httpcore2.URL(
        scheme=webhook_url.scheme.encode(),
        host=webhook_url.host.encode(),
        port=webhook_url.port,
        target=webhook_url.target.encode(),
    )
    return httpcore2.Request("POST", url, headers=list(sent.items()), content=body)


async def _drain(response: httpcore2.Response, kept: bytearray) -> None:
    """Read a short answer; the status stands whatever comes of it."""
    with anyio.move_on_after(ANSWER_S):
        try:
            async for chunk in response.aiter_stream():
                kept += chunk
                if len(kept) > MAX_ANSWER_BYTES:
                    return
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            return


def _header(response: httpcore2.Response, name: bytes) -> str:
    found = next((value for key, value in response.headers if key.lower() == name), b"")
    return found[:64].decode("latin-1")
