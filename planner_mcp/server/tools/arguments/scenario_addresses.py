"""Positions for the addresses of a day, before it is checked (SPEC O4, T1).

Owns which texts of a day are addresses without a position, what is done with the answers, and what is reported. Days
come from calls and from files, as JSON of whatever form. Nothing is guessed: a location whose address is not sure is
marked, which leaves its tickets unserved (`checks/position_checks.py`), and a day whose addresses all lie in one point
keeps no positions. An address that is not sure is a fault where a person can be asked, and where no day is left.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from planner_mcp.addresses.address_text import HAN, MAX_TEXT
from planner_mcp.addresses.structured_address import AddressStatus, PlacePosition, ResolvedAddress
from planner_mcp.errors import Fault, input_error
from planner_mcp.routing.scenario.coordinates import from_wgs84
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.server.tools.arguments.address_lookup import AddressResolver
from planner_mcp.text import Json, named, plain

MAX_FINDINGS: Final = 5
MAX_SHOWN: Final = 80
"""Characters of an address that are shown; it may be in the log of a conversation."""
_OTHER_TRAVEL: Final = ("distances", "durations", "matrix")
"""Fields of `travel` that make positions unnecessary."""
_HINT: Final = "Ask the user; then give lat and lon, a fuller address, or confirm_address of the address server."


@dataclass(frozen=True, slots=True)
class AddressedDay:
    """A day with the positions that its addresses gave."""

    body: ScenarioBody
    notices: tuple[str, ...] = ()
    """What the caller must know first."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A place that needs a position."""

    path: str
    owner: str
    """Id of the ticket or location that has the text."""
    place: str
    text: str
    is_stated: bool
    """The text stands in a field for addresses; else it is the name of a place, which may be an address."""


@dataclass(slots=True)
class _Sorted:
    """The places of a day by what became of them."""

    sure: dict[str, tuple[_Wanted, ResolvedAddress, PlacePosition]] = field(default_factory=dict)
    open: list[tuple[_Wanted, ResolvedAddress]] = field(default_factory=list)


def with_resolved_addresses(body: Any, resolve: AddressResolver, *, is_asking: bool = False) -> AddressedDay:
    """Return a day with positions for its addresses, and what to say of them.

    Args:
        body: The day, of whatever form.
        resolve: Resolves texts.
        is_asking: A person can be asked, so that every open address is a fault.

    Raises:
        InputError: Addresses are open of which a person can be asked, at which agents start, end or reload, or that
            are those of all tickets; each is named with its candidates.
    """
    if not isinstance(body, dict) or not (wanted := list(_wanted(body))):
        return AddressedDay(body)
    texts = list(dict.fromkeys(each.text for each in wanted))
    answers = dict(zip(texts, resolve(texts), strict=True))
    found = _sorted(body, wanted, answers)
    if not found.sure and not found.open:
        return AddressedDay(body)
    has_positions = bool(found.sure) or _has_positions(body)
    if found.open and (is_asking or (has_positions and not _leaves_a_day(body, wanted, found))):
        raise input_error([_fault(each, resolved) for each, resolved in found.open])
    if not has_positions or (_is_one_point(found) and not _has_positions(body)):
        return AddressedDay(_with_listed(_with_places(body, wanted, _Sorted()), wanted), tuple(_unknown_travel(found)))
    return AddressedDay(_with_places(body, wanted, found), tuple(_shared_centres(found)))


