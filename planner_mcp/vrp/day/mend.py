"""Guesses a sound scenario in place of a broken one, so that its other mistakes can be told in the same turn (SPEC T7).

Owns the guesses and the list of logic faults that a guess may have caused. The mended body is never planned and never
stored: it lives as long as one error answer.
"""

from collections.abc import Sequence
from typing import Any, Final

from planner_mcp.errors import Fault

Place = tuple[str | int, ...]
"""Where pydantic found a mistake."""

_LISTS: Final = ("agents", "tickets", "locations")
_GUESSES: Final[dict[tuple[str, str], Any]] = {
    ("", "name"): "?",
    ("", "planning_date"): "2000-01-01",
    ("agents", "capacity"): 0,
    ("tickets", "location"): "?",
    ("tickets", "demand"): 0,
}
"""What stands in for a required value, by list and field. Ids are numbered instead."""
_FOR_PEOPLE: Final = ("name", "address")
"""Fields of a location that nothing else is judged by."""
_PACES: Final = ("speed_kmh", "detour", "crs", "plane_speed", "rush_hours", "rounding", "decimals")
"""Fields of travel without which no other mistake appears."""
_OF_CARRYING: Final = ("capacity", "skills", "reload_locations", "max_reloads")
"""Fields of an agent that say what it may serve."""
_OF_AMOUNTS: Final = ("than its pickup", "locked visits need", "locked behind")
"""Words of faults that may follow from the amount of another ticket, or from which way it goes."""


def mend(body: Any, places: Sequence[Place]) -> dict[str, Any] | None:
    """Return a copy without the mistakes, or None where too little is left to judge."""
    if not isinstance(body, dict) or any(place in ((), ("agents",), ("tickets",)) for place in places):
        return None
    mended = dict(body)
    for name in _LISTS:
        if isinstance(body.get(name), list):
            mended[name] = [dict(part) if isinstance(part, dict) else {} for part in body[name]]
    if isinstance(body.get("travel"), dict):
        mended["travel"] = dict(body["travel"])
    for place in places:
        _mend_place(mended, place)
    return mended


def _mend_place(mended: dict[str, Any], place: Place) -> None:
    section, owner, field = "", mended, place[0]
    if place[0] in _LISTS and len(place) > 1 and isinstance(place[1], int):
        section, owner = str(place[0]), mended[str(place[0])][place[1]]
        if len(place) == 2:
            _fill(section, owner, place[1])
            return
        field = place[2]
    elif place[0] == "travel" and len(place) > 1 and "travel" in mended:
        section, owner, field = "travel", mended["travel"], place[1]
    if field == "id" and section:
        owner["id"] = f"?{place[1]}"
    elif (section, field) in _GUESSES:
        owner[str(field)] = _GUESSES[section, str(field)]
    else:
        owner.pop(str(field), None)


def _fill(section: str, owner: dict[str, Any], index: int) -> None:
    """Make an element that is no object, or no readable one, a neutral one."""
    owner.clear()
    owner["id"] = f"?{index}"
    owner.update({field: guess for (name, field), guess in _GUESSES.items() if name == section})


def is_doubtful(fault: Fault, places: Sequence[Place], *, is_alone: bool = False) -> bool:
    """Return whether a guess, and not the caller, may have caused a logic fault.

    Args:
        fault: The fault.
        places: Where the guesses stand.
        is_alone: Whether the fault depends on nothing but the entry it stands in.
    """
    path = tuple(fault.path.split("/")[1:])
    if any(_touches(path, tuple(map(str, place))) for place in places):
        return True
    return not is_alone and any(_follows(fault, path, place) for place in places)


def _touches(path: tuple[str, ...], place: tuple[str, ...]) -> bool:
    shared = min(len(path), len(place))
    return path[:shared] == place[:shared]


def _follows(fault: Fault, path: tuple[str, ...], place: Place) -> bool:
    """Return whether the fault may follow from a mistake elsewhere."""
    section, field = place[0], place[2] if len(place) > 2 else place[-1]
    is_named = field == "id" or len(place) == 2
    if is_named and section in _LISTS and f"There is no {str(section)[:-1]} " in fault.problem:
        return True
    if section == "travel" and not (len(place) > 1 and place[1] in _PACES):
        return path[0] in ("locations", "travel") or "no location" in fault.problem
    if section == "locations" and field not in _FOR_PEOPLE:
        is_listed = is_named or len(place) == 1
        return path[0] == "locations" or (is_listed and path[0] == "travel")
    if section == "agents" and (len(place) == 2 or field in _OF_CARRYING):
        return "demand" in path or "skills" in path or any(word in fault.problem for word in ("serve", "capacity"))
    if section == "tickets" and (len(place) == 2 or field == "location") and path[0] in ("locations", "travel"):
        return True
    if section == "tickets" and (len(place) == 2 or field in ("demand", "kind", "pickup")):
        return any(words in fault.problem for words in _OF_AMOUNTS)
    return False
