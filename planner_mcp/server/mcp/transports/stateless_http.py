"""A request of the revisions without handshake, answered on the connection it arrived on.

Owns the form of the answer: plain JSON if the handler was quick and sent no other message, otherwise a stream, from
its first message or after `KEEP_ALIVE_S` without one. A client that disconnects cancels its request (spec
2026-07-28, transports), and so does one that stops reading. Nothing can be resumed here, so a replica that stops
ends unanswered requests with an error that says to call again. Only a valid request is answered here, by the same
kernel as those of a session; every other POST, and `subscriptions/listen`, goes to the SDK's own entry, whose
refusals are the protocol's.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import JSONRPCRequest
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import AbandonedRequestError, QuotaExceededError
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.bodies.asgi_receive import replay_body, until_disconnected
from planner_mcp.server.http.bodies.body_intake import decoded_in
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.responses.event_stream import COMMENT, KEEP_ALIVE_S, SEND_S, EventStream, sse_event
from planner_mcp.server.mcp.jsonrpc.http_envelope import (
    RETRY_AFTER_S,
    HttpFault,
    check_content_type,
    check_revision,
    too_many,
)
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import is_unavailable, rpc_error
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import (
    MalformedError,
    as_parse_error,
    names_revision,
    request_id_in,
)
from planner_mcp.server.mcp.jsonrpc.stdio_messages import LISTEN_METHOD
from planner_mcp.server.mcp.kernel import Kernel, Peer, accepts_json_and_stream
from planner_mcp.text import Json

DISCONNECT_CHECK_S: Final = 0.05
"""A disconnect is noticed after this time; most requests are answered before."""
_PARAM_HEADER: Final = MCP_PARAM_HEADER_PREFIX.lower().encode()


@dataclass(frozen=True, slots=True)
class ValidRequest:
    """A valid request."""

    body: Json
    peer: Peer


class StatelessHttpTransport:
    """The ASGI entry.

    Args:
        kernel: The MCP server.
        sdk: The SDK's entry, for every request that is not answered here.
        streams: How many streams each principal has open here.
        send_s: Longest wait for a client that takes nothing.
    """

    def __init__(self, kernel: Kernel, sdk: ASGIApp, *, streams: StreamLimit, send_s: float = SEND_S) -> None:
        self._kernel = kernel
        self._sdk = sdk
        self._streams = streams
        self._send_s = send_s
        self._open: set[Reply] = set()

    def abandon(self) -> None:
        """End unanswered requests with an error while their clients still listen."""
        for reply in tuple(self._open):
            reply.abandon()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one POST."""
        request = Request(scope, receive)
        body = await request.body()
        try:
            rpc_request = self._in_order(request)
        except HttpFault as fault:
            await fault.response(scope, receive, send)
            return
        if rpc_request is None:  # of a large body the SDK gets the outline, which is enough to refuse it
            await self._sdk(scope, replay_body(body, receive), send)
            return
        reply = Reply(scope, receive, send, self._send_s)
        self._open.add(reply)
        try:
            await self._answer(rpc_request, request, reply)
        finally:
            self._open.discard(reply)
            reply.close()

    async def _answer(self, rpc_request: ValidRequest, request: Request, reply: "Reply") -> None:
        with reply.handling():
            answer, _peer = await self._kernel.answer(rpc_request.body, rpc_request.peer, http=request, emit=reply.emit)
            if not reply.is_abandoned:
                await reply.end(answer)
        if reply.is_abandoned:
            await reply.end(rpc_error(AbandonedRequestError(), request_id=rpc_request.body["id"]))

    def _in_order(self, request: Request) -> ValidRequest | None:
        """Return a valid request, None for one that goes to the SDK.

        Raises:
            HttpFault: The SDK would accept it, or refuse it in another form.
        """
        check_content_type(request)
        headers = request.headers.items()
        if not accepts_json_and_stream(request) or find_duplicated_routing_header(headers):
            return None
        try:
            with as_parse_error():
                decoded = decoded_in(request.scope).value
        except MalformedError as error:
            raise HttpFault(400, error, code=error.rpc_code) from error
        if not names_revision(decoded):
            check_revision(request, request_id=request_id_in(decoded))
        try:
            rpc_request = JSONRPCRequest.model_validate(decoded)
        except ValidationError:
            return None
        route = classify_inbound_request(decoded, headers=dict(headers))
        if not isinstance(route, InboundModernRoute) or self._has_header_arguments(request, rpc_request):
            return None
        if rpc_request.method == LISTEN_METHOD:
            self._check_streams(request, rpc_request)
            return None
        client = {"clientInfo": route.client_info, "capabilities": route.client_capabilities}
        whole = {"id": rpc_request.id, "method": rpc_request.method, "params": rpc_request.params}
        return ValidRequest(whole, Peer(route.protocol_version, client))

    def _check_streams(self, request: Request, rpc_request: JSONRPCRequest) -> None:
        """Check that one more stream may be opened, while that can still be said by a status."""
        try:
            self._streams.check(principal_of(request.scope).id)
        except QuotaExceededError as error:
            raise too_many(error, request_id=rpc_request.id) from error

    def _has_header_arguments(self, request: Request, rpc_request: JSONRPCRequest) -> bool:
        """Return whether arguments of a tool are repeated in headers, or should be."""
        if rpc_request.method != "tools/call":
            return False
        has_argument_header = any(name.startswith(_PARAM_HEADER) for name, _value in request.headers.raw)
        return has_argument_header or self._kernel.has_header_arguments((rpc_request.params or {}).get("name"))


