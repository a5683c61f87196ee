"""One worker process: `python -m workers [--ends-with-parent]`, usually started by `workers/supervisor.py`.

Owns the wiring of one worker: settings from `PLANNER_*`, store, executor, webhook dispatcher, signals.
"""

import asyncio
import logging
import os
import signal
import sys
from itertools import chain, repeat

import anyio

from planner_mcp.errors import StoreError, ungrouped
from planner_mcp.jobs.store.connection.error_translation import explained_refusals
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging
from planner_mcp.tracing import export_spans
from workers.executors.executor_interface import Executor
from workers.solver_processes.solver_process_pool import SolverProcessPool
from workers.webhook_dispatcher import keep_webhook_dispatcher
from workers.worker import Worker, new_worker_id

log = logging.getLogger("planner.worker")


async def work(settings: Settings, *, has_parent_pipe: bool) -> None:
    """Claim and solve until stopped, and send webhooks meanwhile."""
    async with connect(settings) as store, _executor(settings) as executor:
        worker = Worker(store, executor, settings, worker_id=new_worker_id())
        await _install_signal_handlers(worker, has_parent_pipe=has_parent_pipe)
        stop = anyio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keep_webhook_dispatcher(store, settings, stop))
            await worker.run()
            stop.set()


def _executor(settings: Settings) -> Executor:
    """Return where solves run: processes of this worker, or the Ray cluster of the settings."""
    if settings.ray_address is None:
        return SolverProcessPool()
    try:
        from workers.executors.ray_executor import RayExecutor
    except ImportError:
        log.error("PLANNER_RAY_ADDRESS needs the extra: pip install 'planner-mcp[ray]'")
        sys.exit(os.EX_CONFIG)
    return RayExecutor(settings)


class ParentDeathPipe(asyncio.Protocol):
    """Reads stdin, the pipe from the supervisor: a byte asks to drain, its end (also by its death) to stop at once."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker

    def data_received(self, data: bytes) -> None:
        """Drain."""
        self._worker.drain()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        self._worker.leave()


async def _install_signal_handlers(worker: Worker, *, has_parent_pipe: bool) -> None:
    """Drain on SIGTERM, stop on a second one, and follow the parent pipe; with it SIGINT is the supervisor's alone."""
    loop = asyncio.get_running_loop()
    requests = chain([worker.drain], repeat(worker.leave))

    def on_signal() -> None:
        next(requests)()

    loop.add_signal_handler(signal.SIGTERM, on_signal)
    if has_parent_pipe:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        await loop.connect_read_pipe(lambda: ParentDeathPipe(worker), sys.stdin)
    else:
        loop.add_signal_handler(signal.SIGINT, on_signal)


def main() -> None:
    """Run one worker process."""
    settings = Settings()
    configure_logging(settings)
    if settings.otel:
        export_spans("planner-mcp-worker")
    try:
        with explained_refusals(has_url=bool(settings.redis_url)), ungrouped():
            asyncio.run(work(settings, has_parent_pipe="--ends-with-parent" in sys.argv[1:]))
    except StoreError as error:
        log.error("the store cannot be used: %s", error.message, extra={"code": error.code, "type": error.type})
        sys.exit(os.EX_UNAVAILABLE)


if __name__ == "__main__":
    main()
