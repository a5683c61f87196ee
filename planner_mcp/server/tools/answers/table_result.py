"""One page of a list as an answer: columns once, a line of text a row, the same cells as data."""

from collections.abc import Sequence
from typing import Any, Final

from planner_mcp.server.tools.tool_definition import ToolResult

COLUMNS_OUTPUT: Final = {
    "type": "object",
    "properties": {
        "columns": {"type": "array", "items": {"type": "string"}},
        "rows": {"type": "array", "items": {"type": "array"}},
        "page": {"type": "integer"},
        "total": {"type": "integer"},
        "next_page": {"type": "integer"},
    },
    "required": ["columns", "rows", "page", "total"],
}


def table_result(
    what: str, columns: Sequence[str], rows: list[list[Any]], *, page: int, size: int, total: int
) -> ToolResult:
    """Return a page as an answer."""
    structured: dict[str, Any] = {"columns": list(columns), "rows": rows, "page": page, "total": total}
    more = ""
    if page * size < total:
        structured["next_page"] = page + 1
        more = f", more with page={page + 1}"
    head = f"{what} {len(rows)} of {total}, page {page}{more}: {' '.join(columns)}"
    lines = [" ".join("-" if cell is None else str(cell) for cell in row) for row in rows]
    return ToolResult(structured, "\n".join([head, *lines]))
