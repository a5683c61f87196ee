"""What a scenario says at the place of a fault: the id of the entry and the value seen there (SPEC T7).

Owns the short form of both. A value of a field that is masked for some readers (`x-sensitive-fields`) is shown only to
those who may see it; ids are labels, which everyone sees.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.routing.infeasibility_reasons import REASONS, InfeasibilityReason
from planner_mcp.routing.scenario.scenario_model import BY_ID
from planner_mcp.text import compact, plain

_MAX_LENGTH: Final = 40
"""Characters of an id, and of a value."""
_MAX_MEMBERS: Final = 4
"""Members of a list or an object that is written out."""
_POSITION: Final = ("lat", "lon", "x", "y")


def with_seen_values(faults: Iterable[Fault], body: Any, *, shows_all: bool) -> list[Fault]:
    """Return faults that name the entry they stand in, with the value seen, as `t-7 (180)`.

    Args:
        faults: With paths by list positions; those outside agents, tickets and locations stay as they are. Evidence
            that a check put into `which` takes the place of the value.
        body: The scenario as written, of whatever form.
        shows_all: Whether values of sensitive fields may be shown.
    """
    return [_with_seen_value(fault, body, shows_all=shows_all) for fault in faults]


def _with_seen_value(fault: Fault, body: Any, *, shows_all: bool) -> Fault:
    if (seen := seen_at(fault, body, shows_all=shows_all)) is None:
        return fault
    label, value = seen[0], fault.which[0] if fault.which else seen[1]
    return replace(fault, which=(f"{label} ({value})" if value else label,))


def seen_at(fault: Fault, body: Any, *, shows_all: bool) -> tuple[str, str] | None:
    """Return the id of the entry a fault stands in, and the value seen, "" for none; None where it is in no entry."""
    section, *place = fault.path.split("/")[1:] or [""]
    entries = body.get(section) if isinstance(body, Mapping) and section in BY_ID else None
    if not isinstance(entries, list) or not place or not place[0].isdigit() or int(place[0]) >= len(entries):
        return None
    entry = entries[int(place[0])]
    if not isinstance(entry, Mapping):
        return None
    hidden = frozenset[str]() if shows_all else _sensitive_fields(section)
    name = entry.get("id")
    label = plain(name, _MAX_LENGTH) if isinstance(name, str) and name else f"number {int(place[0]) + 1}"
    return label, _seen(section, entry, place[1:], fault.reason, hidden)


@cache
def _sensitive_fields(section: str) -> frozenset[str]:
    return frozenset(BY_ID[section].model_json_schema()["x-sensitive-fields"])


def _seen(section: str, entry: Mapping[str, Any], place: list[str], reason: str, hidden: frozenset[str]) -> str:
    """Return the value at a place within an entry, or the fields that a fault of the whole entry is about."""
    if section == "locations" and (not place or place[0] in _POSITION):
        return _fields(entry, _POSITION, hidden)
    saying = REASONS[InfeasibilityReason(reason)].shown_fields if reason else ()
    if saying and section == "tickets" and place in ([], ["location"]):
        return _fields(entry, saying, hidden)
    if not place or place == ["id"] or place[0] in hidden:
        return ""
    value: Any = entry
    for part in place:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        elif isinstance(value, Mapping) and key in value:
            value = value[key]
        else:  # absent, or a number in place of an object
            return "" if value is entry else _short(value)
    return _short(value)


def _fields(entry: Mapping[str, Any], names: Iterable[str], hidden: frozenset[str]) -> str:
    known = {name: entry[name] for name in names if name not in hidden and entry.get(name) not in (None, [], ())}
    return ", ".join(f"{name} {_short(value)}" for name, value in known.items())


def _short(value: Any) -> str:
    """Return a value in a few characters."""
    if isinstance(value, str):
        return plain(value, _MAX_LENGTH)
    if isinstance(value, list | Mapping) and not _is_small(value):
        return f"{len(value)} entries"
    return plain(compact(value), _MAX_LENGTH).replace('"', "")


def _is_small(value: Any, depth: int = 3) -> bool:
    if isinstance(value, list | Mapping):
        members = value if isinstance(value, list) else list(value.values())
        return depth > 0 and len(members) <= _MAX_MEMBERS and all(_is_small(each, depth - 1) for each in members)
    return not isinstance(value, str) or len(value) <= _MAX_LENGTH
