"""Suggests the field that an unknown name may stand for: a synonym, a position, or a typing error (SPEC T7).

Owns the synonyms, by title of the model they occur in. Callers may follow a suggestion without checking it, so a name
is never mapped to its opposite, nor silently to another unit. Removal is suggested only for names that cannot affect
the plan.
"""

import re
from difflib import get_close_matches
from typing import Final

from planner_mcp.routing.scenario.field_types import PLACE_HINT, POSITION_FIELD_NAMES
from planner_mcp.text import Json

MAX_NAME: Final = 40
"""Characters of an unknown name that are compared and repeated."""
_MAX_NAMES: Final = 8
"""Known names listed for an unknown one, where a suggestion exists."""
_MAX_BEGUN: Final = 3
"""Known names suggested for an unknown prefix."""
_MIN_PREFIX_LENGTH: Final = 4
"""Characters a prefix needs to be compared."""
_TYPO_SIMILARITY: Final = 0.85
"""Similarity of two names that differ by a typing error (difflib ratio)."""
_SUGGESTION_SIMILARITY: Final = 0.75
"""Similarity from which a name is suggested where nothing closer exists."""


def _synonyms_of(ours: str, words: str) -> dict[str, str]:
    return dict.fromkeys(words.split(), ours)


_IDS: Final = "agents, a list of ids"
_NOT_IDS: Final = "not_agents, a list of ids"
_WINDOWS: Final = 'time_windows, like [["08:00", "12:00"]]'
_AROUND: Final = 'time_windows around it, like [["08:00", "12:00"], ["14:00", "18:00"]]'
_WORK: Final = "max_duration_s (seconds from departure to end)"
_SYNONYMS: Final[dict[str, dict[str, str]]] = {
    "Scenario": {
        **_synonyms_of("agents", "vehicles drivers fleet"),
        **_synonyms_of("tickets", "orders jobs stops visits tasks deliveries"),
        **_synonyms_of("planning_date", "date day"),
        **_synonyms_of("depot", "depot_location"),
        **_synonyms_of("incompatible", "incompatible_tickets"),
        **_synonyms_of("travel.distances (metres)", "distance_matrix distances"),
        **_synonyms_of("travel.durations (seconds)", "time_matrix duration_matrix travel_time_matrix durations"),
    },
    "Location": {
        **_synonyms_of("lat", "latitude"),
        **_synonyms_of("lon", "longitude lng"),
        **_synonyms_of("lat and lon, a number each", "coordinates coords coord location position point latlng lat_lng"),
        **_synonyms_of("time_windows of its tickets", "time_windows time_window opening_hours hours"),
        **_synonyms_of(
            "service_time_s of its tickets (seconds)", "service_time service_time_s service_duration duration"
        ),
    },
    "Agent": {
        **_synonyms_of("start_location, or shift_start for a time", "start"),
        **_synonyms_of("end_location, or shift_end for a time", "end"),
        **_synonyms_of("shift_start and shift_end", "time_window time_windows working_hours availability"),
        **_synonyms_of("shift_start", "start_time earliest earliest_start available_from not_before shift_begin"),
        **_synonyms_of("shift_end", "end_time latest latest_end available_until not_after"),
        **_synonyms_of("max_tickets", "max_stops max_visits max_jobs max_tasks max_orders"),
        **_synonyms_of("max_duration_s (seconds)", "max_hours max_minutes max_time max_travel_time max_working_time"),
        **_synonyms_of(_WORK, "max_drive_time max_drive_time_s max_driving_time max_driving_time_s max_driving_s"),
        **_synonyms_of(_WORK, "max_shift max_shift_s max_shift_length shift_length shift_duration"),
        **_synonyms_of("max_distance_km", "max_distance_miles max_distance_mi max_km max_kilometers max_kilometres"),
        **_synonyms_of("overtime_s (seconds)", "max_overtime max_overtime_s"),
        **_synonyms_of("capacity", "max_load max_weight max_volume capacities"),
        **_synonyms_of("min_load", "min_weight min_volume minimum_load min_amount"),
        **_synonyms_of("start_location", "home depot"),
        **_synonyms_of("start_location, the id of a location", "start_lat start_lon start_lng start_position"),
        **_synonyms_of("end_location, the id of a location", "end_lat end_lon end_lng end_position"),
        **_synonyms_of("locked_tickets, or max_tickets for a number", "tickets"),
        **_synonyms_of("locked_tickets", "locked_stops locked_jobs locked_visits"),
        **_synonyms_of(
            "breaks, like [{earliest, latest, duration_s}]", "lunch lunch_break pause break_duration break_time"
        ),
        **_synonyms_of("speed_factor, or speed_kmh of travel", "speed speed_kmh speed_kph"),
    },
    "Break": {
        **_synonyms_of("earliest (of its start)", "start start_time earliest_start not_before"),
        **_synonyms_of("latest (of its start)", "end end_time latest_start latest_end not_after"),
    },
    "Rush": {
        **_synonyms_of("start", "from begin"),
        **_synonyms_of("end", "to until"),
        **_synonyms_of("factor", "multiplier"),
    },
    "Travel": {
        **_synonyms_of("detour", "detour_factor"),
        **_synonyms_of("distances (metres)", "distance_matrix distances_m"),
        **_synonyms_of("durations (seconds)", "time_matrix duration_matrix times durations_s"),
    },
    "Ticket": {
        **_synonyms_of(_IDS, "allowed_agents required_agents required_agent only_agents agent agent_id"),
        **_synonyms_of(_IDS, "allowed_drivers required_driver driver drivers driver_id assigned_to"),
        **_synonyms_of(_IDS, "allowed_vehicles required_vehicle vehicle vehicles vehicle_id assigned_agent"),
        **_synonyms_of(_NOT_IDS, "excluded_agents exclude_agents forbidden_agents blocked_agents"),
        **_synonyms_of("preferred_agent", "preferred_driver preferred_vehicle"),
        **_synonyms_of("skills, a list", "required_skills required_skill skill requirements"),
        **_synonyms_of(
            _WINDOWS, "ready_time due_time due deadline due_by deliver_by earliest latest not_after not_before"
        ),
        **_synonyms_of(
            _WINDOWS, "start end start_time end_time earliest_time latest_time no_earlier_than no_later_than"
        ),
        **_synonyms_of(_WINDOWS, "window windows available availability opening_hours hours"),
        **_synonyms_of(_AROUND, "closed closed_window closed_windows closed_from closing_times unavailable blocked"),
        **_synonyms_of("release_time", "released ready_from"),
        **_synonyms_of("setup_time_s (seconds)", "setup_min setup_minutes"),
        **_synonyms_of("priority", "priority_level"),
        **_synonyms_of("soft_close", "soft_due soft_deadline soft_end soft_latest"),
        **_synonyms_of("lateness_cost_per_hour", "late_penalty lateness_penalty"),
        **_synonyms_of("service_time_s (seconds)", "duration duration_s duration_min service_duration"),
        **_synonyms_of("service_time_s (seconds)", "service_min service_minutes service_s"),
        **_synonyms_of("pickup, the id of a ticket of its own", "pickup_location pickup_address pickup_place"),
        **_synonyms_of("pickup", "pickup_ticket pickup_ticket_id pickup_order"),
        **_synonyms_of("kind, delivery or pickup", "type ticket_type task_type job_type order_type stop_type action"),
        **_synonyms_of("demand", "weight quantity amount volume load size"),
    },
}
"""Names of other programs that resemble no field, or the wrong one, by model, with the suggested field."""
_ARGUMENTS: Final = (
    ("plan", frozenset({"plan_id", "job_id", "job"})),
    ("warm_from", frozenset({"plan_id", "job_id", "job", "plan", "from_plan", "base_plan"})),
    ("job_id", frozenset({"id", "job", "plan_id", "plan", "task_id"})),
    ("size", frozenset({"limit", "page_size", "per_page", "count", "max_results"})),
    ("agent_ids, a list of ids", frozenset({"agents", "vehicle_ids", "vehicles", "agent_id", "vehicle_id"})),
    ("plan_a and plan_b", frozenset({"plans", "plan_ids", "job_ids"})),
    ("plans, a list", frozenset({"plan_ids", "job_ids", "jobs"})),
    ("scenario_id", frozenset({"id"})),
    ('solve_time, like "PT30S"', frozenset({"time_limit", "time_limit_s", "timeout", "timeout_s", "max_time"})),
    ('solve_time, like "PT30S"', frozenset({"time_limit_seconds", "max_seconds", "seconds", "max_solve_time"})),
    ("wait_s (seconds)", frozenset({"timeout", "timeout_s", "wait_seconds"})),
    ("cases, objects by name", frozenset({"case", "changes", "scenarios", "what_if"})),
    ("content", frozenset({"csv", "data", "text", "table", "rows"})),
    ("file", frozenset({"path", "filename", "file_name", "file_path"})),
    ("planning_date", frozenset({"date", "day"})),
    ("agents", frozenset({"vehicles", "fleet"})),
    ("agent", frozenset({"vehicle", "vehicle_id", "agent_id", "driver", "van"})),
    ("at", frozenset({"time", "when", "at_time", "from"})),
    ("cancelled_ticket, a list of ids", frozenset({"cancelled", "cancel", "cancelled_orders"})),
)
"""Names that callers give arguments of tools, with the argument; it counts where a tool has it."""
_ORDER: Final = "A time is written in time_windows; an order of two tickets by pickup alone: same goods, same agent."
_SHIPMENT: Final = (
    "A shipment is two tickets of one demand: one where it is fetched, of kind pickup; one where it goes, whose pickup "
    "is the id of the first."
)
_OPEN_END: Final = "Write end_location null for a route that ends at its last ticket; without it routes return."
_REMOVED: Final = 'A patch removes an entry by null for its id, like {"tickets": {"t-3": null}}.'
_OUTER: Final = "Write it within scenario, which has all fields of the day."
_DAY: Final = {
    **_synonyms_of(_OUTER, "name planning_date date agents vehicles fleet tickets orders jobs stops"),
    **_synonyms_of(_OUTER, "locations depot travel groups incompatible options strict"),
}
"""Fields of a day, and names they go by, that tools with a `scenario` are sent beside it."""
_STORED: Final = "Store the day with create_scenario, which returns its scenario_id, or plan it with plan_day."
_OF_DAY: Final = frozenset(
    {"scenario", "agents", "vehicles", "fleet", "tickets", "orders", "jobs", "stops", "locations"}
)
"""Parts of a day that tools of a stored one are sent."""
_INNER: Final = "Write its fields here, without this name around them."
_WRAPPERS: Final = frozenset({"arguments", "args", "kwargs", "params", "parameters", "input"})
"""Names of the object that holds all arguments; some callers send it within itself."""
_EXPLAINED: Final[dict[str, dict[str, str]]] = {
    "Scenario": {
        **_synonyms_of(_INNER, "scenario patch"),
        **_synonyms_of(_SHIPMENT, "shipments shipment pickup_deliveries pickups_deliveries transports"),
    },
    "Agent": {
        **_synonyms_of(_REMOVED, "remove removed delete deleted"),
        **_synonyms_of(
            _OPEN_END, "return_to_depot returns_to_depot return_to_start return_home must_return round_trip"
        ),
        **_synonyms_of(_OPEN_END, "open open_route open_ended open_end is_open"),
    },
    "Ticket": {
        **_synonyms_of(_ORDER, "after before predecessor predecessors successor successors depends_on"),
        **_synonyms_of(_ORDER, "precedence must_follow deliver_after after_ticket before_ticket"),
        **_synonyms_of(_REMOVED, "remove removed delete deleted"),
        **_synonyms_of(_SHIPMENT, "dropoff drop_off destination origin from to from_location to_location"),
        **_synonyms_of(_SHIPMENT, "delivery_location delivery_address delivery_place dropoff_location dropoff_address"),
        **_synonyms_of(_SHIPMENT, "pickup_lat pickup_lon pickup_time pickup_window pickup_windows"),
        **_synonyms_of(_SHIPMENT, "pickup_time_window pickup_time_windows delivery_lat delivery_lon delivery_window"),
        **_synonyms_of(_SHIPMENT, "delivery_windows delivery_time_window delivery_time_windows"),
    },
}
"""Names, by model, for what no field says, with what says it instead."""
_IGNORABLE: Final = {
    "Location": _synonyms_of(
        "Remove it.",
        "city town zip zip_code zipcode postcode postal_code street house_number district county state region country "
        "country_code",
    )
}
"""Names, by model, that cannot affect the plan, with what is said of them."""
_NOT: Final = re.compile(
    r"^not(?!e)|(?:^|_)(?:not|non|never|without|except|avoid|avoided|exclude|excluded|forbid|forbidden|block|blocked"
    r"|ban|banned|disallowed|unwanted|incompatible)(?=_|$)"
)
"""Parts that negate a name."""
_UNLIKE_ALL: Final = re.compile("^(?:no|min|minimum|least|fewest)_")
"""Prefixes that no field can match: negations and minima."""
_OPENS: Final = frozenset(
    {"open", "opens", "start", "starts", "begin", "begins", "earliest", "after", "from", "ready", "since", "release"}
)
_CLOSES: Final = frozenset(
    {"close", "closes", "end", "ends", "latest", "before", "until", "till", "due", "deadline", "by"}
)
_PER: Final = {
    **_synonyms_of("hour, which has 60 minutes", "min minute"),
    **_synonyms_of("hour, which has 3600 seconds", "s sec second"),
    **_synonyms_of("hour", "h hr"),
    **_synonyms_of("km, which has 0.62 miles", "mi mile"),
    **_synonyms_of("km, which has 1000 metres", "m meter metre"),
    **_synonyms_of("km", "kilometer kilometre"),
}
"""Denominators of prices: the spelling of others, our unit, and the conversion."""
_UNITS: Final = (
    ("durations", "seconds"),
    ("distances", "metres"),
    ("_kmh", "km/h"),
    ("_s", "seconds"),
    ("_m", "metres"),
)
"""Endings of our names whose unit is not obvious, and that unit."""
_CARRIER: Final = re.compile("agent|driver|vehicle")
_PLACES: Final = ("location", "start_location")
"""Fields that name the location of a ticket, and of an agent."""


