"""Asks the service behind a bridge: one request to a checked address, one bounded answer (SPEC O5, W4).

Owns a single exchange. The name is resolved once and judged as that of a webhook is; the connection goes to exactly
that address while TLS is verified by name; redirects are not followed, the proxy environment is not read, no
connection is used twice; the whole exchange has one deadline and reads at most `MAX_ANSWER_BYTES`.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Any, Final
from urllib.parse import urlsplit

import anyio
import httpcore2

from planner_mcp.bridge.bridge_config import BridgeConfig
from planner_mcp.bridge.request_building import BridgeRequest
from planner_mcp.errors import (
    EndpointUnreachableError,
    Fault,
    ServiceUnreachableError,
    TooLargeError,
    input_error,
)
from planner_mcp.jobs.webhooks import address_guard
from planner_mcp.jobs.webhooks.address_guard import ForbiddenUrlError, Lookup, WebhookUrl
from planner_mcp.jobs.webhooks.webhook_client import PinnedBackend

MAX_ANSWER_BYTES: Final = 2 * 1024 * 1024
_REASONS: Final = {
    "form": "is not a URL that can be called",
    "scheme": "must use https, or lie in allow_networks",
    "port": "has a port that cannot be called",
    "host": "names a host that is not public; its network has to stand in allow_networks",
}


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """What the service said."""

    status: int
    media_type: str
    """In lower case, without parameters."""
    body: bytes


class GuardedClient:
    """The client of one service.

    Args:
        config: Networks that were opened, and the deadline.
        base_url: Where the service is.
        lookup: Asks a name service; the system's unless a test brings its own.
        tls: Trust of the connections; the system's unless a test brings its own.

    Raises:
        InputError: The service may not be called.
    """

    def __init__(
        self, config: BridgeConfig, base_url: str, *, lookup: Lookup | None = None, tls: ssl.SSLContext | None = None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._allowed = tuple(ip_network(text, strict=False) for text in config.allow_networks)
        self._timeout_s = config.timeout_s
        self._lookup = lookup
        self._tls = tls or httpcore2.default_ssl_context()
        try:
            self._port = urlsplit(self._base_url).port or (443 if self._base_url.startswith("https") else 80)
            self._url("")
        except (ForbiddenUrlError, ValueError) as error:
            kind = error.kind if isinstance(error, ForbiddenUrlError) else "form"
            problem = f"The address of the service {_REASONS[kind]}."
            raise input_error([Fault("/base_url", problem, "https://host/path", "Set base_url.")]) from None

    async def send(self, request: BridgeRequest) -> ServiceAnswer:
        """Return the answer to a request, whatever its status.

        Raises:
            InputError: The URL is too long.
            ServiceUnreachableError: No answer within the deadline, for whatever reason.
            TooLargeError: The answer is larger than `MAX_ANSWER_BYTES`.
        """
        try:
            url = self._url(request.path)
        except ForbiddenUrlError as error:
            problem = "The arguments make a URL that is too long."
            accepted = f"{address_guard.MAX_URL_CHARS} characters"
            raise input_error([Fault("", problem, accepted, "Ask for less.")]) from error
        try:
            with anyio.fail_after(self._timeout_s):
                addresses = await address_guard.resolve(url, self._allowed, self._lookup)
                return await self._exchange(url, addresses, request)
        except (
            TimeoutError,
            OSError,
            httpcore2.NetworkError,
            httpcore2.ProtocolError,
            httpcore2.TimeoutException,
            EndpointUnreachableError,
        ) as error:
            raise ServiceUnreachableError from error

    def _url(self, path: str) -> WebhookUrl:
        return address_guard.check_url(self._base_url + path, self._allowed, ports={self._port})

    async def _exchange(self, url: WebhookUrl, addresses: list[str], request: BridgeRequest) -> ServiceAnswer:
        connection = httpcore2.AsyncHTTPConnection(
            httpcore2.Origin(url.scheme.encode(), url.host.encode(), url.port),
            ssl_context=self._tls,
            network_backend=PinnedBackend(addresses),
        )
        async with connection:
            response = await connection.handle_async_request(_http_request(url, request))
            try:
                body = await _read(response)
            finally:
                await response.aclose()
        content_type = next((value for key, value in response.headers if key.lower() == b"content-type"), b"")
        media_type = content_type[:200].decode("latin-1").partition(";")[0].strip().lower()
        return ServiceAnswer(response.status, media_type, body)


def _http_request(url: WebhookUrl, request: BridgeRequest) -> httpcore2.Request:
    sent: Mapping[str, Any] = {
        **request.headers,
        "host": url.authority,
        "accept": "application/json",
        "accept-encoding": "identity",
        "user-agent": "planner-mcp-bridge",
        "connection": "close",
        **({"content-length": str(len(request.body))} if request.body or request.method not in ("GET", "HEAD") else {}),
    }
    target = httpcore2.URL(
        scheme=url.scheme.encode(), host=url.host.encode(), port=url.port, target=url.target.encode()
    )
    return httpcore2.Request(request.method, target, headers=list(sent.items()), content=request.body)


async def _read(response: httpcore2.Response) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_stream():
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise TooLargeError(
                "The service answered with too many bytes.",
                errors=[Fault("", "The answer is too large.", f"{MAX_ANSWER_BYTES // 1024**2} MiB", "Ask for less.")],
            )
    return bytes(body)
