"""How pages write lengths, and how callers' words are set among ours.

Owns both for every picture. A name may be written from right to left and would turn what stands beside it too ("2 ,
09:20–08:00"). So it is isolated: by an element in a page, by two characters in the title of a shape.
"""

from html import escape
from typing import Any, Final

from planner_mcp.text import figure

_WITHOUT_METRES: Final = ("plane", "unit legs")
"""Sources of travel whose lengths are counts of the caller's units."""
_LONGEST_WORD: Final = 12
"""Characters that stay on one line in every table."""
_FIRST_STRONG_ISOLATE: Final = "\u2068"
_POP_DIRECTIONAL_ISOLATE: Final = "\u2069"


def length_unit(plan: dict[str, Any]) -> str:
    """Return what `length` counts: "km", or "units" where travel knows no metres."""
    return "units" if plan.get("travel", {}).get("source") in _WITHOUT_METRES else "km"


def length(travelled: float, unit: str) -> str:
    """Return the number of a length of a plan, in metres or plane units, in the unit named by `length_unit`."""
    return rounded(travelled if unit == "units" else travelled / 1000)


def rounded(value: float) -> str:
    """Return a number as a reader can use it: whole from 100 on, a decimal below, up to three below 1."""
    if value >= 1:
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    return figure(round(value, 3))


def scale(extent: float, *, is_plane: bool) -> str:
    """Return what a scale bar stands for: plane units, metres, or kilometres from a thousand metres on."""
    if is_plane:
        return f"{figure(extent)} units"
    return f"{figure(extent / 1000)} km" if extent >= 1000 else f"{figure(extent)} m"


def html_isolated(text: str) -> str:
    """Return a caller's text as an element of a page; only words too long for a column may break anywhere."""
    is_long = any(len(word) > _LONGEST_WORD for word in text.split())
    kind = ' class="long"' if is_long else ""
    return f"<bdi{kind}>{escape(text)}</bdi>"


def stop_name(visit: dict[str, Any]) -> str:
    """Return, as HTML, what is done at a stop: its ticket, or "break" and its like."""
    return html_isolated(visit["ticket_id"]) if visit["ticket_id"] else escape(visit["kind"])


def isolated(text: str) -> str:
    """Return a caller's text to stand in the title of a shape, not yet escaped."""
    return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_DIRECTIONAL_ISOLATE}"
