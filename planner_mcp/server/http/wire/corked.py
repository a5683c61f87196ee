"""Sends what is written in one turn of the loop at once, so that the head of an answer travels with its body.

Owns that delay, and a slow way to close. A send costs more than most of what an answer is made of, and wakes the client
each time. A connection that is closed while its client still sends is reset, and what it was told lost (RFC 9112 §9.6).
"""

import asyncio
from contextlib import suppress
from typing import Any


class CorkedTransport:
    """A transport that gathers writes; all else is the transport's own.

    Args:
        transport: What is written to.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._gathered: list[bytes] = []
        self.linger_s = 0.0
        """How long what still comes is taken after the last word; whoever sets it reads it and heeds it not."""
        self._has_ended = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write soon; behind the last word, nothing."""
        if self._has_ended:
            return
        if not self._gathered:
            self._loop.call_soon(self._flush)
        self._gathered.append(data)

    def write_now(self, data: bytes) -> None:
        """Write at once, behind what was gathered: what comes alone gains nothing by waiting."""
        self._flush()
        if not self._has_ended:
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Return whether the last word is said."""
        return self._has_ended or self._transport.is_closing()

    def close(self) -> None:
        """Write what was gathered, and close; asked again, at once."""
        self._flush()
        if not self.linger_s or self.is_closing():
            self._transport.close()
            return
        self._has_ended = True
        if self._transport.can_write_eof() and not self._transport.get_write_buffer_size():
            with suppress(OSError):  # it was reset already
                self._transport.write_eof()
        self._loop.call_later(self.linger_s, self._transport.close)

    def _flush(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._transport.write(b"".join(gathered))
