"""What a field that nobody knows may stand for: a word of other programs, a position, or a slip of the pen (SPEC T7).

Owns the words, by the title of the model they are written in. A guess is obeyed as it stands, so a word is never led to
its opposite, nor to another unit in silence, and is dropped only where it cannot have asked anything of the plan.
"""

import re
from difflib import get_close_matches
from typing import Any, Final

from planner_mcp.vrp.day.fields import PLACE_HINT, POSITION_WORDS

MAX_WORD: Final = 40
"""Characters of an unknown name that are looked at."""
_MAX_NAMES: Final = 8
"""Known names listed beside an unknown one, where one of them is near."""
_MAX_BEGUN: Final = 3
"""Known names that an unknown one may begin."""
_SHORTEST: Final = 4
"""Characters without which a beginning says nothing."""
_SLIP: Final = 0.85
"""How alike two names are that differ by a slip of the pen."""
_NEAR: Final = 0.6
"""How alike a name is that is worth naming where nothing else is."""


def _mean(ours: str, words: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), ours)


_FOREIGN: Final[dict[str, dict[str, str]]] = {
    "Location": _mean("lat", "latitude") | _mean("lon", "longitude lng"),
    "Agent": {
        **_mean("start_location, or shift_start for a time", "start"),
        **_mean("end_location, or shift_end for a time", "end"),
        **_mean("shift_start", "start_time earliest earliest_start available_from"),
        **_mean("shift_end", "end_time latest latest_end available_until"),
        **_mean("max_tickets", "max_stops max_visits max_jobs max_tasks max_orders"),
        **_mean("max_duration_s (seconds)", "max_hours max_minutes max_time max_travel_time max_working_time"),
        **_mean("capacity", "max_load max_weight max_volume"),
        **_mean("start_location", "home depot"),
        **_mean("breaks, like [{earliest, latest, duration_s}]", "lunch lunch_break pause"),
        **_mean("speed_factor, or speed_kmh of travel", "speed speed_kmh speed_kph"),
    },
    "Ticket": {
        **_mean("agents, a list of ids", "allowed_agents required_agents required_agent only_agents agent agent_id"),
        **_mean("agents, a list of ids", "allowed_drivers required_driver driver drivers driver_id assigned_to"),
        **_mean(
            "agents, a list of ids", "allowed_vehicles required_vehicle vehicle vehicles vehicle_id assigned_agent"
        ),
        **_mean("not_agents, a list of ids", "excluded_agents exclude_agents forbidden_agents blocked_agents"),
        **_mean("preferred_agent", "preferred_driver preferred_vehicle"),
        **_mean("skills, a list", "required_skills required_skill skill requirements"),
        **_mean('time_windows, like [["08:00", "12:00"]]', "ready_time due_time due deadline due_by earliest latest"),
        **_mean('time_windows, like [["08:00", "12:00"]]', "start end start_time end_time earliest_time latest_time"),
        **_mean("service_time_s (seconds)", "duration duration_s duration_min service_duration"),
        **_mean("demand", "weight quantity amount volume load size"),
    },
}
"""Words that are like none of ours, or like the wrong one, by model; and what to write instead."""
_DEMANDS: Final = frozenset({"Scenario", "Agent", "Ticket", "Travel", "Group", "Options"})
"""Models of which a field may ask something of the plan, whatever it is called."""
_CARRIER: Final = re.compile("agent|driver|vehicle")
_PLACES: Final = ("location", "start_location")
"""What names the location of a ticket, and of an agent."""


def meant(name: str, schema: dict[str, Any]) -> str:
    """Return what an unknown name may stand for in an object of this JSON Schema; "" where nothing is like it."""
    known, word = list(schema.get("properties", {})), _snake(name)
    if ours := _FOREIGN.get(str(schema.get("title")), {}).get(word):
        return f"Did you mean {ours}?"
    places = [place for place in _PLACES if place in known]
    if word in POSITION_WORDS and places:
        return f"{PLACE_HINT} in {places[0]}."
    ours = _alike(word, [each for each in known if not each.startswith("not_") or word.startswith("not")])
    return f"Did you mean {ours}?" if ours else ""


def _snake(name: str) -> str:
    """Return a name in our spelling: `maxStops` and `max-stops` are `max_stops`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]", "_", name[:MAX_WORD])
    return parted.lower()


def _alike(word: str, known: list[str]) -> str:
    """Return the names that begin with a word, or else the one nearest to it."""
    begun = [each for each in known if each.startswith(word)] if len(word) >= _SHORTEST else []
    if begun:
        return " or ".join(_with_unit(each, word) for each in begun[:_MAX_BEGUN])
    if near := get_close_matches(word, known, n=1, cutoff=_SLIP):
        return _with_unit(near[0], word)
    if _CARRIER.search(word) and "preferred_agent" in known:
        return "agents (only these), not_agents or preferred_agent"
    near = get_close_matches(word, known, n=1, cutoff=_NEAR)
    return _with_unit(near[0], word) if near else ""


def _with_unit(name: str, word: str) -> str:
    return f"{name} (seconds)" if name.endswith("_s") and not word.endswith("_s") else name


def advice(schema: dict[str, Any]) -> str:
    """Return what to do with a field that is like none of an object."""
    if schema.get("title") in _DEMANDS:
        return "Say it by one of these; remove it only if none can."
    return "Remove it."


def listed(schema: dict[str, Any], *, is_whole: bool) -> str:
    """Return the names an object has, or the first of them; all of them stand in its schema."""
    names = list(schema.get("properties", {}))
    is_cut = not is_whole and len(names) > _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + ", …" if is_cut else ", ".join(names)
