"""Sends what is written in one turn of the loop at once, so that the head of an answer travels with its body.

Owns that delay alone. A send costs more than most of what an answer is made of, and wakes the client each time.
"""

import asyncio
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write soon."""
        if not self._gathered:
            self._loop.call_soon(self._flush)
        self._gathered.append(data)

    def write_now(self, data: bytes) -> None:
        """Write at once, behind what was gathered: what comes alone gains nothing by waiting."""
        self._flush()
        self._transport.write(data)

    def close(self) -> None:
        """Write what was gathered, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self._transport.write(b"".join(gathered))
