"""The field of each column of a table, proposed from its header and its cells (SPEC T5).

Owns the order of the decisions. A column is used, is open (a question to whoever knows), or is left out and said so
with what it looks like. One that looks like times, durations, amounts or places is never left out in silence. Whoever
knows better names the field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner_mcp.formats.tables.cells.cell_text import simplified
from planner_mcp.formats.tables.cells.unit_words import AmountUnit, unit_named
from planner_mcp.formats.tables.cells.weekday_hours import hours_by_weekday
from planner_mcp.formats.tables.columns.address_columns import ask_about_pickup, end_named, pickup_columns
from planner_mcp.formats.tables.columns.column_mapping import ColumnMapping, OpenColumn, refuse_unknown
from planner_mcp.formats.tables.columns.columns_by_cells import ONE_OF_TWO, ask_about_halves, settle_by_cells
from planner_mcp.formats.tables.columns.columns_by_header import take_by_header, take_by_likeness, take_degrees
from planner_mcp.formats.tables.columns.other_tables import NO_OTHER_TABLE, OtherTable
from planner_mcp.formats.tables.columns.proposed_columns import ProposedColumns
from planner_mcp.formats.tables.headers.header_meanings import side_of, words_outside
from planner_mcp.formats.tables.headers.header_words import CHOICES, PICKUP_FIELDS, PLACING
from planner_mcp.formats.tables.sheets.text_tables import Table


def propose_mapping(
    table: Table, kind: str, chosen: Mapping[str, str], *, planning_date: str = "", other: OtherTable = NO_OTHER_TABLE
) -> ColumnMapping:
    """Return the mapping of a table.

    Args:
        kind: `tickets` or `agents`.
        chosen: Field by header, where the caller knows better; an empty field leaves the column out.

    Raises:
        InputError: A choice names no column or no field.
    """
    refuse_unknown(table.headers, CHOICES[kind], chosen)
    if not PICKUP_FIELDS.keys().isdisjoint(chosen.values()):
        return _of_two_places(table, chosen, planning_date, other)
    columns = ProposedColumns(table, kind, chosen, planning_date, other)
    columns.pickups = pickup_columns(columns)
    for header, name in chosen.items():
        if name:
            columns.take(header, name)
    headers = [header for header in table.headers if header and header not in {*chosen, *columns.pickups}]
    headers.sort(key=columns.is_billed)  # where goods go is known before where bills go
    _settle(columns, [header for header in headers if columns.cells[header]])
    _settle(columns, [header for header in headers if not columns.cells[header]])  # templates have columns nobody fills
    ask_about_pickup(columns)
    ask_about_halves(columns)
    left_out = tuple(header for header in table.headers if header and not columns.is_settled(header))
    return ColumnMapping(
        {header: columns.fields[header] for header in table.headers if header in columns.fields},
        tuple(columns.guessed),
        left_out,
        {header: "" if header in chosen else columns.look(header).looks for header in left_out},
        tuple(columns.asked.values()),
        {header: unit for header in table.headers if header in columns.fields and (unit := _unit(columns, header))},
    )


def _of_two_places(table: Table, chosen: Mapping[str, str], planning_date: str, other: OtherTable) -> ColumnMapping:
    """Return the mapping of a table whose rows say where goods are fetched and where they go: of each place by itself.

    What is said of where they are fetched is chosen so, or has a word for it in its header.
    """
    theirs = [
        header
        for header in table.headers
        if (chosen[header] in PICKUP_FIELDS if header in chosen else end_named(header) == "start")
    ]
    named = {header: PICKUP_FIELDS[chosen[header]] for header in theirs if header in chosen}
    fetched = propose_mapping(_columns_of(table, theirs), "tickets", named, planning_date=planning_date)
    fields = {header: at for header, name in fetched.fields.items() if (at := f"pickup_{name}") in PICKUP_FIELDS}
    options = {
        column: tuple(at for name in column.options if (at := f"pickup_{name}") in PICKUP_FIELDS)
        for column in fetched.open_columns
    }
    asked = [replace(column, options=names) for column, names in options.items() if names]
    settled = {*fields, *(column.header for column in asked)}
    ours = _columns_of(table, [header for header in table.headers if header not in settled])
    answers = {header: name for header, name in chosen.items() if header not in settled}
    rest = propose_mapping(ours, "tickets", answers, planning_date=planning_date, other=other)
    if PLACING.isdisjoint(rest.fields.values()) and "location" not in rest.fields.values():
        goals = (each for each in rest.left_out if each not in chosen and end_named(each) == "end")
        asked += [OpenColumn(each, rest.looks[each], ("location", "notes"), ONE_OF_TWO) for each in goals]
    known = {**fields, **rest.fields}
    return replace(
        rest,
        fields={header: known[header] for header in table.headers if header in known},
        guessed=(*rest.guessed, *(header for header in fetched.guessed if header in fields)),
        open_columns=(*asked, *rest.open_columns),
    )


def _columns_of(table: Table, headers: Sequence[str]) -> Table:
    """Return some columns of a table."""
    rows = ((line, {header: row[header] for header in headers if header in row}) for line, row in table.rows)
    return replace(table, headers=tuple(headers), rows=tuple(rows))


def _settle(columns: ProposedColumns, headers: Sequence[str]) -> None:
    """Settle columns by what is surest: skills, known words, words with known parts, likeness, and cells alone."""
    for header in headers:
        if header in columns.table.skills:
            columns.take(header, "skills")
    for header in sorted(headers, key=lambda each: (columns.is_billed(each), not columns.meanings[each].is_exact)):
        if columns.meanings[header].field and header not in columns.fields:
            take_by_header(columns, header)
    for header in headers:
        if not columns.is_settled(header):
            take_by_likeness(columns, header)
    take_degrees(columns)
    for header in sorted(headers, key=lambda each: side_of(columns.meanings[each].concepts) is None):
        if not columns.is_settled(header):  # Start and End before Visit, where that has AM
            settle_by_cells(columns, header)
    _ask_about_unpaired(columns)
    for header in headers:
        if (
            not columns.is_settled(header)
            and columns.are_tickets
            and _has_hours_of_weekdays(header, columns.cells[header])
        ):
            columns.ask(header, ("window", "notes"), "its cells are no times, but {}")


def _has_hours_of_weekdays(header: str, cells: Sequence[str]) -> bool:
    """Return whether a column of weekdays says more than days, of which some cannot be read: `by appointment`."""
    named = map(hours_by_weekday, map(simplified, cells)) if hours_by_weekday(simplified(header)) else ()
    return any(hours for each in named for _, hours in each)


def _ask_about_unpaired(columns: ProposedColumns) -> None:
    """Ask about several begins of windows that are more or fewer than their ends: which belong together is open."""
    begins, ends = columns.called("opens"), columns.called("closes")
    if max(len(begins), len(ends)) < 2 or len(begins) == len(ends):
        return
    for header in begins if len(begins) > len(ends) else ends:
        if header not in columns.chosen:
            columns.ask(header, (columns.fields.pop(header), "notes"), "beside other times {}")


def _unit(columns: ProposedColumns, header: str) -> AmountUnit | None:
    """Return the unit of a column of amounts: that of its header, else the dimension that this speaks of."""
    if columns.fields[header] not in ("demand", "capacity"):
        return None
    meaning = columns.meanings[header]
    unit = unit_named(meaning.unit) or unit_named(" ".join(words_outside(header)[1:]))
    return unit or (AmountUnit(meaning.dimension, 0.0) if meaning.dimension else None)
