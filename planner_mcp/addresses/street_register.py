"""Streets and house numbers of a road extract, found for an address that was resolved to its city.

Owns the file of the register (`street_register_builder.py` in `travel` writes it) and the choice among streets of one
name: by postcode, by city, by distance from the centre that is known. What is not in the register stays as it was.
Positions are named by the nearest house number.
Positions are © OpenStreetMap contributors.
"""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import cos, inf, radians
from pathlib import Path
from typing import Final

from planner_mcp.addresses.place_data import fold, folded_spellings, place_data
from planner_mcp.addresses.street_names import address_numbers, leading_number, street_key
from planner_mcp.addresses.structured_address import (
    BY_SIZE,
    CENTRE_NOTE,
    MAX_CANDIDATES,
    ROAD_AS_WRITTEN,
    Accuracy,
    AddressCandidate,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    confidence_of,
)
from planner_mcp.routing.scenario.coordinates import haversine_m

REGISTER_FILE: Final = "streets.sqlite"
"""In the folder of the road map."""
SCHEMA: Final = """
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE names (alias TEXT, key TEXT, PRIMARY KEY (alias, key)) WITHOUT ROWID;
CREATE TABLE streets (key TEXT, name TEXT, lat REAL, lon REAL, radius_m REAL);
CREATE TABLE buildings (key TEXT, number TEXT, lat REAL, lon REAL, radius_m REAL, city TEXT, postcode TEXT,
    city_key TEXT);
"""
"""`names`: other names of a street, as of a second language. `number`: one of `address_numbers`."""
INDEXES: Final = "CREATE INDEX street ON streets (key); CREATE INDEX building ON buildings (key, number); \
CREATE INDEX place ON buildings (lat, lon);"
SOURCE: Final = "roads"
NOTICE: Final = "Streets and house numbers: © OpenStreetMap contributors."
_NEAR_M: Final = 300.0
"""Houses of one number and street that lie this close are one place."""
_REACH: Final = 1.5
"""Times the radius of a city within which its streets lie."""
_LEAST_REACH_M: Final = 3_000.0
_MOST_GAP_M: Final = 400.0
"""Between two known numbers that a number is put between."""
_BOX: Final = " AND lat BETWEEN ? AND ? AND lon BETWEEN ? AND ?"
_BESIDE: Final = 0.01
"""Degrees around the numbers of a street within which the street lies."""
_AT_NUMBER_M: Final = 30.0
_IN_STREET_M: Final = 150.0
"""From a house number, beside its building: a position there is at its door, or in its street."""
_MAX_ROWS: Final = 2_000
_MAX_ANYWHERE: Final = 100
"""Rows, of one key, that are looked at where the city is known, and where it is not."""


@dataclass(frozen=True, slots=True)
class _Building:
    """A row of the register."""

    number: str
    where: tuple[float, float]
    radius_m: float
    city: str
    postcode: str


@dataclass(frozen=True, slots=True)
class _Found:
    """One place of a street in the register."""

    where: tuple[float, float]
    accuracy: Accuracy
    radius_m: float
    evidence: tuple[Evidence, ...]
    city: str = ""
    postcode: str = ""


def register_facts(path: Path) -> dict[str, str]:
    """Return what a register says of itself; nothing where there is no file."""
    try:
        with opened_register(path) as register:
            return dict(register.execute("SELECT name, value FROM facts"))
    except sqlite3.Error:
        return {}


def located_by_register(path: Path, resolved: Sequence[ResolvedAddress]) -> list[ResolvedAddress]:
    """Return addresses with the positions of their streets and buildings, where the register of this path has them."""
    try:
        with opened_register(path) as register:
            return [_located(register, each) for each in resolved]
    except sqlite3.Error:  # not built yet, or being replaced
        return list(resolved)


def named_by_register(path: Path, resolved: ResolvedAddress, lat: float, lon: float, crs: str) -> ResolvedAddress:
    """Return a position with the street beside it, and the number where it is at a door.

    Args:
        path: Of the register; where there is none nothing is found.
        resolved: What is known of the position otherwise.
        lat: Degrees north in WGS-84.
        lon: Degrees east.
        crs: In which it was given.
    """
    try:
        with opened_register(path) as register:
            return _named(register, resolved, (lat, lon), crs)
    except sqlite3.Error:
        return resolved


