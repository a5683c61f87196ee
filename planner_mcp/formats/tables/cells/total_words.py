"""Words that name a total, as in the last row of a table (SPEC T5)."""

import re
from collections.abc import Iterable
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, normalized_word
from planner_mcp.formats.tables.cells.unit_words import words_of

_WORDS: Final = words_of(
    "total totals grandtotal subtotal sum summe gesamt gesamtsumme zwischensumme somme totalgénéral totalgeneral "
    "soustotal suma totales totale totali totaal subtotaal eindtotaal somma razem łącznie "
    "ogółem summa celkem součet toplam totalt 合計 小計 合计 总计 小计 共计 总和 汇总"
)
_FIRST_WORD: Final = re.compile(r"[^\W\d_]+")


def is_total(texts: Iterable[str]) -> bool:
    """Return whether one of some cells is a word for a total."""
    return not _WORDS.isdisjoint(map(normalized_word, texts))


def begins_as_total(texts: Iterable[str]) -> bool:
    """Return whether one of some cells begins with a word for a total: `Total: 2 orders`, which may be a name too."""
    found = (_FIRST_WORD.match(text[:MAX_CELL]) for text in texts)
    return is_total(word[0] for word in found if word)
