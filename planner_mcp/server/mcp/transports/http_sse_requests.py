"""Answers to the messages of HTTP+SSE, which go to a stream that another replica may hold.

Owns the requests that are being answered here: their number, their cancellation, and that each gets one answer. What
a replica works on is stored beside the session, so that the holder of the stream can answer for a replica that died
(`answer_orphans`); a replica that stops answers itself.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
from starlette.requests import Request

from planner_mcp.errors import AbandonedRequestError, QuotaExceededError, StoreError
from planner_mcp.jobs.events.pubsub_channels import STANDALONE
from planner_mcp.jobs.store.sessions.request_leases import RequestLeases
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.http.concurrency_limits import keep_counted
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_error
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import MalformedError
from planner_mcp.server.mcp.kernel import Kernel, Peer
from planner_mcp.server.mcp.mcp_sessions import Session, Sessions
from planner_mcp.server.mcp.transports.post_exchange import RENEW_S
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.text import Json, compact

MAX_RUNNING: Final = 64
"""Messages of one session that may be worked on here at a time."""
RETRY_AFTER_S: Final = 2.0
PROGRESS_GAP_S: Final = 0.05
"""Least time between a progress and the answer to its request: clients of this transport that find both in one read
give up on the progress, because they handle answers first."""
ORPHAN_CHECK_S: Final = 5.0
"""How often the holder of a stream checks for requests whose replica died."""

log = logging.getLogger(__name__)


class RequestRunner:
    """Answers requests on the streams of their sessions.

    Args:
        kernel: The MCP server.
        store: Sessions and streams.
        work: Records which replica works on which request.
    """

    def __init__(self, kernel: Kernel, store: SessionStore, work: RequestLeases) -> None:
        self._kernel = kernel
        self._store = store
        self._sessions = Sessions(store)
        self._work = work
        self._replica = secrets.token_hex(8)
        self._running: dict[str, dict[str, asyncio.Task[None]]] = {}
        self._is_stopping = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Work until the block ends; requests still unanswered are then answered with an error."""
        beating = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            self._is_stopping = True
            tasks = [task for running in self._running.values() for task in running.values()]
            await asyncio.gather(cancel_and_wait(beating), *map(cancel_and_wait, tasks), return_exceptions=True)

    async def begin(self, request: Request, session: Session, body: Json) -> None:
        """Begin to work on a request.

        Raises:
            QuotaExceededError: Too many of the session are being worked on here.
        """
        if len(self._running.get(session.id, ())) >= MAX_RUNNING:
            problem, allowed = "Too many messages are being worked on.", f"{MAX_RUNNING} of a session at a time"
            raise QuotaExceededError.reached(problem, allowed, "Wait retry_after_s.", retry_after_s=RETRY_AFTER_S)
        key = json.dumps(body["id"])
        await self._work.begin(session.id, key, self._replica)
        task = asyncio.create_task(self._answer(request, session, body, key))
        self._running.setdefault(session.id, {})[key] = task  # only now: who ended meanwhile took the dict away
        release = keep_counted(request.scope)
        task.add_done_callback(lambda done: self._finished(session.id, key, done))
        task.add_done_callback(lambda _done: release())

    def cancelled(self, payload: str) -> None:
        """Cancel a request, on notice from any replica: `"<session> <request id as JSON>"`, `*` for all."""
        session_id, _, request_id = payload.partition(" ")
        for key, task in list(self._running.get(session_id, {}).items()):
            if request_id in (key, "*"):
                task.cancel()

    async def answer_orphans(self, session: Session) -> None:
        """Answer each request whose replica died with an error, until cancelled."""
        while True:
            await anyio.sleep(ORPHAN_CHECK_S)
            try:
                for key in await self._work.orphans(session.id):
                    await self._put(session, rpc_error(AbandonedRequestError(), request_id=json.loads(key)))
            except StoreError:
                log.info("store away", extra={"session_stream": "looked for abandoned requests"})

    async def _answer(self, request: Request, session: Session, body: Json, key: str) -> None:
        sent_at = float("-inf")

        async def emit(message: Mapping[str, Any]) -> None:
            nonlocal sent_at
            await self._put(session, message)
            sent_at = time.monotonic()

        try:
            answer = await self._result(request, session, body, emit)
            await anyio.sleep(max(0.0, sent_at + PROGRESS_GAP_S - time.monotonic()))
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                if await self._work.end(session.id, key, self._replica) and self._is_stopping:
                    await self._put(session, rpc_error(AbandonedRequestError(), request_id=body["id"]))
            raise
        if await self._work.end(session.id, key, self._replica):
            await self._put(session, answer)

    async def _result(self, request: Request, session: Session, body: Json, emit: Any) -> Json:
        if not session.version and body["method"] not in ("initialize", "ping"):
            return rpc_error(MalformedError("Initialize first."), request_id=body["id"])
        peer = Peer(session.version, session.client) if session.version else Peer()
        answer, peer = await self._kernel.answer(body, peer, http=request, emit=emit)
        if body["method"] == "initialize" and "result" in answer:
            await self._sessions.complete_handshake(session, peer.version, peer.client or {})
        return answer

    async def _put(self, session: Session, message: Mapping[str, Any]) -> None:
        text = compact(message)
        await self._store.append(session.id, STANDALONE, kind="message", text=text)

    async def _beat(self) -> None:
        while True:
            await anyio.sleep(RENEW_S)
            if self._running:
                try:
                    await self._work.beat(self._replica)
                except StoreError:
                    log.info("store away", extra={"replica": "its lease was not renewed"})

    def _finished(self, session_id: str, key: str, task: asyncio.Task[None]) -> None:
        running = self._running.get(session_id, {})
        if running.get(key) is task:
            del running[key]
        if not running:
            self._running.pop(session_id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("message failed", exc_info=error)
