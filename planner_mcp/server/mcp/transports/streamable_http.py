"""Streamable HTTP on `/mcp`, for every revision and through any replica.

Owns the routing by revision and the HTTP half of the handshake revisions: methods, headers, statuses, sessions.
Revisions without handshake are served by `stateless_http.py`. Host, Origin and body limits are checked before
(`http/middleware/request_validation.py`).

Intended departures: a GET after a newer GET on the same session is ended instead of answering 409, because the older
connection may belong to a dead replica; JSON-RPC errors that concern no request have `id: null`.
"""

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from planner_mcp.errors import (
    LostStreamError,
    MethodNotAllowedError,
    PlannerError,
    QuotaExceededError,
    RateLimitedError,
    StoreError,
    UnknownSessionError,
)
from planner_mcp.jobs.events.pubsub_channels import STANDALONE
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.auth.request_principal import principal_of
from planner_mcp.server.http.concurrency_limits import StreamLimit, keep_counted
from planner_mcp.server.http.middleware.authentication_middleware import count_further_calls
from planner_mcp.server.http.responses.event_stream import EventStream
from planner_mcp.server.mcp.jsonrpc.http_envelope import (
    RETRY_AFTER_S,
    HttpFault,
    accept,
    check_revision,
    is_stateless,
    join_accept,
    read_messages,
    too_many,
)
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import BATCHES_IN, JsonRpcMessage, MalformedError, MessageKind
from planner_mcp.server.mcp.kernel import Kernel, Peer
from planner_mcp.server.mcp.mcp_sessions import ChangeNotifier, Session, Sessions
from planner_mcp.server.mcp.request_context import set_session
from planner_mcp.server.mcp.transports.post_exchange import Exchange
from planner_mcp.server.mcp.transports.session_streams import SessionStreamReader, StreamEntry, stream_event
from planner_mcp.server.mcp.transports.stateless_http import StatelessHttpTransport
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.text import Json

Entries = AsyncGenerator[StreamEntry | None]
Forward = Callable[[str, Principal], Coroutine[Any, Any, None]]
"""`(session id, who listens)`: runs until cancelled."""

log = logging.getLogger(__name__)


