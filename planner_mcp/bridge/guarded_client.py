"""Asks the service behind a bridge: one request to a checked address, one bounded answer (SPEC O5, W4).

Owns which addresses a bridge may call, what it sends and how much it reads: at most `MAX_ANSWER_BYTES`. The exchange
itself is that of a webhook (`jobs/webhooks/guarded_exchange.py`).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Final
from urllib.parse import urlsplit

import httpcore2

from planner_mcp.bridge.bridge_config import BridgeConfig
from planner_mcp.bridge.request_building import BridgeRequest
from planner_mcp.errors import EndpointUnreachableError, Fault, ServiceUnreachableError, TooLargeError, input_error
from planner_mcp.jobs.webhooks import address_guard
from planner_mcp.jobs.webhooks.address_guard import ForbiddenUrlError, WebhookUrl
from planner_mcp.jobs.webhooks.endpoint_policy import parse_retry_after
from planner_mcp.jobs.webhooks.guarded_exchange import GuardedExchange, GuardedRequest, header_of

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
    retry_after_s: float | None
    """When to come back, where it says so."""


class GuardedClient:
    """The client of one service.

    Args:
        config: Networks that were opened, and the deadline.

    Raises:
        InputError: The service may not be called.
    """

    def __init__(self, config: BridgeConfig, base_url: str) -> None:
        self._base_url = base_url.rstrip("/")
        self._allowed = tuple(ip_network(text, strict=False) for text in config.allow_networks)
        self._exchange = GuardedExchange(config.timeout_s)
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
        headers = {
            **request.headers,
            "accept": "application/json",
            "accept-encoding": "identity",
            "user-agent": "planner-mcp-bridge",
        }
        asked = GuardedRequest(request.method, url, headers, request.body)
        try:
            async with self._exchange.response(asked, self._allowed) as response:
                kind = header_of(response, b"content-type").partition(";")[0].strip().lower()
                retry_after_s = parse_retry_after(header_of(response, b"retry-after"), datetime.now(UTC))
                return ServiceAnswer(response.status, kind, await _read(response), retry_after_s or None)
        except EndpointUnreachableError as error:
            raise ServiceUnreachableError from error

    def _url(self, path: str) -> WebhookUrl:
        return address_guard.check_url(self._base_url + path, self._allowed, ports={self._port})


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
