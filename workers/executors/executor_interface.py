"""The interface between an attempt and what runs its search.

Owns the protocols `Executor` and `Solver`. `workers/solver_processes/solver_process_pool.py` runs searches in processes
of the worker, `workers/executors/ray_executor.py` on a Ray cluster. The messages are those of
`workers/solver_processes/solver_child.py`. Lease, fence and reports stay with the attempt.
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final, Protocol, Self

from workers.message_frames import Message
from workers.solver_processes.solver_process_pool import ProcessExit

MEMORY_WATCH_S: Final = 0.05
"""Time between two looks at the memory of a solver."""


class Solver(Protocol):
    """A process that takes one solve after another. It never outlives its worker."""

    @property
    def exit(self) -> asyncio.Future[ProcessExit]:
        """How the process ended; done soon after its last message was passed on."""
        ...

    @property
    def is_started(self) -> bool:
        """Whether there was a process; one that ended before could not be started here."""
        ...

    def listen(self, on_message: Callable[[Message | None], None]) -> None:
        """Pass every message to a function in order, and None once no more can come."""
        ...

    def send(self, message: Message) -> None:
        """Send a message. A process that is gone is noticed by the listener, not here."""
        ...

    def resident_mb(self) -> float:
        """Return the memory the process and its forks hold, in MiB; below the limit it may be a few seconds old."""
        ...

    def cpu_s(self) -> float:
        """Return the CPU time the process and its forks have used, in seconds; it may be a few seconds old."""
        ...

    async def wait(self, timeout_s: float) -> None:
        """Wait until the process has ended, or for the timeout."""
        ...

    def kill(self) -> None:
        """Kill the process, whatever it does; `exit` is done when it is gone."""
        ...

    def release(self, *, is_reusable: bool) -> None:
        """Give the process back after a solve. It ends, unless the executor keeps one that is reusable."""
        ...


class Executor(Protocol):
    """Starts solvers. Use as an async context; leaving it ends all of them."""

    async def __aenter__(self) -> Self:
        """Get ready to start solvers."""
        ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every solver."""
        ...

    async def acquire(self) -> Solver:
        """Return a solver without a command.

        Raises:
            EngineCrashedError: None can be started.
        """
        ...
