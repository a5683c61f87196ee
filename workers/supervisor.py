"""The supervisor: keeps N worker processes alive and takes them down in order.

Owns starting, restarting with backoff, and passing signals on. It imports no solver and no store, so `serve` can run
it beside the server. A worker is `python -m workers` with a pipe on its stdin: when the supervisor ends in
any way, the pipe ends, and the worker hands its job back and exits. The request to drain goes over the same pipe, so
that a terminal or service manager that signals the whole process group does not count as a second request.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from pydantic import SecretStr
from pydantic_core import to_jsonable_python

from planner_mcp.settings import Settings

BACKOFF_FIRST_S: Final = 0.2
BACKOFF_LONGEST_S: Final = 10.0
HEALTHY_S: Final = 10.0
"""A worker that ran this long is restarted after the shortest delay."""
KILL_AFTER_DRAIN_S: Final = 5.0
"""Beyond `solve_drain_s`, a worker may take this long to hand its job back before it is killed."""

log = logging.getLogger("planner.pool")


def environment_of(settings: Settings) -> dict[str, str]:
    """Return the environment in which another process reads the same settings, overrides of the CLI included.

    Variables that an override has emptied are left out.
    """
    values = json.loads(json.dumps(settings.model_dump(exclude_none=True), default=_revealed))
    texts = {
        f"PLANNER_{name.upper()}": value if isinstance(value, str) else json.dumps(value)
        for name, value in values.items()
    }
    ours = {f"PLANNER_{name.upper()}" for name in Settings.model_fields}  # read whatever their case
    others = {name: value for name, value in os.environ.items() if name.upper() not in ours}
    return others | texts


def _revealed(value: object) -> Any:
    """Return a value as JSON, a secret as it is: masked it would be another one, or too short."""
    return value.get_secret_value() if isinstance(value, SecretStr) else to_jsonable_python(value)


class Supervisor:
    """N worker processes, each started anew when it dies."""

    def __init__(self, settings: Settings, processes: int) -> None:
        self._settings = settings
        self._count = processes
        self._processes: set[asyncio.subprocess.Process] = set()
        self._drain_requested = asyncio.Event()

    @property
    def pids(self) -> list[int]:
        """Process ids of the workers that run now."""
        return sorted(process.pid for process in self._processes if process.returncode is None)

    def drain(self) -> None:
        """Ask every worker to drain; a second call stops them at once."""
        for process in self._processes:
            self._request_stop(process, is_urgent=self._drain_requested.is_set())
        self._drain_requested.set()

    async def run(self) -> None:
        """Keep the workers alive until drained. Cancelling drains too, and returns when every worker is gone."""
        keep_alive_tasks = asyncio.gather(*(self._keep_alive() for _ in range(self._count)))
        try:
            await asyncio.shield(keep_alive_tasks)
        except asyncio.CancelledError:
            self.drain()
            await keep_alive_tasks
            raise

    async def _keep_alive(self) -> None:
        """Keep one worker alive."""
        backoff_s = BACKOFF_FIRST_S
        while not self._drain_requested.is_set():
            began = time.monotonic()
            try:
                ended = f"ended with code {await self._run_worker()}"
            except OSError as error:  # there is no process, file or memory for it just now
                ended = f"did not start ({error.strerror})"
            if self._drain_requested.is_set():
                return
            backoff_s = (
                BACKOFF_FIRST_S if time.monotonic() - began > HEALTHY_S else min(2 * backoff_s, BACKOFF_LONGEST_S)
            )
            log.warning("worker %s; starting another in %.1f s", ended, backoff_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(backoff_s):
                    await self._drain_requested.wait()

    async def _run_worker(self) -> int:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "workers", "--ends-with-parent"),
            env=environment_of(self._settings),
            stdin=asyncio.subprocess.PIPE,
            stdout=sys.stderr.fileno(),
            process_group=0,  # a terminal's Ctrl-C is the supervisor's to pass on, from the first import of the worker
        )
        self._processes.add(process)
        killer = asyncio.create_task(self._kill_when_overdue(process))
        try:
            if self._drain_requested.is_set():
                self._request_stop(process, is_urgent=True)
            return await process.wait()
        finally:
            killer.cancel()
            self._processes.discard(process)

    async def _kill_when_overdue(self, process: asyncio.subprocess.Process) -> None:
        await self._drain_requested.wait()
        await asyncio.sleep(self._settings.solve_drain_s + KILL_AFTER_DRAIN_S)
        process.kill()

    def _request_stop(self, process: asyncio.subprocess.Process, *, is_urgent: bool) -> None:
        """Ask a worker to drain by a byte on its pipe, or to stop at once by closing the pipe."""
        if (parent_pipe := process.stdin) is None or parent_pipe.is_closing():
            return
        if is_urgent:
            parent_pipe.close()
        else:
            parent_pipe.write(b"\n")


async def run_supervisor(settings: Settings, processes: int) -> None:
    """Run workers until SIGTERM or SIGINT (or cancellation), then drain them. A second signal hands back at once.

    Args:
        settings: What the workers run with.
        processes: How many; each solves one job at a time.
    """
    supervisor = Supervisor(settings, processes)
    with signals_to(supervisor.drain):
        await supervisor.run()


@contextlib.contextmanager
def signals_to(handler: Callable[[], object]) -> Iterator[None]:
    """Call a function for each SIGTERM and SIGINT inside the block."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
