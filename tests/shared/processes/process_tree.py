"""Processes of this machine, as /proc tells of them."""

import os
import signal
from pathlib import Path

import anyio

LONGEST_S = 60
"""Nothing that is waited for takes longer."""


def children(pid: int) -> list[int]:
    """Return the processes a process has started and not yet buried."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(stat.parent.name))
    return found


def descendants(pid: int) -> list[int]:
    """Return the processes below a process."""
    return [each for child in children(pid) for each in (child, *descendants(child))]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


async def until_gone(pids: list[int], within_s: float = LONGEST_S) -> None:
    """Return when none of the processes runs."""
    with anyio.fail_after(within_s):
        while any(is_alive(pid) for pid in pids):  # noqa: ASYNC110 — a stranger's death sends no event
            await anyio.sleep(0.01)


def kill(pid: int) -> None:
    """Kill a process without warning."""
    os.kill(pid, signal.SIGKILL)
