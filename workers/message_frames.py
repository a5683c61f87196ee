"""Messages between the processes of one worker: JSON behind a four-byte length, over a socket pair.

Owns the framing. JSON is used because text of clients must never be unpickled.
"""

import asyncio
import json
import socket
import struct
from collections.abc import Iterator
from typing import Any, Final

from planner_mcp.text import compact

_LENGTH: Final = struct.Struct(">I")

Message = dict[str, Any]


def pack(message: Message) -> bytes:
    """Return a message as bytes."""
    body = compact(message).encode()
    return _LENGTH.pack(len(body)) + body


def send(sock: socket.socket, message: Message) -> None:
    """Send a message over a blocking socket."""
    sock.sendall(pack(message))


class FrameBuffer:
    """Cuts a byte stream into messages, however it was split."""

    def __init__(self) -> None:
        self._pending = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """Take in bytes and yield every message they complete."""
        self._pending += data
        while (message := self._cut()) is not None:
            yield message

    def _cut(self) -> Message | None:
        if len(self._pending) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack_from(self._pending)
        end = _LENGTH.size + length
        if len(self._pending) < end:
            return None
        body = bytes(self._pending[_LENGTH.size : end])
        del self._pending[:end]
        message: Message = json.loads(body)
        return message


async def receive(reader: asyncio.StreamReader) -> Message | None:
    """Return the next message, or None at the end of the stream (also when it ends inside a message)."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        message: Message = json.loads(await reader.readexactly(length))
    except (asyncio.IncompleteReadError, ConnectionResetError):
        return None
    return message
