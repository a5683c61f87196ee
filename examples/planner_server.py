"""Starts the whole planner as one command and stops it again, for examples, benchmarks and tests.

Owns the child process: its free port, its data folder, its log, its end. It uses the command line a person uses and
waits for the log line that says where the server listens; it reads no internals.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import anyio

START_S: Final = 30.0
"""Longest wait for the server to listen."""
STOP_S: Final = 30.0
"""Longest wait for a drain before the process is killed."""


class ServerStartError(RuntimeError):
    """The server did not start."""


@dataclass(frozen=True, slots=True)
class PlannerServer:
    """A planner that runs."""

    url: str
    """Without path, for example `http://127.0.0.1:40123`."""
    pid: int

    @property
    def mcp(self) -> str:
        """Where MCP clients connect."""
        return f"{self.url}/mcp"


@asynccontextmanager
async def running_server(
    data_dir: Path,
    *,
    workers: int = 2,
    log: Path | None = None,
    options: tuple[str, ...] = (),
    settings: Mapping[str, str] | None = None,
    module: str = "planner_mcp",
) -> AsyncIterator[PlannerServer]:
    """Run `planner-mcp serve` on a free port for the length of the block.

    Args:
        data_dir: Where the embedded store keeps its files.
        workers: Worker processes beside the server.
        log: File that gets every log line; a file in `data_dir` when None.
        options: Further options of `serve`.
        settings: Variables set for it beside those of this process, for example `PLANNER_DRAIN_S`.
        module: What is run: the planner, or a variant of it that takes the same options.

    Raises:
        ServerStartError: The server ended or said nothing within `START_S`; the message ends with its last lines.
    """
    log = log or data_dir / "serve.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", module, "serve", "--port", "0", "--workers", str(workers)]
    process = await asyncio.create_subprocess_exec(
        *command,
        "--data-dir",
        str(data_dir),
        *options,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
        env=os.environ | dict(settings or {}),
    )
    assert process.stderr is not None  # noqa: S101 - asked for one line above
    lines = _Lines(process.stderr, log)
    reader = asyncio.create_task(lines.copy())
    try:
        url = await _listening(lines, process)
        yield PlannerServer(url.rstrip("/").removesuffix("/mcp"), process.pid)
    finally:
        with anyio.CancelScope(shield=True):  # a block that ran out of time leaves no process and no open pipe either
            await _stop(process)
            await reader


class _Lines:
    """Copies a log to a file and notices the address in it."""

    def __init__(self, stream: asyncio.StreamReader, path: Path) -> None:
        self._stream, self._path = stream, path
        self.address: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()
        self.last: list[str] = []

    async def copy(self) -> None:
        with self._path.open("ab") as file:
            while line := await self._stream.readline():
                file.write(line)
                file.flush()
                self._notice(line.decode(errors="replace").strip())
        if not self.address.done():
            self.address.set_result(None)

    def _notice(self, line: str) -> None:
        self.last = [*self.last[-9:], line]
        if self.address.done() or '"listening"' not in line:
            return
        entry = json.loads(line)
        if entry.get("message") == "listening" and "url" in entry:
            self.address.set_result(entry["url"])


async def _listening(lines: _Lines, process: asyncio.subprocess.Process) -> str:
    try:
        url = await asyncio.wait_for(asyncio.shield(lines.address), START_S)
    except TimeoutError:
        url = None
    if url is None:
        if lines.address.done():  # its log has ended, so it is about to end too
            await asyncio.wait_for(process.wait(), STOP_S)
        output = "\n".join(lines.last)
        raise ServerStartError(f"planner-mcp serve did not start (exit code {process.returncode}).\n{output}")
    return url


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask the process to drain; kill what is left of its group when it does not."""
    if process.returncode is None:
        process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), STOP_S)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
