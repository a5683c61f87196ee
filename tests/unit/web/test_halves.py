"""Half a surrogate pair is no Unicode text, wherever in a body it stands."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_mcp.web.halves import has_half_pair

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


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
    assert has_half_pair(body) is is_half


@given(JSON)
@settings(max_examples=50)
def test_it_agrees_with_the_encoder(value: object) -> None:
    """SPEC X3: a body is refused exactly when its text could not be written as UTF-8 again."""
    value = json.loads(json.dumps(value))  # joins halves that happen to stand side by side
    try:
        json.dumps(value, ensure_ascii=False).encode()
        is_half = False
    except UnicodeEncodeError:
        is_half = True
    assert has_half_pair(json.dumps(value).encode()) is is_half
