"""How far a list that begins with the newest was told: the time of the last entry told and its id, `<time> <id>`.

Owns the mark and what comes behind it. Entries made meanwhile move the ones behind them, so an offset alone would tell
some of them twice. What else a cursor knows is each list's own.
"""

from datetime import datetime

from planner_mcp.text import timestamp


def mark(at: datetime, name: str) -> str:
    """Return the mark of the last entry told."""
    return f"{timestamp(at)} {name}"


def is_behind(at: datetime, name: str, last: str) -> bool:
    """Return whether an entry is still to tell; before the first `last` is empty, and of equal times only it counts."""
    limit, _, told = last.partition(" ")
    return not last or timestamp(at) < limit or (timestamp(at) == limit and name != told)
