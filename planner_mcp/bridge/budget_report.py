"""What the tools of a bridge cost a model, and what to leave out where that is too much (SPEC T9, O5).

Owns the figures and the advice of `planner-mcp bridge check`. Tokens are estimated as everywhere (o200k).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from planner_mcp.server.tools.answers.tool_usage_meter import cost_of, listings
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.text import compact

MAX_TOOL_TOKENS: Final = 800
"""Of one tool in tools/list."""
MOST_ADVICE: Final = 10


@dataclass(frozen=True, slots=True)
class ToolCost:
    """What one tool costs."""

    tool: Tool
    tokens: int

    @property
    def is_within(self) -> bool:
        """Whether one tool may cost that much."""
        return self.tokens <= MAX_TOOL_TOKENS


@dataclass(frozen=True, slots=True)
class BudgetReport:
    """What all cost."""

    costs: tuple[ToolCost, ...]
    budget: int
    advice: tuple[str, ...]
    """What to leave out, the largest first; empty where everything fits."""

    @property
    def total(self) -> int:
        """Tokens of the whole list."""
        return sum(each.tokens for each in self.costs)

    @property
    def is_within(self) -> bool:
        """Whether every tool and all together fit."""
        return self.total <= self.budget and all(each.is_within for each in self.costs)


def budget_report(tools: tuple[Tool, ...], budget: int) -> BudgetReport:
    """Return what tools cost."""
    costs = tuple(ToolCost(tool, cost.tokens) for tool, (_, cost) in zip(tools, listings(tools), strict=True))
    report = BudgetReport(costs, budget, ())
    return report if report.is_within else BudgetReport(costs, budget, _advice(costs))


def _advice(costs: Sequence[ToolCost]) -> tuple[str, ...]:
    """Return which optional arguments cost most; a tool that has none is named itself."""
    found: list[tuple[int, str]] = []
    for each in costs:
        schema = each.tool.input_schema
        optional = {k: v for k, v in schema["properties"].items() if k not in schema["required"]}
        for name, shown in optional.items():
            tokens = cost_of(compact({name: shown})).tokens
            found.append((tokens, f"{each.tool.name}: hide {name}"))
        if not optional:
            found.append((each.tokens, f"{each.tool.name}: leave it out, or describe it in fewer words"))
    found.sort(key=lambda pair: (-pair[0], pair[1]))
    return tuple(f"{text} ({tokens} tokens)" for tokens, text in found[:MOST_ADVICE])
