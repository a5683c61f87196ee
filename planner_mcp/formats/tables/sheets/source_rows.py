"""Where in a file the parts of a day were read, so that a fault in one is reported by its row (SPEC T7).

Owns the way back from a place in the day (`/agents/3/capacity`) to the row and the column it came from.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.schema_faults import pointer

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "time_windows": ("window",),
    "time_windows/0/0": ("opens", "window"),
    "shift_start": ("shift_start", "shift"),
    "shift_end": ("shift_end", "shift"),
    "lat": ("lat", "position"),
    "lon": ("lon", "position"),
    "time_windows/0/1": ("closes", "window"),
    "agents": ("only_agents",),
    "pickup": ("pickup_ticket",),
    "service_time_s": ("service_s", "service_min", "service_h", "service_d"),
    "start_location": ("location",),
    "end_location": ("location",),
    "breaks": ("break", "break_start"),
    "max_duration_s": ("max_duration_h",),
}
"""Fields of a table by their place in what a row becomes, where they are called otherwise there.

What is deeper and not named is of the cell that its first segment was read from.
"""
_HINTS: Final = {
    "Add the location or name another.": "Give it lat and lon or an address, beside it or in a sheet called Depots."
}
"""Hints of a day in the words of a table."""
_PART: Final = re.compile(r"/(tickets|agents|locations)(?:/(\d+)(?:/(.+))?)?")
"""A list of the day, one of its parts, or a place in that."""
_NAMED: Final = re.compile(r"/(tickets|agents|locations)/(\d+)")
"""A part of the day, as the text of a fault names it."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """What a part of the day was read from."""

    path: str
    """Of a row, in the file; of a wish, its name."""
    headers: Mapping[str, str]
    """By field."""

    @property
    def number(self) -> str:
        """Of the row, in its table."""
        return self.path.rpartition("/")[2]

    @property
    def which(self) -> tuple[str, ...]:
        """The row as a fault names it; none of a wish."""
        return (f"row {self.number}",) if "/" in self.path else ()

    def fault(self, problem: str, accepted: str, hint: str = "", *, field: str = "") -> Fault:
        """Return what is wrong with the row, or with the cell that one of its fields was read from."""
        path = self.path + (pointer((self.headers[field],)) if field else "")
        return Fault(path, problem, accepted, hint, which=self.which)


SourceRows = Mapping[str, Sequence[SourceRow]]
"""By the list of the day, in its order."""


def in_file(fault: Fault, origins: SourceRows) -> Fault | None:
    """Return a fault of the day as one of the file it was read from; None where that says nothing of it."""
    part = _PART.fullmatch(fault.path)
    rows = origins.get(part[1], ()) if part else ()
    if part is None or not rows or int(part[2] or 0) >= len(rows):
        return None
    if part[2] is None:
        return replace(fault, path=rows[0].path.rpartition("/")[0])
    origin = rows[int(part[2])]
    problem = _NAMED.sub(lambda named: _row(named, origins), fault.problem)
    hint = _HINTS.get(fault.hint, fault.hint)
    return replace(fault, path=origin.path + _column(part[3] or "", origin), problem=problem, hint=hint)


def _column(place: str, origin: SourceRow) -> str:
    """Return the column of a place in what a row became; empty where it has none of its own."""
    first = place.partition("/")[0]
    fields = _FIELDS.get(place) or _FIELDS.get(first, (first,))
    headers = (origin.headers[field] for field in fields if field in origin.headers)
    return "".join(pointer((header,)) for header in islice(headers, 1))


def _row(named: re.Match[str], origins: SourceRows) -> str:
    """Return in words the row of a part of the day; its place as it stands where it came from no row."""
    rows, at = origins.get(named[1], ()), int(named[2])
    return f"row {rows[at].number}" if at < len(rows) else named[0]
