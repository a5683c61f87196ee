"""Requeues jobs whose worker has stopped renewing its lease.

Every worker sweeps. The store's step is atomic, so several sweeps at once do no harm and no leader is needed.

A worker that could not renew its lease is not dead. So no lease is taken while the store is away
(`LONGEST_OUTAGE_LEASES` at most), for one lease after it is back, and for one lease after a pause of this process
itself, because the machine was suspended or overloaded then.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.job_ports import WorkerStore

SWEEPS_PER_LEASE: Final = 4
"""A lost job is requeued after its lease and at most a quarter of a lease more."""
LATE_LEASES: Final = 0.5
"""A sweep that is later than this, in leases, shows that the machine was suspended or overloaded."""
LONGEST_OUTAGE_LEASES: Final = 10
"""Longest time an outage protects all leases: one shard that stays away must not stop the others."""

log = logging.getLogger("planner.worker")


class LeaseReaper:
    """Sweeps four times a lease.

    Args:
        store: Where jobs and leases are.
        lease_s: Time without a renewal after which a job is requeued.
        clock: Monotonic seconds.
    """

    def __init__(self, store: WorkerStore, lease_s: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._lease_s = lease_s
        self._clock = clock
        self._is_store_available = True
        self._paused_until = clock()
        self._has_failed = False

    def set_store_available(self, *, is_store_available: bool) -> None:
        """Requeue nothing while the store is unavailable and for one lease after it is back."""
        if is_store_available != self._is_store_available:
            self._is_store_available = is_store_available
            leases = 1 if is_store_available else LONGEST_OUTAGE_LEASES
            self._paused_until = self._clock() + leases * self._lease_s

    def note_pause(self, elapsed_s: float) -> None:
        """Requeue nothing for one lease after a pause between sweeps that was far too long."""
        if elapsed_s > (1 / SWEEPS_PER_LEASE + LATE_LEASES) * self._lease_s:
            self._paused_until = max(self._paused_until, self._clock() + self._lease_s)

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            began = time.time()  # wall clock: it goes on while a machine is suspended
            await asyncio.sleep(self._lease_s / SWEEPS_PER_LEASE)
            self.note_pause(time.time() - began)
            await self.sweep()

    async def sweep(self) -> None:
        """Requeue the jobs of lost workers. An unavailable store is tried again at the next sweep, and logged once."""
        if self._clock() < self._paused_until:
            return
        try:
            if count := await self._store.reap():
                log.warning("requeued %d jobs of lost workers", count)
            self._has_failed = False
        except StoreUnavailableError as error:
            if not self._has_failed:
                log.warning("sweeps are skipped: %s", error.type)
            self._has_failed = True
