"""Chinese text to a structured address, with evidence and candidates.

Owns how what was read becomes an answer: names of today, what stays open, how sure it is. Reading is done by
`division_matching.py` and `street_grammar.py`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Final

from planner_mcp.addresses.address_text import clean
from planner_mcp.addresses.division_matching import DivisionReading, Mention, read_divisions
from planner_mcp.addresses.division_names import short_name
from planner_mcp.addresses.place_data import Division, NameKind, PlaceData, place_data
from planner_mcp.addresses.street_grammar import GOES_ON_AS_ROAD, StreetParts, read_street
from planner_mcp.addresses.structured_address import (
    CENTRE_NOTE,
    MAX_CANDIDATES,
    POST_BOX,
    ROAD_AS_WRITTEN,
    Accuracy,
    AddressCandidate,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)

MUNICIPALITIES: Final = frozenset({"11", "12", "31", "50"})
DIVISION_ACCURACY: Final = {4: Accuracy.CITY, 6: Accuracy.DISTRICT, 9: Accuracy.TOWN}
_LEVEL_NAMES: Final = {2: "province", 4: "city", 6: "district", 9: "town"}


def resolve_chinese(text: str) -> ResolvedAddress:
    """Return what a Chinese text says of a place."""
    data, cleaned = place_data(), clean(text)
    reading = read_divisions(cleaned.text, data)
    may_have_town = bool(reading.mentions) and reading.mentions[-1].level in {4, 6}
    rest = cleaned.text[reading.end :]
    street = read_street(rest, may_have_town=may_have_town)
    codes = sorted(reading.codes)
    if may_have_town and len(codes) == 1 and (town := _town_without_kind(rest, street, codes[0], data)):
        written = street.town  # its kind may have changed since: 亦庄镇 is 亦庄地区 in the register
        codes, street = [town[0].code], replace(read_street(town[1], may_have_town=False), town=written)
        reading = _with_town(reading, town[0])
    notes = [*cleaned.notes, *_notes(reading, data)]
    if not codes:
        return _without_division(text, street, notes)
    shared = replace(_shared(codes, reading, data), **street.named, zone=reading.zone)
    evidence = _evidence(reading, street, codes, data)
    if len(codes) > 1:
        candidates = candidates_of(codes, street.named, data)
        notes.append(f"{reading.mentions[-1].name} exists {len(codes)} times; name the city it is in.")
        return ResolvedAddress(
            text, AddressStatus.AMBIGUOUS, shared, None, evidence, candidates=candidates, notes=tuple(notes)
        )
    position = position_of(codes[0], data)
    is_whole = not reading.contradictions and len(codes[0]) > 2
    status = AddressStatus.RESOLVED if is_whole else AddressStatus.PARTIAL
    candidates = candidates_of(codes, street.named, data) if reading.contradictions else ()
    return ResolvedAddress(
        text, status, shared, position, evidence, candidates=candidates, notes=(*notes, *_position_notes(position))
    )


def division_address(code: str, data: PlaceData) -> StructuredAddress:
    """Return the parts that the code of a division stands for."""
    named = {len(division.code): division.name for division in data.above(code)}
    province, city, district = named.get(2, ""), named.get(4, ""), named.get(6, "")
    if code[:2] in MUNICIPALITIES:
        city = province
    if district == city:  # cities without districts
        district = ""
    adcode = code if len(code) != 4 else f"{code}00"
    return StructuredAddress(
        country="CN", province=province, city=city, district=district, town=named.get(9, ""), adcode=adcode
    )


def position_of(code: str, data: PlaceData) -> PlacePosition | None:
    """Return the centroid of the deepest division of a code that has one; None for a province alone."""
    for length in (9, 6, 4):
        division = data.divisions.get(code[:length]) if length <= len(code) else None
        if division is not None and division.where is not None:
            lat, lon = division.where
            return PlacePosition(lat, lon, DIVISION_ACCURACY[length], division.radius_m)
    return None


def candidates_of(codes: Iterable[str], street: Mapping[str, str], data: PlaceData) -> tuple[AddressCandidate, ...]:
    """Return the first places that a text may mean, cities with the widest area first."""
    every = sorted(codes, key=lambda code: -_extent(code, data))
    share = int(100 / max(1, len(every))) / 100
    return tuple(
        AddressCandidate(
            "".join(dict.fromkeys(division.name for division in data.above(code))),
            replace(division_address(code, data), **street),
            position_of(code, data),
            share,
        )
        for code in every[:MAX_CANDIDATES]
    )


def chosen_from(resolved: ResolvedAddress, city_codes: frozenset[str]) -> ResolvedAddress | None:
    """Return an ambiguous address as the one place of its name in the cities of its neighbours; None without one."""
    data = place_data()
    cleaned = clean(resolved.text)
    reading = read_divisions(cleaned.text, data)
    inside = [code for code in reading.codes if code[:4] in city_codes]
    if len(inside) != 1:
        return None
    street = {part.name: getattr(resolved.address, part.name) for part in fields(StreetParts) if part.name != "town"}
    address, position = replace(division_address(inside[0], data), **street), position_of(inside[0], data)
    city = address.city or data.divisions[inside[0][:4]].name
    evidence = (Evidence(f"most other addresses of the batch are in {city}", 0.75),)
    notes = (f"Taken to be in {city}, like most of the batch.", *_position_notes(position))
    resolved = replace(resolved, status=AddressStatus.RESOLVED, address=address, position=position)
    return replace(resolved, evidence=evidence, notes=notes)


def _extent(code: str, data: PlaceData) -> float:
    division = data.divisions.get(code[:4])
    return 0.0 if division is None else division.radius_m


def _town_without_kind(rest: str, street: StreetParts, district: str, data: PlaceData) -> tuple[Division, str] | None:
    """Return a town of the district that is named by its stem or as another kind than today, and the text after it."""
    text = rest.lstrip(" ,，-")
    for suffix in range(1000):
        town = data.divisions.get(f"{district}{suffix:03}") if len(district) == 6 else None
        if town is None:
            continue
        stem = short_name(town.name)
        if street.town and short_name(street.town) == stem:
            return town, text[len(street.town) :]
        after = text[len(stem) :]
        if len(stem) >= 2 and text.startswith(stem) and len(after) >= 3 and not GOES_ON_AS_ROAD.match(after):
            return (town, after) if read_street(after, may_have_town=False).road else None
    return None


def _with_town(reading: DivisionReading, town: Division) -> DivisionReading:
    mention = Mention(town.name, NameKind.FORMER, frozenset({town.code}), 9)
    return replace(reading, mentions=(*reading.mentions, mention))


def _shared(codes: list[str], reading: DivisionReading, data: PlaceData) -> StructuredAddress:
    """Return the parts that all possible divisions have in common, without those that the text contradicts."""
    every = [division_address(code, data) for code in codes]
    parts = {
        part: getattr(every[0], part) if len({getattr(each, part) for each in every}) == 1 else ""
        for part in ("country", "province", "city", "district", "town", "adcode")
    }
    if reading.contradictions:
        for mention in reading.mentions:
            if mention.name in reading.contradictions:
                parts[_LEVEL_NAMES[mention.level]] = ""
    return StructuredAddress(**parts)


def _evidence(reading: DivisionReading, street: StreetParts, codes: list[str], data: PlaceData) -> tuple[Evidence, ...]:
    """Return why the answer is believed, and what speaks against it."""
    found = [Evidence(f"{mention.name} is named", _CERTAINTY[mention.kind]) for mention in reading.mentions]
    deepest = reading.mentions[-1]
    if len(codes) > 1:
        found.append(Evidence(f"{deepest.name} is the name of {len(codes)} places", 1 / len(codes)))
    elif len(reading.mentions) == 1:
        if deepest.kind is NameKind.SHORT and _others(deepest, data):
            found.append(Evidence(f"{deepest.name} is also short for {_others(deepest, data)}", 0.8))
        least = {2: 0.5, 4: 0.95, 6: 0.85, 9: 0.75}[deepest.level]
        found.append(Evidence(f"no division above {deepest.name} is named; there is one of this name", least))
    found += [Evidence(f"{name} does not contain {deepest.name}", 0.5) for name in reading.contradictions]
    if deepest.level == 4 and len(codes) == 1:
        found.append(Evidence("no district is named", 0.9))
    if (
        deepest.level == 9
        and len(reading.mentions) > 1
        and reading.mentions[-2].level < 6
        and _has_districts(codes, data)
    ):
        is_named = deepest.name.endswith(("街道", "镇", "乡"))
        found.append(Evidence(f"{deepest.name} is named without its district", 0.85 if is_named else 0.6))
    if reading.zone:
        found.append(Evidence(f"{reading.zone} is no division; its place in the city is not known", 0.9))
    if street.town and deepest.level < 9:
        found.append(Evidence(f"{street.town} is not in the register of towns", 0.9))
    if not street.road and not street.poi:
        found.append(Evidence("no road is named", 0.95))
    if street.road:
        found.append(ROAD_AS_WRITTEN)
    elif "信箱" in street.poi:
        found.append(POST_BOX)
    if reading.skipped:
        found.append(Evidence("text before the first division was left aside", 0.95))
    return tuple(found)


def _others(mention: Mention, data: PlaceData) -> str:
    """Return a place outside those of a mention that has the same short name; empty without one."""
    others = (
        data.divisions[code].name
        for code, _kind in data.names.get(mention.name, ())
        if not any(code.startswith(inner) for inner in mention.codes)
    )
    return next(others, "")


def _has_districts(codes: list[str], data: PlaceData) -> bool:
    city, district = data.divisions.get(codes[0][:4]), data.divisions.get(codes[0][:6])
    return city is not None and district is not None and city.name != district.name and city.name != ""


_CERTAINTY: Final = {NameKind.FULL: 1.0, NameKind.SHORT: 0.97, NameKind.FORMER: 0.95}


def _notes(reading: DivisionReading, data: PlaceData) -> Iterable[str]:
    for mention in reading.mentions:
        if mention.kind is NameKind.FORMER and len(reading.codes) == 1:
            now = data.divisions[next(iter(mention.codes))].name
            yield f"{mention.name} is a former name; the place belongs to {now} today."
    for name in reading.contradictions:
        yield f"{name} and {reading.mentions[-1].name} contradict each other; one of them is wrong."


def _position_notes(position: PlacePosition | None) -> tuple[str, ...]:
    if position is None:
        return ("No coordinates are known offline.",)
    what = {Accuracy.TOWN: "town", Accuracy.DISTRICT: "district", Accuracy.CITY: "city"}[position.accuracy]
    return (f"{CENTRE_NOTE} the centre of the {what}, true within {position.radius_m / 1000:g} km.",)


def _without_division(text: str, street: StreetParts, notes: list[str]) -> ResolvedAddress:
    address = StructuredAddress(**street.named)
    if street.road or street.number:
        evidence = (Evidence("no province, city, district or town is named", 0.1),)
        notes.append("Name at least the city.")
        return ResolvedAddress(text, AddressStatus.PARTIAL, address, None, evidence, notes=tuple(notes))
    return ResolvedAddress(
        text, AddressStatus.NOT_FOUND, address, None, (), notes=("Nothing in it looks like a place.",)
    )
