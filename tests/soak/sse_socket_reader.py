"""An SSE reader of a few bytes: one socket, no client library, so that a thousand of them fit beside what they test.

Owns the parsing of a chunked response and of SSE blocks, and one rule: each block with data is an event with an id.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

AGAIN_S: Final = 0.5
"""Pause of a reader whose request came too late."""


class RefusedError(Exception):
    """The server answered otherwise than with a stream."""


class BusyError(Exception):
    """The server asks to come back.

    Args:
        retry_after_s: When.
    """

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(retry_after_s)
        self.retry_after_s = retry_after_s


@dataclass(frozen=True)
class Event:
    """One event with data."""

    id: str
    message: dict[str, Any]


async def request(
    url: str, method: str, headers: Mapping[str, str], body: Any = None
) -> tuple[Any, Any, dict[str, str]]:
    """Send a request; return reader, writer and response headers with the status under `:status`."""
    parts = urlsplit(url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, limit=2**16)
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {parts.path} HTTP/1.1", f"Host: {parts.netloc}", f"Content-Length: {len(data)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + data)
    found = {":status": (await reader.readline()).split()[1].decode()}
    while line := (await reader.readline()).strip():
        name, _, value = line.decode().partition(":")
        found[name.lower()] = value.strip()
    return reader, writer, found


async def call(url: str, headers: Mapping[str, str], body: Any) -> tuple[dict[str, str], Any]:
    """Return headers and JSON of an answer; a request that is answered with a stream is none of these."""
    reader, writer, found = await request(url, "POST", headers, body)
    data = await reader.readexactly(int(found.get("content-length", "0")))
    writer.close()
    return found, json.loads(data) if data else None


async def events(
    url: str, headers: Mapping[str, str], on_open: Callable[[], None] = lambda: None
) -> AsyncIterator[Event]:
    """Yield the events of a stream until it ends; closing the generator closes the connection.

    Args:
        url: Of the stream.
        headers: Of the request.
        on_open: Called when the stream has begun.

    Raises:
        BusyError: 503 with `Retry-After`, or 408.
        RefusedError: Not a stream. 204, which tells a reader that there will be nothing more, is an end.
    """
    reader, writer, found = await request(url, "GET", {"Accept": "text/event-stream", **headers})
    try:
        if found[":status"] == "204":
            return
        if found[":status"] == "503" and "retry-after" in found:
            raise BusyError(float(found["retry-after"]))
        if found[":status"] == "408":  # this process was busy with its other readers for too long
            raise BusyError(AGAIN_S)
        if found[":status"] != "200":
            raise RefusedError(found)
        on_open()
        pending = b""
        while size := int((await reader.readline()).strip() or b"0", 16):
            pending += await reader.readexactly(size)
            await reader.readexactly(2)
            *blocks, pending = pending.split(b"\n\n")
            for block in blocks:
                if event := _event(block):
                    yield event
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def _event(block: bytes) -> Event | None:
    fields = dict(line.split(b": ", 1) for line in block.split(b"\n") if b": " in line and not line.startswith(b":"))
    data = fields.get(b"data", b"")
    return Event(fields[b"id"].decode(), json.loads(data)) if data else None
