"""The goals the planner set itself, and whether a run reaches them.

Owns the goals, and the tables that compare a run's figures with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.record import Figure

PEER: Final = "fastmcp-tasks"
LIBRARIES: Final = ("taskiq", "saq", "arq")


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure that is to stay at or below a bound, in the figure's unit."""

    figure: str
    most: float


@dataclass(frozen=True, slots=True)
class Lead:
    """A figure that is to be so many times better than another of the same run."""

    figure: str
    other: str
    least: float


LIMITS: Final = (
    Limit("cancel → solver gone", 50),
    Limit("SIGKILL of the worker → solving again", 5000),
    Limit("event worker → client", 5),
    Limit("event → one of 500 watchers", 25),
    Limit("core used by telling 500 watchers", 15),
    Limit("second principal's job → claimed", 500),
)
LEADS: Final = (
    Lead("planner-mcp: submit over HTTP", f"{PEER}: submit over HTTP", 3),
    Lead("submit, engine only", f"{PEER}: submit over HTTP", 10),
    Lead("planner-mcp: end to end", f"{PEER}: end to end", 2),
    Lead("planner-mcp, no-op: end to end", f"{PEER}: end to end", 2),
    Lead("planner-mcp: jobs over HTTP", f"{PEER}: jobs over HTTP", 5),
    Lead("planner-mcp, no-op: jobs over HTTP", f"{PEER}: jobs over HTTP", 5),
    *(Lead("drain of a backlog, engine only", f"{name}: drain of a backlog", 1) for name in LIBRARIES),
)


def against_limits(figures: Sequence[Figure]) -> str:
    """Return the table of figures that have a bound."""
    known = {figure.name: figure for figure in figures}
    rows = []
    for limit in LIMITS:
        if (figure := known.get(limit.figure)) is not None:
            wanted = f"≤ {limit.most:g} {figure.unit}"
            rows.append((figure.name, wanted, f"{figure.p50:,} {figure.unit}", figure.p50 <= limit.most))
    return _table(("goal (p50)", "wanted", "reached", ""), rows)


def against_peers(figures: Sequence[Figure]) -> str:
    """Return the table of figures that are to be better than a peer's."""
    known = {figure.name: figure for figure in figures}
    rows = []
    for lead in LEADS:
        if lead.figure in known and lead.other in known:
            mine, other = known[lead.figure], known[lead.other]
            ratio = mine.p50 / other.p50 if mine.unit == "1/s" else other.p50 / mine.p50
            told = f"{mine.p50:,} to {other.p50:,} {mine.unit}: {ratio:.1f} times"
            rows.append((f"{lead.figure} / {lead.other}", f"≥ {lead.least:g} times", told, ratio >= lead.least))
    return _table(("goal (p50)", "wanted", "reached", ""), rows)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, str, str, bool]]) -> str:
    lines = [f"| {goal} | {wanted} | {told} | {'yes' if is_met else 'no'} |" for goal, wanted, told, is_met in rows]
    return "\n".join([f"| {' | '.join(heads)} |", "|---|--:|--:|---|", *lines])