def without_outdated_positions(before: ScenarioBody, after: ScenarioBody) -> ScenarioBody:
    """Return a changed day without positions of addresses that are others now, and with no word of those given since.

    Args:
        before: As stored.
        after: The same under a patch.
    """
    old = {each["id"]: each for _at, each in _objects(before, "locations")}
    known = {each["id"]: each.get("address") for _at, each in _objects(before, "tickets")}
    moved = {
        str(each.get("id")): str(each.get("location"))
        for _at, each in _objects(after, "tickets")
        if (text := _text(each.get("address"))) and known.get(str(each.get("id")), text) != text
    }
    visits = Counter(_texts(each.get("location") for _at, each in _objects(after, "tickets")))
    alone = {place for place in moved.values() if visits[place] == 1}
    locations = [
        _up_to_date(each, old, alone) if isinstance(each, dict) else each for each in _list(after, "locations")
    ]
    resolved = {each["id"] for each in old.values() if "resolved" in each}
    tickets = [
        _without(each, "location")
        if isinstance(each, dict) and moved.get(str(each.get("id"))) in resolved - alone
        else each
        for each in _list(after, "tickets")
    ]
    changed = {"locations": locations, "tickets": tickets}
    return {**after, **{name: entries for name, entries in changed.items() if entries}}


def _up_to_date(place: Json, old: Mapping[str, Json], moved: Container[str]) -> Json:
    was = old.get(str(place.get("id")), {})
    if any(place.get(name) != was.get(name) for name in ("lat", "lon")):
        return _without(place, "resolved", "open_address")
    is_elsewhere = str(place.get("id")) in moved or place.get("address") != was.get("address")
    return _without(place, "lat", "lon", "resolved") if "resolved" in place and is_elsewhere else place


def _without(entry: Json, *names: str) -> Json:
    return {name: value for name, value in entry.items() if name not in names}


def _wanted(body: ScenarioBody) -> Iterator[_Wanted]:
    """Yield the places that have an address and no position, each once."""
    travel = body.get("travel")
    if isinstance(travel, dict) and any(travel.get(name) is not None for name in _OTHER_TRAVEL):
        return
    places = {each["id"]: each for _at, each in _objects(body, "locations") if isinstance(each.get("id"), str)}
    if any(place.get("x") is not None or place.get("y") is not None for place in places.values()):
        return
    seen = {name for name, place in places.items() if place.get("lat") is not None or place.get("lon") is not None}
    for index, place in _objects(body, "locations"):
        name = place.get("id")
        if isinstance(name, str) and name not in seen and (text := _text(place.get("address"))):
            seen.add(name)
            yield _Wanted(f"/locations/{index}/address", name, name, text, is_stated=True)
    yield from _wanted_tickets(body, places, seen)
    ends = [("/depot", body.get("depot"))]
    for index, agent in _objects(body, "agents"):
        ends += [(f"/agents/{index}/{end}", agent.get(end)) for end in ("start_location", "end_location")]
    for path, name in ends:
        if isinstance(name, str) and name not in seen and name not in places and _reads_like_address(name):
            seen.add(name)
            yield _Wanted(path, name, name, name, is_stated=False)


def _wanted_tickets(body: ScenarioBody, places: Mapping[str, Json], seen: set[str]) -> Iterator[_Wanted]:
    for index, ticket in _objects(body, "tickets"):
        text, name = _text(ticket.get("address")), ticket.get("location")
        if name is None and text and isinstance(ticket.get("id"), str):
            name = f"at {ticket['id']}"[:100]  # an address would be shown where ids are
        if not isinstance(name, str) or name in seen:
            continue
        if text:
            seen.add(name)
            yield _Wanted(f"/tickets/{index}/address", str(ticket.get("id", index)), name, text, is_stated=True)
        elif name not in places and _reads_like_address(name):
            seen.add(name)
            yield _Wanted(f"/tickets/{index}/location", str(ticket.get("id", index)), name, name, is_stated=False)


def _objects(body: ScenarioBody, name: str) -> Iterator[tuple[int, Json]]:
    """Yield the objects of a list with their places; what is no list or no object is the schema's to refuse."""
    for index, each in enumerate(_list(body, name)):
        if isinstance(each, dict):
            yield index, each


def _text(value: Any) -> str:
    return value if isinstance(value, str) and 0 < len(value.strip()) <= MAX_TEXT else ""


