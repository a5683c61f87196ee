"""Worker processes that may be killed, stopped and drained one by one.

Owns processes and signals, and knows nothing of jobs. A member that ended is started anew by
`restart_ended`, as a supervisor would.
"""

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol

from planner_mcp.settings import Settings
from tests.shared.workers import stub_solver_worker
from workers.supervisor import environment_of


class Member(Protocol):
    """A worker process: `subprocess.Popen` as seen here."""

    pid: int

    def poll(self) -> int | None:
        """Return the exit code of a process that has ended."""
        ...

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait for the end."""
        ...


Start = Callable[[Settings, Path], Member]


class _Forked:
    """A process of `multiprocessing` with the words of `Popen`."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._process = _FORKS.Process(target=stub_solver_worker.main, args=(settings, log), daemon=True)
        self._process.start()
        self.pid: int = self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self._process.exitcode


_FORKS = get_context("forkserver")
_FORKS.set_forkserver_preload(["tests.shared.workers.stub_solver_worker"])


def light_worker(settings: Settings, log: Path) -> Member:
    """Start a worker with the cheap engine."""
    return _Forked(settings, log)


def real_worker(settings: Settings, log: Path) -> Member:
    """Start `python -m workers`: fork server, solver processes and webhook dispatcher included."""
    with log.open("ab") as lines:
        return subprocess.Popen(
            [sys.executable, "-m", "workers"], env=environment_of(settings), stdin=subprocess.DEVNULL, stderr=lines
        )


class WorkerProcesses:
    """Some workers.

    Args:
        settings: What each runs with.
        size: How many.
        folder: Where their log goes.
        start: How one is started.
    """

    def __init__(self, settings: Settings, size: int, folder: Path, start: Start = light_worker) -> None:
        self.settings = settings
        self._start = start
        self.size = size
        self.log = folder / "workers.log"
        self.members: list[Member] = []
        self.stopped: set[int] = set()

    def restart_ended(self) -> None:
        """Bury who has died, and start others in their place."""
        self.members = [member for member in self.members if member.poll() is None]
        while len(self.members) < self.size:
            self.members.append(self._start(self.settings, self.log))

    def pick(self, dice: random.Random) -> Member | None:
        """Return some member that runs."""
        running = [member for member in self.members if member.poll() is None and member.pid not in self.stopped]
        return dice.choice(running) if running else None

    def kill(self, member: Member) -> None:
        """SIGKILL a member and see it dead."""
        os.kill(member.pid, signal.SIGKILL)
        member.wait(10)
        self.stopped.discard(member.pid)

    def stop(self, member: Member) -> None:
        """SIGSTOP a member."""
        os.kill(member.pid, signal.SIGSTOP)
        self.stopped.add(member.pid)

    def resume(self, member: Member) -> None:
        """SIGCONT a member."""
        os.kill(member.pid, signal.SIGCONT)
        self.stopped.discard(member.pid)

    def end(self) -> None:
        """Kill what runs."""
        for member in self.members:
            if member.poll() is None:
                self.kill(member)
        self.members.clear()


@contextmanager
def fleet_of(settings: Settings, size: int, folder: Path, start: Start = light_worker) -> Iterator[WorkerProcesses]:
    """Run a fleet for the length of a block."""
    fleet = WorkerProcesses(settings, size, folder, start)
    fleet.restart_ended()
    try:
        yield fleet
    finally:
        fleet.end()
