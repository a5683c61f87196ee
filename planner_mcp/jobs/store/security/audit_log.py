"""The audit log in Redis: one stream per UTC date, only ever added to. Implements `AuditStore` of `jobs.records`."""

import json
import re
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import Final

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.job_events import is_position
from planner_mcp.jobs.records.audit_records import AuditEntry, AuditPage
from planner_mcp.jobs.store import record_codec, store_keys
from planner_mcp.jobs.store.connection.store_part import StorePart

ENTRIES_A_STEP: Final = 1000
"""While a step adds lines nobody else is served; so many of the largest take about a tenth of a second."""
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class AuditLog(StorePart):
    """Adds and reads lines."""

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        """Add entries, each to the day it happened, those of a day in few steps."""
        for day, of_day in groupby(entries, key=lambda entry: entry.at[:10]):
            lines = [entry.as_line() for entry in of_day]
            for first in range(0, len(lines), ENTRIES_A_STEP):
                some = lines[first : first + ENTRIES_A_STEP]
                args = {"date": day, "ttl_s": self._settings.audit_ttl_s}
                await self._script_client.step("append_audit", store_keys.UNSHARDED, args, *some)

    async def read(self, day: str, after: str = "0", count: int = 100) -> AuditPage:
        """Return lines of a day. Whoever calls has checked the admin scope.

        Args:
            day: `YYYY-MM-DD`, UTC.
            after: `AuditPage.next` of the page before; `0` for the first.
            count: Most lines.

        Raises:
            NotFoundError: No such date or position.
        """
        if not _is_date(day) or not is_position(after):
            raise NotFoundError
        rows = await self._script_client.command(
            "XRANGE", store_keys.key(store_keys.UNSHARDED, "audit", day), f"({after}", "+", "COUNT", count
        )
        entries = [record_codec.read_record(AuditEntry, json.loads(fields["line"])) for _id, fields in rows]
        return AuditPage(entries, rows[-1][0] if len(rows) == count else None)


def _is_date(text: str) -> bool:
    try:
        return bool(_DATE.fullmatch(text) and date.fromisoformat(text))
    except ValueError:
        return False
