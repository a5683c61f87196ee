"""What a ticket needs and an agent has, in a column of yes and no for each: `Tail lift`, `ADR` (SPEC T5).

Owns how such columns are found, in both tables, and what they become: the word of the agents' header where the answer
is yes, which is a skill.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import listed, normalized_word
from planner_mcp.formats.tables.cells.unit_words import words_of
from planner_mcp.formats.tables.columns.column_values import are_yes_or_no
from planner_mcp.formats.tables.headers.header_meanings import normalized
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import plain

_NO: Final = words_of(
    "n no nein non nee nie false 0 kein keine aucun ninguno geen nessuno brak notrequired notneeded nichtnötig "
    "nichterforderlich nichtbenötigt nonrequis nietnodig 否 无 不 不需要 不要"
)
_WISHES: Final = re.compile(
    r"\b(?:with|has|needs?|needed|required?|mit|notig|benotigt|erforderlich|avec|requis|requise|con|requerido|requiere"
    r"|nodig|vereist|met|necessari[ao]|richiest[ao]|wymagan[aey]|potrzebn[aey])\b|是否|需要|要求|带|有|需"
)
"""What headers say around the thing itself: `Tail lift required`, `需要尾板`."""
_SHORTEST: Final = 2
_SHORTEST_LATIN: Final = 4
"""Letters that two headers begin with alike at least; the same words may be shorter."""


def with_yes_no_skills(tables: Mapping[str, Table], chosen: Mapping[str, str]) -> dict[str, Table]:
    """Return the tables with skills in place of yes; columns that the caller names otherwise stay as they are.

    A column is one where agents answer yes or no below the same words; tickets may say more than yes: `UN 1263`.
    """
    tickets, fleet = tables["tickets"], tables.get("agents")
    if fleet is None:
        return dict(tables)
    other = {header for header, field in chosen.items() if field != "skills"}
    has = {each: _thing(each) for each in fleet.headers if each not in other and _answers(fleet, each) == 1}
    wants = {each: _thing(each) for each in tickets.headers if each not in other and _answers(tickets, each) > 0}
    pairs = {want: own for want, thing in wants.items() if (own := _own_column(thing, has))}
    owned = {own: own for own in pairs.values()}
    read = {"tickets": _with_skills(tickets, pairs), "agents": _with_skills(fleet, owned)}
    return {**tables, **(read if pairs else {})}


def _answers(table: Table, header: str) -> float:
    """Return the share of cells of a column that say yes or no, of those that say anything."""
    cells = [cell for cell in table.cells(header) if listed(cell)] if header else []
    return sum(are_yes_or_no([cell]) for cell in cells) / len(cells) if cells else 0.0


def _thing(header: str) -> str:
    return _WISHES.sub("", normalized(header)).replace(" ", "")


def _own_column(thing: str, has: Mapping[str, str]) -> str:
    """Return the column of agents that has the words of a ticket, or the only one that is alike; empty for none."""
    same = [own for own, other in has.items() if other == thing and len(thing) >= _SHORTEST]
    alike = same or [own for own, other in has.items() if _are_alike(thing, other)]
    return alike[0] if same or len(alike) == 1 else ""


def _are_alike(one: str, other: str) -> bool:
    """Return whether words are the same, or one goes on where the other ends: `Kühl`, `Kühlung`."""
    shorter, longer = sorted((one, other), key=len)
    return len(shorter) >= (_SHORTEST_LATIN if shorter.isascii() else _SHORTEST) and longer.startswith(shorter)


def says_yes(cell: str) -> bool:
    """Return whether a cell says anything but no."""
    return bool(listed(cell)) and normalized_word(cell) not in {"", *_NO}


def _with_skills(table: Table, skills: Mapping[str, str]) -> Table:
    rows = []
    for line, row in table.rows:
        wanted = {each: skill for each, skill in skills.items() if says_yes(row.get(each, ""))}
        rows.append((line, {each: cell for each, cell in row.items() if each not in skills} | wanted))
    notices = (
        f'All but no in "{plain(header, 40)}" is read as the skill "{plain(skill, 40)}".'
        for header, skill in skills.items()
    )
    return replace(table, rows=tuple(rows), skills=frozenset(skills), notices=(*table.notices, *notices))
