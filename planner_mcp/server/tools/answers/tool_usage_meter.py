"""What tools cost those who call them: calls, bytes and estimated tokens, by tool (SPEC T9).

Owns the counters of one process; `web.metrics` shows them. Characters beyond ASCII are told from the bytes of
a text and not counted one by one, so that metering costs an answer next to nothing.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from planner_mcp.server.tools.answers.token_estimates import tokens_of
from planner_mcp.server.tools.tool_definition import ErrorResult, Tool, ToolResult
from planner_mcp.text import compact


@dataclass(frozen=True, slots=True)
class Cost:
    """What texts cost."""

    bytes: int
    tokens: int
    """Estimated, o200k."""


def cost_of(*texts: str) -> Cost:
    """Return what texts cost together; a character beyond ASCII counts as three bytes, as most of ours have."""
    size, length = sum(len(text.encode()) for text in texts), sum(map(len, texts))
    foreign = (size - length) / 2
    return Cost(size, round(tokens_of(length - foreign, foreign)))


class UsageMeter:
    """Counts the answers of tools."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        """By tool and outcome: `ok` or `error`."""
        self.bytes: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()

    def count(self, name: str, result: ToolResult | ErrorResult) -> None:
        """Count an answer, in both of its forms; what it carries beside them costs bytes, as they are sent."""
        cost = cost_of(result.text, compact(result.structured))
        self.calls[name, "error" if result.is_error else "ok"] += 1
        carried = [each.data for each in result.images] + [each.data for each in result.blobs]
        self.bytes[name] += cost.bytes + sum(map(_sent, carried))
        self.tokens[name] += cost.tokens


def _sent(data: bytes) -> int:
    """Return the length of bytes as base64."""
    return (len(data) + 2) // 3 * 4


def listings(tools: tuple[Tool, ...]) -> Iterator[tuple[str, Cost]]:
    """Yield what each tool costs in `tools/list`."""
    for tool in tools:
        yield tool.name, cost_of(compact(tool.as_json()))