def suggestion_for(name: str, schema: Json) -> str:
    """Return a suggestion for an unknown name in an object of this JSON Schema; "" without one."""
    known, word = list(schema.get("properties", {})), _snake(name)
    title = str(schema.get("title"))
    if "scenario" in known and word in _DAY:
        return _OUTER
    if word in _WRAPPERS:
        return _INNER
    if says := _EXPLAINED.get(title, {}).get(word):
        return says
    if ours := _SYNONYMS.get(title, {}).get(word) or _argument(word, known):
        return f"Did you mean {ours}?"
    if "scenario_id" in known and "patch" not in known and word in _OF_DAY:
        return _STORED
    places = [place for place in _PLACES if place in known]
    if word in POSITION_FIELD_NAMES and places:
        return f"{PLACE_HINT} in {places[0]}."
    ours = _priced(word, known) if "_per_" in word else _alike(word, [each for each in known if _agree(word, each)])
    return f"Did you mean {ours}?" if ours else ""


def _argument(word: str, known: list[str]) -> str:
    """Return the argument of a tool that goes by a word elsewhere; "" where the tool has none such."""
    here = (ours for ours, words in _ARGUMENTS if word in words and re.split("[ ,]", ours)[0] in known)
    return next(here, "")


def _snake(name: str) -> str:
    """Return a name in snake case: `maxStops` and `max-stops` become `max_stops`."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[- ]", "_", name[:MAX_NAME])
    return parted.lower()


def _agree(word: str, ours: str) -> bool:
    """Return whether two names agree in negation, and in whether they refer to an opening or a closing."""
    if _UNLIKE_ALL.search(word) or bool(_NOT.search(word)) != bool(_NOT.search(ours)):
        return False
    first, second = (_sides(each) for each in (word, ours))
    return not (first and second) or first == second


def _sides(name: str) -> set[bool]:
    """Return whether a name refers to an opening, True, or a closing, False."""
    return {part in _OPENS for part in name.split("_") if part in _OPENS or part in _CLOSES}


def _priced(word: str, known: list[str]) -> str:
    """Return the price with the same denominator, in our unit."""
    what, _, unit = word.rpartition("_per_")
    ours, _, note = _PER.get(unit, unit).partition(",")
    prices = [each for each in known if each.endswith(f"_per_{ours}")]
    near = get_close_matches(f"{what}_per_{ours}", prices, n=1, cutoff=_TYPO_SIMILARITY)
    return near[0] + (f",{note}" if note else "") if near else ""


def _alike(word: str, known: list[str]) -> str:
    """Return the names that begin with a word, or else the most similar one."""
    begun = [each for each in known if each.startswith(word)] if len(word) >= _MIN_PREFIX_LENGTH else []
    if begun:
        return " or ".join(_with_unit(each, word) for each in begun[:_MAX_BEGUN])
    if near := get_close_matches(word, known, n=1, cutoff=_TYPO_SIMILARITY):
        return _with_unit(near[0], word)
    if _CARRIER.search(word) and _NOT.search(word) and "not_agents" in known:
        return _NOT_IDS
    if _CARRIER.search(word) and "preferred_agent" in known:
        return "agents (only these), not_agents or preferred_agent"
    near = get_close_matches(
        word, [each for each in known if _begin_alike(word, each)], n=1, cutoff=_SUGGESTION_SIMILARITY
    )
    return _with_unit(near[0], word) if near else ""


def _begin_alike(word: str, ours: str) -> bool:
    """Return whether the first parts of two names are equal, where both have parts."""
    return "_" not in word or "_" not in ours or word.partition("_")[0] == ours.partition("_")[0]


def _with_unit(name: str, word: str) -> str:
    """Return one of our names with its unit, unless the word ends with the same suffix."""
    unit = next((f" ({unit})" for end, unit in _UNITS if name.endswith(end) and not word.endswith(end)), "")
    return f"{name}{unit}"


def removal_hint(name: str, schema: Json) -> str:
    """Return the hint for a field without a suggestion."""
    if says := _IGNORABLE.get(str(schema.get("title")), {}).get(_snake(name)):
        return says
    fields = schema.get("properties", {})
    if "patch" in fields:
        return "Use one of these; for a change of the scenario use patch. Remove it only if none fits."
    if "scenario_id" in fields:
        return "Use one of these, or a field of the scenario; remove it only if none fits."
    return "Use one of these; remove it only if none fits."


def known_field_list(schema: Json, *, is_whole: bool) -> str:
    """Return the names of an object's fields, or the first of them; the schema has all."""
    names = list(schema.get("properties", {}))
    is_cut = not is_whole and len(names) > _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + ", …" if is_cut else ", ".join(names)
