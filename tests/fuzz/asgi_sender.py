"""Sends a request to an ASGI app in this process and judges the answer."""

import json
from dataclasses import dataclass, field
from typing import Any

import anyio
from starlette.types import ASGIApp

from tests.fuzz.request_mutations import Request

PATIENCE_S = 20.0
"""Longest wait for an answer to begin: far above what a busy machine needs, far below a wait for ever."""
STREAM_S = 0.02
"""How long a stream is read before its reader leaves."""
LEAKS = ("Traceback", 'File "', "planner_mcp/", "site-packages", "redis.exceptions")
OPEN = ("result", "error")


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    is_complete: bool = False
    was_left: bool = False
    """Whether the client went before the end of a stream; nobody owes it an end."""

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")


async def ask(app: ASGIApp, request: Request) -> Answer:
    """Return the answer to a request; a stream is left soon after it began."""
    answer, gone, begun = Answer(), anyio.Event(), anyio.Event()
    pending = [{"type": "http.request", "body": request.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if pending:
            return pending.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
            if answer.is_stream:
                begun.set()
        elif message["type"] == "http.response.body":
            answer.body += message.get("body", b"")
            answer.is_complete = not message.get("more_body", False)

    async def leave() -> None:
        await begun.wait()
        await anyio.sleep(STREAM_S)
        answer.was_left = True
        gone.set()

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(leave)
            await app(_scope(request), receive, send)
            tasks.cancel_scope.cancel()
    return answer


def _scope(request: Request) -> dict[str, Any]:
    path, _, query = request.path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1", "replace")) for name, value in request.headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
        "state": {},
    }


def faults(answer: Answer) -> list[str]:
    """Return what is wrong with an answer; nothing when it is a proper one."""
    text = answer.body.decode("utf-8", "replace")
    found = [f"leaks {word!r}" for word in LEAKS if word in text]
    is_busy = answer.status == 503 and "retry-after" in answer.headers  # the store was slow: come back (SPEC J7)
    if not (200 <= answer.status < 500 or is_busy):
        found.append(f"status {answer.status}")
    if not (answer.is_complete or answer.was_left):
        found.append("no end of body")
    kind = answer.headers.get("content-type", "").partition(";")[0]
    if kind == "application/json" and answer.body:
        found += _json_faults(answer)
    elif answer.status >= 400 and answer.body and kind not in ("", "text/plain", "text/event-stream"):
        found.append(f"refused with {kind!r}")
    return found


def _json_faults(answer: Answer) -> list[str]:
    try:
        body = json.loads(answer.body)
    except ValueError:
        return ["its JSON is none"]
    return [fault for each in (body if isinstance(body, list) else [body]) for fault in _message_faults(each)]


def _message_faults(body: Any) -> list[str]:
    """Return what is wrong with a JSON-RPC message; a page elsewhere is only looked at for being an object."""
    if not isinstance(body, dict):
        return ["neither object nor batch"]
    if "jsonrpc" not in body:
        return []
    if sum(key in body for key in OPEN) != 1 or "id" not in body:
        return [f"not a response: {sorted(body)}"]
    error = body.get("error")
    if error is not None and not (isinstance(error.get("code"), int) and isinstance(error.get("message"), str)):
        return ["error without code and message"]
    return []
