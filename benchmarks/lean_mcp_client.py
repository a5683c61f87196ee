"""A client of one MCP endpoint that uses little CPU, so that the server is what is measured.

Owns a keep-alive HTTP/1.1 connection and revision 2026-07-28 over it. It reads bodies by length or in chunks and
supports nothing else of HTTP. Programs use the official client instead.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, Final
from urllib.parse import urlsplit

VERSION: Final = "2026-07-28"
TASKS: Final = "io.modelcontextprotocol/tasks"
META: Final = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
}
HEAD: Final = (
    "POST {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n"
    "accept: application/json, text/event-stream\r\nmcp-protocol-version: {version}\r\n"
    "mcp-method: {method}\r\nmcp-name: {name}\r\n{more}content-length: {length}\r\n\r\n"
)
_ids = count(1)


class Wire:
    """One connection, one request at a time.

    Args:
        reader, writer: The connection.
        url: Of the endpoint.
        headers: Further headers of every request, for example a credential.
    """

    version = VERSION
    meta = META

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, url: str, headers: dict[str, str]
    ) -> None:
        self._reader, self._writer = reader, writer
        self._where = urlsplit(url)
        self._more = ""
        self.head: list[bytes] = []
        """Lines of the last answer's head."""
        for name, value in headers.items():
            self.add_header(name, value)

    def add_header(self, name: str, value: str) -> None:
        """Send a header with every request from now on."""
        self._more += f"{name}: {value}\r\n"

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one tool call."""
        return await self.send("tools/call", tool, {"name": tool, "arguments": arguments})

    async def send(self, method: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of one request."""
        text = await self._post(method, name, {"params": {**params, "_meta": self.meta}})
        if not text.startswith(b"{"):
            text = [line for line in text.splitlines() if line.startswith(b"data: {")][-1].removeprefix(b"data: ")
        reply = json.loads(text)
        if "result" not in reply:
            raise RuntimeError(f"{method}: {text[:300]!r}")
        result: dict[str, Any] = reply["result"]
        return result

    async def _post(self, method: str, name: str, message: dict[str, Any]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": next(_ids), "method": method, **message}).encode()
        head = HEAD.format(
            path=self._where.path,
            host=self._where.netloc,
            version=self.version,
            method=method,
            name=name,
            more=self._more,
            length=len(body),
        )
        self._writer.write(head.encode() + body)
        self.head = (await self._reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        for line in self.head:
            if line.lower().startswith(b"content-length:"):
                return await self._reader.readexactly(int(line[15:]))
        return b"".join([chunk async for chunk in self._chunks()])

    async def _chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readuntil(b"\r\n"), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readexactly(2)


@asynccontextmanager
async def connected(url: str, kind: "type[Wire]" = Wire, **headers: str) -> AsyncIterator[Wire]:
    """Yield a connection to an endpoint."""
    where = urlsplit(url)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        yield kind(reader, writer, url, headers)
    finally:
        writer.close()