def opened_register(path: Path) -> closing[sqlite3.Connection]:
    """Return a register to be read in a `with` block, which closes it."""
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))


def _named(
    register: sqlite3.Connection, resolved: ResolvedAddress, where: tuple[float, float], crs: str
) -> ResolvedAddress:
    asked = f"SELECT key, number, lat, lon, radius_m, city, postcode FROM buildings WHERE 1{_BOX}"  # noqa: S608
    near = [
        (max(0.0, haversine_m(where, (lat, lon)) - radius_m), key, _Building(number, (lat, lon), radius_m, *place))
        for key, number, lat, lon, radius_m, *place in register.execute(asked, _bounds(where, 2 * _IN_STREET_M))
    ]
    metres, key, building = min(near, key=lambda each: each[0], default=(inf, "", None))
    if building is None or metres > _IN_STREET_M:
        return resolved
    names = register.execute("SELECT name, lat, lon FROM streets WHERE key = ?", (key,)).fetchall()
    road = min(names, key=lambda row: haversine_m(building.where, (row[1], row[2])), default=(key,))[0]
    is_at_number = metres <= _AT_NUMBER_M
    address = replace(
        resolved.address,
        road=road,
        number=building.number if is_at_number else "",
        city=building.city or resolved.address.city,
        postcode=building.postcode if is_at_number else "",
    )
    accuracy, radius_m = (Accuracy.POINT, _AT_NUMBER_M) if is_at_number else (Accuracy.STREET, _IN_STREET_M)
    return replace(
        resolved,
        status=AddressStatus.RESOLVED,
        address=address,
        position=PlacePosition(*where, accuracy, radius_m, source_crs=crs),
        evidence=(Evidence(f"{metres:.0f} m from number {building.number} of the road extract", 0.95),),
        source=SOURCE,
        notes=(NOTICE,),
    )


def _located(register: sqlite3.Connection, resolved: ResolvedAddress) -> ResolvedAddress:
    is_open = resolved.status is AddressStatus.AMBIGUOUS or bool(resolved.candidates)
    if is_open or not resolved.address.road:
        return resolved
    keys = _keys(register, resolved.address.road)
    number = next(iter(address_numbers(resolved.address.number)), "")
    found = list(_buildings(register, keys, number, resolved)) if number else []
    if number and not found:
        found = list(_nearby(register, keys, number, resolved))
    places = _apart(found or _streets(register, keys, number, resolved), resolved)
    if not places:
        return resolved
    return _answer(resolved, places[0]) if len(places) == 1 else _ambiguous(resolved, places)


def _keys(register: sqlite3.Connection, road: str) -> list[str]:
    """Return the keys of the streets that a name may mean."""
    spellings = sorted({street_key(spelling) for spelling in (road, *folded_spellings(road))} - {""})
    marks = ", ".join("?" * len(spellings))
    others = register.execute(f"SELECT key FROM names WHERE alias IN ({marks})", spellings)  # noqa: S608 — marks alone
    return list(dict.fromkeys([*spellings, *(key for (key,) in others)]))


def _within(resolved: ResolvedAddress) -> tuple[str, list[str | float], int]:
    """Return the condition that rows near the known place meet, its values, and how many of them are read.

    Without it a street that every town has would be read in all of them.
    """
    if (centre := resolved.position) is not None:
        return _BOX, [*_bounds((centre.lat, centre.lon), _reach_m(centre))], _MAX_ROWS
    if resolved.address.city:
        spellings = sorted(folded_spellings(resolved.address.city))
        return f" AND city_key IN ({', '.join('?' * len(spellings))})", list(spellings), _MAX_ROWS
    return "", [], _MAX_ANYWHERE


def _reach_m(centre: PlacePosition) -> float:
    return max(_REACH * centre.radius_m, _LEAST_REACH_M)


def _bounds(where: tuple[float, float], reach_m: float) -> tuple[float, float, float, float]:
    """Return the values of `_BOX` around a position."""
    north = reach_m / 111_000
    east = north / max(0.01, cos(radians(where[0])))
    return where[0] - north, where[0] + north, where[1] - east, where[1] + east


