"""Instances that are plain rows of numbers: Solomon and Gehring–Homberger, Li and Lim.

Owns what the columns of each mean. Solomon's form has headings, and they must stand in their order; the other is
numbers alone.
"""

from collections.abc import Sequence
from typing import Final

from planner_mcp.formats.instances.numeric_lines import FaultCollector, NumberLine, WordLine, number_of, word_lines
from planner_mcp.formats.instances.published_instance import InstanceVisit, PublishedInstance, Vehicle
from planner_mcp.formats.tables.sheets.text_tables import too_large

_SOLOMON_COLUMNS: Final = ((3, "demand"), (4, "ready time"), (5, "due date"), (6, "service time"))
_LI_LIM_COLUMNS: Final = ((4, "ready time"), (5, "due date"), (6, "service time"))


def is_solomon(data: bytes) -> bool:
    """Return whether a text of rows has Solomon's headings."""
    return any(words[0].upper() == "VEHICLE" for _, words in word_lines(data)[:5])


def is_li_lim(data: bytes) -> bool:
    """Return whether a text of rows begins with numbers; the headers of a table are words."""
    return all(number_of(word) is not None for word in word_lines(data)[0][1])


def read_solomon(data: bytes, *, max_nodes: int) -> PublishedInstance:
    """Return an instance of Solomon or of Gehring and Homberger; lengths are cut to a tenth, as DIMACS does.

    Raises:
        TooLargeError: It has more bytes, nodes or vehicles than allowed.
        InputError: All that is wrong with it, by line.
    """
    collector, lines = FaultCollector(), word_lines(data)
    fleet, customers = _heading(collector, lines, "VEHICLE"), _heading(collector, lines, "CUSTOMER")
    if customers < fleet:
        raise collector.stop(lines[customers][0], "CUSTOMER stands before VEHICLE.", "VEHICLE, then CUSTOMER")
    (line, row), *others = _numeric(collector, lines[fleet + 1 : customers], "NUMBER CAPACITY") or [(0, [])]
    if others or len(row) != 2:
        raise collector.stop(lines[fleet][0], "VEHICLE names no fleet.", "one line: number, capacity")
    rows = _numeric(
        collector, lines[customers + 1 :], "CUST NO. XCOORD. YCOORD. DEMAND READY TIME DUE DATE SERVICE TIME"
    )
    count = collector.count(line, row[0], most=max_nodes)
    _check_rows(collector, rows, 7, max_nodes, _SOLOMON_COLUMNS)
    visits = [InstanceVisit(node, row[3], row[6], window=(row[4], row[5])) for node, (_, row) in enumerate(rows)][1:]
    return _of_rows(lines[0][1][0], rows, visits, [Vehicle(0, row[1])] * count, decimals=1, is_floor=True)


def read_li_lim(data: bytes, *, max_nodes: int) -> PublishedInstance:
    """Return an instance of Li and Lim, whose visits are pickups and their deliveries.

    Raises:
        TooLargeError: It has more bytes, nodes or vehicles than allowed.
        InputError: All that is wrong with it, by line.
    """
    collector, lines = FaultCollector(), word_lines(data)
    (line, first), *rows = [(number, collector.row(number, words)) for number, words in lines]
    if len(first) != 3:
        raise collector.stop(line, f"The first line has {len(first)} numbers.", "vehicles, capacity, speed")
    if first[2] != 1:
        collector.note(line, "The speed is not 1.", "1")
    count = collector.count(line, first[0], most=max_nodes)
    _check_rows(collector, rows, 9, max_nodes, _LI_LIM_COLUMNS)
    visits = [_half(collector, rows, node) for node in range(1, len(rows))]
    collector.settle()
    return _of_rows("", rows, visits, [Vehicle(0, first[1])] * count, decimals=3)


def _half(collector: FaultCollector, rows: Sequence[NumberLine], node: int) -> InstanceVisit:
    """Return a pickup or a delivery: column 7 names the pickup of a delivery, column 8 the delivery of a pickup."""
    line, row = rows[node]
    column = 7 if row[7] else 8
    other, mirror = row[column], 15 - column
    is_known = other.is_integer() and 1 <= other < len(rows) and rows[int(other)][1][mirror] == node
    if not is_known or bool(row[7]) == bool(row[8]):
        collector.note(
            line, "The row has no partner that names it.", "a pickup and its delivery, each naming the other"
        )
    elif (row[3] < 0) != (column == 7) or rows[int(other)][1][3] != -row[3]:
        collector.note(
            line, "The demand does not match that of its partner.", "a pickup above 0, its delivery the negative"
        )
    is_pickup = column == 8
    pickup = None if is_pickup else int(other) - 1
    return InstanceVisit(node, abs(row[3]), row[6], window=(row[4], row[5]), is_pickup=is_pickup, pickup=pickup)


def _heading(collector: FaultCollector, lines: Sequence[WordLine], word: str) -> int:
    for index, (_, words) in enumerate(lines):
        if words[0].upper() == word:
            return index
    raise collector.stop(None, f"The line {word} is missing.", "VEHICLE with its numbers, then CUSTOMER with its rows")


def _numeric(collector: FaultCollector, lines: Sequence[WordLine], heading: str) -> list[NumberLine]:
    """Return the rows under a heading; the line of its columns, which comes first, is left out."""
    is_heading = bool(lines) and " ".join(lines[0][1]).upper().split() == heading.split()
    return [(number, collector.row(number, words)) for number, words in lines[is_heading:]]


def _check_rows(
    collector: FaultCollector,
    rows: Sequence[NumberLine],
    width: int,
    max_nodes: int,
    columns: Sequence[tuple[int, str]],
) -> None:
    """Check the rows of nodes: the depot first, then one visit at least, in order, nothing below 0 in `columns`."""
    if len(rows) > max_nodes + 1:
        raise too_large("", f"There are more than {max_nodes} rows.", f"at most {max_nodes}")
    for number, (line, row) in enumerate(rows):
        if len(row) != width:
            hint = "Look whether the file is cut off."
            raise collector.stop(line, f"The row has {len(row)} numbers.", f"{width} numbers", hint)
        if row[0] != number:
            problem = "The depot is missing." if number == 0 else f"The row should be that of number {number}."
            raise collector.stop(line, problem, "the depot as number 0, then its customers in order")
    if len(rows) < 2:
        raise collector.stop(None, "There is no depot, or nothing to visit.", "the depot, then its customers")
    collector.check_least(rows, columns)
    collector.settle()


def _of_rows(
    name: str,
    rows: Sequence[NumberLine],
    visits: Sequence[InstanceVisit],
    fleet: Sequence[Vehicle],
    *,
    decimals: int,
    is_floor: bool = False,
) -> PublishedInstance:
    return PublishedInstance(
        name=name,
        nodes=tuple(f"{row[0]:g}" for _, row in rows),
        places=tuple((row[1], row[2]) for _, row in rows),
        vehicles=tuple(fleet),
        visits=tuple(visits),
        shift=(rows[0][1][4], rows[0][1][5]),
        rounding="floor" if is_floor else "nearest",
        decimals=decimals,
    )
