"""HTTP+SSE of revision 2024-11-05: `GET /sse` opens a stream, `POST /messages` sends a message, on the common kernel.

Owns the two endpoints. The stream is the standalone stream of a session in the store, so a message may be posted to
any replica: its answer is written to the stream there (`http_sse_requests.py`) and read by the replica that holds
it. The revision has no resumption: a session lives as long as its stream, and the events carry no ids. Notifications
of a session's subscriptions are sent on the same stream.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import urlencode

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from planner_mcp.errors import PlannerError, QuotaExceededError, StoreError, UnknownSessionError
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.concurrency_limits import StreamLimit
from planner_mcp.server.http.responses.event_stream import EventStream, sse_event
from planner_mcp.server.http.responses.http_responses import method_refused
from planner_mcp.server.mcp.jsonrpc.http_envelope import HttpFault, read_messages
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import JsonRpcMessage, MalformedError, MessageKind
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier, Session, Sessions
from planner_mcp.server.mcp.methods.tool_methods import TOOLSETS_PARAMETER
from planner_mcp.server.mcp.request_context import set_session
from planner_mcp.server.mcp.transports.http_sse_requests import RETRY_AFTER_S, RequestRunner
from planner_mcp.server.mcp.transports.session_streams import SessionStreamReader
from planner_mcp.server.mcp.transports.streamable_http import Forward, StreamableHttpTransport
from planner_mcp.task_cancellation import cancel_and_wait

TRANSPORT: Final = "sse"
"""Marks the sessions of this transport; they are not valid at `/mcp`, and those of `/mcp` not at `/messages`."""
CLOSE_S: Final = 5.0


class HttpSseTransport:
    """The endpoints of the old transport.

    Args:
        store: Sessions and streams, shared by all replicas.
        notifier: Wakes readers when a stream grows.
        request_runner: Answers requests.
        receiver: Takes notifications and responses.
        forward_events: Writes notifications of a session's subscriptions to its stream.
        drain: Set when open streams shall end.
        streams: How many streams each principal has open here.
    """

    def __init__(
        self,
        store: SessionStore,
        notifier: ChangeNotifier,
        *,
        request_runner: RequestRunner,
        receiver: StreamableHttpTransport,
        forward_events: Forward,
        drain: anyio.Event,
        streams: StreamLimit,
    ) -> None:
        self._store = store
        self._sessions = Sessions(store)
        self._stream_reader = SessionStreamReader(store, notifier)
        self._request_runner = request_runner
        self._receiver = receiver
        self._forward_events = forward_events
        self._drain = drain
        self._streams = streams

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [
            Route("/sse", self.stream, methods=["GET"]),
            Route("/messages", self.message, methods=["POST"]),
        ]

    # ---- GET /sse

    async def stream(self, request: Request) -> Any:
        """Open a session and its stream, which begins with the address to post to."""
        if (refused := method_refused(request, "GET")) is not None:
            return refused  # a HEAD, to which Starlette extends every GET
        principal = principal_of(request.scope)
        try:
            self._streams.check(principal.id)
            session = await self._sessions.open(principal.id, "", {}, transport=TRANSPORT)
            return await self._served(session, principal, _address(session, request))
        except PlannerError as error:
            return _refusal(error).response

    async def _served(self, session: Session, principal: Principal, address: str) -> ASGIApp:
        stream = EventStream(self._frames(session, principal, address), drain=self._drain)
        try:
            return self._streams.served(stream, session.principal)
        except QuotaExceededError:
            await self._store.delete(session.id)
            raise

    async def _frames(self, session: Session, principal: Principal, address: str) -> AsyncGenerator[bytes]:
        beside = [
            asyncio.create_task(self._forward_events(session.id, principal)),
            asyncio.create_task(self._request_runner.answer_orphans(session)),
        ]
        try:
            yield sse_event(address, event="endpoint")
            async with aclosing(self._texts(session)) as texts:
                async for text in texts:
                    yield sse_event(text, event="message")
        finally:
            with anyio.move_on_after(CLOSE_S, shield=True):
                await asyncio.gather(*map(cancel_and_wait, beside), return_exceptions=True)
                await self._store.delete(session.id)

    async def _texts(self, session: Session) -> AsyncGenerator[str]:
        token = secrets.token_hex(8)
        await self._store.take_standalone(session.id, token)
        async with aclosing(self._stream_reader.standalone(session, token, "0-0")) as entries:
            async for entry in entries:
                if entry is not None and entry.text:
                    yield entry.text

    # ---- POST /messages

    async def message(self, request: Request) -> Response:
        """Take a message; its answer is sent on the stream."""
        try:
            session = await self._session(request)
            messages, is_batch = await read_messages(request)
            if is_batch:
                raise HttpFault(400, MalformedError("This transport has no batches."))
            await self._take(request, session, messages[0])
        except HttpFault as fault:
            return fault.response
        except PlannerError as error:
            return _refusal(error).response
        except ClientDisconnect:
            pass
        return Response(status_code=202)

    async def _session(self, request: Request) -> Session:
        session_id = request.query_params.get("session_id", "")
        session = await self._sessions.find(session_id, principal_of(request.scope).id, transport=TRANSPORT)
        set_session(request.scope, session.id)
        return session

    async def _take(self, request: Request, session: Session, message: JsonRpcMessage) -> None:
        if message.kind is MessageKind.REQUEST:
            await self._request_runner.begin(request, session, message.body)
        else:
            await self._receiver.take(request, session, message)


def _address(session: Session, request: Request) -> str:
    """Return where to post, with the tool sets that the URL of the stream asks for."""
    toolsets = {name: request.query_params[name] for name in (TOOLSETS_PARAMETER,) if name in request.query_params}
    return f"/messages?{urlencode({'session_id': session.id} | toolsets)}"


def _refusal(error: PlannerError) -> HttpFault:
    if isinstance(error, UnknownSessionError):
        return HttpFault(404, error)
    status = 503 if isinstance(error, StoreError) else 429 if isinstance(error, QuotaExceededError) else 400
    headers = {"retry-after": str(round(error.retry_after_s or RETRY_AFTER_S))} if status != 400 else None
    return HttpFault(status, error, headers=headers)
