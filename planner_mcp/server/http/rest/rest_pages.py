"""Pages of lists by cursor: `{items, total, next_cursor}`.

Owns the cursor and how rows of a table become objects. The list tools count pages, and new entries push older ones
back; what was listed before is then left out, so nothing comes twice and nothing is lost.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from dataclasses import astuple, dataclass, replace
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.jobs.keyset_paging import rows_after
from planner_mcp.text import Json

MOST_PAGES: Final = 20
"""Pages of the tool that are read for one page of an answer, where many entries came in between."""

ReadPage = Callable[[Json], Awaitable[Json]]
"""`(arguments of the tool) → its result`."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page begins, and what its list is narrowed to."""

    tool: str
    """What lists."""
    page: int
    last: str
    """The mark of the last entry that was listed."""
    arguments: Json
    """As the first page was asked for."""

    def as_text(self) -> str:
        """Return the cursor as clients pass it on."""
        return urlsafe_b64encode(json.dumps(astuple(self)).encode()).decode().rstrip("=")


def parse_cursor(text: str, tool: str) -> Cursor:
    """Return the cursor that `as_text` wrote; the tool checks its arguments.

    Raises:
        InvalidParameterError: It is none, or that of another list.
    """
    try:
        name, page, last, arguments = json.loads(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if not (name == tool and type(page) is int and isinstance(last, str) and isinstance(arguments, dict)):
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        problem = "This is not a cursor of this list."
        raise input_error([Fault("/cursor", problem, "next_cursor of the page before")]) from None
    return Cursor(tool, page, last, arguments)


async def page_at(tool: str, read: ReadPage, given: Json) -> Json:
    """Return a page.

    Args:
        tool: Its name.
        read: Calls the tool.
        given: Its arguments but for the page number, or `cursor` alone.

    Raises:
        InvalidParameterError: The cursor is none of this list, or stands beside other parameters.
    """
    cursor = _cursor(tool, given)
    for _ in range(MOST_PAGES):
        table = await read({**cursor.arguments, "page": cursor.page})
        items = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        marks = [_mark(item) for item in items]
        new = rows_after(items, marks, cursor.last)
        if new or "next_page" not in table:
            break
        cursor = replace(cursor, page=cursor.page + 1)
    page = {"items": new, "total": table["total"]}
    if "next_page" in table:
        last = marks[-1] if marks else cursor.last
        page["next_cursor"] = Cursor(tool, table["next_page"], last, cursor.arguments).as_text()
    return page


def _cursor(tool: str, given: Json) -> Cursor:
    if "cursor" not in given:
        return Cursor(tool, 1, "", given)
    text, *others = given["cursor"], *sorted(given.keys() - {"cursor"})
    if others:
        problem = "A cursor keeps what the first page was asked for."
        raise input_error([Fault(f"/{name}", problem, "cursor alone") for name in others])
    return parse_cursor(text if isinstance(text, str) else "", tool)


def _mark(item: Json) -> str:
    """Return the mark of an entry, as `jobs/keyset_paging.py` writes them."""
    name = item.get("job_id") or item["scenario_id"]
    return f"{item.get('submitted_at') or item['created_at']} {name}"
