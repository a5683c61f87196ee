"""What tools cost those who call them: calls, time, bytes and estimated tokens, by tool (SPEC T9, O3).

Owns the counters of one process; `server/http/routes/metrics_route.py` shows them. The number of characters beyond
ASCII is derived from the bytes of a text, which is much cheaper than counting them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from planner_mcp.server.tools.answers.token_estimates import tokens_of
from planner_mcp.server.tools.tool_definition import ErrorResult, Tool, ToolResult
from planner_mcp.text import compact

BUCKETS_S: Final = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0)
"""Upper bounds for the time of a call; the longest waiting call takes 50 s."""


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
    """Counts the answers of tools.

    Args:
        registry: The registry of the application that is measured.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        by_outcome, by_tool = ("tool", "outcome"), ("tool",)
        self._calls = Counter("planner_tool_calls", "Calls answered.", by_outcome, registry=registry)
        self._seconds = Histogram(
            "planner_tool_call_seconds", "Time of a call.", by_outcome, registry=registry, buckets=BUCKETS_S
        )
        self._bytes = Counter("planner_tool_answer_bytes", "Bytes of answers.", by_tool, registry=registry)
        help_text = "Estimated tokens (o200k) of answers."
        self._tokens = Counter("planner_tool_answer_tokens", help_text, by_tool, registry=registry)

    def count(self, name: str, result: ToolResult | ErrorResult, elapsed_s: float) -> None:
        """Count an answer: text and structured content, and the length of images and files as they are sent."""
        cost = cost_of(result.text, compact(result.structured))
        outcome = "error" if result.is_error else "ok"
        self._calls.labels(name, outcome).inc()
        self._seconds.labels(name, outcome).observe(elapsed_s)
        attached = [each.data for each in result.images]
        self._bytes.labels(name).inc(cost.bytes + sum(map(_base64_length, attached)))
        self._tokens.labels(name).inc(cost.tokens)


def _base64_length(data: bytes) -> int:
    """Return the length of bytes as base64."""
    return (len(data) + 2) // 3 * 4


def listings(tools: tuple[Tool, ...]) -> Iterator[tuple[str, Cost]]:
    """Yield what each tool costs in `tools/list`."""
    for tool in tools:
        yield tool.name, cost_of(compact(tool.as_json()))
