"""How pages and pictures write lengths, and how they set a caller's text beside their own.

A name may be written from right to left; the text beside it would then change direction too ("2 , 09:20–08:00").
So it is isolated: by a `bdi` element in a page (`html_templates.py`), by control characters in the title of a shape.
"""

from typing import Final
from unicodedata import east_asian_width

from planner_mcp.render.page_words import Words
from planner_mcp.routing.plan import Plan
from planner_mcp.text import figure, plain

_WITHOUT_METRES: Final = ("plane", "unit legs")
"""Travel sources whose lengths have no metres: they count the caller's units."""
_LONGEST_WORD: Final = 12
"""A word up to this many characters never breaks inside a table."""
_FIRST_STRONG_ISOLATE: Final = "\u2068"
_POP_DIRECTIONAL_ISOLATE: Final = "\u2069"


def length_unit(plan: Plan) -> str:
    """Return what `length` counts: "km", or "units" where travel knows no metres."""
    return "units" if plan.travel.get("source") in _WITHOUT_METRES else "km"


def unit_name(unit: str, words: Words) -> str:
    """Return what a page calls the unit that `length_unit` names."""
    return words["units"] if unit == "units" else unit


def length(travelled: float, unit: str) -> str:
    """Return a length of a plan (metres or plane units) as the number of the unit that `length_unit` names."""
    return rounded(travelled if unit == "units" else travelled / 1000)


def rounded(value: float) -> str:
    """Return a number rounded for reading: no decimals from 100 on, one below, up to three below 1."""
    if value >= 1:
        return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
    return figure(round(value, 3))


def money(cost: float) -> str:
    """Return a cost for reading, as the page writes it: no decimals from 100 on, at most two below."""
    return f"{cost:,.0f}" if cost >= 100 else figure(round(cost, 2))


def scale(extent: float, *, is_plane: bool) -> str:
    """Return the label of a scale bar: plane units, metres, or kilometres from 1,000 m on."""
    if is_plane:
        return f"{figure(extent)} units"
    return f"{figure(extent / 1000)} km" if extent >= 1000 else f"{figure(extent)} m"


def fitted(text: str, columns: int) -> str:
    """Return text on one line, cut to so many columns; a Chinese character takes two."""
    shown = plain(text, columns)
    while sum(2 if east_asian_width(char) in "WF" else 1 for char in shown) > columns:
        shown = shown[:-2] + "…"
    return shown


def needs_break(text: str) -> bool:
    """Return whether a word of a text is too long for a column and may break anywhere."""
    return any(len(word) > _LONGEST_WORD for word in text.split())


def isolated(text: str) -> str:
    """Return a caller's text between control characters that isolate its direction; not escaped yet."""
    return f"{_FIRST_STRONG_ISOLATE}{text}{_POP_DIRECTIONAL_ISOLATE}"
