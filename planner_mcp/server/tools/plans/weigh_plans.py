"""`weigh_plans`: several plans of a day side by side, on the same terms (SPEC T5)."""

from functools import partial
from typing import Annotated, Any, ClassVar, Final

from pydantic import Field

from planner_mcp.routing.analysis.alternative_plans import TradeOff, trade_offs
from planner_mcp.routing.analysis.frozen_prefix import has_other_frozen_prefix, without_assignments
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.plan import CENT
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_parsing import read_stored
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.server.tools.answers.table_result import cell_text
from planner_mcp.server.tools.arguments.comparison_pricing import priced_on_common_scenario, stated_prices
from planner_mcp.server.tools.arguments.lookup_errors import find_all
from planner_mcp.server.tools.arguments.plan_context import (
    PlanContext,
    PlanName,
    cost_unit_of_plan,
    load_plan_context,
    run_in_thread,
    unit_lines,
)
from planner_mcp.server.tools.tool_definition import READ, Arguments, Tool, ToolAnnotations, ToolContext, ToolResult
from planner_mcp.server.tools.tool_output import Number, ToolOutput
from planner_mcp.text import number

_COLUMNS: Final = (
    "plan_id",
    "status",
    "cost",
    "agents",
    "distance_km",
    "longest_h",
    "spread_h",
    "late_min",
    "served",
    "difference",
)


_MADE_UP: Final = "prices made up for the style of the first plan: the day it was made from has expired"


class WeighArguments(Arguments):
    """Arguments of `weigh_plans`."""

    plans: Annotated[
        list[PlanName],
        Field(min_length=2, max_length=6, description="the first is the base: of revisions the latest"),
    ]


class WeighPlansResult(ToolOutput):
    """Result of `weigh_plans`."""

    kept_nulls: ClassVar[frozenset[str]] = frozenset({"priced_on"})
    columns: list[str]
    rows: list[list[Any]]
    cost_in: str | None = None
    own_costs: dict[str, Number] = Field(description="plan_id → what it costs on its own day, where that differs")
    duplicates: dict[str, str] = Field(description="plan_id → the one it hardly differs from")
    invalid: list[str] = Field(
        description="plans that break a promise of the base's day, or have stops it does not know (cost null)"
    )
    priced_on: str | None = Field(
        None, description="where the first plan is an alternative: the scenario whose prices hold; null: expired"
    )


async def run(ctx: ToolContext, asked: WeighArguments) -> ToolResult:
    """Return the trade-off table."""
    named = await find_all(
        [partial(load_plan_context, ctx, name, f"/plans/{at}") for at, name in enumerate(asked.plans)]
    )
    found: list[PlanContext] = list({each.plan_id: each for each in named}.values())
    ids = [each.plan_id for each in found]
    base = found[0]
    scenario_id, body = await stated_prices(ctx, base.scenario) or (None, without_assignments(base.scenario.body))
    rows = await run_in_thread(ctx, _weighed, body, base.travel_matrices, found)
    hides_costs = any(each.plan.is_masked for each in found)
    output = WeighPlansResult(
        columns=list(_COLUMNS),
        rows=[
            [each.plan_id, each.job.state.upper(), *_cells(row, hides_costs=hides_costs)]
            for each, row in zip(found, rows, strict=True)
        ],
        cost_in=None if hides_costs else cost_unit_of_plan(body, base.plan),
        own_costs={} if hides_costs else await _own_costs(ctx, found, rows),
        duplicates={ids[at]: ids[r.duplicate_of] for at, r in enumerate(rows) if r.duplicate_of is not None},
        invalid=[ids[at] for at, row in enumerate(rows) if not row.is_valid],
        **({"priced_on": scenario_id} if scenario_id != base.scenario.id else {}),
    )
    lines = [" ".join(_COLUMNS), *(" ".join(map(cell_text, cells)) for cells in output.rows)]
    lines += unit_lines(output.cost_in)
    lines += [f"{one} is hardly different from {other}" for one, other in output.duplicates.items()]
    lines += [f"{name} costs {cost} on its own day" for name, cost in output.own_costs.items()]
    lines += [f"{name} does not hold on the day of {ids[0]}" for name in output.invalid]
    if scenario_id != base.scenario.id:
        lines.append(f"costs by {f'the prices of {scenario_id}' if scenario_id else _MADE_UP}")
    if not hides_costs and any(row.cost is None for row in rows):
        lines.append("Next: the same with a later plan first: its day may have the stops of all.")
    return ToolResult(output, "\n".join(lines))


def _weighed(body: ScenarioBody, travel_matrices: TravelMatrices | None, found: list[PlanContext]) -> list[TradeOff]:
    keeps_stated = {at for at, each in enumerate(found) if has_other_frozen_prefix(each.scenario.body, body)}
    return trade_offs(compile_scenario(read_stored(body, travel_matrices)), [each.plan for each in found], keeps_stated)


async def _own_costs(ctx: ToolContext, found: list[PlanContext], rows: list[TradeOff]) -> dict[str, Number]:
    """Return what plans cost by their own days where the base's day says otherwise, or nothing.

    Days of a style are passed over: their own prices are those of the day the style was made for.
    """
    own_costs: dict[str, Number] = {}
    for each, row in zip(found, rows, strict=True):
        if each.scenario.prices_of is None:
            prices, (own, _same) = await priced_on_common_scenario(ctx, each, each)
            if prices is not None and (row.cost is None or abs(row.cost - own.cost) > CENT):
                own_costs[each.plan_id] = number(own.cost)
    return own_costs


def _cells(row: TradeOff, *, hides_costs: bool) -> list[float | int | None]:
    return [
        None if hides_costs else number(row.cost),
        row.agents_used,
        number(row.distance_m / 1000),
        number(row.longest_s / 3600),
        number(row.spread_s / 3600),
        number(row.late_s / 60),
        row.tickets_served,
        number(row.difference),
    ]


TOOL: Final = Tool(
    name="weigh_plans",
    title="Weigh plans",
    description=(
        "Show 2 to 6 plans of one day or its revisions as a trade-off table, all priced on the first plan's day: cost, "
        "agents, distance, longest route, spread, lateness, and how much each really differs. Flags duplicates."
    ),
    arguments=WeighArguments,
    output=WeighPlansResult,
    hints=ToolAnnotations(read_only=True, idempotent=True),
    run=run,
    scope=READ,
    toolset="planning",
    meta={"example": {"plans": ["plan-0-…", "job-0-…"]}},
)
