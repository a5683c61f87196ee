"""Reads what the kernel knows of processes: state, ancestry, CPU time, memory (Linux)."""

from collections import defaultdict
from pathlib import Path
from typing import Final

TICK_S: Final = 0.01
"""The kernel's unit in `/proc/<pid>/stat`."""


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    return _stat(pid)[0] not in ("", "Z", "X")


def cpu_s(pid: int) -> float:
    """Return the CPU seconds a process has used."""
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) * TICK_S if fields[0] else 0.0


def tree_cpu_s(*pids: int) -> float:
    """Return the CPU seconds used by processes, by everything below them, and by children they have waited for."""
    alive = {each for pid in pids for each in (pid, *descendants(pid))}
    return sum(sum(map(int, fields[11:15])) for pid in alive if (fields := _stat(pid))[0]) * TICK_S


def tree_pss_mib(*pids: int) -> float:
    """Return the memory of processes and of everything below them in MiB; shared pages count once in all."""
    alive = {each for pid in pids for each in (pid, *descendants(pid))}
    return sum(map(_pss_kib, alive)) / 1024


def pss_mib(pid: int) -> float:
    """Return the memory of a process in MiB, its share of shared pages included."""
    return _pss_kib(pid) / 1024


def _pss_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return int(next(line for line in lines if line.startswith("Pss:")).split()[1])


def parent(pid: int) -> int:
    """Return the process that started a process, 0 when it is gone."""
    fields = _stat(pid)
    return int(fields[1]) if fields[0] else 0


def descendants(pid: int) -> dict[int, str]:
    """Return the processes below a process, each with its command line."""
    children = defaultdict[int, list[int]](list)
    for entry in Path("/proc").glob("[0-9]*"):
        children[parent(int(entry.name))].append(int(entry.name))
    found, pending = {}, list(children[pid])
    while pending:
        each = pending.pop()
        found[each] = _command(each)
        pending += children[each]
    return found


def command_lines(*words: str) -> list[int]:
    """Return the processes whose command line has all of some words."""
    pids = [int(entry.name) for entry in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if all(word in _command(pid) for word in words)]


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return [""]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""
