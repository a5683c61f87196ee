"""No short text takes long to read: the work of every pattern grows with its input, not its square (SPEC A4, T7)."""

import ast
import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from time import thread_time

import pytest

from planner_mcp import formats
from planner_mcp.errors import InputError
from planner_mcp.formats.tables.cells.coordinate_parsing import pair_in
from planner_mcp.formats.tables.cells.duration_parsing import duration_in
from planner_mcp.formats.tables.cells.number_parsing import number_in
from planner_mcp.formats.tables.cells.time_parsing import time_in
from planner_mcp.formats.tables.cells.window_parsing import windows_in
from planner_mcp.formats.tables.columns.column_values import values_of
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, split_brackets
from planner_mcp.formats.tables.rows.unique_names import UniqueNames
from planner_mcp.formats.tables.sheets import text_tables
from planner_mcp.formats.tables.sheets.text_tables import MAX_HEADER, read_table

ALWAYS = [*'01aAh-:,.;([ "\t\n\r北至', "1:00", "1,000", "a ", "1 ", "1h", '";', "am"]
"""What a text is made of by repeating, beside the characters of the pattern itself."""
LENGTH = 500
SHORT_S = 0.005
"""Below this a text of eight times the length costs nobody anything; a square would take a hundred times it."""


def modules() -> Iterator[str]:
    return (each.name for each in pkgutil.walk_packages(formats.__path__, "planner_mcp.formats."))


def patterns() -> dict[str, tuple[re.Pattern[str], list[str]]]:
    """Return the patterns of all modules by name, each with the methods by which its module uses it."""
    found = {}
    for name in modules():
        module = importlib.import_module(name)
        source = Path(module.__file__ or "").read_text(encoding="utf-8")
        for constant, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                uses = sorted(set(re.findall(rf"\b{constant}\.(\w+)\(", source)) & {*WORKS})
                found[f"{name.rpartition('.')[2]}.{constant}"] = (value, uses or ["match", "fullmatch"])
    return found


WORKS: dict[str, Callable[[re.Pattern[str], str], object]] = {
    "match": lambda pattern, text: pattern.match(text),
    "fullmatch": lambda pattern, text: pattern.fullmatch(text),
    "search": lambda pattern, text: pattern.search(text),
    "sub": lambda pattern, text: pattern.sub("", text),
    "split": lambda pattern, text: pattern.split(text),
    "findall": lambda pattern, text: pattern.findall(text),
}


def least_work_s(work: Callable[[str], object], text: str) -> float:
    """Return the least processor time of this thread for some work, over three runs."""
    took = []
    for _ in range(3):
        began = thread_time()
        work(text)
        took.append(thread_time() - began)
    return min(took)


def is_linear(work: Callable[[str], object], make: Callable[[int], str]) -> bool:
    """Return whether eight times the text takes about eight times the work: a square would take sixty-four times."""
    began = thread_time()
    work(make(8 * LENGTH))
    if thread_time() - began < SHORT_S:
        return True
    longer = least_work_s(work, make(8 * LENGTH))
    return longer < SHORT_S or longer < 24 * least_work_s(work, make(LENGTH))


@pytest.mark.slow
@pytest.mark.parametrize("name", patterns())
def test_no_pattern_takes_the_square_of_its_text(name: str) -> None:
    """SPEC A4: repeats of each of its characters and of usual pieces of cells, ended by what does not match."""
    pattern, uses = patterns()[name]
    pieces = dict.fromkeys([*ALWAYS, *(char for char in pattern.pattern if char not in "()[]{}|?*+\\^$")])
    slow = [
        (use, piece, ending)
        for piece in pieces
        for ending in ("", "!")
        for use in uses
        if not is_linear(
            lambda text, use=use: WORKS[use](pattern, text),
            lambda length, piece=piece, ending=ending: piece * (length // len(piece)) + ending,
        )
    ]
    assert slow == []


def test_a_pattern_that_takes_the_square_would_be_found() -> None:
    """Our choice: the test above can fail; this is the pattern that once stopped everybody."""
    brackets = re.compile(r"[(（\[](.*?)[)）\]]")
    assert not is_linear(lambda text: brackets.sub("", text), lambda length: "(" * (length // 3))


def test_every_pattern_stands_where_it_is_tested() -> None:
    """Our choice: as a constant of its module; the delimiter of a file alone makes one at run time."""
    made = []
    for name in modules():
        path = importlib.import_module(name).__file__ or ""
        tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        inner = [
            node for part in tree.body if isinstance(part, ast.FunctionDef | ast.ClassDef) for node in ast.walk(part)
        ]
        calls = (node.func for node in inner if isinstance(node, ast.Call))
        made += [name for call in calls if isinstance(call, ast.Attribute) and ast.unparse(call.value) == "re"]
    assert set(made) == {text_tables.__name__}


READERS: dict[str, Callable[[str], object]] = {
    "number": lambda text: number_in(text, "demand", ""),
    "time": lambda text: time_in(text, ""),
    "windows": lambda text: windows_in(text, ""),
    "brackets": split_brackets,
    "duration": lambda text: duration_in(text, "", unit_s=60),
    "position": pair_in,
    "column": lambda text: values_of([text]),
    "header": lambda text: meaning_of(text[:MAX_HEADER], "tickets"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("piece", ALWAYS)
def test_no_cell_takes_the_square_of_its_length(reader: str, piece: str) -> None:
    """SPEC A4: a cell is bounded before a pattern sees it."""
    assert is_linear(READERS[reader], lambda length: piece * (length // len(piece)))


@pytest.mark.parametrize("piece", ["(", "（", "[", "a", "时", "(a"])
def test_a_header_of_sixteen_thousand_characters_is_refused_unread(piece: str) -> None:
    """SPEC A4: the dispatcher whose neighbour sends one does not wait."""
    with pytest.raises(InputError) as caught:
        read_table(("id,place," + piece * 16_000 + "x\na,A,b\n").encode(), max_rows=9)
    (fault,) = caught.value.errors
    assert (fault.problem[:34], fault.accepted) == (
        "The header of column 3 has " + fault.problem[27:34],
        "at most 200 characters",
    )
    assert meaning_of(piece * MAX_HEADER, "tickets").field in (None, "time")


def test_places_of_one_name_are_numbered_once_each() -> None:
    """SPEC A4: twenty thousand tickets that all have one id, each at a place of its own."""

    def work(text: str) -> None:
        names = UniqueNames()
        assert len({names.unused("at A1") for _ in text}) == len(text)

    assert is_linear(work, lambda length: "x" * length)
    names = UniqueNames()
    assert [names.unused(name, {"b"}) for name in ("a", "a (2)", "a", "b")] == ["a", "a (2)", "a (3)", "b (2)"]
