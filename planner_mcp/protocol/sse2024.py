"""HTTP+SSE of revision 2024-11-05: `GET /sse` opens a stream, `POST /messages` speaks, on the kernel of every door.

Owns the two endpoints. The stream is the standalone stream of a session in the store, so a message may be posted to any
replica: its answer is written to the stream there and read by the replica that holds it. The revision has no
resumption: a session lives as long as its stream, and the events carry no ids. What a session subscribed to is told on
the same stream.

Intended departure: when the replica that works on a message dies, no answer comes; the client's own time limit ends its
wait, as in any server of this transport.
"""

import asyncio
import json
import logging
import secrets
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, Protocol

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from planner_mcp.auth.principal import principal_of
from planner_mcp.errors import PlannerError, QuotaExceededError, StoreError, UnknownSessionError
from planner_mcp.protocol.callers import leave_session
from planner_mcp.protocol.envelope import HttpFault, read
from planner_mcp.protocol.faults import rpc_error
from planner_mcp.protocol.http import RETRY_AFTER_S, Pump
from planner_mcp.protocol.kernel import Kernel, Peer
from planner_mcp.protocol.messages import Kind, MalformedError, Message
from planner_mcp.protocol.sessions import Session, SessionLog, Sessions, Wakes
from planner_mcp.protocol.streams import STANDALONE, Follower
from planner_mcp.web.sse import EventStream

DOOR: Final = "sse"
"""Marks the sessions of this transport; they are of no use at `/mcp`, nor those at `/messages`."""
MAX_RUNNING: Final = 64
"""Messages of one session that may be worked on here at a time."""
CLOSE_S: Final = 5.0

log = logging.getLogger(__name__)


class Taker(Protocol):
    """Takes notifications and answers of clients."""

    async def take(self, request: Request, session: Session, message: Message) -> None:
        """Take one."""
        ...


class SseFront:
    """The endpoints of the old transport.

    Args:
        kernel: The MCP server.
        store: Sessions and streams, shared by all replicas.
        wakes: How this replica hears of growing streams.
        taker: Takes what is no request.
        pump: Writes to a session's stream what it subscribed to.
        drain: Set when open streams shall end.
        max_streams: Streams one principal may have here.
    """

    def __init__(
        self,
        kernel: Kernel,
        store: SessionLog,
        wakes: Wakes,
        *,
        taker: Taker,
        pump: Pump,
        drain: anyio.Event,
        max_streams: int,
    ) -> None:
        self._kernel = kernel
        self._store = store
        self._sessions = Sessions(store)
        self._follower = Follower(store, wakes)
        self._taker = taker
        self._pump = pump
        self._drain = drain
        self._max_streams = max_streams
        self._open: Counter[str] = Counter()
        self._running: dict[str, dict[str, asyncio.Task[None]]] = {}
        self._pumps: set[asyncio.Task[None]] = set()

    def routes(self) -> list[Route]:
        """Return the routes to mount."""
        return [
            Route("/sse", self.stream, methods=["GET"]),
            Route("/messages", self.message, methods=["POST"]),
        ]

    @asynccontextmanager
    async def running(self) -> AsyncIterator["SseFront"]:
        """Serve until the block ends; then what still runs is stopped."""
        try:
            yield self
        finally:
            answers = [task for running in self._running.values() for task in running.values()]
            tasks = [*answers, *self._pumps]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    # ---- GET /sse

    async def stream(self, request: Request) -> Any:
        """Open a session and its stream, which begins with the address to post to."""
        principal = principal_of(request.scope)
        try:
            if self._open[principal.id] >= self._max_streams:
                raise QuotaExceededError("Too many open streams.", retry_after_s=RETRY_AFTER_S)
            session = await self._sessions.open(principal.id, "", {}, door=DOOR)
        except PlannerError as error:
            return _refusal(error).response
        return EventStream(self._frames(session), drain=self._drain)

    async def _frames(self, session: Session) -> AsyncGenerator[bytes]:
        pump = asyncio.create_task(self._pump(session.id, session.principal))
        self._pumps.add(pump)
        pump.add_done_callback(self._pumps.discard)
        self._open[session.principal] += 1
        try:
            yield f"event: endpoint\ndata: /messages?session_id={session.id}\n\n".encode()
            token = secrets.token_hex(8)
            await self._store.take_standalone(session.id, token)
            async with aclosing(self._follower.standalone(session, token, "0-0")) as entries:
                async for entry in entries:
                    if entry is not None and entry.text:
                        yield f"event: message\ndata: {entry.text}\n\n".encode()
        finally:
            pump.cancel()
            self._open[session.principal] -= 1
            with anyio.move_on_after(CLOSE_S, shield=True):
                await self._store.delete(session.id)

    # ---- POST /messages

    async def message(self, request: Request) -> Response:
        """Take a message; what it is answered with comes on the stream."""
        try:
            session = await self._session(request)
            messages, is_batch = await read(request)
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
        session = await self._sessions.find(session_id, principal_of(request.scope).id, door=DOOR)
        leave_session(request.scope, session.id)
        return session

    async def _take(self, request: Request, session: Session, message: Message) -> None:
        if message.kind is not Kind.REQUEST:
            await self._taker.take(request, session, message)
            return
        running = self._running.setdefault(session.id, {})
        if len(running) >= MAX_RUNNING:
            raise QuotaExceededError("Too many messages are being worked on.", retry_after_s=RETRY_AFTER_S)
        key = json.dumps(message.body["id"])
        task = running[key] = asyncio.create_task(self._answer(request, session, message.body))
        task.add_done_callback(lambda done: self._finished(session.id, key, done))

    async def _answer(self, request: Request, session: Session, body: dict[str, Any]) -> None:
        async def emit(message: Mapping[str, Any]) -> None:
            text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
            await self._store.append(session.id, STANDALONE, kind="message", text=text)

        if not session.version and body["method"] not in ("initialize", "ping"):
            await emit(rpc_error(MalformedError("Initialize first."), request_id=body["id"]))
            return
        peer = Peer(session.version, session.client) if session.version else Peer()
        answer, peer = await self._kernel.answer(body, peer, http=request, emit=emit)
        if body["method"] == "initialize" and "result" in answer:
            await self._sessions.settle(session, peer.version, dict(peer.client or {}))
        await emit(answer)

    def _finished(self, session_id: str, key: str, task: asyncio.Task[None]) -> None:
        running = self._running.get(session_id, {})
        if running.get(key) is task:
            del running[key]
        if not running:
            self._running.pop(session_id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("message failed", exc_info=error)

    def cancelled(self, payload: str) -> None:
        """Hear that a request was cancelled, here or elsewhere: `"<session> <request id as JSON>"`, `*` for all."""
        session_id, _, request_id = payload.partition(" ")
        for key, task in list(self._running.get(session_id, {}).items()):
            if request_id in (key, "*"):
                task.cancel()


def _refusal(error: PlannerError) -> HttpFault:
    if isinstance(error, UnknownSessionError):
        return HttpFault(404, error)
    status = 503 if isinstance(error, StoreError) else 429 if isinstance(error, QuotaExceededError) else 400
    headers = {"retry-after": str(round(error.retry_after_s or RETRY_AFTER_S))} if status != 400 else None
    return HttpFault(status, error, headers=headers)
