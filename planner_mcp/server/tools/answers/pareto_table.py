"""The Pareto front of a day as a table: what less of a criterion costs, and what is proved (SPEC T5)."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import Field

from planner_mcp.routing.analysis.cost_bound import LowerBound
from planner_mcp.routing.analysis.pareto_front import UNITS, Criterion, FrontPoint, front_of, serving_most
from planner_mcp.server.tools.tool_output import Number, ToolOutput
from planner_mcp.text import at_least, number

BASE: Final = "base"
"""Name of the plan that the front was made from."""


class ParetoFront(ToolOutput):
    """Plans none of which another one equals in both cost and criterion, the cheapest first."""

    columns: list[str]
    rows: list[list[Any]] = Field(
        description="gap: no plan that serves all tickets is cheaper by more than this share, whatever its criterion"
    )
    beaten: dict[str, str] = Field(description="plan → one on the front that is as good in both")
    partial: list[str] | None = Field(None, description="plans that are not compared: they leave out more tickets")
    lower_bound: Number | None = Field(None, description="of the cost of any plan that serves all tickets")
    least: Number | None = Field(None, description="lower bound on the criterion of any plan that serves all tickets")


def pareto_table(
    criterion: Criterion,
    points: Sequence[FrontPoint],
    job_ids: Mapping[str, str],
    *,
    bound: LowerBound | None,
    least: float,
) -> ParetoFront:
    """Return the front of some plans.

    Args:
        criterion: What stands beside the cost.
        points: The plans, by the prices of one day.
        job_ids: Their jobs by name.
        bound: Of the cost of every plan of that day; None where there is none.
        least: Of the criterion.
    """
    compared = serving_most(points)
    front, beaten = front_of(compared)
    return ParetoFront(
        columns=["style", "job_id", "cost", UNITS[criterion], "gap"],
        rows=[
            [point.name, job_ids[point.name], number(point.cost), number(point.value), _gap(bound, point)]
            for point in front
        ],
        beaten=beaten,
        partial=[point.name for point in points if point not in compared] or None,
        lower_bound=None if bound is None or bound.cost is None else at_least(bound.cost),
        least=at_least(least),
    )


def _gap(bound: LowerBound | None, point: FrontPoint) -> float | None:
    """Return the gap of a plan that serves all; None of another, which no bound holds for."""
    return None if bound is None or point.penalty else bound.gap(point.cost)


def pareto_lines(front: ParetoFront) -> list[str]:
    """Return the table as lines of text."""
    lines = [f"Pareto front, {' '.join(front.columns)}"]
    lines += [" ".join("-" if cell is None else str(cell) for cell in row) for row in front.rows]
    lines += [f"{name} is no better than {other} in either" for name, other in front.beaten.items()]
    lines += [f"{name} is not compared: it leaves out more tickets" for name in front.partial or ()]
    if front.lower_bound is not None:
        lines.append(f"No plan that serves all costs less than {front.lower_bound}.")
    lines.append(f"No plan that serves all has {front.columns[3]} below {front.least}.")
    return lines
