"""One line per use and refusal."""

import json
import logging
from datetime import UTC, datetime

import pytest

from planner_mcp.auth.audit import Audit, Entry, target_of
from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.model import Principal

pytestmark = pytest.mark.anyio
JOB = "job-0-" + "a" * 26


class Ledger:
    """Keeps entries in a list, unless it is away."""

    def __init__(self, *, is_up: bool = True) -> None:
        self.entries: list[Entry] = []
        self.is_up = is_up

    async def append(self, entry: Entry) -> None:
        if not self.is_up:
            raise StoreUnavailableError
        self.entries.append(entry)


def audit(ledger: Ledger) -> Audit:
    return Audit(ledger, clock=lambda: datetime(2026, 11, 21, 8, tzinfo=UTC))


async def test_words_of_an_issuer_cannot_leave_their_field() -> None:
    """SPEC A3: injection-proof, on one line of ASCII, without characters that do not show."""
    ledger, name = Ledger(), 'x"}\n{"who":"root"\u2028\u202e\x1b[2J' + "é" * 300
    await audit(ledger).record(Principal("u-1", subject=name, tenant=name), "solve_vrp", outcome="ok", trace_id="t")
    line = ledger.entries[0].as_line()
    assert line.isascii() and line.isprintable() and len(line) < 2000
    assert json.loads(line)["who"] == "u-1"
    assert len(ledger.entries[0].subject) <= 100


async def test_the_line_stands_in_the_log_when_the_store_is_away(caplog: pytest.LogCaptureFixture) -> None:
    """SPEC A3: an outage of the store hides nothing and fails no call."""
    with caplog.at_level(logging.INFO, "planner_mcp.auth.audit"):
        await audit(Ledger(is_up=False)).record(Principal("u-1"), "solve_vrp", outcome=5031, trace_id="t")
    assert [record.getMessage() for record in caplog.records] == ["audit", "audit entry not kept"]
    assert vars(caplog.records[0])["outcome"] == "5031"


def test_only_ids_are_told_as_the_target() -> None:
    """SPEC A3: the answer's id before the argument's; a caller's own words never."""
    assert target_of({"job_id": JOB}, {"scenario_id": "scn-0-" + "b" * 26}) == JOB
    assert target_of({"errors": []}, {"job_id": JOB}) == JOB
    assert target_of({"job_id": "job-0-x\n"}, {"job_id": ["x"]}, None, "text") == ""
