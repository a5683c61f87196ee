"""Lines of one ticket, as order systems write them: a row for each article (SPEC T5).

Owns which rows are lines of the one above that has their id, and what they become together.
"""

from collections.abc import Sequence
from typing import Final

from planner_mcp.formats.tables.rows.amount_settlement import AmountColumn
from planner_mcp.formats.tables.sheets.source_rows import SourceRow
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import Json

Rows = list[tuple[SourceRow, Json]]
"""Where each row was read, and its values by field."""
_OF_LINES: Final = frozenset({"amounts", "notes", "skills"})
"""Fields in which the lines of one ticket may differ."""


def join_lines(rows: Rows, table: Table, amounts: Sequence[AmountColumn]) -> tuple[Rows, list[str]]:
    """Return the rows of tickets, those of one id as one row where they differ in amounts, notes or skills alone.

    Rows that are alike in every cell are no lines but a mistake. Numbers of the columns of amounts are added up. The
    second value is what is to be said of it.
    """
    texts = {str(line): frozenset(cells.items()) for line, cells in table.rows}
    first: dict[tuple[str, str], int] = {}
    lines: dict[int, list[int]] = {}
    seen: set[tuple[int, frozenset[tuple[str, str]]]] = set()
    for at, (origin, cells) in enumerate(rows):
        head = first.setdefault((cells["id"], cells.get("kind", "")), at) if "id" in cells else at
        line = (head, texts[origin.number])
        if line in seen or not _is_line_of(cells, rows[head][1]):
            head = at
        seen.add(line)
        lines.setdefault(head, []).append(at)
    if len(lines) == len(rows):
        return rows, []
    for column in amounts:
        column.join(list(lines.values()))
    notices = [
        f"{column.shown} is the same in each line of a ticket and counts once."
        for column in amounts
        if column.is_repeated
    ]
    notices.append(
        f"Rows with the id of a row above, read as lines of its ticket and added up: {len(rows) - len(lines)}."
    )
    return [(rows[head][0], _joined([rows[at][1] for at in ats])) for head, ats in lines.items()], notices


def _is_line_of(cells: Json, head: Json) -> bool:
    """Return whether a row says nothing else than the one it has its id from, but for what lines differ in."""
    return all(head.get(name) == value for name, value in cells.items() if name not in _OF_LINES)


def _joined(lines: Sequence[Json]) -> Json:
    """Return the lines of a ticket as one row."""
    row = dict(lines[0])
    if notes := dict.fromkeys(line["notes"] for line in lines if "notes" in line):
        row["notes"] = "; ".join(notes)
    if skills := dict.fromkeys(skill for line in lines for skill in line.get("skills", ())):
        row["skills"] = list(skills)
    return row | {"amounts": sum(line.get("amounts", 0) for line in lines)}
