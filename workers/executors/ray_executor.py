"""Solves on a Ray cluster: one attempt is one actor.

Owns the actor and the worker's handle of it. The actor runs the search in a solver process of its own node, so limits
of memory, kills and stops are those of `workers/solver_processes`; the process dies with the actor, and the actor with
the worker. Messages are JSON text in both directions and come back as a stream. Every node needs this package in the
same version, with the extra `ray`.
"""

import asyncio
import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Final, Self

from planner_mcp.errors import EngineCrashedError
from planner_mcp.process_limits import MEGABYTE
from planner_mcp.settings import Settings
from planner_mcp.task_cancellation import cancel_and_wait
from planner_mcp.text import compact
from workers.executors.executor_interface import MEMORY_WATCH_S
from workers.message_frames import Message
from workers.solver_processes.solver_process_pool import KILLED, ProcessExit, SolverProcess, SolverProcessPool

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # read when ray is imported
import ray

PLACEMENT_S: Final = 300.0
"""Longest wait for a place on the cluster. It may have to start a node."""
CALLS_AT_ONCE: Final = 8
"""Calls that an actor takes beside its stream of messages."""
USAGE_S: Final = 2.0


class SolveActor:
    """Runs on a node: a solver process there, its messages as a stream, and how it ended as the last of them.

    Args:
        memory_mb: Memory of a solve; a process that takes more is reported at once.
    """

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._pool = SolverProcessPool()
        self._process: SolverProcess

    async def start(self) -> None:
        """Start the solver process."""
        self._process = await self._pool.acquire()
        self._process.listen(self._messages.put_nowait)
        await asyncio.shield(self._process.pid)

    async def send(self, text: str) -> None:
        """Pass a message on to the process."""
        self._process.send(json.loads(text))

    async def messages(self) -> AsyncIterator[str]:
        """Yield every message of the process, at last how it ended."""
        watching = asyncio.create_task(self._watch_usage())
        try:
            while (message := await self._messages.get()) is not None:
                yield compact(message)
            end = await asyncio.shield(self._process.exit)
            yield compact({"kind": "exit", "code": end.code, "peak_mb": end.peak_mb})
        finally:
            await cancel_and_wait(watching)

    async def _watch_usage(self) -> None:
        """Send what the process uses: every `USAGE_S`, and at once when it takes more memory than it may."""
        sent_at, process = -USAGE_S, self._process
        while (resident_mb := process.resident_mb()) <= self._memory_mb:
            if time.monotonic() - sent_at >= USAGE_S:
                sent_at = time.monotonic()
                self._messages.put_nowait({"kind": "usage", "resident_mb": resident_mb, "cpu_s": process.cpu_s()})
            await asyncio.sleep(MEMORY_WATCH_S)
        self._messages.put_nowait({"kind": "usage", "resident_mb": resident_mb, "cpu_s": process.cpu_s()})


class RaySolver:
    """The worker's handle of an actor."""

    is_started: Final = True
    """Its actor has a process before there is a handle."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._on_message: Callable[[Message | None], None] = _ignore
        self._usage: Message = {"resident_mb": 0.0, "cpu_s": 0.0}
        self.exit: asyncio.Future[ProcessExit] = asyncio.get_running_loop().create_future()
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Pass on what the actor tells. One that is gone without a word was killed, or its node is lost."""
        end = KILLED
        with contextlib.suppress(ray.exceptions.RayError):
            async for reply in self._actor.messages.options(num_returns="streaming").remote():
                message = json.loads(await reply)
                if message["kind"] == "exit":
                    end = ProcessExit(message["code"], message["peak_mb"])
                elif message["kind"] == "usage":
                    self._usage = message
                else:
                    self._on_message(message)
        self.exit.set_result(end)
        self._on_message(None)

    def listen(self, on_message: Callable[[Message | None], None]) -> None:
        """Pass every message to a function from now on, and None once no more can come."""
        self._on_message = on_message
        if self.exit.done():
            on_message(None)

    def send(self, message: Message) -> None:
        """Send a message."""
        self._actor.send.remote(compact(message))

    def resident_mb(self) -> float:
        """Return the memory the process holds, in MiB: a new figure every `USAGE_S`, and at once above the limit."""
        return float(self._usage["resident_mb"])

    def cpu_s(self) -> float:
        """Return the CPU time the process has used, in seconds, as it was at most `USAGE_S` ago."""
        return float(self._usage["cpu_s"])

    async def wait(self, timeout_s: float) -> None:
        """Wait until the process has ended, or for the timeout."""
        await asyncio.wait([self.exit], timeout=timeout_s)

    def kill(self) -> None:
        """Kill the actor, and with it the process."""
        ray.kill(self._actor, no_restart=True)

    def release(self, *, is_reusable: bool) -> None:
        """End the actor: the next attempt has another."""
        self._on_message = _ignore
        self.kill()


class RayExecutor:
    """Starts an actor for each attempt. A cluster started here (`local`) ends with the context.

    Args:
        settings: Address of the cluster, cores and memory of a solve.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(
            ray.init, self._settings.ray_address, include_dashboard=False, log_to_driver=False, logging_level="WARNING"
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await asyncio.to_thread(ray.shutdown)

    async def acquire(self) -> RaySolver:
        """Return a solver, once the cluster has room for it.

        Raises:
            EngineCrashedError: There was no room for `PLACEMENT_S`, or the actor died.
        """
        memory_mb = self._settings.solve_memory_mb
        placement = {"num_cpus": self._settings.solve_cores, "memory": memory_mb * MEGABYTE}
        actor_class = ray.remote(max_restarts=0, max_concurrency=CALLS_AT_ONCE, **placement)(SolveActor)
        actor = actor_class.remote(memory_mb)
        try:
            async with asyncio.timeout(PLACEMENT_S):
                await actor.start.remote()
        except (TimeoutError, ray.exceptions.RayError) as error:
            ray.kill(actor)
            raise EngineCrashedError("The Ray cluster has no room for a solve, or its actor died.") from error
        except BaseException:
            ray.kill(actor)
            raise
        return RaySolver(actor)


def _ignore(_message: Message | None) -> None:
    """Drop a message that nobody listens for."""
