"""Guesses a sound scenario in place of a broken one, so that its other mistakes are reported at once (SPEC T7).

Owns the guesses and what each of them makes unsure; what a fault needs to be sure is said where it is found. The
guessed body is never planned and never stored; it serves one error answer.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.errors import SCENARIO_LISTS, Fault
from planner_mcp.routing.scenario.checks.fault_dependencies import FaultDependency
from planner_mcp.text import Json

ErrorLocation = tuple[str | int, ...]
"""Where pydantic found a mistake."""

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
_SPEED_FIELDS: Final = ("speed_kmh", "detour", "crs", "plane_speed", "rush_hours", "rounding", "decimals")
"""Fields of travel without which no other mistake appears."""
_ELIGIBILITY_FIELDS: Final = ("capacity", "skills", "reload_locations", "max_reloads")
"""Fields of an agent that say what it may serve."""
_AMOUNT_FIELDS: Final = ("demand", "kind", "pickup")
"""Fields of a ticket that say what it brings, and which way it goes."""
_LIST: Final = 1
"""Stands in place of a field for a whole list, or all of travel; no number is the name of a field."""
_ENTRY: Final = 2
"""Stands in place of a field for a whole entry of a list; no number is the name of a field."""


@dataclass(frozen=True, slots=True)
class _Guess:
    """What a guess makes unsure.

    Args:
        fields: Fields it may stand in for.
        doubtful: Needs of faults; or `/` and a section of the scenario, of which every fault is doubtful.
        is_exempt: Whether it stands in for any field but these.
    """

    fields: Collection[str | int]
    doubtful: frozenset[str]
    is_exempt: bool = False

    def makes_doubtful(self, field: str | int, needs: Collection[str]) -> bool:
        """Return whether a guess of the field makes one of the needs unsure."""
        return (field in self.fields) is not self.is_exempt and not self.doubtful.isdisjoint(needs)


_DOUBTFUL: Final[dict[str, tuple[_Guess, ...]]] = {
    "agents": (
        _Guess((_ENTRY, "id"), frozenset({FaultDependency.AGENTS})),
        _Guess((_ENTRY, *_ELIGIBILITY_FIELDS), frozenset({FaultDependency.ELIGIBILITY})),
    ),
    "tickets": (
        _Guess((_ENTRY, "id"), frozenset({FaultDependency.TICKETS})),
        _Guess((_ENTRY, "location"), frozenset({"/locations", "/travel"})),
        _Guess((_ENTRY, *_AMOUNT_FIELDS), frozenset({FaultDependency.AMOUNTS})),
    ),
    "locations": (
        _Guess((_ENTRY, "id"), frozenset({FaultDependency.LOCATIONS})),
        _Guess((_LIST, _ENTRY, "id"), frozenset({"/travel"})),
        _Guess(_FOR_PEOPLE, frozenset({"/locations"}), is_exempt=True),
    ),
    "travel": (_Guess(_SPEED_FIELDS, frozenset({FaultDependency.LOCATIONS, "/locations", "/travel"}), is_exempt=True),),
}
"""By section; a guess of any other shakes nothing but what stands in its place."""


def recover(body: Any, places: Sequence[ErrorLocation]) -> Json | None:
    """Return a copy without the mistakes, or None where too little is left to check."""
    if not isinstance(body, dict) or any(place in ((), ("agents",), ("tickets",)) for place in places):
        return None
    recovered = dict(body)
    for name in SCENARIO_LISTS:
        if isinstance(body.get(name), list):
            recovered[name] = [dict(part) if isinstance(part, dict) else {} for part in body[name]]
    if isinstance(body.get("travel"), dict):
        recovered["travel"] = dict(body["travel"])
    for place in places:
        _recover_at(recovered, place)
    return recovered


def _recover_at(recovered: Json, place: ErrorLocation) -> None:
    section, owner, field = "", recovered, place[0]
    if place[0] in SCENARIO_LISTS and len(place) > 1 and isinstance(place[1], int):
        section, owner = str(place[0]), recovered[str(place[0])][place[1]]
        if len(place) == 2:
            _fill(section, owner, place[1])
            return
        field = place[2]
    elif place[0] == "travel" and len(place) > 1 and "travel" in recovered:
        section, owner, field = "travel", recovered["travel"], place[1]
    if field == "id" and section:
        owner["id"] = f"?{place[1]}"
    elif (section, field) in _GUESSES:
        owner[str(field)] = _GUESSES[section, str(field)]
    else:
        owner.pop(str(field), None)


def _fill(section: str, owner: Json, index: int) -> None:
    """Make an element that is no object, or no readable one, a neutral one."""
    owner.clear()
    owner["id"] = f"?{index}"
    owner.update({field: guess for (name, field), guess in _GUESSES.items() if name == section})


def is_doubtful(fault: Fault, places: Sequence[ErrorLocation], *, is_alone: bool = False) -> bool:
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


def _follows(fault: Fault, path: tuple[str, ...], place: ErrorLocation) -> bool:
    """Return whether the fault may follow from a mistake elsewhere."""
    needs = (*fault.needs, f"/{path[0]}")
    return any(guess.makes_doubtful(_field(place), needs) for guess in _DOUBTFUL.get(str(place[0]), ()))


def _field(place: ErrorLocation) -> str | int:
    """Return the field that a place is, or is in, of travel or of an entry of a list."""
    if place[0] not in SCENARIO_LISTS:
        return str(place[1]) if len(place) > 1 else _LIST
    return str(place[2]) if len(place) > 2 else _ENTRY if len(place) == 2 else _LIST
