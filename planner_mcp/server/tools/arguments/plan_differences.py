"""What changes from one plan to another, as a caller may know it (SPEC T5).

The prices are chosen by `comparison_pricing.py`; the counting is `routing/analysis/plan_comparison.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner_mcp.jobs.masking.field_masking import plan_for
from planner_mcp.routing.analysis.alternative_plans import DUPLICATE_BELOW
from planner_mcp.routing.analysis.plan_comparison import AgentDelta, Comparison, compare, difference_in_words
from planner_mcp.routing.plan import CENT, Plan
from planner_mcp.server.tools.arguments.comparison_pricing import Prices, priced_on_common_scenario
from planner_mcp.server.tools.arguments.plan_context import PlanContext
from planner_mcp.server.tools.tool_definition import ToolContext
from planner_mcp.text import number


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """Two plans and what changes from the first to the second."""

    before: Plan
    after: Plan
    comparison: Comparison
    prices: Prices | None
    """None where none hold for both."""
    other_costs: tuple[str, ...]
    """A sentence of each plan that has another cost by its own day, where it ends elsewhere or has other prices."""

    def in_words(self, agents: Sequence[AgentDelta]) -> list[str]:
        """Return the change as sentences about these agents, the most important first."""
        comparison = replace(self.comparison, agents=tuple(agents))
        in_all, *others = difference_in_words(self.before, self.after, comparison)
        return [in_all, *self.other_costs, *others]


def small_share_text(share: float) -> str:
    """Return by how much two plans differ, beside the least by which alternatives do."""
    return f"{share:.3f} of 1 < {DUPLICATE_BELOW}"


async def plan_difference(ctx: ToolContext, a: PlanContext, b: PlanContext) -> PlanDifference:
    """Return what changes when plan a gives way to plan b."""
    prices, plans = await priced_on_common_scenario(ctx, a, b)
    before, after = (plan_for(ctx.principal, plan) for plan in plans)
    is_priced = prices is not None and not (before.is_masked or after.is_masked)
    named_plans = (("the plan before", a.plan, before), ("the plan after", b.plan, after)) if is_priced else ()
    other_costs = [
        f"On the day that both are priced on, {name} costs {number(priced.cost)}, not {number(own.cost)}."
        for name, own, priced in named_plans
        if abs(priced.cost - own.cost) >= CENT
    ]
    return PlanDifference(before, after, compare(before, after, is_priced=is_priced), prices, tuple(other_costs))
