"""One line per use and refusal."""

import asyncio
import io
import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.principals import Principal
from planner_mcp.jobs.records.audit_records import AuditEntry
from planner_mcp.server.auth.audit_trail import MAX_UNWRITTEN, OK, Audit, target_of
from planner_mcp.settings import Settings
from planner_mcp.telemetry import configure_logging, trace_context

pytestmark = pytest.mark.anyio
JOB = "job-0-" + "a" * 26


class AuditStore:
    """Keeps entries in a list, unless it is away."""

    def __init__(self, *, is_up: bool = True) -> None:
        self.entries: list[AuditEntry] = []
        self.writes: list[int] = []
        self.is_up = is_up
        self.is_free = asyncio.Event()
        self.is_free.set()

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        await self.is_free.wait()
        if not self.is_up:
            raise StoreUnavailableError
        self.entries += entries
        self.writes.append(len(entries))


def audit(ledger: AuditStore) -> Audit:
    return Audit(ledger, clock=lambda: datetime(2026, 11, 21, 8, tzinfo=UTC))


async def test_words_of_an_issuer_cannot_leave_their_field() -> None:
    """SPEC A3: injection-proof, on one line of ASCII, without characters that do not show."""
    ledger, name = AuditStore(), 'x"}\n{"who":"root"\u2028\u202e\x1b[2J' + "é" * 300
    written = audit(ledger)
    await written.record(Principal("u-1", subject=name, tenant=name), "solve_vrp", outcome="ok", trace_id="t")
    await written.until_written()
    line = ledger.entries[0].as_line()
    assert line.isascii() and line.isprintable() and len(line) < 2000
    assert json.loads(line)["who"] == "u-1"
    assert len(ledger.entries[0].subject) <= 100


async def test_the_line_stands_in_the_log_when_the_store_is_away(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC A3: an outage of the store hides nothing and fails no call."""
    with caplog.at_level(logging.INFO, "planner_mcp.server.auth.audit_trail"):
        written = audit(AuditStore(is_up=False))
        for outcome in (5031, "ok"):
            await written.record(Principal("u-1"), "solve_vrp", outcome=outcome, trace_id="t")
        await written.until_written()
    assert [record.getMessage() for record in caplog.records] == ["audit", "audit entry not kept"] * 2
    assert [vars(record)["outcome"] for record in caplog.records[::2]] == ["5031", "ok"]


async def test_a_line_that_was_lost_is_found_by_the_trace_id_of_its_call() -> None:
    """SPEC A3, O3: that id and no other, although lines of several calls are written at once."""
    stream = io.StringIO()
    configure_logging(Settings(log_level="error"), stream)
    written = audit(AuditStore(is_up=False))
    for call in ("t-1", "t-2"):
        with trace_context(call):
            await written.record(Principal("u-1"), "solve_vrp", outcome=OK, trace_id=call)
    await written.until_written()
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["trace_id"] for line in lines if line["message"] == "audit entry not kept"] == ["t-1", "t-2"]
    assert not any("trace" in line for line in lines)


async def test_lines_that_come_within_a_moment_are_kept_together() -> None:
    """SPEC A3: no answer waits for the disk, and many lines are one write, in their order."""
    ledger = AuditStore()
    written = audit(ledger)
    for number in range(5):
        await written.record(Principal("u-1"), "solve_vrp", outcome=OK, trace_id=str(number))
        await asyncio.sleep(0)
    await written.until_written()
    assert [entry.trace_id for entry in ledger.entries] == list("01234")
    assert ledger.writes == [5]


@pytest.mark.slow
async def test_a_crowd_of_lines_is_waited_for() -> None:
    """SPEC A3: a store that is slow does not fill the memory of a server."""
    ledger = AuditStore()
    written = audit(ledger)
    ledger.is_free.clear()
    crowd = asyncio.create_task(_write(written, 2 * MAX_UNWRITTEN))
    await asyncio.wait([crowd], timeout=0.2)
    assert not crowd.done()
    ledger.is_free.set()
    await crowd
    await written.until_written()
    assert len(ledger.entries) == 2 * MAX_UNWRITTEN


class SlowLedger(AuditStore):
    """Writes when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = asyncio.Semaphore(0)
        self.has_begun = asyncio.Event()

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        self.has_begun.set()
        await self.turns.acquire()
        await super().append(entries)


async def test_who_waits_in_a_crowd_waits_for_no_line_that_comes_later() -> None:
    """SPEC A3: calls that go on coming do not hold up the answer to one that came before them."""
    ledger = SlowLedger()
    written = audit(ledger)
    await _write(written, 1)
    await ledger.has_begun.wait()  # it is under way alone
    crowd = asyncio.create_task(_write(written, MAX_UNWRITTEN))
    for _ in range(2):
        await asyncio.wait([crowd], timeout=0.05)
        assert not crowd.done()
        await _write(written, 1) if ledger.writes else None
        ledger.turns.release()
    await asyncio.wait([crowd], timeout=1)
    assert crowd.done()
    assert ledger.writes == [1, MAX_UNWRITTEN]
    ledger.turns.release()
    await written.until_written()


async def _write(written: Audit, count: int) -> None:
    for _ in range(count):
        await written.record(Principal("u-1"), "solve_vrp", outcome=OK, trace_id="t")


def test_only_ids_are_recorded_as_the_target() -> None:
    """SPEC A3: the answer's id before the argument's; a caller's own words never."""
    assert target_of({"job_id": JOB}, {"scenario_id": "scn-0-" + "b" * 26}) == JOB
    assert target_of({"errors": []}, {"job_id": JOB}) == JOB
    assert target_of({"job_id": "job-0-x\n"}, {"job_id": ["x"]}, None, "text") == ""
