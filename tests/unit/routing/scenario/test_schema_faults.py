"""From pydantic's findings to faults."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.schema_faults import describe, faults_of, pointer

UNQUOTED = "Write the number without quotes."


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    open: int
    close: Annotated[int, Field(ge=0, le=9)] = 0


class Whole(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: Annotated[str, Field(max_length=5)]
    kind: Literal["a", "b"] = "a"
    amount: float | dict[str, float] = 0.0
    is_open: bool = False
    parts: Annotated[list[Part], Field(max_length=2)] = []


def faults(body: Any) -> list[tuple[str, str, str, str]]:
    """Return (path, kind, accepted, hint) of every fault."""
    with pytest.raises(ValidationError) as refused:
        Whole.model_validate(body)
    return [(f.path, f.kind, f.accepted, f.hint) for f in faults_of(refused.value, Whole, body)]


def test_every_fault_has_its_place() -> None:
    """SPEC T7: all at once, as JSON Pointers; a required field under another name is one mistake, not two."""
    body = {"kind": "c", "parts": [{"open": 1}, {"close": 10, "opn": 2}], "nmae": "x"}
    assert faults(body) == [
        ("/kind", "invalid", "one of a, b", ""),
        ("/parts/1/close", "invalid", "integer 0…9", ""),
        ("/parts/1/opn", "unknown", "open, close", "Did you mean open?"),
        ("/nmae", "unknown", "name, kind, amount, is_open, parts", "Did you mean name?"),
    ]


def test_a_required_field_that_nothing_stands_for_is_missing() -> None:
    """SPEC T7: an unknown name beside it does not hide it."""
    missing = [("/parts/0/open", "missing", "integer", "Add it.")]
    found = faults({"name": "x", "kind": "a", "parts": [{"close": 1, "colour": 2}]})
    assert [fault for fault in found if fault[1] == "missing"] == missing


def test_a_union_is_one_fault_at_its_place() -> None:
    """SPEC T7: branches of a union are no places in the input."""
    assert faults({"name": "x", "amount": "3"}) == [("/amount", "invalid", "number or object", UNQUOTED)]


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"name": "x", "is_open": "true"}, "Write true or false, without quotes."),
        ({"name": "x", "is_open": "yes"}, ""),
        ({"name": "x", "parts": [{"open": "12"}]}, UNQUOTED),
        ({"name": "x", "parts": [{"open": "12 min"}]}, ""),
        ({"name": 12}, ""),
    ],
)
def test_a_number_or_a_truth_value_in_quotes_is_reported_as_such(body: Any, hint: str) -> None:
    """SPEC T7: what to change, and not only what is accepted."""
    assert [fault[3] for fault in faults(body)] == [hint]


def test_a_fault_inside_a_branch_is_reported_alone() -> None:
    """SPEC T7: the deeper place says more."""
    assert [path for path, *_ in faults({"name": "x", "amount": {"kg": "3"}})] == ["/amount/kg"]


def test_the_whole_can_be_wrong() -> None:
    """SPEC T7: the empty pointer is the whole."""
    assert [path for path, *_ in faults([1])] == [""]


@pytest.mark.parametrize(
    ("segments", "path"),
    [
        ((), ""),
        (("a", 0), "/a/0"),
        (("a/b", "c~d"), "/a~1b/c~0d"),
        (("\u202ex\n",), "/x"),
        (("y" * 99,), "/" + "y" * 39 + "…"),
    ],
)
def test_pointers_are_escaped_and_clean(segments: tuple[str | int, ...], path: str) -> None:
    """SPEC T7, T8: RFC 6901; a caller's names are cleaned and cut."""
    assert pointer(segments) == path


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "integer", "minimum": 1}, "integer ≥ 1"),
        ({"type": "string", "pattern": "^x$"}, "string matching ^x$"),
        ({"type": "array", "minItems": 1, "maxItems": 3}, "array of 1…3 items"),
        ({"type": ["string", "number"]}, "string or number"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string"),
        ({"const": 2}, "2"),
        ({}, ""),
    ],
)
def test_a_schema_is_described_in_few_words(schema: dict[str, Any], said: str) -> None:
    """SPEC T7: `accepted` says what would do."""
    assert describe(schema) == said


def test_a_fault_is_json_of_four_texts() -> None:
    """SPEC T7: {path, problem, accepted, hint}."""
    assert Fault("/a", "Wrong.").as_json() == {"path": "/a", "problem": "Wrong.", "accepted": "", "hint": ""}
