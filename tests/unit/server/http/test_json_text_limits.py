"""A JSON text before it is parsed: how deep it nests, and half a surrogate pair, wherever in a body it stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.server.http.json_text_limits import has_lone_surrogate, is_deeper
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.property_tests.example_counts import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


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


@pytest.mark.parametrize(
    ("body", "is_half"),
    [
        (rb'"\ud83d\ude00"', False),
        (rb'"\uD83D\uDE00 \\ud800"', False),
        (rb'"\\\ud83d\ude00"', False),
        (rb'"\ud800"', True),
        (rb'"\udc00"', True),
        (rb'"\ud83d-\ude00"', True),
        (rb'"\ud83d\n\ude00"', True),
        (rb'{"\ud83d": "\ude00"}', True),
        (rb'"\\\ud800"', True),
        (rb'"\ud83d\ud83d\ude00"', True),
        (b'"\xed\xa0\x80"', True),
        ('"\ud7ff\ue000 北京"'.encode(), False),
    ],
)
def test_half_a_pair_is_found(body: bytes, is_half: bool) -> None:
    """SPEC X3: limits on bodies; RFC 7493 §2.1."""
    assert has_lone_surrogate(body) is is_half


@given(JSON)
@examples(50)
def test_it_agrees_with_the_encoder(value: object) -> None:
    """SPEC X3: a body is refused exactly when its text could not be written as UTF-8 again."""
    value = json.loads(json.dumps(value))  # joins halves that happen to stand side by side
    try:
        json.dumps(value, ensure_ascii=False).encode()
        is_half = False
    except UnicodeEncodeError:
        is_half = True
    assert has_lone_surrogate(json.dumps(value).encode()) is is_half
