"""Which Chinese divisions a text names, from the province down, and which divisions that can mean.

Owns the choice among readings. A reading is a chain of names from left to right, each deeper than the one before.
Readings whose divisions contain each other win over longer ones that contradict, full names over short ones.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from planner_mcp.addresses.address_text import HAN
from planner_mcp.addresses.place_data import NameKind, PlaceData

MAX_NAME: Final = 18
_SEPARATORS: Final = " ,，、/|-—。;；:：·"
_COUNTRY: Final = ("中华人民共和国", "中国")
_NO_SHORT_NAME: Final = re.compile(
    r"(?:[东西南北中内外上下前后大小新老]{0,2}(?:\d|[一二三四五六七八九十])?)?"
    r"(?:路|街|大道|道(?!县)|巷|弄|胡同|桥|站|门|村|小区|花园|大厦|广场|公寓|酒店|宾馆|银行|医院|学校|大学|中学|小学|公园|机场)"
)
"""After a short name: the text goes on as the name of a street or a building (北京东路, 朝阳门外)."""
_NO_FULL_NAME: Final = re.compile(r"(?:[东西南北中]?(?:路|街(?!道)|大道|大街|巷))")
"""After a full name of a town: 友谊路 before 街道 is no street, 太平镇路 is."""
ZONE: Final = re.compile(
    r"[一-鿿]{1,10}?(?:新区|开发区|高新区|工业园区|园区|度假区|示范区|保税区|高新技术产业园)(?=[一-鿿\d])"
)
"""A development zone that is no division; divisions and streets may follow."""
MAX_SKIPPED: Final = 40
"""Characters before the first division: a name, a telephone number."""
_POINTS: Final = {NameKind.FULL: 10.0, NameKind.FORMER: 8.0, NameKind.SHORT: 5.0}
_CONTAINED: Final = 12.0
_CONTRADICTS: Final = {NameKind.FULL: -7.0, NameKind.FORMER: -12.0, NameKind.SHORT: -18.0}
"""A short name that contradicts is rather a street or a firm."""
_MAX_STEPS: Final = 400
"""Readings that are tried for one text."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in the text, with the divisions it can mean."""

    name: str
    kind: NameKind
    codes: frozenset[str]
    level: int
    """Digits of its codes."""


@dataclass(frozen=True, slots=True)
class DivisionReading:
    """One way to read the head of an address."""

    mentions: tuple[Mention, ...] = ()
    end: int = 0
    score: float = 0.0
    skipped: str = ""
    """Text before the first division."""
    contradictions: tuple[str, ...] = ()
    """Names that contain none of the deeper ones."""
    zone: str = ""

    @property
    def codes(self) -> frozenset[str]:
        """What the deepest name can mean."""
        return self.mentions[-1].codes if self.mentions else frozenset()


def read_divisions(text: str, data: PlaceData) -> DivisionReading:
    """Return the best reading of the divisions at the head of a cleaned text; without mentions where there are none."""
    best = DivisionReading()
    for start in _starts(text):
        budget = [_MAX_STEPS]
        for reading in _readings(text, start, DivisionReading(end=start, score=-0.2 * start), data, budget):
            is_better = reading.score > best.score + 1e-9
            if reading.mentions and (is_better or not best.mentions):
                best = replace(reading, skipped=text[:start].strip(_SEPARATORS))
        if best.mentions and start == 0 and len(best.mentions) > 1:
            break
    return best


def _starts(text: str) -> Iterator[int]:
    """Yield where the first division may begin: at the head, or after a separator or a digit."""
    yield 0
    for index in range(1, min(len(text), MAX_SKIPPED)):
        if text[index - 1] in _SEPARATORS and text[index] not in _SEPARATORS:
            yield index


def _readings(
    text: str, at: int, so_far: DivisionReading, data: PlaceData, budget: list[int]
) -> Iterator[DivisionReading]:
    yield so_far
    budget[0] -= 1
    if budget[0] < 0:
        return
    while at < len(text) and text[at] in _SEPARATORS:
        at += 1
    for country in _COUNTRY if not so_far.mentions else ():
        if text.startswith(country, at):
            at += len(country)
    while at < len(text) and text[at] in _SEPARATORS:
        at += 1
    if so_far.mentions and not so_far.zone and (zone := ZONE.match(text, at)):
        skipped = replace(so_far, zone=zone[0], end=zone.end(), score=so_far.score + 1.0)
        yield from _readings(text, zone.end(), skipped, data, budget)
    for length in range(min(MAX_NAME, len(text) - at), 1, -1):
        name = text[at : at + length]
        town = f"{name}道" if name.endswith("街") and so_far.mentions and HAN.match(text, at + length) else ""
        for mention in (*_mentions(name, text[at + length :], data), *_town_mentions(town, data)):
            if so_far.mentions and mention.level <= so_far.mentions[-1].level:
                continue
            if (longer := _with_mention(so_far, mention, at + length)) is not None:
                yield from _readings(text, at + length, longer, data, budget)


def _mentions(name: str, following: str, data: PlaceData) -> Iterator[Mention]:
    """Yield a name once for each level and kind that it has."""
    groups: dict[tuple[int, NameKind], set[str]] = {}
    for code, kind in data.names.get(name, ()):
        groups.setdefault((len(code), kind), set()).add(code)
    for (level, kind), codes in groups.items():
        pattern = _NO_SHORT_NAME if kind is NameKind.SHORT else _NO_FULL_NAME if level == 9 else None
        if pattern is None or not pattern.match(following) or _goes_on_inside(following, codes, data):
            yield Mention(name, kind, frozenset(codes), level)


def _town_mentions(name: str, data: PlaceData) -> Iterator[Mention]:
    """Yield a subdistrict that is written without 道 (云城街 for 云城街道)."""
    codes = frozenset(code for code, _kind in data.names.get(name, ()) if len(code) == 9)
    if codes:
        yield Mention(name, NameKind.SHORT, codes, 9)


def _goes_on_inside(following: str, codes: set[str], data: PlaceData) -> bool:
    """Return whether a division inside these is named next: 湖里区 after 厦门 is no lake."""
    return any(
        inner.startswith(code) and inner != code
        for length in range(2, min(MAX_NAME, len(following)) + 1)
        for inner, _kind in data.names.get(following[:length], ())
        for code in codes
    )


def _with_mention(so_far: DivisionReading, mention: Mention, end: int) -> DivisionReading | None:
    """Return a reading with one more name: its divisions narrowed to those that the earlier names contain."""
    score = so_far.score + _POINTS[mention.kind] + 0.5 * len(mention.name) - 0.1 * mention.level
    codes, contradictions = mention.codes, list(so_far.contradictions)
    for earlier in so_far.mentions:
        inside = frozenset(code for code in codes if any(code.startswith(above) for above in earlier.codes))
        if inside:
            codes, score = inside, score + _CONTAINED
        elif mention.level == 9:  # a town elsewhere: rather the beginning of a street
            return None
        else:
            score += _CONTRADICTS[mention.kind]
            contradictions.append(earlier.name)
    narrowed = replace(mention, codes=codes)
    return replace(
        so_far, mentions=(*so_far.mentions, narrowed), end=end, score=score, contradictions=tuple(contradictions)
    )
