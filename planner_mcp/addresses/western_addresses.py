"""Addresses in Latin letters to structured ones: parts between commas, a postcode, a city that GeoNames has.

Owns the order of parts in Western addresses and the choice among cities of one name. It knows no streets, so a position
is the centre of a city with its size. Chinese addresses in Latin letters are led to their divisions.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from planner_mcp.addresses.chinese_addresses import candidates_of, division_address, position_of
from planner_mcp.addresses.place_data import City, PlaceData, fold, folded_spellings, place_data
from planner_mcp.addresses.structured_address import (
    BY_SIZE,
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

_COUNTRY_LINES: Final = """
US: usa, u s a, us, u s, united states of america
GB: uk, u k, great britain, england, scotland, wales, northern ireland
DE: deutschland, allemagne
AT: osterreich, oesterreich
CH: schweiz, suisse, svizzera
ES: espana
IT: italia
NL: nederland, the netherlands, netherlands
BE: belgie, belgique
DK: danmark
NO: norge
SE: sverige
FI: suomi
PL: polska
CZ: czech republic, cesko
BR: brasil
CN: prc, p r china, peoples republic of china, people s republic of china
HK: hong kong
KR: korea, south korea
RU: russia
TR: turkey, turkiye
VN: viet nam
"""
COUNTRY_NAMES: Final = {
    name: code
    for code, _, names in (line.partition(": ") for line in _COUNTRY_LINES.strip().splitlines())
    for name in names.split(", ")
}
"""Folded names of countries beside the English ones of GeoNames."""
_POSTCODE_FORMS: Final = (
    (r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}", "GB"),
    (r"[A-Z]\d[A-Z] ?\d[A-Z]\d", "CA"),
    (r"\d{4} ?[A-Z]{2}", "NL"),
    (r"\d{4}-\d{3}", "PT"),
    (r"\d{3}-\d{4}", "JP"),
    (r"\d{5}-\d{4}", "US"),
    (r"\d{2}-\d{3}", "PL"),
    (r"\d{3} \d{2}", "SE CZ SK GR"),
    (r"\d{5}-\d{3}", "BR"),
    (r"\d{6}", "CN SG IN RU RO KZ VN"),
    (r"\d{5}", "DE FR ES IT US FI TR MX EE HR UA MY TH KR SA MA RS LT"),
    (r"\d{4}", "CH AT BE DK NO AU NZ HU LU SI BG ZA PH"),
)
POSTCODES: Final = tuple((re.compile(form), tuple(codes.split())) for form, codes in _POSTCODE_FORMS)
"""Forms of postcodes and the countries that use them, the most distinctive first."""
POSTCODE_AFTER_CITY: Final = frozenset({"US", "GB", "CA", "AU", "NZ", "SG", "IN", "ZA", "PH", "TH", "CN", "JP", "VN"})
_LEADING_ZEROS: Final = frozenset({"DE", "ES", "FI", "FR", "IT", "MX", "MY", "TR", "US"})
"""Countries with postcodes of five digits, some of which begin with a zero."""
_LOST_ZERO: Final = re.compile(r"(?P<before>(?:.* )?[A-Z]{2} )?(?P<code>\d{4})(?P<behind> \D.*)?")
"""A part with a postcode of four digits, behind its state or before its city."""
CANADIAN: Final = {
    "01": "AB", "02": "BC", "03": "MB", "04": "NB", "05": "NL", "07": "NS", "08": "ON", "09": "PE", "10": "QC",
    "11": "SK",
}  # fmt: skip
AUSTRALIAN: Final = {
    "01": "ACT", "02": "NSW", "03": "NT", "04": "QLD", "05": "SA", "06": "TAS", "07": "VIC", "08": "WA",
}  # fmt: skip
"""First-order divisions of GeoNames as postal codes."""
STATE_NAMES: Final = {
    "ontario": "ON", "quebec": "QC", "british columbia": "BC", "alberta": "AB", "manitoba": "MB", "saskatchewan": "SK",
    "nova scotia": "NS", "new south wales": "NSW", "victoria": "VIC", "queensland": "QLD", "south australia": "SA",
    "western australia": "WA", "tasmania": "TAS",
}  # fmt: skip
MAX_PARTS: Final = 12
MAX_CITY_WORDS: Final = 8
"""Words of the longest name of a city in the data."""
MAX_SHARE: Final = 0.79
"""Certainty of a city chosen by its size alone: below what is used unasked."""
_UNIT: Final = re.compile(
    r"(?i)\b(?:(?:flat|apt\.?|apartment|suite|ste\.?|unit|room|rm\.?|plot|shop|block|floor|level|lvl\.?)\s*#?\s*"
    r"[A-Za-z]?\d{1,5}(?:-\d{1,4})?[A-Za-z]?|fl\.?\s*\d{1,2}|#\s*\d{1,5}[A-Za-z]?)\b"
)
_POST_BOX: Final = re.compile(
    r"(?i)^(?:(?:g\.?\s?)?p\.?\s?o\.?\s?box|locked bag|postfach|bo[iî]te postale|b\.?p\.?|apartado(?: de correos)?)"
    r"\s*\d[\d ]*$"
)
_UNIT_BEFORE_NUMBER: Final = {"AU": "/", "NZ": "/", "CA": "-"}
"""What stands between unit and number where the unit comes first: 3/17 Crown St, 1200-1055 West Georgia Street."""
_LONGEST_BLOCK: Final = 100
"""Numbers that a range of a Canadian street may span; more is a unit and a number."""
_NUMBER: Final = r"\d{1,6}[A-Za-z]?(?:\s?[-–/]\s?\d{1,5}[A-Za-z]?)?(?:\s(?:bis|ter|quater)\b)?"
_NUMBER_FIRST: Final = re.compile(
    rf"(?i)^(?:no\.?|nr\.?|#)?\s*(?P<number>{_NUMBER})\s*,?\s+(?P<road>\D.*|\d+(?:st|nd|rd|th)\b.*)$"
)
_NUMBER_WORD: Final = re.compile(r"(?i)(one|two|three|four|five|six|seven|eight|nine|ten)\s+\S+\s+\S")
_NUMBER_LAST: Final = re.compile(
    r"(?i)^(?P<road>.*\D)\s+(?:no\.?|nr\.?)?\s*(?P<number>\d{1,5}\s?[A-Za-z]?(?:\s?[-–/]\s?\d{1,5}\s?[A-Za-z]?)?)$"
)
_KINDS: Final = re.compile(
    r"(?i)\b(?:district|qu|county|xian|province|sheng|city|shi|new area|autonomous region|municipality|zizhiqu)$"
)
_SMALL_TOWN: Final = re.compile(r"(?:[A-Z]{1,2}-)?(?P<postcode>\d{4,5})\s+(?P<city>\D.*)")
"""A postcode before a place that is not in the data."""
_REGION: Final = re.compile(r"[A-Z]{1,3}")
"""What stands for a region between a city and its postcode, as shops write addresses."""
LEAST_SHARE: Final = 0.95
"""Of the people in all cities of a name that one must have to be chosen by the language of the street."""
STREET_LANGUAGES: Final = (
    (
        re.compile(r"(?i)(?:stra(?:ss|ß)e|str\.|platz|gasse|allee|weg|damm|ufer)\b|stra(?:ss|ß)e$|str\.$"),
        ("DE", "AT", "CH"),
    ),
    (re.compile(r"(?i)^(?:rue|avenue|boulevard|quai|place|chemin|impasse|cours)\b"), ("FR", "BE", "CH", "LU")),
    (re.compile(r"(?i)^(?:calle|avenida|paseo|carrer|c/)"), ("ES", "MX", "AR", "CO", "CL", "PE")),
    (re.compile(r"(?i)^(?:via|viale|corso|piazza)\b"), ("IT", "CH")),
    (re.compile(r"(?i)(?:straat|laan|gracht|plein|kade)\b"), ("NL", "BE")),
    (
        re.compile(r"(?i)\b(?:street|st|road|rd|avenue|ave|lane|drive|dr|blvd)\b"),
        ("US", "GB", "CA", "AU", "NZ", "IE", "IN", "ZA"),
    ),
)
"""Forms of roads by language, and where it is spoken."""
_STREET: Final = re.compile(
    r"(?i)(?:\b(?:street|st|road|rd|avenue|ave|av|lane|ln|drive|dr|blvd|boulevard|way|place|pl|square|sq|plaza|parkway|pkwy|terrace|court|"
    r"ct|crescent|cres|close|highway|hwy|circle|walk|row|gardens|grove|hill|mews|rise|rue|quai|via|viale|corso|calle|avenida|piazza|"
    r"carrer|paseo|rua|ul|allee|allée|chemin|impasse|cours|jie|lu|dadao)\b|stra(?:ss|ß)e\b|str\.|gasse\b|platz\b|weg\b|damm\b|"
    r"gata[n]?\b|gade\b|tie\b|straat\b|laan\b|gracht\b|plein\b)"
)


@dataclass(frozen=True, slots=True)
class WesternParts:
    """What the parts of a text are, before a city is chosen."""

    country: str = ""
    state: str = ""
    postcode: str = ""
    postcode_countries: tuple[str, ...] = ()
    city: str = ""
    """As written."""
    road: str = ""
    number: str = ""
    unit: str = ""
    has_post_box: bool = False
    rest: tuple[str, ...] = ()
    """Parts that were not needed: names of buildings, quarters."""


def resolve_western(text: str) -> ResolvedAddress:
    """Return what a text in Latin letters says of a place."""
    resolved = _resolved(text)
    return replace(resolved, notes=(*resolved.notes, *resolved.postcode_notes))


def _resolved(text: str) -> ResolvedAddress:
    data = place_data()
    parts = [part.strip(" .") for part in re.split(r"[,;\n]+", text) if part.strip(" .")][:MAX_PARTS]
    if (chinese := _chinese(text, parts, data)) is not None:
        return chinese
    read = _read(parts, data)
    if not read.city and not read.road:
        notes = ("Nothing in it looks like a place.",)
        return ResolvedAddress(text, AddressStatus.NOT_FOUND, StructuredAddress(), None, (), notes=notes)
    read = _with_unit_apart(read)
    cities = _localities(read.city, read, data) if read.city else []
    address = StructuredAddress(
        country=read.country, province=read.state, postcode=read.postcode, city=read.city, road=read.road,
        number=read.number, unit=read.unit, poi=", ".join(read.rest),
    )  # fmt: skip
    if not cities:
        evidence = (
            Evidence(f"{read.city} is no city of 15,000 people or more" if read.city else "no city is named", 0.3),
        )
        notes = ("Its city is not in the offline data.",) if read.city else ("Name at least the city.",)
        return ResolvedAddress(text, AddressStatus.PARTIAL, address, None, evidence, notes=notes)
    return _answer(text, read, address, cities)


def _with_unit_apart(read: WesternParts) -> WesternParts:
    """Return parts with the unit taken out of a number like 3/17 in Australia or 1200-1055 in Canada."""
    countries = {read.country} if read.country else set(read.postcode_countries)
    if read.state in CANADIAN.values() or read.state in AUSTRALIAN.values():
        countries = {"CA" if read.state in CANADIAN.values() else "AU"}
    mark = next((_UNIT_BEFORE_NUMBER[country] for country in countries if country in _UNIT_BEFORE_NUMBER), "")
    match = re.fullmatch(rf"(\w+)\s?{mark}\s?(\d+)(\w?)", read.number) if mark and len(countries) == 1 else None
    if match is None or read.unit:
        return read
    is_range = mark == "-" and match[1].isdigit() and 0 < int(match[2]) - int(match[1]) < _LONGEST_BLOCK
    return read if is_range else replace(read, unit=match[1], number=f"{match[2]}{match[3]}")


def city_position(city: City) -> PlacePosition:
    """Return the centre of a city; its radius grows with its people, as cities do."""
    radius = 1_500 + 900 * city.people**0.5 if city.people < 150 else 5_000 + 750 * city.people**0.5
    return PlacePosition(*city.where, Accuracy.CITY, float(round(min(60_000, radius), -2)))


def city_address(city: City, address: StructuredAddress) -> StructuredAddress:
    """Return an address in a city."""
    return replace(address, country=city.country, province=_state(city), city=city.name)


def _answer(text: str, read: WesternParts, address: StructuredAddress, cities: Sequence[City]) -> ResolvedAddress:
    is_exact = fold(read.city) == fold(cities[0].name) or len(read.city.split()) == 1
    evidence = [Evidence(f"{read.city} is a city of GeoNames", 0.98 if is_exact else 0.93)]
    people = sum(max(1, city.people) for city in cities)
    share = max(1, cities[0].people) / people
    if len({city.country for city in cities}) == 1 and (read.country or len(read.postcode_countries) == 1):
        evidence.append(Evidence(f"the country is {cities[0].country}", 1.0))
    is_dominant = share >= 0.75
    if len(cities) > 1 and not is_dominant:
        shared = replace(
            address, country=_common(city.country for city in cities), province=_common(map(_state, cities))
        )
        if len({city.name for city in cities}) == 1:
            shared = replace(shared, city=cities[0].name)
        evidence.append(Evidence(f"{read.city} is the name of {len(cities)} cities", 1 / len(cities)))
        return ResolvedAddress(
            text, AddressStatus.AMBIGUOUS, shared, None, tuple(evidence), candidates=_candidates(cities, address),
            notes=(f"There are {len(cities)} cities called {read.city}; name the country, the state or the postcode.",),
        )  # fmt: skip
    if len(cities) > 1 or not (read.country or read.state or read.postcode):
        evidence.append(_chosen_by(read, cities[0], share))
    if read.has_post_box and not read.road:
        evidence.append(POST_BOX)
    elif not read.road:
        evidence.append(Evidence("no road is named", 0.95))
    else:
        evidence.append(ROAD_AS_WRITTEN)
    if match := _NUMBER_WORD.match(read.road) if not read.number else None:
        evidence.append(Evidence(f"{match[1]} may be the house number", 0.8))
    elif read.road and not read.number:
        evidence.append(Evidence("no house number is named", 0.97))
    position = city_position(cities[0])
    notes = (f"{CENTRE_NOTE} the centre of the city, true within {position.radius_m / 1000:g} km.",)
    candidates = _candidates(cities, address) if len(cities) > 1 and share < 0.95 else ()
    return ResolvedAddress(
        text, AddressStatus.RESOLVED, city_address(cities[0], address), position, tuple(evidence),
        candidates=candidates, notes=notes,
    )  # fmt: skip


def _chosen_by(read: WesternParts, city: City, share: float) -> Evidence:
    """Return how far the choice of the largest city of a name is believed: by postcode, language or size alone."""
    if read.postcode or read.state or read.country:
        return Evidence("the largest city of this name, chosen by its postcode, state or country", round(share, 2))
    countries = next((countries for form, countries in STREET_LANGUAGES if form.search(read.road)), ())
    if city.country in countries and share >= LEAST_SHARE and read.number:
        return Evidence(
            f"the street has the language of {city.country}, and no other city of this name is near its size", 0.9
        )
    if countries and city.country not in countries:
        return Evidence(f"the street has another language than {city.country}", 0.4)
    return Evidence(BY_SIZE, round(min(share, MAX_SHARE), 2))


def _common(values: Iterable[str]) -> str:
    found = set(values)
    return found.pop() if len(found) == 1 else ""


def _candidates(cities: Sequence[City], address: StructuredAddress) -> tuple[AddressCandidate, ...]:
    people = sum(max(1, city.people) for city in cities)
    return tuple(
        AddressCandidate(
            ", ".join(filter(None, (city.name, _state(city), city.country))),
            city_address(city, address),
            city_position(city),
            min(MAX_SHARE, int(100 * max(1, city.people) / people) / 100),
        )
        for city in cities[:MAX_CANDIDATES]
    )


def _state(city: City) -> str:
    table = {"CA": CANADIAN, "AU": AUSTRALIAN}.get(city.country, {})
    return table.get(city.state, "") if table else city.state if city.country == "US" else ""


def _read(parts: Sequence[str], data: PlaceData) -> WesternParts:
    """Return what each part is: country last, then locality with state and postcode, the street before them."""
    left, read = list(parts), WesternParts()
    left, read = _take_country(left, read, data)
    left = _with_leading_zero(left, read.country)
    left, read = _take_units(left, read)
    boxes = tuple(part for part in left if _POST_BOX.match(part))
    left = [part for part in left if part not in boxes]
    read = _take_street(left, read, data, last=len(left) - 1)  # what stands last is the locality
    read = _take_locality(left, read, data)
    return replace(read, rest=(*boxes, *read.rest), has_post_box=bool(boxes))


def country_named(name: str) -> str:
    """Return the code of a country by its name; empty for any other words."""
    return COUNTRY_NAMES.get(fold(name)) or place_data().countries.get(fold(name), "")


def _take_country(left: list[str], read: WesternParts, data: PlaceData) -> tuple[list[str], WesternParts]:
    if len(left) < 2:
        return left, read
    last = left[-1]
    code = country_named(last)
    if not code and re.fullmatch(r"[A-Z]{2}", last) and last in data.countries.values():
        state_city = _localities(left[-2], replace(read, state=last), data)
        is_state = last in data.states.values() and any(_state(city) == last for city in state_city)
        code = "" if is_state else last
    if fold(last) == "georgia":  # the state, unless a city says otherwise
        code = ""
    if code == "SG" and len(left) == 2 and not re.search(r"\d", last):
        return [left[0], last], replace(read, country="SG")
    return (left[:-1], replace(read, country=code)) if code else (left, read)


def _with_leading_zero(left: list[str], country: str) -> list[str]:
    """Return parts in which a postcode of four digits has five again: a spreadsheet takes a zero from a number."""
    found = _LOST_ZERO.fullmatch(left[-1]) if left and country in _LEADING_ZEROS else None
    if found is None or found["behind" if country in POSTCODE_AFTER_CITY else "before"]:
        return left
    before, behind = found["before"] or "", found["behind"] or ""
    return left if _STREET.search(behind) else [*left[:-1], f"{before}0{found['code']}{behind}"]


def _take_units(left: list[str], read: WesternParts) -> tuple[list[str], WesternParts]:
    kept = []
    for part in left:
        match = _UNIT.search(part)
        rest = part
        if match and not read.unit:
            read = replace(read, unit=match[0])
            rest = (part[: match.start()] + part[match.end() :]).strip(" ,")
        if rest:
            kept.append(rest)
    return kept, read


def _street(part: str, data: PlaceData) -> tuple[str, str] | tuple[()]:
    """Return road and number of a part that is a street with its number; nothing for another part."""
    if _leading_postcode(part, data):
        return ()
    if match := _NUMBER_FIRST.match(part):
        return match["road"].strip(), match["number"].strip()
    match = _NUMBER_LAST.match(part)
    road = fold(match["road"]) if match else ""
    if match and len(match["number"]) >= 4 and (road in data.states or road in STATE_NAMES):
        return ()  # a state with its postcode
    if match and not re.fullmatch(r"(?:.*\s)?[A-Z]{2,3}", match["road"].strip()) and len(match["number"]) <= 5:
        return match["road"].strip(), match["number"].strip()
    return ()


def _take_street(left: list[str], read: WesternParts, data: PlaceData, *, last: int) -> WesternParts:
    """Take the street out of what is left: a part with its number, else a road among the first `last` parts."""
    for at, part in enumerate(left):
        if street := _street(part, data):
            del left[at]
            return replace(read, road=street[0], number=street[1])
    at = next((index for index, part in enumerate(left[:last]) if _STREET.search(part)), -1)
    return replace(read, road=left.pop(at)) if at >= 0 else read


def _leading_postcode(part: str, data: PlaceData) -> tuple[str, tuple[str, ...], str] | tuple[()]:
    """Return postcode, its countries and the rest of a part like `10178 Berlin`; a street begins with a number too."""
    text = re.sub(r"^(?:[A-Z]{1,2}-)(?=\d{4,5}\b)", "", part)
    for pattern, countries in POSTCODES:
        match = re.match(rf"({pattern.pattern})\s+(?=\D)", text)
        before = tuple(country for country in countries if country not in POSTCODE_AFTER_CITY)
        name = text[match.end() :].strip() if match else ""
        if match and before and not _STREET.search(name) and any(city.country in before for city in _known(name, data)):
            return match[1], before, name
    return ()


def _take_locality(left: list[str], read: WesternParts, data: PlaceData) -> WesternParts:
    """Return the parts with postcode, state and city, looked for from the end."""
    rest: list[str] = []
    for at, part in reversed(list(enumerate(left))):
        name = part
        if not read.postcode and (leading := _leading_postcode(part, data)):
            read = replace(read, postcode=leading[0], postcode_countries=leading[1])
            name = leading[2]
        elif not read.postcode and (trailing := _trailing_postcode(part)):
            read = replace(read, postcode=trailing[0], postcode_countries=trailing[1])
            name = trailing[2]
        if not read.state:
            name, state = _state_in(name, read, data, left[at - 1] if at else "")
            read = replace(read, state=state)
        if at and read.country and _REGION.fullmatch(name) and _localities(left[at - 1], read, data):
            rest.append(name)
            continue
        if name and not read.city and (_localities(name, read, data) or part is left[-1] or len(left) == 1 or not rest):
            read, name = replace(read, city=name), ""
        if name:
            rest.append(name)
    if read.state and not read.city and rest:
        read = replace(read, city=rest.pop())
    if not read.postcode and (match := _SMALL_TOWN.fullmatch(read.city)):
        read = replace(read, postcode=match["postcode"], city=match["city"])
    return replace(read, rest=tuple(reversed(rest)))


def _trailing_postcode(part: str) -> tuple[str, tuple[str, ...], str] | tuple[()]:
    """Return postcode, its countries and the rest of a part like `London SW1A 2AA`, or of one that is a postcode."""
    for pattern, countries in POSTCODES:
        if pattern.fullmatch(part):
            return part, countries, ""
    for pattern, countries in POSTCODES:
        match = re.search(rf"(?:^|\s)({pattern.pattern})$", part)
        after = tuple(country for country in countries if country in POSTCODE_AFTER_CITY)
        if match and after:
            return match[1], after, part[: match.start()].strip()
    return ()


def _state_in(name: str, read: WesternParts, data: PlaceData, before: str) -> tuple[str, str]:
    """Return a part without its state, and the state: a postal code of US, Canada or Australia, or a name.

    Washington and New York are cities too, unless the part before is a city of the state.
    """
    words = name.split()
    codes = {*data.states.values(), *CANADIAN.values(), *AUSTRALIAN.values()}
    if read.country not in {"", "US", "CA", "AU"}:
        return name, ""
    if words and words[-1].replace(".", "") in codes and words[-1].isupper():
        return " ".join(words[:-1]), words[-1].replace(".", "")
    state = data.states.get(fold(name)) or STATE_NAMES.get(fold(name), "")
    is_city = fold(name) in {"new york", "washington"} and all(_state(city) != state for city in _known(before, data))
    return ("", state) if state and not is_city else (name, "")


def _known(name: str, data: PlaceData) -> list[City]:
    """Return the cities of a name, or of its beginning: Freiburg im Breisgau, Berlin-Friedrichshain."""
    words = re.split(r"\s*-\s*|\s+", name)
    for length in range(min(len(words), MAX_CITY_WORDS), 0, -1):
        shorter = name if length == len(words) else " ".join(words[:length])
        found = [city for spelling in sorted(folded_spellings(shorter)) for city in data.cities.get(spelling, ())]
        if found:
            return sorted(dict.fromkeys(found), key=lambda city: -city.people)
    return []


def _localities(name: str, read: WesternParts, data: PlaceData) -> list[City]:
    """Return the cities of a name that fit country, state and postcode."""
    every = _known(name, data)
    if read.country:
        every = [city for city in every if city.country == read.country]
    if read.state:
        every = [city for city in every if _state(city) == read.state]
    if read.postcode_countries and not read.country:
        every = [city for city in every if city.country in read.postcode_countries]
    return every


def _chinese(text: str, parts: Sequence[str], data: PlaceData) -> ResolvedAddress | None:
    """Return an address in China written in Latin letters; None where it is somewhere else."""
    left = list(parts)
    is_named = bool(left) and fold(left[-1]) in {"china", "prc", "p r china"}
    if is_named:
        left.pop()
    postcode, codes, used = "", frozenset[str](), []
    kept = []
    for written in reversed(left):
        match = re.search(r"\s*\b(\d{6})$", written) if not postcode else None
        part = written
        if match:
            postcode, part = match[1], written[: match.start()].strip()
        has_kind = bool(_KINDS.search(part))
        found = frozenset(
            data.latin.get(fold(_KINDS.sub("", part).replace("'", "").replace("’", "")).replace(" ", ""), ())
        )
        inside = frozenset(code for code in found if any(code.startswith(above) and code != above for above in codes))
        if found and (inside or not codes):
            codes = inside or found
            used.append((part, has_kind))
        elif part and not (found & codes):
            kept.append(part)
    if len(used) == 1 and not (is_named or used[0][1]) and (kept or data.cities.get(fold(used[0][0]))):
        return None
    if not codes or not (is_named or any(has_kind for _part, has_kind in used) or len(used) >= 2 or not kept):
        return None
    left, read = _take_units(list(reversed(kept)), WesternParts())
    read = _take_street(left, read, data, last=len(left))
    return _chinese_answer(text, replace(read, rest=tuple(left)), postcode, codes, used, data)


def _chinese_answer(
    text: str,
    read: WesternParts,
    postcode: str,
    codes: frozenset[str],
    used: Sequence[tuple[str, bool]],
    data: PlaceData,
) -> ResolvedAddress:
    level = min(map(len, codes))
    every = sorted(code for code in codes if len(code) == level)
    street = {"road": read.road, "number": read.number, "unit": read.unit, "poi": ", ".join(read.rest)}
    street["postcode"] = postcode
    evidence = [Evidence(f"{part} is the Latin name of a division", 0.98) for part, _kind in used]
    if len(every) > 1:
        evidence.append(Evidence(f"{used[-1][0]} is the name of {len(every)} places", 1 / len(every)))
        return ResolvedAddress(
            text, AddressStatus.AMBIGUOUS, StructuredAddress(country="CN", **street), None, tuple(evidence),
            candidates=candidates_of(every, street, data), notes=(f"{used[-1][0]} can be several places in China.",),
        )  # fmt: skip
    if len(used) == 1:
        evidence.append(Evidence("one division alone is named", 0.8))
    position = position_of(every[0], data)
    reach = "" if position is None else f"{CENTRE_NOTE} a centre, true within {position.radius_m / 1000:g} km."
    status = AddressStatus.RESOLVED if level > 2 else AddressStatus.PARTIAL
    address = replace(division_address(every[0], data), **street)
    return ResolvedAddress(text, status, address, position, tuple(evidence), notes=tuple(filter(None, (reach,))))
