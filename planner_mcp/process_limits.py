"""What the operating system is asked to enforce on child processes: death with the parent, memory, time.

Owns the system calls and their differences between platforms. Linux has a parent-death signal and `/proc`; elsewhere
the end of a pipe and an alarm do the same a little later.
"""

import contextlib
import ctypes
import math
import os
import resource
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_IS_LINUX: Final = sys.platform == "linux"

_M_MMAP_THRESHOLD: Final = -3
_LARGE_BLOCK_BYTES: Final = 128 * 1024

MEGABYTE: Final = 1024 * 1024

_NICENESS: Final = 5
"""How much a process yields: on a core that it shares with a server it still gets a quarter."""

_CPU_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
"""Microseconds of CPU in each period, or `max`, and the length of the period (cgroup v2)."""


def usable_cores() -> int:
    """Return how many cores this process may use: those it may run on, within the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if _IS_LINUX else os.cpu_count() or 1
    try:
        quota, period = _CPU_QUOTA.read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return cores
    return cores if quota == "max" else max(1, min(cores, int(quota) // int(period)))


def yield_to_servers() -> None:
    """Let the processes that answer clients and report events run first where there are too few cores for all."""
    os.nice(_NICENESS)


def die_with_parent(parent_pid: int) -> None:
    """Have the kernel kill this process when its parent dies (Linux; elsewhere the caller watches a pipe).

    Exits at once if the parent is gone already, because the kernel sends no signal then.
    """
    if _IS_LINUX:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(0)


def bound_to_parent(command: Sequence[str]) -> list[str]:
    """Return a command as a child that dies with this process: this file, run as a script, becomes the program."""
    return [sys.executable, "-I", "-S", str(Path(__file__).absolute()), str(os.getpid()), *command]


def outlive_terminal_signals() -> None:
    """Ignore SIGINT and SIGTERM, which terminals and service managers send to the whole group.

    The worker drains on them; its helpers must live until it says otherwise.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def cap_memory(limit_mb: int) -> None:
    """Refuse this process private memory far beyond its cap, so that one huge allocation fails inside it.

    A backstop only: resident memory is watched from outside (`resident_mb`), because a library may reserve more than
    it uses and dies without a word when refused.
    """
    if not _IS_LINUX:
        return
    ceiling = 2 * limit_mb * MEGABYTE
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (ceiling, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def cap_growth(limit_mb: int) -> None:
    """Refuse this process more than a cap of new memory: an allocation beyond it fails inside the process (Linux)."""
    _cap_growth(resource.RLIMIT_AS, 0, limit_mb)


def cap_private_growth(limit_mb: int) -> None:
    """Refuse this process more than a cap of new private memory; what is only reserved does not count (Linux)."""
    _cap_growth(resource.RLIMIT_DATA, 5, limit_mb)


def _cap_growth(limit: int, field: int, limit_mb: int) -> None:
    """Set a limit to what `/proc/self/statm` has in a field, and so much more."""
    if not _IS_LINUX:
        return
    now = int(Path("/proc/self/statm").read_text().split()[field]) * _PAGE_BYTES
    ceiling = now + limit_mb * MEGABYTE
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(limit, (ceiling, ceiling))


def cap_cpu(seconds: float) -> None:
    """Have the kernel end this process once it has used more CPU."""
    now = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    most = math.ceil(now + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def return_large_blocks() -> None:
    """Have the C library return every freed block of 128 KiB and more to the system at once (glibc).

    That is its own threshold at the start. By itself it learns from the first large block that is freed to keep later
    ones up to 32 MiB for itself, and bodies of half a megabyte that wait between small blocks leave the heap long.
    """
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)


def die_after(seconds: float) -> None:
    """Have the kernel end this process after a while, whatever it is doing. The last line of defence."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process and its forks in MiB, 0 where it is unknown (no `/proc`, or it is gone).

    A page that forks share counts once, where the kernel tells shares: the tables of a large day would otherwise count
    again for every search.
    """
    processes = _with_forks(pid)
    return sum(map(_share_mb if len(processes) > 1 else _own_mb, processes))


def _own_mb(pid: int) -> float:
    """Return the resident memory of one process, with all of what it shares."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES / MEGABYTE
    except (OSError, ValueError, IndexError):
        return 0.0


def _share_mb(pid: int) -> float:
    """Return the memory of one process, and of a page that several have its share; all of it where that is unknown."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return _own_mb(pid)
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:"))


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process and its forks have used, 0 where it is unknown (no `/proc`, or it is gone).

    Forks that have ended and were waited for are counted too.
    """
    return sum(map(_own_cpu_s, _with_forks(pid)))


def _own_cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _with_forks(pid: int) -> list[int]:
    """Return a process and all that it has forked."""
    try:
        forks = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    except OSError:
        return [pid]
    return [pid, *(each for fork in forks for each in _with_forks(fork))]


def peak_mb(usage: resource.struct_rusage) -> float:
    """Return the peak resident memory of a finished process in MiB."""
    return usage.ru_maxrss / 1024 if _IS_LINUX else usage.ru_maxrss / MEGABYTE


if __name__ == "__main__":  # see `bound_to_parent`
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 — the command of the parent
