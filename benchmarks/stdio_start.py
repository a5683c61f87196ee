"""Measures how long a server takes to answer its first requests on standard input."""

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.process_stats import tree_cpu_s

PROTOCOL: Final = "2025-11-25"
START_S: Final = 60.0


async def first_answers(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[float, float, float]:
    """Start a server; return the seconds until `initialize` and until `tools/list` are answered, and CPU seconds used.

    The CPU seconds are those of the server and of all processes it has started by then.
    """
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=1 << 24,
        env=os.environ | dict(environment or {}),
    )
    assert process.stdin is not None and process.stdout is not None
    client = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    try:
        async with asyncio.timeout(START_S):
            _send(process.stdin, {"id": 1, "method": "initialize", "params": client})
            await _answer(process.stdout, 1)
            ready_s = time.perf_counter() - began
            _send(process.stdin, {"method": "notifications/initialized"})
            _send(process.stdin, {"id": 2, "method": "tools/list"})
            assert (await _answer(process.stdout, 2))["result"]["tools"]
            listed_s = time.perf_counter() - began
        return ready_s, listed_s, tree_cpu_s(process.pid)
    finally:
        process.stdin.close()
        await process.wait()


def _send(pipe: asyncio.StreamWriter, message: dict[str, Any]) -> None:
    pipe.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


async def _answer(lines: asyncio.StreamReader, number: int) -> dict[str, Any]:
    """Return the answer to a request; other messages are skipped."""
    while line := await lines.readline():
        message: dict[str, Any] = json.loads(line)
        if message.get("id") == number:
            return message
    raise RuntimeError("The server ended without an answer.")
