"""Measures what a start costs and what an idle server holds in memory."""

import asyncio
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.process_stats import command_lines, tree_pss_mib
from benchmarks.result_files import Figure, spread
from benchmarks.stdio_start import first_answers
from examples.planner_server import running_server

SETTLE_S: Final = 5.0
"""An idle server is looked at this long after it listens."""


async def measure(n: int) -> list[Figure]:
    """Return the figures of `n` starts each, and of one idle server."""
    ready: list[float] = []
    listed: list[float] = []
    for _ in range(n):
        with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
            at_s = await first_answers([sys.executable, "-m", "planner_mcp"], {"PLANNER_DATA_DIR": folder})
            ready.append(at_s[0])
            listed.append(at_s[1])
    version = [_cpu_of("-m", "planner_mcp", "--version") for _ in range(n)]
    return [
        spread("stdio ready", ready, "process start to the answer of initialize; empty data folder"),
        spread("stdio to the first tools/list", listed, "the same start"),
        spread("CPU of planner-mcp --version", version, "user and system"),
        await _idle_memory(),
    ]


def _cpu_of(*arguments: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


async def _idle_memory() -> Figure:
    with tempfile.TemporaryDirectory(prefix="planner-bench-") as folder:
        async with running_server(Path(folder), workers=1) as server:
            await asyncio.sleep(SETTLE_S)
            used_mib = tree_pss_mib(server.pid, *command_lines("valkey", folder))
    note = "PSS of server, supervised worker and store; no job yet"
    return Figure("idle memory of serve and one worker", "MiB", 1, round(used_mib, 1), None, note)
