"""Tables of travel may be large: fetching them holds up nobody else (SPEC J7)."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from planner_mcp.jobs import ids
from planner_mcp.jobs.job_ports import MatrixParts
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings

pytestmark = pytest.mark.anyio
SMALL_BYTES = 1 << 16
LARGE = {"locations": '["A"]', "provenance": "{}", "distances": "x" * (1 << 20)}
FETCHES = 12


class Dam:
    """Stands in front of a server and holds back what is large, each connection by itself, until it is opened."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._open: set[asyncio.StreamWriter] = set()
        self.held = 0
        self.most_held = 0
        self.holds = asyncio.Event()
        self.opened = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        there, back = await asyncio.open_unix_connection(self._target)
        self._open |= {writer, back}
        with contextlib.suppress(OSError):
            await asyncio.gather(self._pass_on(reader, back, 1 << 30), self._pass_on(there, writer, SMALL_BYTES))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, small_bytes: int) -> None:
        passed = 0
        while data := await reader.read(SMALL_BYTES):
            passed += len(data)
            if passed > small_bytes and not self.opened.is_set():
                await self._hold()
            writer.write(data)
            await writer.drain()
        writer.close()

    async def _hold(self) -> None:
        self.held += 1
        self.most_held = max(self.held, self.most_held)
        self.holds.set()
        await self.opened.wait()
        self.held -= 1

    def close(self) -> None:
        """Hang up."""
        for writer in self._open:
            writer.transport.abort()


@asynccontextmanager
async def dammed() -> AsyncIterator[tuple[Dam, str]]:
    """A server behind a dam, and where it is reached."""
    with tempfile.TemporaryDirectory(prefix="planner-") as folder, EmbeddedServer(Path(folder)) as server:
        dam = Dam(server.url.removeprefix("unix://"))
        path = f"{folder}/dam.sock"
        async with await asyncio.start_unix_server(dam.serve, path):
            try:
                yield dam, f"unix://{path}"
            finally:
                dam.opened.set()
                dam.close()


async def test_tables_on_their_way_hold_up_nobody_and_only_a_few_come_at_once() -> None:
    """Our choice: over a slow link the others are answered meanwhile, and Redis holds few large answers whole."""
    async with dammed() as (dam, url), connect(Settings(redis_url=url)) as store:
        name = ids.derived_id("mat", bytes(32), 1)
        await store.put_matrix("ann", MatrixParts(name), LARGE, is_cache=False)
        fetching = [asyncio.ensure_future(store.get_matrix("ann", name)) for _ in range(FETCHES)]
        async with asyncio.timeout(5):
            await dam.holds.wait()
        assert await store.ping() == [0]
        assert await store.outline_matrix("ann", name) == (LARGE["locations"], ["principal", *LARGE])
        dam.opened.set()
        assert await asyncio.gather(*fetching) == [LARGE] * FETCHES
        assert dam.most_held < FETCHES