def _building_rows(
    register: sqlite3.Connection, keys: Iterable[str], resolved: ResolvedAddress, *number: str
) -> Iterator[_Building]:
    """Yield the buildings of streets, those of one number where it is given."""
    near, values, limit = _within(resolved)
    where = ("key = ? AND number = ?" if number else "key = ?") + near
    asked = f"SELECT number, lat, lon, radius_m, city, postcode FROM buildings WHERE {where} LIMIT {limit}"  # noqa: S608
    for key in keys:
        for each, lat, lon, radius_m, city, postcode in register.execute(asked, (key, *number, *values)):
            yield _Building(each, (lat, lon), radius_m, city, postcode)


def _buildings(
    register: sqlite3.Connection, keys: Sequence[str], number: str, resolved: ResolvedAddress
) -> Iterator[_Found]:
    """Yield the buildings of a number; where 12b is not known, those of 12 with other letters or none."""
    exact = [each for each in _building_rows(register, keys, resolved, number) if _fits(resolved, each)]
    for each in exact:
        evidence = Evidence("the house number is in the road extract", 1.0)
        yield _Found(each.where, Accuracy.POINT, each.radius_m, (evidence,), each.city, each.postcode)
    if exact or (asked := leading_number(number)) is None:
        return
    for each in _building_rows(register, keys, resolved):
        if leading_number(each.number) == asked and _fits(resolved, each):
            evidence = Evidence(f"the road extract has {each.number}, and not {number}", 0.95)
            yield _Found(each.where, Accuracy.POINT, each.radius_m + 50, (evidence,), each.city, each.postcode)


def _nearby(
    register: sqlite3.Connection, keys: Sequence[str], number: str, resolved: ResolvedAddress
) -> Iterator[_Found]:
    """Yield the middle between the next lower and the next higher number of the same side."""
    asked = leading_number(number)
    known = [
        (each, building)
        for building in _building_rows(register, keys, resolved)
        if asked is not None and (each := leading_number(building.number)) is not None and each % 2 == asked % 2
        if _fits(resolved, building)
    ]
    lower = max((row for row in known if row[0] < (asked or 0)), default=None, key=lambda row: row[0])
    higher = min((row for row in known if row[0] > (asked or 0)), default=None, key=lambda row: row[0])
    if lower is None or higher is None:
        return
    (south, west), (north, east) = lower[1].where, higher[1].where
    if (gap_m := haversine_m((south, west), (north, east))) <= _MOST_GAP_M:
        evidence = (Evidence(f"between {lower[0]} and {higher[0]}, which the road extract has", 0.95),)
        middle = ((south + north) / 2, (west + east) / 2)
        yield _Found(middle, Accuracy.INTERPOLATED, gap_m / 2 + 30, evidence, lower[1].city, lower[1].postcode)


def _streets(
    register: sqlite3.Connection, keys: Sequence[str], number: str, resolved: ResolvedAddress
) -> Iterator[_Found]:
    """Yield the streets of a name, each in the city that its buildings name."""
    evidence = (Evidence("the house number is not in the road extract", 0.9),) if number else ()
    buildings = list(_building_rows(register, keys, resolved))
    near, values, _ = _within(resolved)
    if resolved.position is None and resolved.address.city:
        if not buildings:
            return
        lats, lons = zip(*(building.where for building in buildings), strict=True)
        near, values = _BOX, [min(lats) - _BESIDE, max(lats) + _BESIDE, min(lons) - _BESIDE, max(lons) + _BESIDE]
    asked = f"SELECT lat, lon, radius_m FROM streets WHERE key = ?{near} LIMIT {_MAX_ANYWHERE}"  # noqa: S608
    for lat, lon, radius_m in (row for key in keys for row in register.execute(asked, (key, *values))):
        beside = (each for each in buildings if haversine_m(each.where, (lat, lon)) <= radius_m + _NEAR_M)
        cities = sorted({each.city for each in beside}, key=lambda city: not _is_city(resolved.address.city, city))
        street = _Building("", (lat, lon), radius_m, next(iter(cities), ""), "")
        if _fits(resolved, street):
            yield _Found(street.where, Accuracy.STREET, radius_m, evidence, street.city)


