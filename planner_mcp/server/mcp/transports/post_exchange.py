"""The answer to one POST of the handshake revisions.

Owns the choice between two forms: plain JSON if the handler was quick and sent no other message, otherwise an SSE
stream, from its first message or after `STREAM_AFTER_S`. Each message is stored before a client sees it, so the
client may disconnect and go on reading at any replica. The handler does not notice: a lost connection is not a
cancellation (spec 2025-11-25, transports). A reader slower than `MAX_READER_LAG` messages is disconnected, and
resumes the same way.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Final

import anyio

from planner_mcp.errors import AbandonedRequestError, PlannerError
from planner_mcp.jobs.store.sessions.session_store import SessionStore
from planner_mcp.server.mcp.dispatch_context import Emit
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_error
from planner_mcp.server.mcp.mcp_sessions import Session
from planner_mcp.server.mcp.transports.session_streams import StreamEntry
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.text import Json, compact

STREAM_AFTER_S: Final = 1.0
"""After this time without an answer the answer becomes a stream."""
MAX_READER_LAG: Final = 256
"""Messages a reader may lag behind."""
RENEW_S: Final = 3.0
"""How often the lease of a running stream is renewed."""

Serve = Callable[[Json, Emit], Awaitable[Json]]
"""Answers one request: `(request, emit) → response`."""


class Exchange:
    """Runs the requests of one POST and records what they send.

    Args:
        store: Where streams are kept.
        session: Whose POST it is.
        requests: JSON-RPC requests, one save in a batch of 2025-03-26.
        replica: This process, as owner of the stream.
        name: The stream's name, fresh.
    """

    def __init__(
        self, store: SessionStore, session: Session, requests: Sequence[Json], *, replica: str, name: str
    ) -> None:
        self.name = name
        self.responses: list[Json] = []
        self.is_stream = False
        self._store = store
        self._session = session
        self._requests = requests
        self._replica = replica
        self._pending = len(requests)
        self._unanswered_ids = [request["id"] for request in requests]
        """Of requests that are neither cancelled nor answered on the stream: what a dead replica leaves behind."""
        self._writing = anyio.Lock()
        self._decided = anyio.Event()
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._inbox: asyncio.Queue[StreamEntry | None] = asyncio.Queue()
        self._has_reader = True
        self._leasing: asyncio.Task[None] | None = None

    async def run(self, serve: Serve) -> None:
        """Answer all requests; ends when the last one is answered."""
        try:
            first, *others = self._requests
            if others:
                async with anyio.create_task_group() as calls:
                    for request in self._requests:
                        calls.start_soon(self._answer, request, serve)
            else:
                await self._answer(first, serve)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await self._abandon()
            raise
        finally:
            if self._leasing is not None:
                await cancel_and_wait(self._leasing)
            self._decided.set()
            self._end_reader()

    def cancel(self, request_id: str) -> None:
        """Stop one request (`request_id` in JSON), or all with `*`. Its job, if any, goes on."""
        for key, scope in self._scopes.items():
            if request_id in (key, "*"):
                scope.cancel()

    @property
    def is_complete(self) -> bool:
        """Whether every request was answered or cancelled."""
        return not self._pending

    async def decide(self) -> bool:
        """Wait until the form of the answer is known; return whether it is a stream."""
        with anyio.move_on_after(STREAM_AFTER_S):
            await self._decided.wait()
        if not self._decided.is_set():
            async with self._writing:
                await self._open()
        return self.is_stream

    async def entries(self) -> AsyncGenerator[StreamEntry]:
        """Yield what is written, as long as this reader keeps up."""
        while (entry := await self._inbox.get()) is not None:
            yield entry

    async def _answer(self, request: Json, serve: Serve) -> None:
        response: Json | None = None
        with anyio.CancelScope() as scope:
            self._scopes[json.dumps(request["id"])] = scope
            response = await serve(request, self.emit)
        async with self._writing:
            self._pending -= 1
            if response is None:
                self._unanswered_ids.remove(request["id"])
            else:
                self.responses.append(response)
            if self.is_stream:
                await self._record("message" if self._pending else "final", response)

    async def release(self) -> None:
        """End the connection of a stream; its client goes on reading by `Last-Event-ID` (spec 2025-11-25, polling)."""
        async with self._writing:
            if self.is_stream:
                self._end_reader()

    async def emit(self, message: Json) -> None:
        """Send a message before the answer; makes the answer a stream."""
        async with self._writing:
            await self._open()
            await self._record("message", message)

    async def _open(self) -> None:
        """Make the answer a stream, if it is none yet and is not complete."""
        if self.is_stream or not self._pending:
            return
        await self._record("open", None)
        self.is_stream = True
        self._leasing = asyncio.create_task(self._keep_lease())
        self._decided.set()
        for response in self.responses:
            await self._record("message", response)

    async def _record(self, kind: str, message: Json | None) -> None:
        if message is not None and "method" not in message:
            self._unanswered_ids.remove(message["id"])
        text = "" if message is None else compact(message)
        position = await self._store.append(
            self._session.id, self.name, kind=kind, text=text, owner=self._replica, request_ids=self._unanswered_ids
        )
        if position is None:
            return
        if self._inbox.qsize() >= MAX_READER_LAG:
            self._end_reader()
        if self._has_reader:
            self._inbox.put_nowait(StreamEntry(position, kind, text))

    def _end_reader(self) -> None:
        """End the local reader: the stream is complete, or the reader is too slow and resumes from the store."""
        if self._has_reader:
            self._has_reader = False
            self._inbox.put_nowait(None)

    async def _keep_lease(self) -> None:
        while True:
            await anyio.sleep(RENEW_S)
            with suppress(PlannerError):  # with the store away the lease runs out, as it should
                await self._store.renew(self._session.id, self.name, self._replica)

    async def _abandon(self) -> None:
        """Answer unanswered requests with an error, because this process stops."""
        answered = [response["id"] for response in self.responses]
        left = [request_id for request_id in self._unanswered_ids if request_id not in answered]
        for index, request_id in enumerate(left, start=1):
            error = rpc_error(AbandonedRequestError(), request_id=request_id)
            self.responses.append(error)
            self._pending = 0
            if not self.is_stream:
                continue
            try:
                await self._record("final" if index == len(left) else "message", error)
            except PlannerError:
                return  # the store is unavailable too: the lease expires and the next reader ends the stream
