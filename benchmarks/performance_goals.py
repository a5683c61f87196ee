"""The goals the planner set itself, and whether a run reaches them.

Owns the goals, and the tables that compare a run's figures with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.result_files import Figure

PEER: Final = "fastmcp-tasks"
LIBRARIES: Final = ("taskiq", "saq", "arq")


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure that is to stay at or below a bound, in the figure's unit."""

    figure: str
    most: float


@dataclass(frozen=True, slots=True)
class RatioGoal:
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
RATIO_GOALS: Final = (
    RatioGoal("planner-mcp: submit over HTTP", f"{PEER}: submit over HTTP", 3),
    RatioGoal("submit, engine only", f"{PEER}: submit over HTTP", 10),
    RatioGoal("planner-mcp: end to end", f"{PEER}: end to end", 2),
    RatioGoal("planner-mcp, no-op: end to end", f"{PEER}: end to end", 2),
    RatioGoal("planner-mcp: jobs over HTTP", f"{PEER}: jobs over HTTP", 5),
    RatioGoal("planner-mcp, no-op: jobs over HTTP", f"{PEER}: jobs over HTTP", 5),
    *(RatioGoal("drain of a backlog, engine only", f"{name}: drain of a backlog", 1) for name in LIBRARIES),
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
    for ratio_goal in RATIO_GOALS:
        if ratio_goal.figure in known and ratio_goal.other in known:
            mine, other = known[ratio_goal.figure], known[ratio_goal.other]
            ratio = mine.p50 / other.p50 if mine.unit == "1/s" else other.p50 / mine.p50
            comparison = f"{mine.p50:,} to {other.p50:,} {mine.unit}: {ratio:.1f} times"
            rows.append(
                (
                    f"{ratio_goal.figure} / {ratio_goal.other}",
                    f"≥ {ratio_goal.least:g} times",
                    comparison,
                    ratio >= ratio_goal.least,
                )
            )
    return _table(("goal (p50)", "wanted", "reached", ""), rows)


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, str, str, bool]]) -> str:
    lines = [
        f"| {goal} | {wanted} | {comparison} | {'yes' if is_met else 'no'} |"
        for goal, wanted, comparison, is_met in rows
    ]
    return "\n".join([f"| {' | '.join(heads)} |", "|---|--:|--:|---|", *lines])
