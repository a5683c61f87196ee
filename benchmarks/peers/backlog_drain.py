"""Draining a backlog of jobs that do nothing, one worker process with sixteen slots, for three job libraries.

Run in the libraries' own environment: `python drains.py LIBRARY REDIS_URL COUNT`; prints jobs per second. A job is
counted when its function has run; the clock starts with the first and ends with the last.
"""

import asyncio
import sys
import time
from typing import Any

SLOTS = 16
library, url, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
done = 0
first = last = 0.0
finished = asyncio.Event()


async def trivial(*_: Any, **__: Any) -> None:
    """Count one job."""
    global done, first, last
    last = time.perf_counter()
    first = first or last
    done += 1
    if done == total:
        finished.set()


async def drain_arq() -> None:
    """arq: enqueue all, then one worker in this process."""
    from arq import create_pool
    from arq.connections import RedisSettings
    from arq.worker import Worker

    settings = RedisSettings.from_dsn(url)
    pool = await create_pool(settings)
    for _ in range(total):
        await pool.enqueue_job("trivial")
    worker = Worker([trivial], redis_settings=settings, max_jobs=SLOTS, poll_delay=0.01, handle_signals=False)
    running = asyncio.create_task(worker.async_run())
    await finished.wait()
    running.cancel()


async def drain_saq() -> None:
    """saq: enqueue all, then one worker in this process."""
    from saq import Queue, Worker

    queue = Queue.from_url(url)
    for _ in range(total):
        await queue.enqueue("trivial")
    worker = Worker(queue, functions=[trivial], concurrency=SLOTS)
    running = asyncio.create_task(worker.start())
    await finished.wait()
    running.cancel()


async def drain_taskiq() -> None:
    """taskiq on Redis Streams: kick all, then one receiver in this process."""
    from concurrent.futures import ThreadPoolExecutor

    from taskiq.receiver import Receiver
    from taskiq_redis import RedisStreamBroker

    broker = RedisStreamBroker(url)
    task = broker.register_task(trivial, task_name="trivial")
    await broker.startup()
    for _ in range(total):
        await task.kiq()
    receiver = Receiver(broker, executor=ThreadPoolExecutor(1), max_async_tasks=SLOTS, run_startup=False)
    running = asyncio.create_task(receiver.listen(asyncio.Event()))
    await finished.wait()
    running.cancel()


asyncio.run({"arq": drain_arq, "saq": drain_saq, "taskiq": drain_taskiq}[library]())
print(round((total - 1) / (last - first), 1), flush=True)
