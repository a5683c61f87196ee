"""One page of a list as a result: columns once, a line of text a row, the same cells as data."""

from collections.abc import Iterable, Mapping
from typing import Any

from planner_mcp.server.tools.tool_definition import ToolResult
from planner_mcp.server.tools.tool_output import ToolOutput
from planner_mcp.translation import phrase


class TablePage(ToolOutput):
    """One page of a table."""

    columns: list[str]
    rows: list[list[Any]]
    page: int
    total: int
    next_page: int | None = None


def table_page(columns: Iterable[str], rows: list[list[Any]], *, page: int, size: int, total: int) -> TablePage:
    """Return a page, with the number of the next one where there is one."""
    following = page_after(page, size, total)
    return TablePage(columns=list(columns), rows=rows, page=page, total=total, next_page=following)


def page_after(page: int, size: int, total: int) -> int | None:
    """Return the number of the page behind one; None behind the last."""
    return page + 1 if page * size < total else None


def more_text(next_page: int | None) -> str:
    """Return how a heading names the next page, empty where there is none."""
    return phrase(", more with page={}", next_page) if next_page else ""


def table_text(what: str, table: TablePage) -> str:
    """Return a page as text: a heading with the columns, then a line for each row."""
    part = phrase("{} of {}, page {}", len(table.rows), table.total, table.page)
    head = f"{what} {part}{more_text(table.next_page)}: {' '.join(table.columns)}"
    return "\n".join([head, *(" ".join(map(cell_text, row)) for row in table.rows)])


def cell_text(cell: Any) -> str:
    """Return a cell as people write it: amounts by dimension as `kg=339,m3=2`."""
    if isinstance(cell, Mapping):
        return ",".join(f"{name}={cell_text(value)}" for name, value in cell.items()) or "-"
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "-" if cell is None else str(cell)


def table_result(
    what: str, columns: Iterable[str], rows: list[list[Any]], *, page: int, size: int, total: int
) -> ToolResult:
    """Return a page as a tool's result."""
    table = table_page(columns, rows, page=page, size=size, total=total)
    return ToolResult(table, table_text(what, table))
