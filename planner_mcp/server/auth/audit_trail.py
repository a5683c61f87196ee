"""Who did what, with what outcome: one line per use of a tool and per refusal.

Owns the line. Its fields are ids, codes and names of ours; the only words of strangers in it are subject and tenant as
an issuer spelled them, stripped of what does not show. As JSON in ASCII it cannot be broken out of. Where lines are
kept is `store.audit_log`.

A line stands in the process log before the caller has the answer. The answer does not wait for the ledger: lines of one
moment, or that come while others are written, go there together, in order. Only when very many of them wait does a call
that adds one wait too.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.audit_records import AuditEntry, AuditStore
from planner_mcp.jobs.ids import is_id
from planner_mcp.jobs.job_model import plain_fields
from planner_mcp.jobs.principals import Principal
from planner_mcp.text import plain, timestamp

OK: Final = "ok"
NOBODY: Final = Principal("nobody")
"""Whoever sends no credential that is accepted."""
MAX_UNWRITTEN: Final = 1000
"""Lines on their way to the ledger; who writes one more waits until they are there."""
BATCHING_DELAY_S: Final = 0.02
"""A line waits this long for others: a step of the store for each would be a tenth of what a call costs."""
_TARGETS: Final = ("job_id", "plan_id", "scenario_id", "delivery_id")

log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class Audit:
    """Writes entries, to the process log and to the ledger.

    Args:
        ledger: Where entries are kept.
        clock: Tells the time in UTC.
    """

    def __init__(self, store: AuditStore, *, clock: Callable[[], datetime] = _now) -> None:
        self._store = store
        self._clock = clock
        self._unwritten: list[AuditEntry] = []
        self._keeping: asyncio.Task[None] | None = None
        self._is_kept = asyncio.Event()
        """Set when those that are unkept now are on their way no more."""

    async def record(
        self,
        principal: Principal,
        what: str,
        *,
        outcome: str | int,
        trace_id: str,
        target: str = "",
        left_out: int = 0,
        is_kept: bool = True,
        ms: float | None = None,
    ) -> None:
        """Write one entry. With the store away it stands in the process log alone.

        What it took in milliseconds is for the process log only.
        """
        entry = AuditEntry(
            at=timestamp(self._clock()),
            who=principal.id,
            subject=plain(principal.subject),
            tenant=plain(principal.tenant),
            what=what,
            target=target,
            outcome=str(outcome),
            trace_id=trace_id,
            left_out=left_out,
        )
        log.info("audit", extra=plain_fields(entry) | ({} if ms is None else {"ms": ms}))
        if not is_kept:
            return
        if outcome == StoreUnavailableError.code:  # to ask it again would keep the caller waiting twice
            _log_lost(entry)
            return
        self._unwritten.append(entry)
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(), name="audit lines")
        if len(self._unwritten) >= MAX_UNWRITTEN:
            await self._is_kept.wait()

    async def until_written(self) -> None:
        """Return when no line is on its way any more: each is in the ledger, or was said to be lost."""
        if self._keeping is not None:
            await asyncio.wait([self._keeping])

    async def _keep(self) -> None:
        while self._unwritten:
            await asyncio.sleep(BATCHING_DELAY_S)
            entries, self._unwritten = self._unwritten, []
            is_kept, self._is_kept = self._is_kept, asyncio.Event()
            try:
                await self._store.append(entries)
            except StoreError:
                for entry in entries:
                    _log_lost(entry)
            finally:
                is_kept.set()


def _log_lost(entry: AuditEntry) -> None:
    log.error("audit entry not kept", extra={"trace": entry.trace_id})


def target_of(*bodies: Any) -> str:
    """Return the first id that any of some JSON objects names, empty when none does. Anything but an id is left out."""
    for body in bodies:
        found = (body.get(name) for name in _TARGETS) if isinstance(body, Mapping) else ()
        for value in found:
            if isinstance(value, str) and is_id(value):
                return value
    return ""
