"""Standard input and output of a client: invalid lines are answered, and batches are split and joined again.

Owns what the SDK does not do for the lines it reads. The SDK drops a line that it cannot read and a request without
a valid id, so that their client would wait for ever, and it does not know the batches that revision 2025-03-26
requires. Every line is read here first, by the rules of a body over HTTP, and handed to the SDK one message per
line. Requests read before the input ended are still answered if that does not take long; the SDK then cancels the
rest.
"""

import json
import os
import sys
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, cast

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, JSONRPCError, JSONRPCMessage, JSONRPCResponse
from pydantic import RootModel, ValidationError

from planner_mcp.server.http.bodies.json_reading import (
    LONE_SURROGATE,
    has_lone_surrogate,
    is_deeper,
    too_deep,
)
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import data_for, rpc_error
from planner_mcp.server.mcp.jsonrpc.jsonrpc_messages import (
    BATCHES_IN,
    JsonRpcMessage,
    MalformedError,
    MessageKind,
    parse_line,
)

NOT_JSON: Final = "json_invalid"
"""How pydantic names a text that is not JSON."""
MAX_NESTING: Final = 200
"""What the SDK's reader of JSON takes for certain. Tools take less (`PLANNER_MAX_NESTING`), and name the place."""
FINAL_ANSWERS_S: Final = 1.5
"""Longest wait for answers at the end of input, below the 2 s after which clients end a server by a signal."""
LISTEN_METHOD: Final = "subscriptions/listen"
"""Answered when its client wants no more, so never waited for."""
Answer = JSONRPCResponse | JSONRPCError


