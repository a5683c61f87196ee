"""`python -m benchmarks.protocol`: the cost of one `tools/call` here, in the MCP SDK's server and in FastMCP.

Owns the comparison: the same tool, the same lean client, revisions with and without a handshake, one server at a time,
its CPU from the kernel. This server keeps its sessions in a store, whose CPU is counted too; the others keep theirs in
memory and serve one replica.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from benchmarks.lean_mcp_client import Wire, connected
from benchmarks.peers.programs import listening, peer_python
from benchmarks.process_stats import command_lines, cpu_s
from benchmarks.result_files import Figure, machine, report, spread

HANDSHAKE: Final = "2025-11-25"
CLIENTS: Final = 16
FULL: Final = 3000
"""Calls of a run whose figures go into the README."""
WARM: Final = 200
ECHO_ARGUMENTS: Final = {"text": "hello, planner"}


class Session(Wire):
    """A connection of a revision with a handshake, in a session of its own."""

    version = HANDSHAKE
    meta: Final[dict[str, Any]] = {}  # type: ignore[misc]

    async def begin(self) -> None:
        """Initialize the session."""
        who = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        await self.send("initialize", "", who)
        name = b"mcp-session-id:"
        line = next(line for line in self.head if line.lower().startswith(name))
        self.add_header("mcp-session-id", line[len(name) :].strip().decode())


@asynccontextmanager
async def served(which: str, folder: Path) -> AsyncIterator[tuple[str, int]]:
    """Run a server; yield its URL and process."""

    def command(port: int) -> list[str | Path]:
        if which == "fastmcp":
            return [peer_python(), Path(__file__).parent / "peers" / "fastmcp_echo.py", str(port)]
        return [sys.executable, "-m", "benchmarks.echo_servers", which, str(port), folder]

    async with listening(command) as (port, pid):
        yield f"http://127.0.0.1:{port}/mcp", pid


async def measure(which: str, era: str, url: str, pids: Sequence[int], n: int) -> list[Figure]:
    """Return latency and CPU of a call, with `CLIENTS` connections that each have one call under way."""
    took: list[float] = []

    async def client_loop(wire: Wire, calls: int) -> None:
        for _ in range(calls):
            began = time.perf_counter()
            answer = await wire.call("echo", ECHO_ARGUMENTS)
            took.append(time.perf_counter() - began)
            assert answer["structuredContent"] == ECHO_ARGUMENTS

    async with AsyncExitStack() as stack:
        kind = Session if era == HANDSHAKE else Wire
        wires = [await stack.enter_async_context(connected(url, kind)) for _ in range(CLIENTS)]
        for wire in wires:
            if isinstance(wire, Session):
                await wire.begin()
        await asyncio.gather(*(client_loop(wire, WARM // CLIENTS) for wire in wires))
        took.clear()
        before = [cpu_s(pid) for pid in pids]
        await asyncio.gather(*(client_loop(wire, n // CLIENTS) for wire in wires))
        spent = [after - used for after, used in zip(map(cpu_s, pids), before, strict=True)]
    each = [round(1000 * used / len(took), 3) for used in spent]
    store = f", {each[1]} ms of them in the store" if len(each) > 1 else ""
    return [
        spread(f"{which}, {era}: tools/call", took, f"{CLIENTS} connections"),
        Figure(f"{which}, {era}: CPU of a call", "ms", len(took), round(sum(each), 3), None, f"user and system{store}"),
    ]


async def compare(n: int) -> list[Figure]:
    """Return every figure, each server in turn."""
    figures: list[Figure] = []
    for which, name in (("ours", "planner-mcp"), ("sdk", "SDK's own transport"), ("fastmcp", "FastMCP")):
        with tempfile.TemporaryDirectory(prefix="planner-edge-") as folder:
            async with served(which, Path(folder)) as (url, pid):
                pids = [pid, *command_lines("valkey", folder)] if which == "ours" else [pid]
                for era in (HANDSHAKE, "2026-07-28"):
                    figures += await measure(name, era, url, pids, n)
    return figures


def main() -> int:
    """Compare, print and keep."""
    parser = argparse.ArgumentParser(description="One tools/call on three servers, in one run.")
    parser.add_argument("--samples", type=int, default=FULL, help="calls of each measurement")
    options = parser.parse_args()
    about = machine()
    figures = asyncio.run(compare(options.samples))
    report(figures, about, lambda _runs: "", is_quick=options.samples < FULL, name="protocol")
    return 0


if __name__ == "__main__":
    sys.exit(main())
