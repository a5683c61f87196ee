"""Sends one webhook: a POST to a checked address, and nothing a receiver could stretch (SPEC W4).

Owns a single attempt, made as a `guarded_exchange.py`: what is sent, and the bounded part of the answer that is read.
When to try again is not decided here.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import anyio

from planner_mcp.errors import EndpointForbiddenError, EndpointUnreachableError
from planner_mcp.jobs.webhooks import address_guard
from planner_mcp.jobs.webhooks.address_guard import Lookup
from planner_mcp.settings import Settings

if TYPE_CHECKING:
    import httpcore2

    from planner_mcp.jobs.webhooks.guarded_exchange import GuardedExchange

MAX_ANSWER_BYTES: Final = 64 * 1024
ANSWER_S: Final = 2.0
"""Time a receiver has, once its status is known, to finish an answer that nobody reads."""


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """What an endpoint said to one attempt."""

    status: int
    retry_after: str = ""
    """The `Retry-After` header as sent."""
    body: bytes = b""
    """Its first bytes, where they were asked for."""


class WebhookClient:
    """The guarded client. The HTTP library and the trust of the system are loaded with the first attempt.

    Args:
        settings: Networks and ports opened for tests, and the deadline of one attempt.
        lookup: Asks a name service; the system's unless a test brings its own.
        tls: Trust of the connections; the system's unless a test brings its own.
    """

    def __init__(self, settings: Settings, *, lookup: Lookup | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._settings = settings
        self._lookup = lookup
        self._tls = tls

    @cached_property
    def _exchange(self) -> "GuardedExchange":
        from planner_mcp.jobs.webhooks.guarded_exchange import GuardedExchange

        return GuardedExchange(self._settings.webhook_timeout_s, lookup=self._lookup, tls=self._tls)

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
        from planner_mcp.jobs.webhooks.guarded_exchange import GuardedRequest, header_of

        kept = bytearray()
        answered = None  # the status stands, whatever becomes of the rest of the answer
        try:
            webhook_url = address_guard.check_callback_url(url, self._settings)
            sent = {"content-type": "application/json", "user-agent": "planner-mcp-webhooks", **headers}
            allowed = address_guard.allowed_networks(self._settings)
            async with self._exchange.response(GuardedRequest("POST", webhook_url, sent, body), allowed) as response:
                answered = WebhookResponse(response.status, header_of(response, b"retry-after"))
                await _drain(response, kept)
        except (EndpointForbiddenError, EndpointUnreachableError) as error:
            if answered is None:
                raise EndpointUnreachableError from error
        return replace(answered, body=bytes(kept[:keep_bytes]))


async def _drain(response: "httpcore2.Response", kept: bytearray) -> None:
    """Read a short answer; the status stands whatever comes of it."""
    import httpcore2

    with anyio.move_on_after(ANSWER_S):
        try:
            async for chunk in response.aiter_stream():
                kept += chunk
                if len(kept) > MAX_ANSWER_BYTES:
                    return
        except (httpcore2.NetworkError, httpcore2.ProtocolError):
            return
