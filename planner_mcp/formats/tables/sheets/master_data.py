"""Orders that name customers of another sheet, such as an ERP exports them (SPEC T5).

Owns which column names them, and that their columns then stand behind those of the orders; what is wrong in a cell of
a customer is reported at the row of the order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.headers.header_words import PLACING
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain


def with_master_data(tickets: Table, customers: Table) -> Table | None:
    """Return the tickets with the columns of their customers; None where nothing names these.

    Tickets that say themselves where they are stay as they are.
    """
    if any(meaning_of(header, "tickets").field in PLACING for header in tickets.headers):
        return None
    by_name = {header: _by_name(customers, header) for header in customers.headers if header}
    keys = {header: rows for header, rows in by_name.items() if len(rows) == len(customers.cells(header))}
    for ours in filter(None, tickets.headers):
        named = set(tickets.cells(ours))
        for theirs, rows in keys.items():
            if normalized(ours) == normalized(theirs):
                is_key = 2 * len(named & rows.keys()) > len(named)
            else:  # numbers may be anything
                is_key = bool(named) and named <= rows.keys() and not any(map(str.isdecimal, named))
            if is_key:
                more = [each for each in customers.headers if each and each != theirs and each not in tickets.headers]
                return _joined(tickets, customers.name, rows, ours, more)
    return None


def _by_name(customers: Table, header: str) -> dict[str, dict[str, str]]:
    return {row[header]: row for _, row in customers.rows if header in row}


def _joined(
    tickets: Table, customers: str, rows: Mapping[str, Mapping[str, str]], ours: str, more: Sequence[str]
) -> Table:
    joined = []
    for line, row in tickets.rows:
        customer = rows.get(row.get(ours, ""), {})
        joined.append((line, row | {header: customer[header] for header in more if header in customer}))
    notice = f'Rows of "{plain(customers, 40)}" are read with those that name them in "{plain(ours, 40)}".'
    headers, notices = (*tickets.headers, *more), (*tickets.notices, notice)
    return replace(tickets, headers=headers, rows=tuple(joined), notices=notices)
