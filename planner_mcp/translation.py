"""Texts of the server in the language of its reader: English as the code has it, or Chinese.

Owns the look-up and which language a call has. The Chinese texts stand in `chinese_texts.json`, keyed by the English
ones; `{}` in a key stands for a value, which goes to the same place of the Chinese text. A text without an entry stays
as it is. Nothing that a program reads is translated: no code, name, unit or field. The words of pages are
`render/page_words.py`'s and the dashboard's.
"""

import json
import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

Language = Literal["en", "zh"]
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
HOLE: Final = "{}"
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
        header: Its value, from whoever calls.
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
    for pattern, words in _patterns():
        if (found := pattern.fullmatch(text)) is not None:
            return words.format(*found.groups())
    return text


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
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    found = [(key, words) for key, words in chinese_texts().items() if HOLE in key]
    return tuple(
        (re.compile("(.+)".join(re.escape(part) for part in key.split(HOLE)), re.DOTALL), words) for key, words in found
    )
