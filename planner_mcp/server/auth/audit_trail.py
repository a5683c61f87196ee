"""Writes the audit log: one line for each tool call and each refusal.

Owns the content of a line: ids, codes and names of this server, and the subject and tenant as the issuer wrote them,
without characters that are not printable. A line is JSON in ASCII, so no value can end it early. Lines are stored by
`jobs.store.security.audit_log`.

A line is in the process log before the caller has the answer. The answer does not wait for the store: lines are written
there in batches, in order. A call waits only when `MAX_UNWRITTEN` lines are not written yet.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from planner_mcp.errors import StoreError, StoreUnavailableError
from planner_mcp.jobs.ids import is_id
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.records.audit_records import AuditEntry, AuditStore
from planner_mcp.telemetry import trace_context
from planner_mcp.text import plain, plain_fields, timestamp

OK: Final = "ok"
NOBODY: Final = Principal("nobody")
"""The caller without an accepted credential."""
MAX_UNWRITTEN: Final = 1000
"""Lines not yet in the store; a call that adds one more waits until they are."""
BATCHING_DELAY_S: Final = 0.02
"""Time that lines are collected before they are written; a write for each would add a tenth to a call."""
_TARGETS: Final = ("job_id", "plan_id", "scenario_id", "delivery_id")

log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class Audit:
    """Writes entries to the process log and to the store.

    Args:
        store: Where entries are kept.
        clock: Returns the time in UTC.
    """

    def __init__(self, store: AuditStore, *, clock: Callable[[], datetime] = _now) -> None:
        self._store = store
        self._clock = clock
        self._unwritten: list[AuditEntry] = []
        self._keeping: asyncio.Task[None] | None = None
        self._is_kept = asyncio.Event()
        """Set when the lines that wait now are written or lost."""

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
        """Write one entry; only to the process log while the store is unavailable.

        The duration `ms` is written to the process log only.
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
        if outcome == StoreUnavailableError.code:  # another try would make the caller wait twice
            _log_lost(entry)
            return
        self._unwritten.append(entry)
        if self._keeping is None or self._keeping.done():
            self._keeping = asyncio.create_task(self._keep(), name="audit lines")
        if len(self._unwritten) >= MAX_UNWRITTEN:
            await self._is_kept.wait()

    async def until_written(self) -> None:
        """Return when every line is in the store or was logged as lost."""
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
    with trace_context(entry.trace_id):  # the task that writes has that of the call which began it
        log.error("audit entry not kept")


def target_of(*bodies: Any) -> str:
    """Return the first id in some JSON objects, or an empty text; values that are no ids are ignored."""
    for body in bodies:
        found = (body.get(name) for name in _TARGETS) if isinstance(body, Mapping) else ()
        for value in found:
            if isinstance(value, str) and is_id(value):
                return value
    return ""
