"""Runs the programs that are compared: each listens on a loopback port of its own; FastMCP has its own environment."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from socket import socket
from typing import Final

HERE: Final = Path(__file__).parent
ENVIRONMENT: Final = HERE.parent.parent / "build" / "peers" / "mcp"
START_S: Final = 30


def peer_python() -> Path:
    """Return the Python of the peer's environment, made on first use."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / ".installed").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        wanted = HERE / "requirements-mcp.txt"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", wanted], check=True)
        (ENVIRONMENT / ".installed").touch()
    return python


@asynccontextmanager
async def listening(command: Callable[[int], Sequence[str | Path]]) -> AsyncIterator[tuple[int, int]]:
    """Run the command that listens on a port, until it is left; yield the port and the process."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = await asyncio.create_subprocess_exec(*command(port), stdout=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(START_S):
            while not await _listens(port):  # noqa: ASYNC110 - another process, no word when it listens
                await asyncio.sleep(0.02)
        yield port, process.pid
    finally:
        process.terminate()
        await process.wait()


async def _listens(port: int) -> bool:
    try:
        _reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True
