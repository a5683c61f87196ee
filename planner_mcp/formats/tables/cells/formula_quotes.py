"""Quotes that keep spreadsheets from taking text for a formula, set and taken away again (SPEC T5).

Owns what a formula begins with, and where one may begin: also after a `;`, where some programs split a line even inside
quotes.
"""

import re
from typing import Any, Final

_BEFORE: Final = r"""(?<![;"\s])([;"\s]*+)"""
"""What may stand before a formula, a quote that does not show included: read once from its first character on, and
given up whole."""
_AHEAD: Final = r"(?=[=+\-@＝＋－＠])"
"""What a formula begins with. Programs take the full-width signs for the others."""
_FORMULA: Final = re.compile(f"{_BEFORE}{_AHEAD}")
_QUOTE: Final = re.compile(f"{_BEFORE}'{_AHEAD}")
_LINE_STARTS: Final = (";", "\t", "\r", "\n")


def safe_cell(cell: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula."""
    if not isinstance(cell, str):
        return cell
    quote = "'" if cell.startswith(_LINE_STARTS[1:]) else ""
    return quote + _FORMULA.sub(lambda found: found[1] + "'" * _may_begin(found), cell)


def unquoted(cell: str) -> str:
    """Return a cell without the quotes that `safe_cell` may have set."""
    return _QUOTE.sub(lambda found: found[1] if _may_begin(found) else found[0], cell)


def _may_begin(found: re.Match[str]) -> bool:
    """Return whether a cell or a line may begin behind what stands before a sign."""
    return found.start() == 0 or any(each in found[1] for each in _LINE_STARTS)
