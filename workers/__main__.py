"""One worker process: `python -m workers [--leash]`. Usually started by `workers/pool.py`, which holds the leash.

Owns the wiring of one worker: settings from `PLANNER_*`, the store, the warm parent, the courier, the signals.
"""

import asyncio
import gc
import logging
import os
import signal
import sys
from itertools import chain, repeat

import anyio

from planner_mcp.errors import StoreError, ungrouped
from planner_mcp.settings import Settings
from planner_mcp.spans import export_spans
from planner_mcp.store.border import explained
from planner_mcp.store.connect import connect
from planner_mcp.telemetry import configure_logging
from workers.consumer import Consumer, new_worker_id
from workers.courier import keep_courier
from workers.nursery import Nursery

log = logging.getLogger("planner.worker")


async def work(settings: Settings, *, is_leashed: bool) -> None:
    """Claim and solve until told to stop, and carry webhooks meanwhile."""
    async with connect(settings) as store, Nursery() as nursery:
        consumer = Consumer(store, nursery, settings, worker_id=new_worker_id())
        await _hear(consumer, is_leashed=is_leashed)
        gc.freeze()  # what is in memory by now stays there, so no later collection looks through it
        stop = anyio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(keep_courier(store, settings, stop))
            await consumer.run()
            stop.set()


class Leash(asyncio.Protocol):
    """What the supervisor says on stdin: a byte asks to drain, the end (its death brings it too) to leave at once."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer

    def data_received(self, data: bytes) -> None:
        """Drain."""
        self._consumer.drain()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave."""
        self._consumer.leave()


async def _hear(consumer: Consumer, *, is_leashed: bool) -> None:
    """Obey SIGTERM (the second one at once) and the leash. On a leash SIGINT is for the supervisor alone."""
    loop = asyncio.get_running_loop()
    requests = chain([consumer.drain], repeat(consumer.leave))

    def on_signal() -> None:
        next(requests)()

    loop.add_signal_handler(signal.SIGTERM, on_signal)
    if is_leashed:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        await loop.connect_read_pipe(lambda: Leash(consumer), sys.stdin)
    else:
        loop.add_signal_handler(signal.SIGINT, on_signal)


def main() -> None:
    """Run one worker process."""
    settings = Settings()
    configure_logging(settings)
    if settings.otel:
        export_spans("planner-mcp-worker")
    try:
        with explained(has_url=bool(settings.redis_url)), ungrouped():
            asyncio.run(work(settings, is_leashed="--leash" in sys.argv[1:]))
    except StoreError as error:
        log.error("no store to work for: %s", error.message, extra={"code": error.code, "type": error.type})
        sys.exit(os.EX_UNAVAILABLE)


if __name__ == "__main__":
    main()
