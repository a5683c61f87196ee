"""What changes from one plan to another, as a caller may know it (SPEC T5).

The prices are chosen by `comparison_pricing.py`; the counting is `routing/analysis/plan_comparison.py`'s.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from planner_mcp.jobs.field_masking import plan_for
from planner_mcp.routing.analysis.plan_comparison import AgentDelta, Comparison, compare, difference_in_words
from planner_mcp.routing.plan import Plan
from planner_mcp.server.tools.arguments.comparison_pricing import Prices, priced_on_common_scenario
from planner_mcp.server.tools.arguments.plan_context import PlanContext
from planner_mcp.server.tools.tool_definition import ToolContext


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """Two plans and what changes from the first to the second."""

    before: Plan
    after: Plan
    comparison: Comparison
    prices: Prices | None
    """None where none hold for both."""

    def in_words(self, agents: Sequence[AgentDelta]) -> list[str]:
        """Return the change as sentences about these agents, the most important first."""
        return difference_in_words(self.before, self.after, replace(self.comparison, agents=tuple(agents)))


async def plan_difference(ctx: ToolContext, a: PlanContext, b: PlanContext) -> PlanDifference:
    """Return what changes when plan a gives way to plan b."""
    prices, plans = await priced_on_common_scenario(ctx, a, b)
    before, after = (plan_for(ctx.principal, plan) for plan in plans)
    is_priced = prices is not None and not (before.is_masked or after.is_masked)
    return PlanDifference(before, after, compare(before, after, is_priced=is_priced), prices)
