"""A worker process with a cheap engine: the real worker, attempt, lease and reaper over the real store.

Only the solver is missing. In its place stands a child that is no process: it sends one plan, lets the scenario's
`busy_s` pass and says it is done. So a worker starts in milliseconds and costs little, and a storm can kill hundreds.
Whole workers, solver processes included, are stormed by the same driver in smaller numbers.
"""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from tests.shared.scenarios.empty_plan import empty_plan
from workers.solver_processes.solver_process_pool import KILLED, ProcessExit
from workers.worker import Worker, new_worker_id

PLAN = empty_plan()


class StubSolverProcess:
    """What `workers.executors.executor_interface.Solver` is to an attempt, without a process."""

    is_started = True

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exit: asyncio.Future[ProcessExit] = loop.create_future()
        self._on_message: Callable[[dict[str, Any] | None], None] = lambda _message: None
        self._solving: asyncio.Task[None] | None = None

    def listen(self, on_message: Callable[[dict[str, Any] | None], None]) -> None:
        """Have somebody hear what it says, None once it is dead."""
        self._on_message = on_message

    def send(self, message: dict[str, Any]) -> None:
        """Take a command, or a request to stop."""
        if message["kind"] == "solve":
            self._solving = asyncio.create_task(self._solve(float(message["body"]["busy_s"])))
        elif message["kind"] == "stop":
            self.kill()

    async def _solve(self, busy_s: float) -> None:
        self._on_message({"kind": "plan", "plan": PLAN, "improvements": 1})
        await asyncio.sleep(busy_s)
        self._on_message({"kind": "done"})

    async def wait(self, timeout_s: float) -> None:
        """Wait for its end, for a while."""
        await asyncio.wait([self.exit], timeout=timeout_s)

    def resident_mb(self) -> float:
        """Hold no memory."""
        return 0.0

    def cpu_s(self) -> float:
        """Use no CPU."""
        return 0.0

    def release(self, *, is_reusable: bool) -> None:
        """Be forgotten."""
        self.kill()

    def kill(self) -> None:
        """Die."""
        if self._solving is not None:
            self._solving.cancel()
        if not self.exit.done():
            self.exit.set_result(KILLED)
            self._on_message(None)


class StubSolverPool:
    """A source of such children."""

    async def acquire(self) -> StubSolverProcess:
        """Return a child."""
        return StubSolverProcess()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


def main(settings: Settings, log: Path) -> None:
    """Be a worker until killed or drained."""
    with log.open("a", buffering=1) as lines:
        configure_logging(settings, lines)
        asyncio.run(_work(settings))


async def _work(settings: Settings) -> None:
    async with connect(settings) as store:
        worker = Worker(store, StubSolverPool(), settings, worker_id=new_worker_id())
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.drain)
        await worker.run()
