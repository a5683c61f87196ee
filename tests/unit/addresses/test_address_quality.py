"""The labelled addresses: what is read is right, and what is wrong is never sure.

The rows were written and labelled before the parser was. Its first version had 98.3 % of the Chinese fields
and 99.8 % of the others right, and one sure mistake.

The held-out rows were written later, without a look at the answers. At the first run 96.7 % of the Chinese fields were
right (36 of 40 rows, 4 wrong and sure) and 82.8 % of the others (11 of 20 rows, 8 wrong and sure): post office boxes,
floors, units before the number, villages with numbers, Washington as a state. The rules were mended for these; the rows
at the end of each file were written after that, and their figures are those of the first run.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from planner_mcp.addresses.chinese_addresses import resolve_chinese
from planner_mcp.addresses.structured_address import SURE, ResolvedAddress
from planner_mcp.addresses.western_addresses import resolve_western

HERE = Path(__file__).parent
LEAST_ACCURACY = 0.95
CHINESE = ("province", "city", "district", "town", "road", "number", "building", "unit", "floor", "room", "poi")
ENGLISH = ("country", "province", "city", "district", "postcode", "road", "number", "unit")
SETS = [
    pytest.param("labelled_chinese.txt", CHINESE, resolve_chinese, 200, id="Chinese"),
    pytest.param("labelled_english.txt", ENGLISH, resolve_western, 100, id="English"),
    pytest.param("held_out_chinese.txt", CHINESE, resolve_chinese, 45, id="held out, Chinese"),
    pytest.param("held_out_english.txt", ENGLISH, resolve_western, 28, id="held out, English"),
]


def _rows(name: str, fields: tuple[str, ...]) -> Iterator[tuple[str, dict[str, str]]]:
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            text, *labels = line.split("|")
            assert len(labels) <= len(fields), line
            yield text, dict(zip(fields, [*labels, *[""] * len(fields)], strict=False))


@pytest.mark.parametrize(("name", "fields", "resolve", "least_rows"), SETS)
def test_labelled_addresses_are_read_right_in_95_of_100_fields(
    name: str, fields: tuple[str, ...], resolve: Callable[[str], ResolvedAddress], least_rows: int
) -> None:
    """SPEC O4: a field counts where the label or the answer has it, and both must say the same."""
    rows = list(_rows(name, fields))
    wrong, counted = [], 0
    for text, labels in rows:
        address = resolve(text).address
        for field, label in labels.items():
            answer = getattr(address, field)
            counted += bool(answer or label)
            if answer != label:
                wrong.append(f"{text}: {field} is {answer!r}, labelled {label!r}")
    assert len(rows) >= least_rows
    assert 1 - len(wrong) / counted >= LEAST_ACCURACY, "\n".join(wrong)


@pytest.mark.parametrize(("name", "fields", "resolve", "least_rows"), SETS)
def test_no_wrong_answer_is_sure(
    name: str, fields: tuple[str, ...], resolve: Callable[[str], ResolvedAddress], least_rows: int
) -> None:
    """SPEC O4: an address that is wrong in any field has a confidence below the one that is used unasked."""
    sure = []
    for text, labels in _rows(name, fields):
        resolved = resolve(text)
        is_wrong = any(getattr(resolved.address, field) != label for field, label in labels.items())
        if is_wrong and resolved.confidence >= SURE:
            sure.append(f"{text}: {resolved.confidence}")
    assert least_rows
    assert sure == []
