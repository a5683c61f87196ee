"""Looks for jobs whose worker went silent and puts them back in the queue.

Every worker sweeps; the store's step is atomic, so sweeping together does no harm and none is needed to be the chief.
"""

import asyncio
import logging
from typing import Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.ports import WorkerStore

SWEEPS_PER_LEASE: Final = 4
"""An orphan waits at most its lease and a quarter more."""

log = logging.getLogger("planner.worker")


async def sweep(store: WorkerStore, lease_s: float) -> None:
    """Reap until cancelled. A store that is away is tried again at the next sweep."""
    while True:
        await asyncio.sleep(lease_s / SWEEPS_PER_LEASE)
        try:
            if count := await store.reap():
                log.warning("requeued %d jobs of lost workers", count)
        except StoreUnavailableError as error:
            log.warning("sweep skipped: %s", error.type)