class Reply:
    """The answer to one request: JSON, or a stream from the first message before it, or once nothing came for a while.

    Args:
        scope: Of the request, as `receive` and `send`.
        receive: Returns when the client has gone.
        send: Takes the answer.
        send_s: Longest wait for one message to be taken.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, send_s: float) -> None:
        self.is_abandoned = False
        self._asgi = scope, receive, send
        self._handler_scope = anyio.CancelScope()
        """Cancelled when the client is gone or takes nothing any more, and when the answer is abandoned."""
        self._send_s = send_s
        self._outgoing: MemoryObjectSendStream[bytes] | None = None
        """Where a stream takes its events from; None while the answer is no stream."""
        self._streaming: asyncio.Task[None] | None = None
        self._disconnect_watch: asyncio.Task[None] | None = None
        self._is_ending = False

    @contextmanager
    def handling(self) -> Iterator[None]:
        """Cancel the block when its client leaves, and make the answer a stream when the block is quiet for long."""
        loop = asyncio.get_running_loop()
        timers = [
            loop.call_later(DISCONNECT_CHECK_S, self._watch_for_disconnect),
            loop.call_later(KEEP_ALIVE_S, self._open_stream),
        ]
        with self._handler_scope:
            try:
                yield
            finally:
                for timer in timers:
                    timer.cancel()
                self._stop_watching()

    def abandon(self) -> None:
        """Stop the work on an answer that has not begun to be sent."""
        if not self._is_ending:
            self.is_abandoned = True
            self._handler_scope.cancel()

    async def emit(self, message: Mapping[str, Any]) -> None:
        """Send a message before the answer, which makes it a stream."""
        self._open_stream()
        await self._put(message)

    async def end(self, answer: Mapping[str, Any]) -> None:
        """Send the answer."""
        self._is_ending = True
        if self._outgoing is not None and self._streaming is not None:
            await self._put(answer)
            self._outgoing.close()
            await self._streaming
            return
        status = _status(answer)
        headers = {"retry-after": str(RETRY_AFTER_S)} if status == 503 else None
        await Response(_text(answer), status, headers, "application/json")(*self._asgi)

    def close(self) -> None:
        """Leave nothing behind, however the request ended."""
        if self._outgoing is not None and self._streaming is not None:
            self._outgoing.close()
            self._events.close()
            self._streaming.cancel()

    async def _put(self, message: Mapping[str, Any]) -> None:
        if self._outgoing is not None:
            with suppress(anyio.BrokenResourceError):  # the stream has ended, and so will the call
                await self._outgoing.send(sse_event(_text(message).decode(), event="message"))

    def _open_stream(self) -> None:
        if self._streaming is None:
            self._stop_watching()
            self._outgoing, self._events = anyio.create_memory_object_stream[bytes]()
            stream = EventStream(_each(self._events), send_s=self._send_s, is_answer=True, opening=COMMENT)
            self._streaming = asyncio.create_task(stream(*self._asgi))
            self._streaming.add_done_callback(lambda _task: self._handler_scope.cancel())

    def _watch_for_disconnect(self) -> None:
        if self._streaming is None:
            watching = until_disconnected(self._asgi[1], self._handler_scope)
            self._disconnect_watch = asyncio.create_task(watching)

    def _stop_watching(self) -> None:
        if self._disconnect_watch is not None:
            self._disconnect_watch.cancel()


async def _each(events: MemoryObjectReceiveStream[bytes]) -> AsyncGenerator[bytes, None]:
    async for event in events:
        yield event


def _status(answer: Mapping[str, Any]) -> int:
    if is_unavailable(answer):
        return 503
    return ERROR_CODE_HTTP_STATUS.get(answer["error"]["code"], 200) if "error" in answer else 200


def _text(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()  # in ASCII, whatever the id of the request holds
