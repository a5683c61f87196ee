"""The part of a Chinese address after its divisions: road, number, building, unit, floor, room, name of a place.

Owns the grammar. It knows no register of streets: a road is what ends like one.
"""

import re
from dataclasses import asdict, dataclass
from typing import Final

_NUMBER: Final = r"(?:附|甲|乙|丙|丁|新|老)?\d+(?:[-~]\d+)*[A-Za-z]?"
_SECTION: Final = r"(?:(?:[一二三四五六七八九十]|\d+|[东西南北中])段)?"
_ROAD_END: Final = r"(?:大道|大街|公路|胡同|路|街|巷)"
_NUMBERED: Final = re.compile(
    rf"^(?P<road>\D.{{0,20}}?)(?P<number>{_NUMBER}(?:弄{_NUMBER}号|弄(?!\d)|巷{_NUMBER}号|号院|号(?!楼|办公楼|馆|线|厅|门|库)))"
)
_ROAD_BEFORE_NUMBER: Final = re.compile(
    rf"(?:{_ROAD_END}{_SECTION}|道|里|条|线|弄|环|[东西南北中]段)[东西南北中]?$|{_ROAD_END}"
)
_ROAD: Final = re.compile(rf"^(?P<road>[^\d]{{1,14}}?{_ROAD_END}{_SECTION})(?!口|道)")
_TOWN: Final = re.compile(r"^(?P<town>[一-鿿]{2,6}?(?:街道|镇|乡))(?!路|街|大道|江|[东西南北中]路)")
_BUILDING: Final = re.compile(
    r"(?<![\dA-Za-z])(?:[A-Za-z]|\d{1,3}[A-Za-z]?)(?:号楼|号办公楼|号馆|栋|幢|座|塔)|[东西南北](?:塔|座|楼)"
)
_UNIT: Final = re.compile(r"\d{1,2}单元")
_FLOOR: Final = re.compile(r"(?<!\d)\d{1,3}(?:层|楼|[Ff](?![A-Za-z]))")
_SHOP: Final = re.compile(r"(?<=[层楼])[A-Za-z]-?\d{1,4}(?:号?铺|室)?$")
"""A room that follows its floor: 4楼B12."""
_ROOM: Final = re.compile(r"(?<!\d)[A-Za-z]?\d{1,5}[A-Za-z]?(?:室|房)|(?<![\d-])[A-Za-z]?\d{3,5}$")
GOES_ON_AS_ROAD: Final = re.compile(
    r"[东西南北中内外环一二三四五六七八九十\d]{0,2}(?:路|大?街|大?道|巷|弄|桥|村|站|门)"
)
_BREAKS: Final = re.compile(r"[\s,,。;;、/|]+")


@dataclass(frozen=True, slots=True)
class StreetParts:
    """What follows the divisions."""

    town: str = ""
    """A town that the register does not have."""
    road: str = ""
    number: str = ""
    building: str = ""
    unit: str = ""
    floor: str = ""
    room: str = ""
    poi: str = ""

    @property
    def named(self) -> dict[str, str]:
        """Those that are there."""
        return {part: text for part, text in asdict(self).items() if text}


def read_street(text: str, *, may_have_town: bool) -> StreetParts:
    """Return the parts of the rest of an address.

    Args:
        text: After the divisions, cleaned.
        may_have_town: A district was named and no town: one that the register lacks may follow.
    """
    rest, town = _BREAKS.sub("", text).lstrip("-:"), ""
    if may_have_town and (match := _TOWN.match(rest)):
        town, rest = match["town"], rest[match.end() :]
    road, number, rest = _road_and_number(rest)
    taken: dict[str, str] = {}
    patterns = (("room", _SHOP), ("building", _BUILDING), ("unit", _UNIT), ("floor", _FLOOR), ("room", _ROOM))
    for part, pattern in patterns:
        if part not in taken and (match := pattern.search(rest)):
            taken[part] = match[0]
            rest = rest[: match.start()] + rest[match.end() :]
    return StreetParts(town=town, road=road, number=number, poi=rest.strip("-,. "), **taken)


def _road_and_number(text: str) -> tuple[str, str, str]:
    """Return road, number and what follows; the road is what stands before the number and ends like a road."""
    match = _NUMBERED.match(text)
    if match and _ROAD_BEFORE_NUMBER.search(match["road"]):
        return match["road"], match["number"], text[match.end() :]
    if road := _ROAD.match(text):
        rest = text[road.end() :]
        number = re.match(rf"{_NUMBER}(?:号(?!楼)|$)", rest)
        return road["road"], number[0] if number else "", rest[number.end() :] if number else rest
    if match and len(match["road"]) >= 2:  # a village or an estate with numbers
        return "", match["number"], match["road"] + text[match.end() :]
    return "", "", text
