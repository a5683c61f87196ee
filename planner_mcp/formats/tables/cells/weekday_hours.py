"""Hours that depend on the weekday, as `Mo-Fr 9-17; Sa 10-14` and `周一至周五 9:00-17:00` (SPEC T5).

Owns the words for days and which hours stand behind which days. The hours themselves are `window_parsing.py`'s.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

Segment = tuple[frozenset[int], str]
"""Days, Monday 0, and what a cell says of them."""

_NAMES: Final[Mapping[str, Sequence[str]]] = {
    "en": [
        *("mon monday mo", "tue tues tuesday tu", "wed weds wednesday we", "thu thur thurs thursday th"),
        *("fri friday fr", "sat saturday sa", "sun sunday su"),
    ],
    "de": [
        *("mo montag montags", "di dienstag dienstags", "mi mittwoch mittwochs", "do donnerstag donnerstags"),
        *("fr freitag freitags", "sa samstag samstags sonnabend", "so sonntag sonntags"),
    ],
    "romance": [
        *(
            "lu lun lundi lunes lunedi",
            "ma mar mardi martes martedi",
            "me mer mercredi mi mie miercoles mercoledi",
            "je jeu jeudi ju jue jueves gio giovedi",
        ),
        "ve ven vendredi vi vie viernes venerdi",
        *("sa sam samedi sab sabado sabato", "di dim dimanche do dom domingo domenica"),
    ],
    "nl": [*("ma maandag", "di dinsdag", "wo woensdag", "do donderdag", "vr vrijdag", "za zaterdag", "zo zondag")],
    "pl": [
        *("pn pon poniedziałek", "wt wtorek", "sr sroda", "czw czwartek", "pt piatek", "sob sobota"),
        "nd niedz niedziela",
    ],
}
"""Words for each day from Monday on."""
EACH_DAY: Final = frozenset(range(7))
_GROUPS: Final[Mapping[str, frozenset[int]]] = {
    **dict.fromkeys(("weekdays", "working days", "workdays", "工作日", "平日"), frozenset(range(5))),
    **dict.fromkeys(
        ("weekend", "weekends", "wochenende", "fin de semana", "week-end", "周末", "双休日"), frozenset({5, 6})
    ),
    **dict.fromkeys(("daily", "every day", "taglich", "tous les jours", "diario", "每天", "每日", "天天"), EACH_DAY),
}
_HOLIDAYS: Final = (
    *("ph", "sh", "public holidays", "public holiday", "bank holidays", "holidays"),
    *("feiertags", "feiertage", "feiertag", "jours feries", "feries", "festivos", "dias festivos"),
    *("法定节假日", "节假日"),
)
"""Days that no calendar here knows: what is said of them is not used."""
_CHINESE: Final = {**{sign: at for at, sign in enumerate("一二三四五六日")}, "天": 6}
CLOSED: Final = frozenset({"closed", "geschlossen", "zu", "ferme", "cerrado", "off", "休息", "关门", "不营业", "休"})


def _days_of(*languages: str) -> dict[str, int]:
    return {name: at for language in languages for at, names in enumerate(_NAMES[language]) for name in names.split()}


_GERMANIC: Final = _days_of("en", "de")
_OTHERS: Final = tuple(
    (_days_of("en", language), frozenset(_days_of(language)) - frozenset(_days_of("en", *_NAMES.keys() - {language})))
    for language in ("romance", "nl", "pl")
)
"""Days in other languages, and the words that no language beside has."""
_ALL: Final = _days_of("nl", "pl", "romance", "de", "en")
LATIN_DAYS: Final = "|".join(sorted(_ALL, key=len, reverse=True))
"""All words for days but the Chinese, as a pattern."""
_DAY: Final = rf"(?:(?<![a-z])(?:{LATIN_DAYS})(?![a-z])\.?|(?:周|星期|礼拜)[一二三四五六日天])"
_NEXT: Final = rf"(?:{_DAY}|[一二三四五六日天](?![0-9点]))"
_TO: Final = r"\s*(?:-|–|—|~|〜|至|到|\b(?:to|thru|through|bis|au?|al|hasta)\b)\s*"
_BESIDE: Final = r"\s*(?:,|、|/|&|\+|和|及|\b(?:and|und|et|y)\b)\s*"
_DAYS: Final = re.compile(
    rf"(?:(?<![a-z])(?:{'|'.join((*_GROUPS, *_HOLIDAYS))})(?![a-z])"
    rf"|{_DAY}(?:{_TO}{_NEXT})?(?:{_BESIDE}{_NEXT}(?:{_TO}{_NEXT})?)*)\s*:?\s*"
)
_HOLIDAY: Final = rf"(?<![a-z])(?:{'|'.join(_HOLIDAYS)})(?![a-z])"
_NAMED_HOLIDAY: Final = re.compile(_HOLIDAY)
_HOLIDAY_BESIDE: Final = re.compile(
    rf"(?P<day>{_DAY}|{'|'.join(_GROUPS)}){_BESIDE}{_HOLIDAY}|{_HOLIDAY}{_BESIDE}(?={_DAY}|{'|'.join(_GROUPS)})"
)
"""Holidays that share the hours of weekdays, as in `Su, PH 10-14`."""
_ONE: Final = re.compile(rf"{_NEXT}")
_ONLY_TO: Final = re.compile(_TO)
_NUMBERED: Final = re.compile(rf"(?:{LATIN_DAYS})[-_/]\d+")
"""The number of an order or a tour, SO-12, rather than a Sunday until twelve."""
_AROUND: Final = " ,;、；|/\n"


def hours_by_weekday(simple: str) -> list[Segment]:
    """Return days and what is said of them; none where a cell names no day, or not so that each has its hours.

    Args:
        simple: A cell of bounded length in one width, without accents and in lower case.
    """
    if _NUMBERED.fullmatch(simple):
        return []
    simple = _HOLIDAY_BESIDE.sub(lambda found: found["day"] or "", simple)
    found = list(_DAYS.finditer(simple))
    if not found:
        return []
    before = simple[: found[0].start()].strip(_AROUND)
    if before:  # hours before their days, as in `9-17 Mo-Fr`
        if all(_NAMED_HOLIDAY.match(each[0]) for each in found):
            return [(EACH_DAY, before)]
        is_whole = len(found) == 1 and not simple[found[0].end() :].strip(_AROUND)
        return [(_days_in(found[0][0], simple), before)] if is_whole else []
    ends = [*(each.start() for each in found[1:]), len(simple)]
    return [
        (_days_in(each[0], simple), simple[each.end() : end].strip(_AROUND))
        for each, end in zip(found, ends, strict=True)
    ]


def names_holidays(simple: str) -> bool:
    """Return whether a cell, as above, says anything of public holidays."""
    return bool(hours_by_weekday(simple)) and _NAMED_HOLIDAY.search(simple) is not None


def _days_in(text: str, whole: str) -> frozenset[int]:
    """Return the days of a group; what one word means in two languages follows the other words of the cell.

    Where no word tells, German goes before French: `Di-Do`, but `Ma-Di`.
    """
    text = text.strip(" :")
    if text in _HOLIDAYS:
        return frozenset()
    if text in _GROUPS:
        return _GROUPS[text]
    words = {each.rstrip(".") for each in _ONE.findall(whole)}
    known = next((days for days, own in _OTHERS if words & own), _GERMANIC)
    names = known if words <= known.keys() else next((days for days, _ in _OTHERS if words <= days.keys()), known)
    return frozenset(_listed(text, names))


def _listed(text: str, names: Mapping[str, int]) -> Iterator[int]:
    last, end = None, 0
    for found in _ONE.finditer(text):
        word = found[0].rstrip(".")
        day = _CHINESE[word[-1]] if word[-1] in _CHINESE else names.get(word, _ALL.get(word, 0))
        between = text[end : found.start()]
        if last is not None and _ONLY_TO.fullmatch(between):
            yield from ((last + step) % 7 for step in range(1, (day - last) % 7))
        yield day
        last, end = day, found.end()