@asynccontextmanager
async def stdio_message_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield what the client says and a way to answer it, as the SDK takes them."""
    answers = AnswerWriter()
    lines = cast("anyio.AsyncFile[str]", MessageLines(_claimed_input(), answers))
    async with stdio_server(stdin=lines) as (reader, writer):
        answers.writer = writer  # no line is read before
        yield RefusingReader(reader, writer), answers


def _claimed_input() -> BinaryIO:
    """Return standard input under another descriptor; the usual one is then at its end, so no child takes a line away.

    The SDK does the same for a standard input it opens itself.
    """
    try:
        wire, nothing = os.dup(sys.stdin.fileno()), os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, sys.stdin.fileno())
    except OSError:
        return sys.stdin.buffer
    os.close(nothing)
    return os.fdopen(wire, "rb", closefd=False)  # a thread may still read it when all else has ended


class Batch(RootModel[list[Answer]]):
    """The answers to the requests of one batch, on one line."""


@dataclass(slots=True, eq=False)
class PendingBatch:
    """A batch some of whose requests are not answered yet."""

    keys: list[str]
    """Their ids, as JSON."""
    answers: list[Answer] = field(default_factory=list)


class AnswerWriter:
    """What goes to the client; the answers to a batch go together."""

    def __init__(self) -> None:
        self.writer: Any = None
        """Takes messages for the client, from the SDK."""
        self.version = ""
        """The revision that was agreed on in a handshake, empty before."""
        self._handshake = ""
        self._pending_batches: list[PendingBatch] = []
        self._open: set[str] = set()
        """Ids of requests to be answered, as JSON."""
        self._request_closed = anyio.Event()

    async def send(self, item: SessionMessage) -> None:
        """Send a message, or keep it until the rest of its batch is there."""
        message = item.message
        if not isinstance(message, Answer):
            await self.writer.send(item)
            return
        key = json.dumps(message.id)
        if isinstance(message, JSONRPCError):
            _complete(message)
        if key == self._handshake and isinstance(message, JSONRPCResponse):
            self.version = str(message.result.get("protocolVersion", ""))
        if (pending_batch := self._pending_batch(key)) is None:
            await self.writer.send(item)
        else:
            pending_batch.answers.append(message)
            await self._settle(pending_batch, key)
        self._close(key)

    async def refuse(self, error: MalformedError) -> None:
        """Answer a line that is no message."""
        body = rpc_error(error, request_id=error.request_id, code=error.rpc_code)
        await self.writer.send(SessionMessage(JSONRPCError.model_validate(body)))

    def expect(self, messages: list[JsonRpcMessage], *, is_batch: bool) -> None:
        """Hear which requests are on their way to the server."""
        requests = [each for each in messages if each.kind is MessageKind.REQUEST]
        keys = [json.dumps(each.body["id"]) for each in requests]
        self._open.update(key for key, each in zip(keys, requests, strict=True) if each.method != LISTEN_METHOD)
        if is_batch and keys:
            self._pending_batches.append(PendingBatch(keys))
        elif messages[0].method == "initialize" and keys:
            self._handshake = keys[0]

    async def forget(self, message: JsonRpcMessage) -> None:
        """Hear that a request was cancelled: no answer follows."""
        key = json.dumps((message.body.get("params") or {}).get("requestId"))
        if (pending_batch := self._pending_batch(key)) is not None:
            await self._settle(pending_batch, key)
        self._close(key)

    async def wait_for_all(self) -> None:
        """Wait until every request is answered, up to `FINAL_ANSWERS_S`."""
        with anyio.move_on_after(FINAL_ANSWERS_S):
            while self._open:
                self._request_closed = anyio.Event()
                await self._request_closed.wait()

    def _close(self, key: str) -> None:
        self._open.discard(key)
        self._request_closed.set()

    def _pending_batch(self, key: str) -> PendingBatch | None:
        return next((each for each in self._pending_batches if key in each.keys), None)

    async def _settle(self, pending_batch: PendingBatch, key: str) -> None:
        pending_batch.keys.remove(key)
        if pending_batch.keys:
            return
        self._pending_batches.remove(pending_batch)
        if pending_batch.answers:
            batch = cast("JSONRPCMessage", Batch.model_construct(pending_batch.answers))  # all the SDK does is dump it
            await self.writer.send(SessionMessage(batch))

    async def aclose(self) -> None:
        """Send no more."""
        await self.writer.aclose()

    async def __aenter__(self) -> "AnswerWriter":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class MessageLines:
    """Standard input, one message of JSON-RPC 2.0 a line; every other line is answered and left out.

    Args:
        wire: Standard input.
        answers: Learns of requests, and writes answers.
    """

    def __init__(self, wire: BinaryIO, answers: AnswerWriter) -> None:
        self._wire = anyio.wrap_file(wire)
        self._answers = answers
        self._waiting: deque[str] = deque()
        """What is left of a batch."""

    def __aiter__(self) -> "MessageLines":
        return self

    async def __anext__(self) -> str:
        while not self._waiting:
            if not (line := await self._wire.readline()):
                await self._answers.wait_for_all()
                raise StopAsyncIteration
            try:
                self._waiting += await self._messages(line)
            except MalformedError as error:
                await self._answers.refuse(error)
        return self._waiting.popleft()

    async def _messages(self, line: bytes) -> list[str]:
        messages, is_batch = parse_line(line)
        _check_readable(line, messages, is_batch=is_batch)
        if is_batch and self._answers.version != BATCHES_IN:
            raise MalformedError(f"Only a session of revision {BATCHES_IN} has batches.")
        texts = [json.dumps(each.body, ensure_ascii=False) for each in messages] if is_batch else [line.decode()]
        self._answers.expect(messages, is_batch=is_batch)
        for message in messages:
            if message.method == "notifications/cancelled":
                await self._answers.forget(message)
        return texts


def _check_readable(line: bytes, messages: list[JsonRpcMessage], *, is_batch: bool) -> None:
    """Check a message the SDK could not read; the answer names the request's id if it is known.

    Raises:
        MalformedError: As a body over HTTP is refused.
    """
    if not (problem := _problem(line, messages)):
        return
    is_known = not is_batch and messages[0].kind is MessageKind.REQUEST
    request_id = messages[0].body["id"] if is_known else None
    is_text = not has_lone_surrogate(request_id)
    raise MalformedError(problem, code=PARSE_ERROR, request_id=request_id if is_text else None)


def _problem(line: bytes, messages: list[JsonRpcMessage]) -> str:
    if is_deeper(line, MAX_NESTING):
        return too_deep(MAX_NESTING)
    return LONE_SURROGATE if any(has_lone_surrogate(each.body) for each in messages) else ""


def _complete(answer: JSONRPCError) -> None:
    """Give an error of the SDK's own the data that every error has (SPEC T7)."""
    if answer.error.data is None:
        answer.error.data = data_for(answer.error.code, answer.error.message)


class RefusingReader:
    """The messages of a client, with what only the SDK could not read answered by an error too.

    Args:
        reader: Messages and the exceptions that lines became, from the SDK.
        writer: Takes messages for the client.
    """

    def __init__(self, reader: Any, writer: Any) -> None:
        self._reader = reader
        self._writer = writer

    @property
    def last_context(self) -> Any:
        """Context the last message was sent in, as the SDK asks for it."""
        return getattr(self._reader, "last_context", None)

    async def receive(self) -> SessionMessage:
        """Return the next message."""
        while isinstance(item := await self._reader.receive(), Exception):
            await self._writer.send(SessionMessage(_refusal(item)))
        message: SessionMessage = item
        return message

    def __aiter__(self) -> "RefusingReader":
        return self

    async def __anext__(self) -> SessionMessage:
        while isinstance(item := await anext(self._reader), Exception):
            await self._writer.send(SessionMessage(_refusal(item)))
        message: SessionMessage = item
        return message

    async def aclose(self) -> None:
        """Read no more."""
        await self._reader.aclose()

    async def __aenter__(self) -> "RefusingReader":
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


def _refusal(error: Exception) -> JSONRPCError:
    is_json = not (isinstance(error, ValidationError) and any(each["type"] == NOT_JSON for each in error.errors()))
    problem = "The line is no message of JSON-RPC 2.0." if is_json else "The line is not JSON."
    code = INVALID_REQUEST if is_json else PARSE_ERROR
    return JSONRPCError.model_validate(rpc_error(MalformedError(problem), code=code))
