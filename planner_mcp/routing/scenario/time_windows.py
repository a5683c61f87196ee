"""Time windows of one ticket, as spans of whatever times are counted in."""

from collections.abc import Iterable
from typing import TypeVar

Time = TypeVar("Time", int, float)


def merged_windows(windows: Iterable[tuple[Time, Time]]) -> list[tuple[Time, Time]]:
    """Return windows in order, those that touch or overlap made one."""
    found: list[tuple[Time, Time]] = []
    for opens, closes in sorted(windows):
        if found and opens <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], closes))
        else:
            found.append((opens, closes))
    return found
