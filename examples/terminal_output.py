"""What the examples print: a progress line that renews itself and plain tables.

Owns the terminal. Where the output is no terminal, only the last state of a progress line is printed.
"""

import sys
import unicodedata
from collections.abc import Sequence
from typing import Any, Final

_BAR: Final = 28


def heading(text: str) -> None:
    """Print a heading."""
    print(f"\n{_bold(text)}")


def note(text: str) -> None:
    """Print a line under a heading."""
    print(f"  {text}")


def progress_line(status: dict[str, Any]) -> str:
    """Return one line of a running solve: bar, percent, best cost, tickets served."""
    percent = status.get("progress", 0)
    filled = round(_BAR * percent / 100)
    cost = "–" if status.get("cost") is None else f"{status['cost']:,.0f}"
    served = f"{status.get('tickets_served') or 0}/{status.get('tickets_total') or '?'}"
    bar = "█" * filled + "·" * (_BAR - filled)
    return f"  {bar} {percent:3d} %  best cost {cost:>8}  tickets {served}  {status['status'].lower()}"


def show(status: dict[str, Any]) -> None:
    """Draw the progress line over the one before."""
    if sys.stdout.isatty():
        print(f"\r\033[K{progress_line(status)}", end="", flush=True)


def settle(status: dict[str, Any]) -> None:
    """Draw the progress line for the last time and go on to the next."""
    print(f"{chr(13) + chr(27) + '[K' if sys.stdout.isatty() else ''}{progress_line(status)}")


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print columns, numbers to the right, as wide as their widest cell."""
    cells = [list(map(str, row)) for row in rows]
    widths = [max(map(_width, column)) for column in zip(head, *cells, strict=True)]
    is_number = [all(isinstance(row[index], int | float) for row in rows) for index in range(len(head))]
    print("  " + "  ".join(_pad(name, width, n) for name, width, n in zip(head, widths, is_number, strict=True)))
    print("  " + "  ".join("─" * width for width in widths))
    for row in cells:
        line = "  ".join(_pad(cell, width, n) for cell, width, n in zip(row, widths, is_number, strict=True))
        print(f"  {line.rstrip()}")


def _width(text: str) -> int:
    """Return the terminal columns of a text; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def _pad(text: str, width: int, is_number: bool) -> str:
    blanks = " " * (width - _width(text))
    return blanks + text if is_number else text + blanks


def _bold(text: str) -> str:
    return f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text