def _reads_like_address(name: str) -> bool:
    """Return whether the name of a place may be an address: it is looked up, and used only where that is sure."""
    return len(HAN.findall(name)) >= 6 or ("," in name and any(char.isdigit() for char in name))


def _sorted(body: ScenarioBody, wanted: Sequence[_Wanted], answers: Mapping[str, ResolvedAddress]) -> _Sorted:
    found = _Sorted()
    doubtful = []
    for each in wanted:
        resolved = answers[each.text]
        if resolved.is_sure and resolved.position is not None:
            found.sure[each.place] = (each, resolved, resolved.position)
        else:
            doubtful.append((each, resolved))
    are_addresses = bool(found.sure)  # else the checks report a name that is unknown
    found.open += [(each, resolved) for each, resolved in doubtful if each.is_stated or are_addresses]
    return found


def _has_positions(body: ScenarioBody) -> bool:
    return any(place.get("lat") is not None for _at, place in _objects(body, "locations"))


def _leaves_a_day(body: ScenarioBody, wanted: Sequence[_Wanted], found: _Sorted) -> bool:
    """Return whether routes can be made though some addresses are open: every end is known, and some ticket."""
    unknown = {each.place for each, _resolved in found.open}
    agents = [agent for _at, agent in _objects(body, "agents")]
    ends = [body.get("depot"), *(agent.get(end) for agent in agents for end in ("start_location", "end_location"))]
    ends += [place for agent in agents for place in _list(agent, "reload_locations")]
    own = {each.owner: each.place for each in wanted}
    places = [ticket.get("location", own.get(str(ticket.get("id")))) for _at, ticket in _objects(body, "tickets")]
    return not any(end in unknown for end in _texts(ends)) and any(place not in unknown for place in _texts(places))


def _texts(values: Iterable[Any]) -> list[str]:
    return [value for value in values if isinstance(value, str)]


def _is_one_point(found: _Sorted) -> bool:
    """Return whether different addresses have one position, the centre of what is known of them."""
    points = {(position.lat, position.lon) for _each, _resolved, position in found.sure.values()}
    texts = {each.text for each, _resolved, _position in found.sure.values()}
    return len(points) == 1 and len(texts) > 1


def _fault(each: _Wanted, resolved: ResolvedAddress) -> Fault:
    shown = plain(each.text, MAX_SHOWN)
    choices = "; ".join(_readings(resolved))
    accepted = f"one of: {choices}" if choices else "an address with its city and state or country, or a position"
    problem = f"The address of {plain(each.owner, MAX_SHOWN)} is {_open_word(resolved)}: {shown}."
    return Fault(each.path, problem, accepted, _HINT, "logic", open_address=each.text)


def _readings(resolved: ResolvedAddress) -> list[str]:
    """Return what an address may mean: its candidates, or the one place that it was read as without being sure."""
    labels = [candidate.label for candidate in resolved.candidates]
    if not labels and resolved.position is not None and resolved.address.label != resolved.text:
        labels = [resolved.address.label]
    return [plain(label, MAX_SHOWN) for label in labels]


def _open_word(resolved: ResolvedAddress) -> str:
    words = {"ambiguous": "ambiguous", "not_found": "not found"}
    return words.get(resolved.status.value, f"not sure (confidence {resolved.confidence:.2f})")


def _with_places(body: ScenarioBody, wanted: Sequence[_Wanted], found: _Sorted) -> ScenarioBody:
    """Return a copy of a day in which every place has its position or why it has none, and every ticket a location."""
    travel = body.get("travel")
    crs = travel.get("crs", "wgs84") if isinstance(travel, dict) else "wgs84"
    sure = found.sure.items()
    given = {place: _position_fields(resolved, position, crs) for place, (_each, resolved, position) in sure}
    given |= {each.place: _open_fields(each, resolved) for each, resolved in found.open}
    own = {each.owner: each.place for each in wanted if each.path.startswith("/tickets/")}
    locations = [
        {**_without(each, "open_address"), **given.pop(each["id"])}
        if isinstance(each, dict) and _has_id_in(each, given)
        else each
        for each in _list(body, "locations")
    ]
    locations += [{"id": place, **fields} for place, fields in given.items()]
    tickets = [
        {**each, "location": own[each["id"]]}
        if isinstance(each, dict) and each.get("location") is None and _has_id_in(each, own)
        else each
        for each in _list(body, "tickets")
    ]
    changed = {"locations": locations, "tickets": tickets}
    return {**body, **{name: entries for name, entries in changed.items() if entries}}


