"""Shipments as tables have them: both places in one row, or a row for each under one id (SPEC T5).

Owns which rows are the two halves of a shipment, and what the half that is fetched is called.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.columns.address_columns import end_named
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping
from planner_mcp.formats.tables.columns.ticket_kinds import PICKUPS, RETURNS, kind_word, named_halves
from planner_mcp.formats.tables.headers.header_words import PICKUP_FIELDS, PLACING
from planner_mcp.formats.tables.rows.amount_settlement import AmountColumn
from planner_mcp.formats.tables.rows.ticket_lines import Rows
from planner_mcp.formats.tables.rows.unique_names import UniqueNames
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import Json, plain

_PLACES: Final = PLACING | {"location"}
_OF_STOP: Final = _PLACES | {"window", "opens", "closes", "release_time", "soft_close", "lateness_cost_per_hour"}
"""Fields of a stop that hold where goods go, where a header does not say of which place they are."""
_OF_SHIPMENT: Final = frozenset({"demand", "skills", "priority", "date"})
"""Fields of both halves, whatever place the header speaks of."""
_AXES: Final = ("lat", "lon", "x", "y")
_SPLIT: Final = "Give each pickup and its delivery an id of their own."
_ID: Final = "(id)"
_KIND: Final = "(kind)"
_FETCHED_AT: Final = "(pickup_ticket)"
"""The header of the pickup of a row; like the other two of what rows do not say themselves."""


def with_named_halves(table: Table, mapping: ColumnMapping) -> tuple[Table, ColumnMapping, list[str]]:
    """Return a table whose ids name halves of shipments with ids of those, a kind and notices; any other as it is.

    A half without the other is fetched for the depot, or comes from there.
    """
    header = next((header for header, name in mapping.fields.items() if name == "shipment_half"), None)
    if header is None:
        return table, mapping, []
    halves = named_halves(table.cells(header))
    kinds = [each for each, name in mapping.fields.items() if name == "kind"]
    rows: list[tuple[int, dict[str, str]]] = []
    for line, row in table.rows:
        if half := halves.get(row.get(header, "")):
            kept = {each: cell for each, cell in row.items() if each not in kinds}
            rows.append((line, kept | {header: half[0], _KIND: half[1]}))
        else:
            rows.append((line, row))
    fields = {each: name for each, name in mapping.fields.items() if name != "id"} | {header: "id", _KIND: "kind"}
    alone = sum(cell in halves and halves[cell][0] == cell for cell in table.cells(header))
    new = replace(table, headers=(*table.headers, _KIND), rows=tuple(rows))
    return new, replace(mapping, fields=fields), _noticed_alone(alone)


def with_pickup_rows(table: Table, mapping: ColumnMapping) -> tuple[Table, ColumnMapping, list[str]]:
    """Return a table whose rows have two places each with a row for each place, and notices; any other as it is.

    A row without the first place is a delivery from the depot, one without the second is fetched for the depot. A row
    with both is a shipment whatever its kind is called.
    """
    fetched = {header: PICKUP_FIELDS[name] for header, name in mapping.fields.items() if name in PICKUP_FIELDS}
    if not fetched:
        return table, mapping, []
    ours = {header: name for header, name in mapping.fields.items() if header not in fetched}
    id_header = next((header for header, name in ours.items() if name == "id"), _ID)
    names, known = UniqueNames(), set(table.cells(id_header))
    halves: dict[str, str] = {}
    alone = 0
    rows: list[tuple[int, dict[str, str]]] = []
    for line, row in table.rows:
        first, second = _halves(row, fetched, ours)
        has_goal = any(ours.get(header) in _PLACES for header in second)
        if not any(fetched.get(header) in _PLACES for header in first):
            alone += has_goal
            rows.append((line, second))
            continue
        name = row.get(id_header) or f"row-{line}"
        first |= {_KIND: "pickup", id_header: name}
        if not has_goal:
            alone += 1
            rows.append((line, first))
            continue
        if name not in halves:  # else a further line of it
            own = next((row[header] for header, at in fetched.items() if at == "id" and header in row), "")
            halves[name] = own or names.unused(f"{name} pickup", known)
        rows.append((line, {**first, id_header: halves[name]}))
        delivered = {header: cell for header, cell in second.items() if ours.get(header) != "kind"}
        rows.append((line, {**delivered, id_header: name, _FETCHED_AT: halves[name]}))
    fields = {header: fetched.get(header, name) for header, name in mapping.fields.items()}
    fields = {header: name for header, name in fields.items() if name != "id"}  # a ticket has one id
    fields |= {id_header: "id", _KIND: "kind", _FETCHED_AT: "pickup_ticket"}
    notices = _noticed("Shipments in rows with two places: {}; {} is fetched.", list(halves.values()))
    notices += _noticed_alone(alone)
    headers = tuple(dict.fromkeys((*table.headers, *fields)))
    return replace(table, headers=headers, rows=tuple(rows)), replace(mapping, fields=fields), notices


def _halves(
    row: Mapping[str, str], fetched: Mapping[str, str], ours: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return what a row says of what is fetched, and of what is delivered; what is said of neither holds for both."""
    first = {header: cell for header, cell in row.items() if header in fetched}
    second = {header: cell for header, cell in row.items() if header not in fetched}
    taken = {fetched[header] for header in first} | _OF_STOP | {"id", "kind", "pickup_ticket"}
    common = {
        header: cell
        for header, cell in second.items()
        if (name := ours.get(header)) in _OF_SHIPMENT or (name not in taken and end_named(header) != "end")
    }
    return common | first, second


