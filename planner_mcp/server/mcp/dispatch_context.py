"""The way back from a request handler to its client, on the handshake revisions over HTTP.

Owns the SDK's dispatch context for one POST: whatever a handler sends becomes a message on the stream of the exchange.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.message import MessageMetadata, ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from starlette.requests import Request

from planner_mcp.text import Json

Emit = Callable[[Json], Awaitable[None]]
"""Sends one JSON-RPC message to the client."""
RequestClient = Callable[[str, Mapping[str, Any] | None], Awaitable[Json]]
"""`(method, params) → result`: a request to the client."""
ReleaseConnection = Callable[[], Awaitable[None]]
"""Ends the connection that carries an answer, and nothing else: the client resumes the stream."""


@dataclass(slots=True)
class DispatchContext:
    """Dispatch context of one message of a client.

    Args:
        request: The HTTP request that carried it.
        emit: Where notifications go.
        request_id: None for a notification.
        progress_token: The progress token of the request, if it has one.
        release: Ends the connection that carries the answer.
    """

    request: Request
    emit: Emit
    request_id: int | str | None = None
    progress_token: int | str | None = None
    release: ReleaseConnection | None = None
    ask: RequestClient | None = None
    """Sends a request to the client and waits for its answer; None where the client has no way to answer."""

    @property
    def can_send_request(self) -> bool:
        """Whether a handler may ask the client."""
        return self.ask is not None

    @property
    def cancel_requested(self) -> anyio.Event:
        """Never set: a request that is cancelled ends with its handler."""
        return anyio.Event()

    @property
    def transport(self) -> TransportContext:
        """What the SDK asks about the transport."""
        can_ask = self.can_send_request
        return TransportContext(kind="streamable-http", can_send_request=can_ask, headers=self.request.headers)

    @property
    def message_metadata(self) -> MessageMetadata:
        """Hands the HTTP request to handlers."""
        return ServerMessageMetadata(request_context=self.request, close_sse_stream=self.release)

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> Json:
        """Ask the client and return its result.

        Raises:
            NoBackChannelError: It has no way to answer.
            MCPError: It refused, or said nothing in time.
        """
        if self.ask is None:
            raise NoBackChannelError(method)
        return await self.ask(method, params)

    async def notify(self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None) -> None:
        """Send a notification on the request's own stream."""
        message: Json = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = dict(params)
        await self.emit(message)

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send progress for the caller's token, nothing without one."""
        if self.progress_token is None:
            return
        params: Json = {"progressToken": self.progress_token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = message
        await self.notify("notifications/progress", params)
