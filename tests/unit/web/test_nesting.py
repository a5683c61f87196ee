"""Depth of a JSON text without parsing it."""

import json

import pytest

from planner_mcp.web.nesting import is_deeper
from tests.stopwatch import Stopwatch


@pytest.mark.parametrize(
    ("text", "depth"),
    [("1", 0), ("[]", 1), ('{"a":[1]}', 2), ('["[[[["]', 1), ('["\\"[[["]', 1), ('[{"x":{}},[[]]]', 3), ("[[[", 3)],
)
def test_brackets_outside_of_text_are_counted(text: str, depth: int) -> None:
    """SPEC X3: the limit is exact."""
    assert not is_deeper(text.encode(), depth)
    assert is_deeper(text.encode(), depth - 1) or depth == 0


@pytest.mark.parametrize(
    "text",
    [b"[" * 4_000_000, b'"' * 4_000_000, b'"\\' * 2_000_000, b"[]" * 2_000_000, (b"[" * 32 + b"]" * 32) * 62_500],
)
def test_hostile_texts_take_no_longer(text: bytes) -> None:
    """SPEC X3: linear, whatever is sent."""
    watch = Stopwatch()
    is_deeper(text, 32)
    assert watch.spent_s < 2


def test_a_large_matrix_is_judged_quickly() -> None:
    """Our choice: the usual large body costs milliseconds."""
    body = json.dumps({"travel": {"distances": [[float(n) for n in range(700)]] * 700}}).encode()
    watch = Stopwatch()
    assert not is_deeper(body, 32)
    assert watch.spent_s < 0.5