def join_halves(rows: Rows, amounts: Sequence[AmountColumn]) -> tuple[list[str], list[Fault]]:
    """Make a shipment of two rows of one id, of which one is picked up and the other one delivered.

    An amount that one of them lacks is that of the other. What is taken back from where goods go, or is called a
    return, is no half of a shipment: it goes to the depot.

    Returns:
        What is to be said of it, and faults of ids that have more such rows.
    """
    by_id: defaultdict[str, list[int]] = defaultdict(list)
    for at, (_, cells) in enumerate(rows):
        if "id" in cells:
            by_id[cells["id"]].append(at)
    names = UniqueNames()
    shipped: list[str] = []
    returned: list[str] = []
    faults: list[Fault] = []
    for name, ats in by_id.items():
        pickups = {at for at in ats if _word(rows[at][1]) in PICKUPS}
        if len(ats) > 2 and 0 < len(pickups) < len(ats):
            problem, hint = "More than two rows of one id say what is picked up and what is delivered.", _SPLIT
            faults.append(rows[ats[2]][0].fault(problem, "a row for each of the two places", hint, field="id"))
        if (len(ats), len(pickups)) != (2, 1):
            continue
        (fetched,), (delivered,) = pickups, {*ats} - pickups
        first, second = rows[fetched][1], rows[delivered][1]
        first["id"] = names.unused(f"{name} pickup", by_id)
        if _word(first) in RETURNS or _place(first) == _place(second):
            returned.append(first["id"])
            continue
        shipped.append(first["id"])
        second.setdefault("pickup_ticket", first["id"])
        for column in amounts:
            _share(column, fetched, delivered)
        first["amounts"] = second["amounts"] = max(first.get("amounts", 0), second.get("amounts", 0))
    notices = [
        *_noticed("Pairs of rows with one id, read as shipments: {}; {} is fetched.", shipped),
        *_noticed("Pairs of rows with one id that deliver and take back: {}; {} is taken back.", returned),
    ]
    return notices, faults


def _word(cells: Json) -> str:
    return kind_word(str(cells.get("kind", "")))


def _place(cells: Json) -> Json:
    return {name: cells[name] for name in ("location", "address", *_AXES) if name in cells}


def _share(column: AmountColumn, one: int, other: int) -> None:
    """Have two rows the amount that either has."""
    for at, beside in ((one, other), (other, one)):
        if column.numbers[at] is None:
            column.numbers[at] = column.numbers[beside]


def _noticed(notice: str, names: Sequence[str]) -> list[str]:
    """Return what is said of rows whose tickets have new names, with the first of these."""
    return [notice.format(len(names), f'"{plain(names[0], 40)}"')] if names else []


def _noticed_alone(count: int) -> list[str]:
    return [f"Rows with one of two places, whose goods come from the depot or go there: {count}."] if count else []