class StreamableHttpTransport:
    """The ASGI application behind `/mcp`.

    Args:
        kernel: The MCP server.
        store: Sessions and streams, shared by all replicas.
        notifier: Wakes readers when a stream grows.
        stateless: Entry of the revisions without handshake.
        drain: Set when this replica is about to stop: its open streams then end, once they can be resumed elsewhere.
        streams: How many streams each principal has open here.
        forward_events: Writes notifications of a session's subscriptions to its standalone stream, while this replica
            holds it.
        grace_s: How long after `drain` a call may go on whose client cannot resume the answer.
    """

    def __init__(
        self,
        kernel: Kernel,
        store: SessionStore,
        notifier: ChangeNotifier,
        *,
        stateless: StatelessHttpTransport,
        drain: anyio.Event,
        streams: StreamLimit,
        forward_events: Forward,
        grace_s: float,
    ) -> None:
        self.drain = drain
        self._grace_s = grace_s
        self._forward_events = forward_events
        self._kernel = kernel
        self._store = store
        self._sessions = Sessions(store)
        self._stream_reader = SessionStreamReader(store, notifier)
        self._stateless = stateless
        self._streams = streams
        self._replica = secrets.token_hex(8)
        self._running: dict[Exchange, str] = {}
        self._not_resumable: set[asyncio.Task[None]] = set()
        """Exchanges on streams whose clients hold no event id yet."""
        self._tasks: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["StreamableHttpTransport"]:
        """Serve until the block ends; then running calls are stopped and answered with an error."""
        self._spawn(self._until_grace_is_over())
        try:
            yield self
        finally:
            await asyncio.gather(*map(cancel_and_wait, tuple(self._tasks)), return_exceptions=True)

    async def _until_grace_is_over(self) -> None:
        """After the grace period, end calls whose answers could not be read at another replica."""
        await self.drain.wait()
        await anyio.sleep(self._grace_s)
        self._stateless.abandon()
        await asyncio.gather(*map(cancel_and_wait, tuple(self._not_resumable)), return_exceptions=True)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        join_accept(scope)
        request = Request(scope, receive, send)
        if request.method == "POST" and is_stateless(request):
            await self._stateless(scope, receive, send)
            return
        try:
            response = await self._serve(request)
        except HttpFault as fault:
            response = fault.response
        except StoreError as error:
            response = HttpFault(503, error, headers={"retry-after": str(RETRY_AFTER_S)}).response
        except UnknownSessionError as error:
            response = HttpFault(404, error).response
        except ClientDisconnect:
            return
        await response(scope, receive, send)

    async def _serve(self, request: Request) -> Any:
        if is_stateless(request):
            check_revision(request)
            raise HttpFault(405, MethodNotAllowedError(), headers={"allow": "POST"})
        if request.method == "POST":
            return await self._post(request)
        if request.method == "GET":
            return await self._get(request)
        if request.method == "DELETE":
            return await self._delete(request)
        raise HttpFault(405, MethodNotAllowedError(), headers={"allow": "GET, POST, DELETE"})

    # ---- POST

    async def _post(self, request: Request) -> Any:
        accept(request, "application/json", "text/event-stream")
        messages, is_batch = await read_messages(request)
        if messages[0].method == "initialize" and not is_batch and messages[0].kind is MessageKind.REQUEST:
            return await self._initialize(request, messages[0])
        session = await self._session(request)
        if is_batch and session.version != BATCHES_IN:
            raise HttpFault(400, MalformedError(f"Revision {session.version} has no batches."))
        try:
            await count_further_calls(request.scope, len(messages) - 1)
        except RateLimitedError as error:
            raise too_many(error) from error
        for message in messages:
            if message.kind is not MessageKind.REQUEST:
                await self.take(request, session, message)
        requests = [message.body for message in messages if message.kind is MessageKind.REQUEST]
        return await self._exchange(request, session, requests, is_batch) if requests else Response(status_code=202)

    async def _initialize(self, request: Request, message: JsonRpcMessage) -> Response:
        async def nowhere(_message: Json) -> None:
            """Nothing can be sent before the session exists."""

        answer, peer = await self._kernel.answer(message.body, Peer(), http=request, emit=nowhere)
        if "error" in answer or peer.client is None:
            return JSONResponse(answer)
        try:
            session = await self._sessions.open(principal_of(request.scope).id, peer.version, peer.client)
        except QuotaExceededError as error:
            raise too_many(error) from error
        return JSONResponse(answer, headers={"mcp-session-id": session.id})

    async def take(self, request: Request, session: Session, message: JsonRpcMessage) -> None:
        """Take a notification or an answer of the client."""
        if message.kind is MessageKind.RESPONSE:
            await self._kernel.take_response(session.id, message.body)
            return
        if message.method == "notifications/cancelled":
            request_id = (message.body.get("params") or {}).get("requestId")
            if isinstance(request_id, int | str):
                await self._store.cancel(session.id, json.dumps(request_id))
            return
        if not session.version:
            return  # of 2024-11-05, and not initialized yet: there is nothing it could be about

        async def standalone(note: Json) -> None:
            await self._store.append(session.id, STANDALONE, kind="message", text=json.dumps(note))

        await self._kernel.take_notification(
            message.body, Peer(session.version, session.client), http=request, emit=standalone
        )

    async def _exchange(self, request: Request, session: Session, requests: list[Json], is_batch: bool) -> Any:
        name = f"p{secrets.token_hex(8)}"
        set_session(request.scope, session.id)
        exchange = Exchange(self._store, session, requests, replica=self._replica, name=name)
        peer = Peer(session.version, session.client)

        async def serve(body: Json, emit: Any) -> Json:
            return (await self._kernel.answer(body, peer, http=request, emit=emit, release=exchange.release))[0]

        self._running[exchange] = session.id
        running, release = self._spawn(exchange.run(serve)), keep_counted(request.scope)
        running.add_done_callback(lambda _task: self._running.pop(exchange, None))
        running.add_done_callback(lambda _task: release())
        if await exchange.decide():
            self._not_resumable.add(running)
            running.add_done_callback(self._not_resumable.discard)
            return self._sse(session, name, exchange.entries(), answers=running)
        if not exchange.is_complete:
            raise HttpFault(500, PlannerError(), request_id=requests[0]["id"])
        if not exchange.responses:
            return Response(status_code=202)  # cancelled before it answered
        return JSONResponse(exchange.responses if is_batch else exchange.responses[0])

    def cancelled(self, payload: str) -> None:
        """Cancel a request, on notice from any replica: `"<session> <request id as JSON>"`."""
        session_id, _, request_id = payload.partition(" ")
        for exchange, owner in self._running.items():
            if owner == session_id:
                exchange.cancel(request_id)

    # ---- GET, DELETE

    async def _get(self, request: Request) -> Any:
        accept(request, "text/event-stream")
        session = await self._session(request)
        try:
            self._streams.check(session.principal)
            return self._streams.served(await self._stream(request, session), session.principal)
        except QuotaExceededError as error:
            raise too_many(error) from error

    async def _stream(self, request: Request, session: Session) -> EventStream:
        stream, after = await self._position(request, session)
        if stream == STANDALONE:
            token = secrets.token_hex(8)
            has_delivered = await self._store.take_standalone(session.id, token)
            if after is None:
                after = await self._store.end_of(session.id, STANDALONE) if has_delivered else "0-0"
            entries = self._with_forwarding(
                session,
                principal_of(request.scope),
                self._stream_reader.standalone(session, token, after, has_delivered=has_delivered),
            )
        else:
            entries = self._stream_reader.follow(session, stream, after or "0-0")
        return self._sse(session, stream, entries)

    async def _position(self, request: Request, session: Session) -> tuple[str, str | None]:
        """Return the stream of a GET and the position to resume from; None: undelivered or new entries."""
        if not (event_id := request.headers.get("last-event-id")):
            return STANDALONE, None
        try:
            return await self._stream_reader.resume(session, event_id)
        except LostStreamError as error:
            raise HttpFault(400, error) from error

    async def _delete(self, request: Request) -> Response:
        session = await self._session(request)
        await self._store.delete(session.id)
        return Response(status_code=204)

    # ---- parts

    async def _session(self, request: Request) -> Session:
        if not (session_id := request.headers.get("mcp-session-id")):
            raise HttpFault(400, MalformedError("The Mcp-Session-Id header is missing; initialize first."))
        return await self._sessions.find(session_id, principal_of(request.scope).id)

    async def _with_forwarding(self, session: Session, principal: Principal, entries: Entries) -> Entries:
        """Yield entries of the standalone stream while writing to it what the session subscribed to."""
        forwarding = self._spawn(self._forward_events(session.id, principal))
        try:
            async with aclosing(entries):
                async for entry in entries:
                    yield entry
        finally:
            self._spawn(cancel_and_wait(forwarding))

    def _sse(
        self, session: Session, stream: str, entries: Entries, *, answers: asyncio.Task[None] | None = None
    ) -> EventStream:
        """Return a stream of a session; `answers` is the work it ends with, None for a stream a GET opened."""
        held = anyio.Event()

        async def stream_events() -> AsyncGenerator[bytes]:
            async with aclosing(entries):
                async for entry in entries:
                    if entry is not None and (data := stream_event(stream, entry, version=session.version)):
                        yield data
                        held.set()
                        if answers is not None:
                            self._not_resumable.discard(answers)

        headers = {"mcp-session-id": session.id}
        if answers is None:
            return EventStream(stream_events(), drain=self.drain, headers=headers)
        return EventStream(stream_events(), drain=self.drain, headers=headers, is_answer=True, resumable=held)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run work beside the request that began it, so that a lost connection does not stop it."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("exchange failed", exc_info=error)
