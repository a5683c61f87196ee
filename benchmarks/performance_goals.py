"""The performance goals, and the table that holds the figures of recorded runs against them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.result_files import Figure, joined

PEER: Final = "fastmcp-tasks"


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure that should stay at or below a bound, in the figure's unit."""

    figure: str
    most: float


@dataclass(frozen=True, slots=True)
class RatioGoal:
    """A figure that should be so many times better than another figure of the same run."""

    figure: str
    other: str
    least: float


LIMITS: Final = (
    Limit("cancel → solver gone", 30),
    Limit("SIGKILL of the worker → solving again", 5000),
    Limit("event worker → client", 5),
    Limit("core used by 500 watchers", 45),
    Limit("stdio ready", 1000),
    Limit("CPU of planner-mcp --version", 300),
    Limit("idle memory of serve and one worker", 120),
)
RATIO_GOALS: Final = (
    RatioGoal("planner-mcp: submit over HTTP", f"{PEER}: submit over HTTP", 2.5),
    RatioGoal("planner-mcp: end to end", f"{PEER}: end to end", 1.5),
    RatioGoal("planner-mcp: CPU a job", f"{PEER}: CPU a job", 1.5),
    RatioGoal("planner-mcp: jobs over HTTP", f"{PEER}: jobs over HTTP", 1.3),
    RatioGoal("planner-mcp: stdio to the first tools/list", "fastmcp: stdio to the first tools/list", 1),
)


def goal_table(runs: Sequence[Sequence[Figure]]) -> str:
    """Return every goal with what each run reached; a goal is met when every run meets it.

    Args:
        runs: The figures of each run of one commit, oldest first.
    """
    known = [{figure.name: figure for figure in run} for run in runs]
    rows = [_limit_row(limit, known) for limit in LIMITS if all(limit.figure in run for run in known)]
    rows += [
        _ratio_row(goal, known)
        for goal in RATIO_GOALS
        if all(goal.figure in run and goal.other in run for run in known)
    ]
    return (
        "\n".join(["| goal (p50) | wanted | reached in each run | met |", "|---|--:|--:|---|", *rows]) if rows else ""
    )


def _limit_row(limit: Limit, runs: Sequence[dict[str, Figure]]) -> str:
    reached = [run[limit.figure].p50 for run in runs]
    unit = runs[-1][limit.figure].unit
    is_met = all(value <= limit.most for value in reached)
    return f"| {limit.figure} | ≤ {limit.most:g} {unit} | {joined(reached, unit)} | {_yes_or_no(is_met)} |"


def _ratio_row(goal: RatioGoal, runs: Sequence[dict[str, Figure]]) -> str:
    ratios = [_ratio(run[goal.figure], run[goal.other]) for run in runs]
    is_met = all(ratio >= goal.least for ratio in ratios)
    reached = joined([round(ratio, 2) for ratio in ratios], "times")
    return f"| {goal.figure} / {goal.other} | ≥ {goal.least:g} times | {reached} | {_yes_or_no(is_met)} |"


def _ratio(ours: Figure, other: Figure) -> float:
    """Return how many times better ours is; a rate is better when it is higher."""
    return ours.p50 / other.p50 if ours.unit == "1/s" else other.p50 / ours.p50


def _yes_or_no(is_met: bool) -> str:
    return "yes" if is_met else "no"
