"""Texts of the server in the language of its reader: English as the code has it, or Chinese.

Owns the look-up and which language a call has. The Chinese texts stand in `chinese_texts.json`, keyed by the English
ones; `{}` in a key stands for a value, which goes to the same place of the Chinese text. `{:words}` there says that the
value is a text of ours, which is looked up as well, `{:figure}` that it is a number, and `{:alone}` that the text is no
part of a line, so that a caller's words are not taken for it. A text without an entry stays as it is. Nothing that a
program reads is translated: no code, name, unit or field. The words of pages are `render/page_words.py`'s and the
dashboard's.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
HOLE: Final = "{}"
MAX_LINE: Final = 2000
"""Characters of a line that is looked up; longer ones are tables."""
_WARNING: Final = "Warning: "
NEXT: Final = "Next: "
"""What leads in the advice of an answer."""
_LABEL: Final = re.compile(rf"{_WARNING}|{NEXT}|/\S*: |[A-Z]+(?:_[A-Z]+)* (?=\S)")
"""What leads in a sentence: a word of ours, a place, a code."""
_BETWEEN: Final = re.compile(r"(?<=[.:;,]) (?=\S)")
_SENTENCES: Final = re.compile(r"[.:;] ")
_PLACE: Final = re.compile(r"\{(\d?)(?::([a-z]+))?\}")
"""Where a value goes in a Chinese text: its number, if that is another than its place, and its form."""
_VALUES: Final[Mapping[str, str]] = {"figure": r"([-+]?\d[\d.,e+-]*)"}
_MOST_PARTS: Final = 12
_SHOWN: Final = ("title", "description")
_current: ContextVar[Language] = ContextVar("language", default="en")


def use_language(language: Language) -> None:
    """Let the texts of the running task, and of those it starts, be in a language."""
    _current.set(language)


def current_language() -> Language:
    """Return the language of the running task."""
    return _current.get()


def preferred(header: str, otherwise: Language) -> Language:
    """Return the language an `Accept-Language` (RFC 9110, 12.5.4) asks for before the other.

    Args:
        header: Its value, as the caller sent it.
        otherwise: The language of a header that names neither.
    """
    best, weight = otherwise, 0.0
    for entry in header[:1000].split(","):
        name, _, parameter = entry.strip().lower().partition(";")
        found = re.fullmatch(r"\s*q=([01](?:\.\d{0,3})?)\s*", parameter)
        value = float(found[1]) if found else 0.0 if parameter else 1.0
        language = next((each for each in LANGUAGES if each == name.strip().partition("-")[0]), None)
        if language is not None and value > weight:
            best, weight = language, value
    return best


def translated(text: str, language: Language | None = None) -> str:
    """Return a text of ours in a language, that of the running task where none is given."""
    if (language or _current.get()) == "en":
        return text
    if (chinese := chinese_texts().get(text)) is not None:
        return chinese
    return _filled_in(text) or text


def phrase(template: str, *values: object) -> str:
    """Return a text of ours, `{}` for each value, in the language of the running task with the values filled in."""
    return translated(template).format(*map(_Value, values))


def translated_line(text: str) -> str:
    """Return a line in the language of the running task; what was put together from texts of ours is taken apart.

    A part without an entry stays as it is, and so does a single word, which may be a caller's.
    """
    if _current.get() == "en" or len(text) > MAX_LINE:
        return text
    if (whole := chinese_texts().get(text)) is not None:
        return whole
    if label := _LABEL.match(text):
        return translated(label[0]) + translated_line(text[label.end() :])
    parts, shown = _BETWEEN.split(text, maxsplit=_MOST_PARTS - 1), list[str]()
    while parts:
        taken, words = next(_known_beginnings(parts), (1, parts[0]))
        shown.append(words)
        del parts[:taken]
    return " ".join(shown)


def _known_beginnings(parts: list[str]) -> Iterator[tuple[int, str]]:
    """Yield how many parts make a text of ours together, and its translation: those without values first."""
    beginnings = [" ".join(parts[:count]) for count in range(1, len(parts) + 1)]
    for count, text in reversed([*enumerate(beginnings, 1)]):
        if " " in text and (words := chinese_texts().get(text)) is not None:
            yield count, words
    for count, text in enumerate(beginnings, 1):
        bare = text.rstrip(",;")
        for part, end in ((text, ""), (bare, text[len(bare) :])):
            if " " in part and (words := _filled_in(part, is_alone=False)) is not None:
                yield count, words + end


class _Value(str):
    """A value of a text. A hole written as `{:words}` takes it translated, for there it is a text of ours too."""

    __slots__ = ()

    def __format__(self, form: str) -> str:
        """Return the value, translated where its hole asks for that."""
        return translated(str(self), "zh") if form == "words" else str(self)


def _filled_in(text: str, *, is_alone: bool = True) -> str | None:
    """Return the translation of a text with values; None where there is none.

    Args:
        text: As it was written.
        is_alone: Whether it is a text by itself, and no part of a line. No value of a part is a sentence.
    """
    for literal, pattern, words in _patterns():
        if literal not in text or ("{:alone}" in words and not is_alone):
            continue
        found = pattern.fullmatch(text)
        if found is not None and (is_alone or not any(map(_SENTENCES.search, found.groups()))):
            return words.format(*map(_Value, found.groups()))
    return None


def translated_schema(schema: Any, language: Language) -> Any:
    """Return JSON with the titles and descriptions in it translated: a tool, a prompt, a JSON Schema."""
    if isinstance(schema, list):
        return [translated_schema(each, language) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        key: translated(value, language)
        if key in _SHOWN and isinstance(value, str)
        else translated_schema(value, language)
        for key, value in schema.items()
    }


@cache
def chinese_texts() -> dict[str, str]:
    """Return the Chinese texts by the English ones."""
    return dict(json.loads(Path(__file__).with_name("chinese_texts.json").read_text(encoding="utf-8")))


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Return the texts with values, the longest first: a part that each one has, its pattern, its translation."""
    found = [(key.split(HOLE), words) for key, words in chinese_texts().items() if HOLE in key]
    found.sort(key=lambda each: -len("".join(each[0])))
    return tuple((max(parts, key=len), _pattern(parts, words), words) for parts, words in found)


def _pattern(parts: list[str], words: str) -> re.Pattern[str]:
    """Return what matches a text with values, given what stands around these and its translation."""
    forms = {int(place[1] or at): place[2] for at, place in enumerate(_PLACE.finditer(words))}
    values = [_VALUES.get(forms.get(at) or "", "(.+)") for at in range(len(parts) - 1)]
    return re.compile(
        "".join(re.escape(part) + value for part, value in zip(parts, [*values, ""], strict=True)), re.DOTALL
    )
