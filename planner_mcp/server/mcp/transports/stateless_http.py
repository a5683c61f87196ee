"""A request of the revisions without handshake, answered where it arrives.

Owns the form of the answer: plain JSON to a handler that was quick and sent nothing else, a stream from its first
message on, or once it was quiet for `KEEP_ALIVE_S`. A client that leaves cancels its request (spec 2026-07-28,
transports), and so does one that no longer takes what it is sent. Nothing can be resumed here, so what a replica that
stops has not answered in time ends with an error that says to call again.
Only a request that is in order is answered here, by the same kernel as those of a session; whatever else a POST may
hold, and `subscriptions/listen`, goes to the SDK's own entry, whose refusals are the protocol's.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PARAM_HEADER_PREFIX,
    InboundModernRoute,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import PROTOCOL_VERSION_META_KEY, JSONRPCRequest
from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.errors import AbandonedRequestError, QuotaExceededError
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.asgi_receive import replay_body, until_disconnected
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.event_stream import COMMENT, HEADERS, SEND_S
from planner_mcp.server.mcp.jsonrpc.http_envelope import RETRY_AFTER_S, HttpFault, check_revision, is_json, too_many
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import is_unavailable, rpc_error
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import NoJsonError, refuse_constant
from planner_mcp.server.mcp.kernel import Kernel, Peer, accepts_json_and_stream

KEEP_ALIVE_S: Final = 15.0
"""Longest silence before an answer becomes a stream, and on one."""
DISCONNECT_CHECK_S: Final = 0.05
"""Who leaves is noticed from then on; most requests are answered before."""
LISTEN: Final = "subscriptions/listen"
_STREAM: Final = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
_PARAM_HEADER: Final = MCP_PARAM_HEADER_PREFIX.lower().encode()


@dataclass(frozen=True, slots=True)
class ValidRequest:
    """A request that is in order."""

    body: dict[str, Any]
    peer: Peer


class StatelessHttpTransport:
    """The ASGI entry.

    Args:
        kernel: The MCP server.
        sdk: The SDK's entry, for all that is not answered here.
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
        """End what is not answered yet, while its clients can still be told."""
        for reply in tuple(self._open):
            reply.abandon()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one POST."""
        request = Request(scope, receive)
        body = await request.body()
        try:
            rpc_request = self._in_order(request, body)
        except HttpFault as fault:
            await fault.response(scope, receive, send)
            return
        if rpc_request is None:
            await self._sdk(scope, replay_body(body, receive), send)
            return
        reply = Reply(send, self._send_s)
        self._open.add(reply)
        try:
            await self._answer(rpc_request, request, reply)
        finally:
            self._open.discard(reply)

    async def _answer(self, rpc_request: ValidRequest, request: Request, reply: "Reply") -> None:
        with _cancelled_on_disconnect(request.receive, reply):
            answer, _peer = await self._kernel.answer(rpc_request.body, rpc_request.peer, http=request, emit=reply.emit)
            if not reply.is_abandoned:
                await reply.end(answer)
        if reply.is_abandoned:
            await reply.end(rpc_error(AbandonedRequestError(), request_id=rpc_request.body["id"]))

    def _in_order(self, request: Request, body: bytes) -> ValidRequest | None:
        """Return a request that is in order, None for what is the SDK's.

        Raises:
            HttpFault: What the SDK would take, or refuse in another form.
        """
        is_proper, headers = is_json(request) and accepts_json_and_stream(request), request.headers.items()
        if not is_proper or find_duplicated_routing_header(headers):
            return None
        try:
            decoded = json.loads(body, parse_constant=refuse_constant)
        except NoJsonError as error:
            raise HttpFault(400, error, code=error.rpc_code) from error
        except (ValueError, RecursionError):
            return None
        if not _has_envelope(decoded):
            check_revision(request, request_id=_id_in(decoded))
        try:
            rpc_request = JSONRPCRequest.model_validate(decoded)
        except ValidationError:
            return None
        route = classify_inbound_request(decoded, headers=dict(headers))
        if not isinstance(route, InboundModernRoute) or self._has_header_arguments(request, rpc_request):
            return None
        if rpc_request.method == LISTEN:
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
    """The answer to one request.

    Args:
        send: Of the request.
        send_s: Longest wait for one message to be taken.
    """

    def __init__(self, send: Send, send_s: float) -> None:
        self.handler_scope = anyio.CancelScope()
        """Cancelled when the client is gone or takes nothing any more, and when it is abandoned."""
        self.is_abandoned = False
        self._send = send
        self._send_s = send_s
        self._is_stream = False
        self._output_ended = True
        self._is_ending = False
        self._writing = asyncio.Lock()

    def abandon(self) -> None:
        """Stop the work on an answer that has not begun to be sent."""
        if not self._is_ending:
            self.is_abandoned = True
            self.handler_scope.cancel()

    async def emit(self, message: Mapping[str, Any]) -> None:
        """Send a message before the answer, which makes it a stream."""
        self._output_ended = False
        await self._put(_event(message))

    async def end(self, answer: Mapping[str, Any]) -> None:
        """Send the answer."""
        self._is_ending = True
        if self._is_stream:
            await self._put(_event(answer), is_last=True)
            return
        status, body = _status(answer), _text(answer)
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if status == 503:
            headers.append((b"retry-after", str(RETRY_AFTER_S).encode()))
        await self._send({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})

    async def keep_open(self) -> None:
        """Say something whenever nothing was said for a while, until cancelled."""
        while True:
            await anyio.sleep(KEEP_ALIVE_S)
            if self._output_ended:
                await self._put(COMMENT)
            self._output_ended = True

    async def _put(self, data: bytes, *, is_last: bool = False) -> None:
        async with self._writing:
            with anyio.move_on_after(self._send_s) as send_timeout:
                if not self._is_stream:
                    self._is_stream = True
                    await self._send({"type": "http.response.start", "status": 200, "headers": _STREAM})
                await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})
        if send_timeout.cancelled_caught:
            self.handler_scope.cancel()


@contextmanager
def _cancelled_on_disconnect(receive: Receive, reply: Reply) -> Iterator[None]:
    """Cancel the block when its client leaves, and keep the connection open while it is quiet."""
    watchers: list[asyncio.Task[None]] = []

    def begin() -> None:
        watchers.append(asyncio.create_task(reply.keep_open()))
        watchers.append(asyncio.create_task(until_disconnected(receive, reply.handler_scope)))

    with reply.handler_scope:
        timer = asyncio.get_running_loop().call_later(DISCONNECT_CHECK_S, begin)
        try:
            yield
        finally:
            timer.cancel()
            for task in watchers:
                task.cancel()


def _has_envelope(decoded: Any) -> bool:
    """Return whether a message names its revision itself, as those of revisions without handshake do."""
    params = decoded.get("params") if isinstance(decoded, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


def _id_in(decoded: Any) -> int | str | None:
    found = decoded.get("id") if isinstance(decoded, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def _status(answer: Mapping[str, Any]) -> int:
    if is_unavailable(answer):
        return 503
    return ERROR_CODE_HTTP_STATUS.get(answer["error"]["code"], 200) if "error" in answer else 200


def _text(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode()  # in ASCII, whatever the id of the request holds


def _event(message: Mapping[str, Any]) -> bytes:
    return b"event: message\ndata: " + _text(message) + b"\n\n"
