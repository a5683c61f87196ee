"""What the table of tickets tells of the columns of agents beside it, and the other way round (SPEC T5).

Owns the words that two tables share: a column of tickets that names agents, or skills that agents have, is known by
them whatever its header.
"""

from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Final

from planner_mcp.formats.tables.cells.cell_text import MAX_CELL, listed
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized
from planner_mcp.formats.tables.sheets.text_tables import Table
from planner_mcp.text import Json


@dataclass(frozen=True, slots=True)
class OtherTable:
    """Words of the table beside one, as they are compared."""

    skills: frozenset[str] = frozenset()
    """What its columns of skills have."""
    agents: frozenset[str] = frozenset()
    """Ids and names, where it has the agents."""
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What its columns of agents that are no field, or where they start, have, by header."""

    def columns_like(self, header: str, words: Set[str]) -> list[str]:
        """Return its columns named alike, `Zone` and `Preferred zone`, which share a word with the cells."""
        ours = normalized(header)
        like = (name for name in self.columns if normalized(name) in ours or ours in normalized(name))
        return [name for name in like if not self.columns[name].isdisjoint(words)]


NO_OTHER_TABLE: Final = OtherTable()


def words_in(cells: Iterable[str]) -> frozenset[str]:
    """Return what cells list, as it is compared between tables."""
    return frozenset(word.casefold() for cell in cells if len(cell) <= MAX_CELL for word in listed(cell))


def other_tables(
    tables: Mapping[str, Table], agents: Iterable[Json], ours: Mapping[str, str], theirs: Mapping[str, str]
) -> tuple[OtherTable, OtherTable]:
    """Return what the tickets have that tells the columns of agents, and what the agents have for those of tickets.

    Args:
        tables: `tickets`, and `agents` where there is such a table.
        agents: Those of the caller, in place of such a table.
        ours: Field by header, where the caller says it, of tickets.
        theirs: The same of agents.
    """
    tickets_have = OtherTable(_words_of_fields(tables["tickets"], "tickets", ours, ("skills",)))
    if (fleet := tables.get("agents")) is not None:
        skills, names = (_words_of_fields(fleet, "agents", theirs, fields) for fields in (("skills",), ("id", "name")))
        return tickets_have, OtherTable(skills, names, _columns_without_field(fleet))
    named = (str(agent.get(field) or "") for agent in agents for field in ("id", "name"))
    return tickets_have, OtherTable(agents=words_in(named))


def skills_of_both(
    fleet: Table, tickets: Table, ours: Mapping[str, str], agents: OtherTable
) -> tuple[Table, dict[str, str]]:
    """Return the agents, and their columns like one of tickets that the caller takes for skills: both or none.

    Where agents start is read as such too, so its column is there twice.
    """
    chosen = [header for header, name in ours.items() if name == "skills"]
    like = [name for header in chosen for name in agents.columns_like(header, words_in(tickets.cells(header)))]
    twice = {name: f"{name} (skill)" for name in like if meaning_of(name, "agents").field == "location"}
    rows = [(line, row | {more: row[name] for name, more in twice.items() if name in row}) for line, row in fleet.rows]
    fleet = replace(fleet, headers=(*fleet.headers, *twice.values()), rows=tuple(rows))
    return fleet, dict.fromkeys((twice.get(name, name) for name in like), "skills")


def _words_of_fields(table: Table, kind: str, chosen: Mapping[str, str], fields: Collection[str]) -> frozenset[str]:
    """Return the words in the columns of a table whose headers, or the caller, say that they are one of some fields."""
    headers = [each for each in table.headers if each and chosen.get(each, meaning_of(each, kind).field) in fields]
    return words_in(cell for header in headers for cell in table.cells(header))


def _columns_without_field(table: Table) -> dict[str, frozenset[str]]:
    """Return the columns of agents whose headers are no word of a field, or name places, with the words in them."""
    fields = (None, "location")
    headers = [each for each in table.headers if normalized(each) and meaning_of(each, "agents").field in fields]
    found = {header: words_in(table.cells(header)) for header in headers}
    rows = len(table.rows)  # one word that all have tells no agents apart
    return {header: words for header, words in found.items() if len(words) > 1 or 0 < len(table.cells(header)) < rows}
