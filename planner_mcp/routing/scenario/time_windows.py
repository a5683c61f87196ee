"""Operations on time windows, in any unit of time."""

from collections.abc import Iterable
from typing import TypeVar

Time = TypeVar("Time", int, float)


def merged_windows(windows: Iterable[tuple[Time, Time]]) -> list[tuple[Time, Time]]:
    """Return windows sorted, with those that touch or overlap merged."""
    found: list[tuple[Time, Time]] = []
    for opens, closes in sorted(windows):
        if found and opens <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], closes))
        else:
            found.append((opens, closes))
    return found
