"""What holds for a day once all its tables are read (SPEC T5).

Owns what tickets and agents say of each other: agents that tickets name, hours after a midnight that all shifts pass,
places that nothing names.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import compress
from typing import Any, Final

from planner_mcp.formats.tables.cells.window_parsing import after_midnight
from planner_mcp.formats.tables.table_import import FEW, LONGEST_OWNER, TableImport
from planner_mcp.routing.scenario.field_types import moment
from planner_mcp.routing.scenario.scenario_model import PRICE_OF_METRES
from planner_mcp.text import DAY_S, Json, plain

_OF_AGENTS: Final = ("agents", "not_agents", "preferred_agent", "switch_cost")
"""Fields of a ticket that name agents, and what belongs to them."""
_DETOUR_KM: Final = 5
"""Driving that is worth a visit of the preferred agent, where the table has no price for it."""
_KM_AN_HOUR: Final = 50
"""What an agent without a price by km drives in an hour that has one."""
_MOST: Final = 1e8
"""Highest price that counts: what a preference is then worth is still a price that a day may have."""


def settle_agents(day: TableImport) -> None:
    """Have tickets name agents by id; pass over which may serve one that names an agent the day does not have."""
    agents = [agent for agent in day.agents if isinstance(agent.get("id"), str)]  # others are refused with the day
    known = {agent["id"] for agent in agents}
    ids: dict[str, str] = _ids_by_word(agents) | {name: name for name in known}
    count = 0

    def own_id(name: str) -> str:
        return ids.get(name, ids.get(name.casefold(), name))

    for ticket in day.tickets:
        for field_name in ("agents", "not_agents"):
            if field_name in ticket:
                ticket[field_name] = [own_id(name) for name in ticket[field_name]]
        if name := ticket.get("preferred_agent"):
            ticket["preferred_agent"] = own_id(name)
        preferred = [ticket["preferred_agent"]] if "preferred_agent" in ticket else []
        if not known.issuperset([*ticket.get("agents", ()), *ticket.get("not_agents", ()), *preferred]):
            count += 1
            for name in _OF_AGENTS:
                ticket.pop(name, None)
    if count:
        day.notices[f"Tickets that name unknown agents, which may be served by any: {count}."] = None
    _price_preferences(day, agents)


def name_shared_start(day: TableImport, name: str) -> None:
    """Name the place where several agents start, if there is one and only its position is given."""
    starts = Counter(str(agent["start_location"]) for agent in day.agents if "start_location" in agent)
    shared = {place for place, count in starts.items() if count > 1}
    owners = {f"at {str(agent.get('id'))[:LONGEST_OWNER]}" for agent in day.agents}
    if len(shared) == 1 and shared <= owners & day.locations.keys():
        day.locations[shared.pop()].setdefault("name", name)


def settle_hours(day: TableImport) -> None:
    """Read hours of tickets as those after midnight where all shifts pass it, and begin later than these hours."""
    try:
        shifts = [(moment(each["shift_start"], {}), moment(each["shift_end"], {})) for each in day.agents]
    except (KeyError, ValueError):  # without a shift, or of another day
        return
    if not shifts or not all(begin < DAY_S < end for begin, end in shifts):
        return
    first, last = min(begin for begin, _ in shifts), max(end for _, end in shifts)
    moved: dict[str, None] = {}
    for window in (window for ticket in day.tickets for window in ticket.get("time_windows", ())):
        if later := after_midnight(window, first, last):
            moved["-".join(map(str, later))] = None
            window[:] = later
    if moved:
        day.notices[f"Read as after midnight, which all shifts pass: {', '.join(list(moved)[:FEW])}."] = None


def settle_places(day: TableImport, depot: str | None) -> str | None:
    """Leave out listed places that nothing names; return the depot: a single listed one where nothing names any."""
    listed = set(day.listed.values())
    fields = ("location", "start_location", "end_location")
    named = {depot, *(each.get(name) for each in (*day.tickets, *day.agents) for name in fields)}
    if len(listed) == 1 and not listed & named and depot is None:
        (depot,) = listed
        named.add(depot)
        day.notices[f'All agents start and end at "{plain(depot, 40)}", the only place of its sheet.'] = None
    kept = [place not in listed or place in named for place in day.locations]
    day.origins["locations"] = list(compress(day.origins["locations"], kept))
    day.locations = dict(compress(day.locations.items(), kept))
    return depot


def _price_preferences(day: TableImport, agents: Iterable[Json]) -> None:
    """Give preferred agents a price where the table has none for any: without one they have no effect."""
    preferring = [ticket for ticket in day.tickets if "preferred_agent" in ticket]
    if not preferring or any("switch_cost" in ticket for ticket in day.tickets):
        return
    price = round(_DETOUR_KM * _price_of_km(agents), 2)
    for ticket in preferring:
        ticket["switch_cost"] = price
    if price:
        day.notices[f"Another than the preferred agent costs as much as {_DETOUR_KM} km: {price:g} a visit."] = None


def _ids_by_word(agents: Iterable[Json]) -> dict[str, str]:
    """Return the ids of agents by what they alone are called, id or name, whatever its case."""
    words = {agent["id"]: {agent["id"].casefold(), str(agent.get("name") or "").casefold()} for agent in agents}
    counts = Counter(word for each in words.values() for word in each)
    return {word: own_id for own_id, each in words.items() for word in each if word and counts[word] == 1}


def _price_of_km(agents: Iterable[Json]) -> float:
    """Return the highest price of a km, with that of its time."""
    prices = [(_price(agent.get("cost_per_km")), _price(agent.get("cost_per_hour"))) for agent in agents]
    priced = [(km or 0.0) + (hour or 0.0) / _KM_AN_HOUR for km, hour in prices if (km, hour) != (None, None)]
    return max(priced, default=PRICE_OF_METRES)


def _price(value: Any) -> float | None:
    """Return a price; None where there is none, or one that is refused with the day."""
    return float(value) if isinstance(value, int | float) and 0 <= value <= _MOST else None