def _fits(resolved: ResolvedAddress, building: _Building) -> bool:
    """Return whether a building may be meant: of the postcode that is named, within the city that is known."""
    address, centre = resolved.address, resolved.position
    if address.postcode and building.postcode and _postcode(address.postcode) != _postcode(building.postcode):
        return False
    if centre is not None:
        return haversine_m((centre.lat, centre.lon), building.where) <= _reach_m(centre)
    return not address.city or _is_city(address.city, building.city)


def _postcode(text: str) -> str:
    """Return a postcode as it is compared: 1012 AB is 1012AB, and 94103-1234 lies in 94103."""
    return fold(_ZIP_PLUS_FOUR.sub(r"\1", text)).replace(" ", "")


_ZIP_PLUS_FOUR: Final = re.compile(r"^(\d{5})-\d{4}$", re.ASCII)


def _is_city(named: str, theirs: str) -> bool:
    """Return whether two names are those of one city, as München and Munich."""
    if not folded_spellings(named).isdisjoint(folded_spellings(theirs)):
        return True
    cities = place_data().cities
    names = {city.name for spelling in folded_spellings(theirs) for city in cities.get(spelling, ())}
    return named in names


def _apart(found: Iterable[_Found], resolved: ResolvedAddress) -> list[_Found]:
    """Return places that lie apart, each once; those of the named city alone where there are any."""
    every = list(found)
    named = [
        each for each in every if each.city and resolved.address.city and _is_city(resolved.address.city, each.city)
    ]
    places: list[_Found] = []
    for each in sorted(named or every, key=lambda each: each.radius_m):
        if all(haversine_m(each.where, other.where) > max(_NEAR_M, other.radius_m) for other in places):
            places.append(each)
    return places


def _answer(resolved: ResolvedAddress, place: _Found) -> ResolvedAddress:
    named = resolved.address
    if not named.city or (place.city and _is_city(named.city, place.city)):
        named = replace(named, city=named.city or place.city, postcode=named.postcode or place.postcode)
    return replace(
        resolved,
        status=AddressStatus.RESOLVED,
        address=named,
        position=_position(place),
        evidence=(*_reasons(resolved, place), *place.evidence),
        source=SOURCE,
        notes=(*(note for note in resolved.notes if not note.startswith(CENTRE_NOTE)), NOTICE),
    )


def _reasons(resolved: ResolvedAddress, place: _Found) -> tuple[Evidence, ...]:
    """Return why the place is believed beside its number: what was known, or what the register says of its city."""
    city = resolved.address.city
    if resolved.position is None and city:
        return (Evidence(f"{city} is the city of the street in the road extract", 0.95),)
    if resolved.position is None:
        return (Evidence("no city is named; the road extract has one such street", 0.75),)
    known = tuple(each for each in resolved.evidence if each != ROAD_AS_WRITTEN)
    if not place.city:
        return known
    if not _is_city(city, place.city):
        return (*known, Evidence(f"the road extract has the street in {place.city}", 0.75))
    if place.accuracy is Accuracy.POINT:
        there = Evidence(f"{city} is chosen by its size, and the road extract has the number there", 0.92)
        return tuple(there if each.text == BY_SIZE else each for each in known)
    return known


def _ambiguous(resolved: ResolvedAddress, places: Sequence[_Found]) -> ResolvedAddress:
    candidates = tuple(
        AddressCandidate(
            replace(resolved.address, city=place.city or resolved.address.city, postcode=place.postcode).label,
            replace(resolved.address, postcode=resolved.address.postcode or place.postcode),
            _position(place),
            int(100 / len(places) * confidence_of(_reasons(resolved, place))) / 100,
        )
        for place in places[:MAX_CANDIDATES]
    )
    evidence = (*_reasons(resolved, places[0]), Evidence(f"{len(places)} such streets are near", 1 / len(places)))
    return replace(
        resolved,
        status=AddressStatus.AMBIGUOUS,
        position=None,
        evidence=evidence,
        source=SOURCE,
        candidates=candidates,
        notes=(f"The road extract has {len(places)} streets of this name here; name the postcode.", NOTICE),
    )


def _position(place: _Found) -> PlacePosition:
    return PlacePosition(round(place.where[0], 6), round(place.where[1], 6), place.accuracy, round(place.radius_m))
