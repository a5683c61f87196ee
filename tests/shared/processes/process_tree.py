"""Processes of this machine, as /proc tells of them."""

import asyncio
import os
import signal
from pathlib import Path

import anyio

from benchmarks.process_stats import is_alive, parent
from workers.executors.executor_interface import Solver

LONGEST_S = 60
"""Nothing that is waited for takes longer."""


def children(pid: int) -> list[int]:
    """Return the processes a process has started and not yet buried."""
    running = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [each for each in running if parent(each) == pid]


async def until_gone(pids: list[int], within_s: float = LONGEST_S) -> None:
    """Return when none of the processes runs."""
    with anyio.fail_after(within_s):
        while any(is_alive(pid) for pid in pids):  # noqa: ASYNC110 — a stranger's death sends no event
            await anyio.sleep(0.01)


def kill(pid: int) -> None:
    """Kill a process without warning."""
    os.kill(pid, signal.SIGKILL)


async def exit_code(solver: Solver) -> int:
    """Return how the process of a solver ended."""
    with anyio.fail_after(LONGEST_S):
        return (await asyncio.shield(solver.exit)).code