def _with_listed(body: ScenarioBody, wanted: Sequence[_Wanted]) -> ScenarioBody:
    """Return a day without positions in which every place is listed where some are: others would be unknown there."""
    listed = {each.get("id") for _at, each in _objects(body, "locations")}
    others = [{"id": each.place} for each in wanted if each.place not in listed]
    return {**body, "locations": [*_list(body, "locations"), *others]} if listed and others else body


def _has_id_in(entry: Json, known: Container[str]) -> bool:
    """Return whether an entry has an id that is known; what is no text is the schema's to refuse."""
    return isinstance(entry.get("id"), str) and entry["id"] in known


def _list(body: ScenarioBody, name: str) -> list[Any]:
    """Return a list of a day; empty where something else stands there, which the schema refuses."""
    entries = body.get(name)
    return entries if isinstance(entries, list) else []


def _position_fields(resolved: ResolvedAddress, position: PlacePosition, crs: Any) -> Json:
    lat, lon = from_wgs84(position.lat, position.lon, crs if crs in ("gcj02", "bd09") else "wgs84")
    provenance = {
        "source": resolved.source,
        "accuracy": position.accuracy.value,
        "radius_m": position.radius_m,
        "confidence": resolved.confidence,
    }
    return {"lat": round(lat, 6), "lon": round(lon, 6), "resolved": provenance}


def _open_fields(each: _Wanted, resolved: ResolvedAddress) -> Json:
    status = AddressStatus.PARTIAL if resolved.status is AddressStatus.RESOLVED else resolved.status
    mark = {"open_address": {"status": status.value, "candidates": _readings(resolved)}}
    return mark if each.is_stated else {"address": each.text, **mark}


def _unknown_travel(found: _Sorted) -> Iterator[str]:
    """Yield why a day with addresses has no positions, and what each address lacks."""
    if found.sure:
        _each, resolved, position = next(iter(found.sure.values()))
        yield (
            f"Travel is not known: all {len(found.sure)} addresses are known only as one point, the centre of "
            f"{_area(resolved)} (true within {position.radius_m / 1000:.3g} km). Give lat and lon, or configure a "
            "geocoding service."
        )
    if found.open:
        open_count = f"{len(found.open)} of the addresses could not be resolved."
        yield open_count if found.sure else f"Travel is not known: {open_count}"
    for each, resolved in found.open[:MAX_FINDINGS]:
        fault = _fault(each, resolved)
        yield f"{fault.path}: {fault.problem} Accepted: {fault.accepted}."
    if (more := len(found.open) - MAX_FINDINGS) > 0:
        yield f"{more} more addresses."


def _area(resolved: ResolvedAddress) -> str:
    address = resolved.address
    return plain(address.district or address.city or address.province, MAX_SHOWN)


def _shared_centres(found: _Sorted) -> Iterator[str]:
    """Yield a warning where several addresses have one position: no travel is counted between them."""
    groups: dict[tuple[float, float], list[_Wanted]] = {}
    for each, _resolved, position in found.sure.values():
        groups.setdefault((position.lat, position.lon), []).append(each)
    together = [group for group in groups.values() if len({each.text for each in group}) > 1]
    if together:
        owners = [each.owner for group in together for each in group]
        yield (
            f"Travel is not known between addresses that lie in one town, district or city: {named(owners)}; "
            "none is counted there."
        )
