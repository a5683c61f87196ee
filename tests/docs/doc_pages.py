"""The pages a person reads, and the fenced blocks in them."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
_FENCE = re.compile(r"^```(\S*)[ \t]*(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the words after it, its text."""

    language: str
    words: dict[str, str]
    text: str


@cache
def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order. Words after the language are `key=value`."""
    found = _FENCE.findall(page.read_text(encoding="utf-8"))
    return [Block(language, dict(word.split("=", 1) for word in rest.split()), text) for language, rest, text in found]


def name(page: Path) -> str:
    """Return a page's path for the name of a test."""
    return page.relative_to(ROOT).as_posix()
