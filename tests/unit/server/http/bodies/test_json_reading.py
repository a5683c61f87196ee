"""The one reader of JSON bodies: depth, number of values, half a surrogate pair, and the outline of a large body."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.errors import InvalidMessageError, TooLargeError
from planner_mcp.server.http.bodies.json_reading import (
    LONE_SURROGATE,
    MOST_OUTLINE,
    DecodedBody,
    JsonLimits,
    UnreadableJsonError,
    decoded_body,
    is_deeper,
    outline_arguments,
    outline_json,
    read_json,
)
from planner_mcp.server.tools.large_arguments import MOST_VALUES, LargeArguments, large_arguments_in
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.property_tests.example_counts import examples

LIMITS = JsonLimits(32, 100_000)
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


def test_a_large_matrix_is_checked_quickly() -> None:
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
        ('"\ud7ff\ue000 北京"'.encode(), False),
    ],
)
def test_half_a_pair_is_found(body: bytes, is_half: bool) -> None:
    """SPEC X3: limits on bodies; RFC 7493 §2.1."""
    assert _is_refused(body) is is_half


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
    assert _is_refused(json.dumps(value).encode()) is is_half


def _is_refused(body: bytes) -> bool:
    try:
        read_json(body, LIMITS)
    except InvalidMessageError as error:
        assert error.message == LONE_SURROGATE
        return True
    return False


def test_half_a_pair_in_bytes_is_no_utf_8() -> None:
    """SPEC X3: RFC 8259 §8.1."""
    with pytest.raises(UnreadableJsonError):
        read_json(b'"\xed\xa0\x80"', LIMITS)


def test_a_name_that_stands_twice_in_one_object_is_refused() -> None:
    """SPEC T7: RFC 7493 §2.3; the last of both would count without a word."""
    with pytest.raises(UnreadableJsonError, match='"demand" stands twice in one object'):
        read_json(b'{"tickets": [{"demand": 1, "id": "a", "demand": 2}]}', LIMITS)
    assert read_json(b'[{"a": {"a": 1}}, {"a": 2}]', LIMITS) == [{"a": {"a": 1}}, {"a": 2}]


def test_a_mark_before_a_body_is_passed_over() -> None:
    """SPEC T11: RFC 8259 §8.1; what an editor on Windows saved is taken, as on the command line."""
    assert read_json('{"name": "北京"}'.encode("utf-8-sig"), LIMITS) == {"name": "北京"}
    with pytest.raises(UnreadableJsonError):
        read_json(b'\xef\xbb\xbf\xef\xbb\xbf{"name": "x"}', LIMITS)


@pytest.mark.parametrize("read", [decoded_body, outline_arguments])
def test_what_json_has_not_is_listed_with_its_places(
    read: Callable[[bytes, JsonLimits], DecodedBody],
) -> None:
    """SPEC T7: in a day of a thousand tickets that a program wrote nobody finds them by eye."""
    body = b'{"name": "a/b", "tickets": [{"id": "t-1", "demand": NaN}, {"demand": 1, "demand": 2}], "a/b": [-Infinity]}'
    with pytest.raises(UnreadableJsonError) as caught:
        _ = read(body, LIMITS).value
    assert [(fault.path, fault.problem) for fault in caught.value.errors] == [
        ("/tickets/0/demand", "JSON has neither NaN nor Infinity."),
        ("/tickets/1/demand", '"demand" stands twice in one object.'),
        ("/a~1b/0", "JSON has neither NaN nor Infinity."),
    ]
    with pytest.raises(UnreadableJsonError) as caught:
        read_json(b"[" + b"NaN," * 50_000 + b"1]", LIMITS)
    assert len(caught.value.errors) == 8


@pytest.mark.parametrize("token", [b"1,", b"[],", b"{},", b'"",', b'{"a":1},'])
def test_values_are_bounded_before_they_are_decoded(token: bytes) -> None:
    """SPEC X3: what stands in texts does not count."""
    limits = JsonLimits(32, 1000)
    with pytest.raises(TooLargeError, match="1000 are accepted"):
        read_json(b"[" + token * 2000 + b"1]", limits)
    text = json.dumps(["[{," * 2000]).encode()
    assert read_json(text, limits) == json.loads(text)


def test_outline_of_a_large_body_keeps_arguments_as_text() -> None:
    """ADR 0036: nothing of the arguments is decoded; what is small stays as it is."""
    day = {"tickets": [{"id": "北京", "n": number} for number in range(500)]}
    body = json.dumps({"id": 1, "params": {"name": "create_scenario", "arguments": day}}, ensure_ascii=False).encode()
    outline = outline_json(body, LIMITS)
    assert outline.outline == b'{"id": 1, "params": {"name": "create_scenario", "arguments": {}}}'
    large = large_arguments_in(outline.value["params"]["arguments"])
    assert large is not None
    assert json.loads(large) == day
    assert 1000 <= large.values <= 2000
    assert large.decoded() == day
    batch = outline_json(b"[" + body + b',{"id": 2, "params": {"arguments": {"a": 1}}}]', LIMITS).value
    assert large_arguments_in(batch[0]["params"]["arguments"]) == large
    assert batch[1] == {"id": 2, "params": {"arguments": {"a": 1}}}


def test_only_arguments_may_be_large() -> None:
    """ADR 0036: all else of a message is decoded on the event loop."""
    with pytest.raises(TooLargeError, match="Only the arguments"):
        outline_json(json.dumps({"id": 1, "params": {"a": "x" * MOST_OUTLINE}}).encode(), LIMITS)


def test_no_client_can_write_what_stands_for_large_arguments() -> None:
    """ADR 0036: a text under an empty name is a text."""
    value = read_json(b'{"": "{\\"a\\": 1}"}', LIMITS)
    assert large_arguments_in(value) is None
    large = LargeArguments("{}")
    large.values = MOST_VALUES + 1
    with pytest.raises(TooLargeError):
        large.decoded()


def test_invalid_json_is_reported_when_its_value_is_wanted() -> None:
    """SPEC X3: an endpoint may refuse the request for something else first."""
    for decoded in (decoded_body(b"{", LIMITS), outline_json(b"{", LIMITS)):
        assert isinstance(decoded, DecodedBody)
        with pytest.raises(UnreadableJsonError):
            _ = decoded.value
