"""The time windows of a ticket as people write them: `08:00-12:00; from 14:00` (SPEC T5).

Owns one form, which driver sheets, tables and exports share and an import reads back, and the end of a window that has
none.
"""

from datetime import date, timedelta
from typing import Final, Literal

from planner_mcp.routing.scenario.field_types import moment
from planner_mcp.routing.scenario.shown_scenario import ShownTicketFields, TimeJson
from planner_mcp.routing.scenario.written_language import Language
from planner_mcp.text import DAY_S, clock, clock_s

_LAST_HOURS_S: Final = 2 * DAY_S
"""From here on a time has no hour of the planning day: the last is 47:59."""
OPEN_END: Final = "47:59"
"""End of a window that has none, as it is written."""
OPEN_END_S: Final = moment(OPEN_END, {})
"""End of a window that has none, in seconds; the page has it too (`view/format.js`)."""
_ONE_SIDED: Final = {"en": {"from": "from {}", "until": "until {}"}, "zh": {"from": "{} 起", "until": "{} 前"}}


def window_text(ticket: ShownTicketFields, planning_date: str, language: Language = "en") -> str:
    """Return the windows of a stored ticket in hours of the planning day, later ones with theirs; empty for none.

    Args:
        ticket: The ticket.
        planning_date: Of its scenario.
        language: Of the reader; tables and other forms for programs are in English.
    """
    windows = windows_of(ticket, planning_date)
    return "; ".join(span_text(opens, closes, planning_date, language) for opens, closes in windows)


def one_side(opens: float, closes: float) -> Literal["from", "until", ""]:
    """Return which side alone a window has; empty where it has both."""
    if closes == OPEN_END_S:
        return "from"
    return "" if opens else "until"


def span_text(opens: float, closes: float, planning_date: str, language: Language) -> str:
    """Return one window, of seconds after midnight of the planning date, as `window_text` writes it."""
    if side := one_side(opens, closes):
        return _ONE_SIDED[language][side].format(_hour(opens if side == "from" else closes))
    days = int(opens // DAY_S) if closes >= _LAST_HOURS_S else 0
    day = f"{date.fromisoformat(planning_date) + timedelta(days=days)} " if days else ""
    return f"{day}{_hour(opens - days * DAY_S)}-{_hour(closes - days * DAY_S)}"


def dated_span_text(opens: float, closes: float, planning_date: str, language: Language) -> str:
    """Return the same with the day it begins, and the one it ends where that is another."""
    days = [date.fromisoformat(planning_date) + timedelta(days=int(side // DAY_S)) for side in (opens, closes)]
    hours = [_hour(side % DAY_S) for side in (opens, closes)]
    if side := one_side(opens, closes):
        at = side == "until"
        return _ONE_SIDED[language][side].format(f"{days[at]} {hours[at]}")
    last = hours[1] if days[0] == days[1] else f"{days[1]} {hours[1]}"
    return f"{days[0]} {hours[0]}-{last}"


def windows_of(ticket: ShownTicketFields, planning_date: str) -> list[tuple[float, float]]:
    """Return the windows of a stored ticket in seconds after midnight of the planning date."""
    try:
        context = {"planning_date": date.fromisoformat(planning_date)}
        return [(moment(start, context), moment(end, context)) for start, end in ticket.get("time_windows") or ()]
    except (ValueError, TypeError):  # of a scenario that an export reads as it is
        return []


def time_text(time: TimeJson, planning_date: str) -> str:
    """Return a time of a stored ticket as an hour of the planning day, a later one with its day."""
    try:
        seconds = moment(time, {"planning_date": date.fromisoformat(planning_date)})
    except (ValueError, TypeError):  # of a scenario that an export reads as it is
        return str(time)
    if seconds < _LAST_HOURS_S:
        return _hour(seconds)
    return f"{date.fromisoformat(planning_date) + timedelta(days=seconds // DAY_S)} {_hour(seconds % DAY_S)}"


def _hour(seconds: float) -> str:
    return clock(seconds) if seconds % 60 == 0 else clock_s(seconds)
