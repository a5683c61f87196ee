"""The names and centroids that offline answers rest on: Chinese divisions and cities of the world.

Owns reading `data/places.txt.xz`, which `place_data_builder.py` writes, and the indexes over it. The file is read once,
at the first question; that takes about a second and 60 MB.
"""

import lzma
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Final

from planner_mcp.addresses.division_names import short_names

DATA_FILE: Final = Path(__file__).parent / "data" / "places.txt.xz"
UNNAMED: Final = frozenset({"市辖区", "县", "省直辖县级行政区划", "自治区直辖县级行政区划"})
"""What the register calls levels that have no name of their own."""
_GERMAN: Final = frozenset({"DE", "AT", "CH"})
"""Countries in whose names of cities an addition tells one from others of the same name."""
_APART: Final = re.compile(r" (?:\(.*|(?:an der|am|bei|im|in|in der|vor der|ob der) .*)$")
"""Such an addition: Kempten (Allgäu), Hanau am Main."""


@dataclass(frozen=True, slots=True)
class Division:
    """A Chinese province, city, district or town: a code of 2, 4, 6 or 9 digits."""

    code: str
    name: str
    latin: str
    where: tuple[float, float] | None
    """(lat, lon) in WGS-84 degrees."""
    radius_m: float


@dataclass(frozen=True, slots=True)
class City:
    """A city outside mainland China of 15,000 people or more."""

    name: str
    country: str
    state: str
    where: tuple[float, float]
    people: int
    """In thousands."""


class NameKind(StrEnum):
    """How a name relates to a division."""

    FULL = "full"
    SHORT = "short"
    FORMER = "former"


@dataclass(frozen=True, slots=True)
class PlaceData:
    """The data file with its indexes."""

    divisions: Mapping[str, Division]
    names: Mapping[str, tuple[tuple[str, NameKind], ...]]
    """Chinese name → codes."""
    latin: Mapping[str, tuple[str, ...]]
    """Latin name in small letters without blanks → codes of provinces, cities and districts."""
    simplified: Mapping[int, str]
    """Traditional character → simplified one, for `str.translate`."""
    countries: Mapping[str, str]
    """Folded name → code."""
    states: Mapping[str, str]
    """Folded name of a state of the US → code."""
    cities: Mapping[str, tuple[City, ...]]
    """Folded name → cities, largest first."""

    def above(self, code: str) -> Iterator[Division]:
        """Yield the named divisions from the province down to one of a code."""
        for length in (2, 4, 6, 9):
            division = self.divisions.get(code[:length]) if length <= len(code) else None
            if division is not None and division.name not in UNNAMED:
                yield division


def fold(name: str) -> str:
    """Return a Latin name as it is compared: small letters, no accents, no punctuation; ß as ss, ø as o."""
    table = str.maketrans({"ß": "ss", "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "æ": "ae", "œ": "oe", "đ": "d"})
    plain = unicodedata.normalize("NFKD", name.translate(table)).casefold()
    return " ".join(
        "".join(char if char.isalnum() else " " for char in plain if not unicodedata.combining(char)).split()
    )


def folded_spellings(name: str) -> set[str]:
    """Return how a name may be folded: München is also typed Muenchen."""
    umlauts = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ø": "oe", "å": "aa"})
    return {fold(name), fold(name.translate(umlauts))}


@cache
def place_data() -> PlaceData:
    """Return the data, read at the first call."""
    sections = _sections(lzma.decompress(DATA_FILE.read_bytes()).decode().splitlines())
    divisions = {division.code: division for division in map(_division, sections["divisions"])}
    old, new = sections["simplified"]
    return PlaceData(
        divisions=divisions,
        names=_names(divisions, sections["former"]),
        latin=_latin_names(divisions),
        simplified={ord(char): new[index] for index, char in enumerate(old)},
        countries={fold(name): code for code, name in map(_pair, sections["countries"])},
        states={fold(name): code for code, name in map(_pair, sections["states"])},
        cities=_cities(sections["cities"]),
    )


def _sections(lines: list[str]) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if line.startswith("#"):
            name = line[1:]
            sections[name] = []
        else:
            sections[name].append(line)
    return sections


def _pair(line: str) -> tuple[str, str]:
    first, _, second = line.partition("\t")
    return first, second


def _division(line: str) -> Division:
    code, name, latin, lat, lon, radius = (line.split("\t") + [""] * 4)[:6]
    return Division(code, name, latin, (float(lat), float(lon)) if lat else None, float(radius or 0) * 100)


def _names(divisions: Mapping[str, Division], former: list[str]) -> dict[str, tuple[tuple[str, NameKind], ...]]:
    found: dict[str, dict[str, NameKind]] = defaultdict(dict)
    for code, division in divisions.items():
        if division.name in UNNAMED:
            continue
        found[division.name][code] = NameKind.FULL
        for short in short_names(division.name) if len(code) < 9 else ():
            found[short].setdefault(code, NameKind.SHORT)
    for line in former:
        name, _province, code = line.split("\t")
        found[name].setdefault(code, NameKind.FORMER)
    return {name: tuple(codes.items()) for name, codes in found.items()}


def _latin_names(divisions: Mapping[str, Division]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for code, division in divisions.items():
        if division.latin:
            found[division.latin].append(code)
    return {name: tuple(codes) for name, codes in found.items()}


def _cities(lines: list[str]) -> dict[str, tuple[City, ...]]:
    found: dict[str, list[City]] = defaultdict(list)
    for line in lines:
        name, country, state, lat, lon, people, others = [*line.split("\t"), ""][:7]
        city = City(name, country, state, (float(lat), float(lon)), int(people))
        for spelling in {
            each for given in (name, *filter(None, others.split("|"))) for each in folded_spellings(given)
        }:
            found[spelling].append(city)
    _add_short_names(found)
    return {name: tuple(sorted(group, key=lambda city: -city.people)) for name, group in found.items()}


def _add_short_names(found: dict[str, list[City]]) -> None:
    """Add the short names of cities where no other of their country that is as large is called so."""
    german = (city for group in found.values() for city in group if city.country in _GERMAN)
    added: dict[str, list[City]] = defaultdict(list)
    for city in dict.fromkeys(city for city in german if _APART.search(city.name)):
        for spelling in folded_spellings(_APART.sub("", city.name)):
            if all(other.country != city.country or other.people < city.people for other in found.get(spelling, ())):
                added[spelling].append(city)
    for spelling, group in added.items():
        found[spelling] += group
