"""Addresses resolved from the data file alone, one by one and as a batch, and positions named.

Owns the choice of the grammar by script, and what the rows of a batch say of each other: an ambiguous row
is taken to be in the city where most of the others are. Nothing is asked of a network.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from math import cos, radians
from typing import Final

from planner_mcp.addresses.address_text import MAX_TEXT, is_chinese
from planner_mcp.addresses.chinese_addresses import (
    DIVISION_ACCURACY,
    MUNICIPALITIES,
    chosen_from,
    division_address,
    resolve_chinese,
)
from planner_mcp.addresses.place_data import City, Division, place_data
from planner_mcp.addresses.structured_address import (
    Accuracy,
    AddressStatus,
    Evidence,
    PlacePosition,
    ResolvedAddress,
    StructuredAddress,
)
from planner_mcp.addresses.western_addresses import city_address, city_position, resolve_western
from planner_mcp.routing.scenario.coordinates import haversine_m, to_wgs84

MAJORITY: Final = 0.6
"""Share of the rows with a city that must be in one city before it decides for the others."""
LEAST_ROWS: Final = 2
MAX_NEAREST_M: Final = 60_000.0
"""Farther from every known place a position is not named."""


def resolve_offline(texts: Sequence[str]) -> list[ResolvedAddress]:
    """Return what each text says of a place, in their order; rows of one batch help each other."""
    resolved = [resolve_text(text) for text in texts]
    city_codes = _city_of_most(resolved)
    if not city_codes:
        return resolved
    return [_with_neighbours(each, city_codes) for each in resolved]


def resolve_text(text: str) -> ResolvedAddress:
    """Return what one text says of a place."""
    short = " ".join(text[:MAX_TEXT].split())
    if not short:
        return ResolvedAddress(text, AddressStatus.NOT_FOUND, StructuredAddress(), None, (), notes=("It is empty.",))
    return resolve_chinese(text) if is_chinese(text) else resolve_western(short)


def _city_of_most(resolved: Sequence[ResolvedAddress]) -> frozenset[str]:
    """Return the code of the city where most rows are, as a prefix of codes; nothing without a majority."""
    cities = Counter(each.address.adcode[:4] for each in resolved if each.is_sure and len(each.address.adcode) >= 4)
    if not cities:
        return frozenset()
    code, rows = cities.most_common(1)[0]
    is_most = rows >= LEAST_ROWS and rows >= MAJORITY * sum(cities.values())
    if not is_most:
        return frozenset()
    return frozenset({f"{code[:2]}{end:02}" for end in (1, 2)}) if code[:2] in MUNICIPALITIES else frozenset({code})


def _with_neighbours(resolved: ResolvedAddress, city_codes: frozenset[str]) -> ResolvedAddress:
    if resolved.status is not AddressStatus.AMBIGUOUS or not is_chinese(resolved.text):
        return resolved
    return chosen_from(resolved, city_codes) or resolved


def reverse_offline(lat: float, lon: float, crs: str = "wgs84") -> ResolvedAddress:
    """Return the place that a position lies in, as far as centres of towns and cities show.

    Args:
        crs: `wgs84`, `gcj02` or `bd09`.
    """
    lat, lon = to_wgs84(lat, lon, crs)
    text = f"{lat:.5f},{lon:.5f}"
    found = min(_near(lat, lon), key=lambda each: each[0], default=None)
    if found is None:
        notes = (f"No known place within {MAX_NEAREST_M / 1000:g} km.",)
        return ResolvedAddress(text, AddressStatus.NOT_FOUND, StructuredAddress(), None, (), notes=notes)
    _weighted, metres, place = found
    if isinstance(place, City):
        address = city_address(place, StructuredAddress())
        accuracy = Accuracy.CITY
        radius = city_position(place).radius_m
    else:
        address, accuracy = division_address(place.code, place_data()), DIVISION_ACCURACY[len(place.code)]
        radius = place.radius_m
    evidence = (Evidence(f"its centre is {metres / 1000:.1f} km away", 0.7 if metres <= radius else 0.45),)
    notes = ("Borders are not known offline: the nearest centre is named, a neighbour is possible.",)
    return ResolvedAddress(
        text,
        AddressStatus.PARTIAL,
        address,
        PlacePosition(lat, lon, accuracy, radius, source_crs=crs),
        evidence,
        notes=notes,
    )


def _near(lat: float, lon: float) -> Iterator[tuple[float, float, Division | City]]:
    """Yield places within reach: (distance weighed by size, metres, place)."""
    wide = MAX_NEAREST_M / 111_000
    for place, where, radius in _centres():
        if abs(where[0] - lat) <= wide and abs(where[1] - lon) * cos(radians(lat)) <= wide:
            metres = haversine_m((lat, lon), where)
            if metres <= MAX_NEAREST_M:
                yield metres / min(max(radius, 1_000.0), 15_000.0), metres, place


@cache
def _centres() -> tuple[tuple[Division | City, tuple[float, float], float], ...]:
    data = place_data()
    towns = [each for each in data.divisions.values() if len(each.code) >= 6 and each.where is not None]
    cities = dict.fromkeys(city for group in data.cities.values() for city in group)
    return (
        *((each, each.where, each.radius_m) for each in towns if each.where is not None),
        *((city, city.where, city_position(city).radius_m) for city in cities),
    )
