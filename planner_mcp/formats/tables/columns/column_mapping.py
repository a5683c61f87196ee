"""Which column of a table is which field of a scenario, and the choices of a caller about it (SPEC T5).

Owns the form of a mapping, and which choices are refused. What is proposed for a table is `column_proposal.py`'s.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.cells.unit_words import AmountUnit
from planner_mcp.formats.tables.headers.header_words import AGENTS, SEVERAL, TICKETS
from planner_mcp.text import DAY_S, plain

IN_COLUMNS: Final = "in columns"
"""Where hints say that a column is named, in the words of a tool."""
SERVICE_UNITS_S: Final[Mapping[str, float]] = {
    "service_s": 1.0,
    "service_min": 60.0,
    "service_h": 3600.0,
    "service_d": DAY_S,
}
"""Fields of a service time, with the seconds of one."""
MAX_HEADER_SHOWN: Final = 40


@dataclass(frozen=True, slots=True)
class OpenColumn:
    """A column whose meaning the user must state."""

    header: str
    looks: str
    """What it looks like, with examples."""
    options: tuple[str, ...]
    """Fields that it may be; an empty one, always possible too, leaves it out."""
    why: str = "it looks like {}"
    """Why it was not settled, `{}` for its looks."""

    @property
    def doubt(self) -> str:
        """Return why it was not settled, with what it looks like."""
        return self.why.format(self.looks)

    def fault(self) -> Fault:
        """Return the question as a fault."""
        header = plain(self.header, MAX_HEADER_SHOWN)
        problem = f'Column "{header}" is not used: {self.doubt}.'
        accepted = " or ".join(self.options) if self.options else "a field"
        return Fault("columns", problem, accepted, f'Name it {IN_COLUMNS}: "{header}"; "" leaves it out.', "missing")


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Which field each column is."""

    fields: dict[str, str]
    """Field by header. Several headers may make up one of `COMPOSED`."""
    guessed: tuple[str, ...]
    """Headers that only resemble a known word, or are known by their cells alone."""
    left_out: tuple[str, ...]
    """Headers that are no field."""
    looks: Mapping[str, str] = field(default_factory=dict)
    """What the columns that are left out look like."""
    open_columns: tuple[OpenColumn, ...] = ()
    """Those that must be named."""
    units: Mapping[str, AmountUnit] = field(default_factory=dict)
    """Of amounts, by header."""

    def headers_of(self, names: Container[str]) -> list[str]:
        """Return the headers of some fields."""
        return [header for header, name in self.fields.items() if name in names]


def split_by_table(
    chosen: Mapping[str, str], tickets: Sequence[str], agents: Sequence[str], passed_over: Sequence[str] = ()
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the choices for tickets and those for agents, by the headers of both tables.

    A column that both have is the tickets', unless agents alone know the field. `passed_over` are the headers of a
    sheet of agents that is not used.

    Raises:
        InputError: A choice names a column of neither.
    """
    strangers = [header for header in chosen if header not in tickets and header not in agents]
    if strangers:
        accepted = ", ".join(dict.fromkeys(filter(None, (*tickets, *agents))))
        known = {*tickets, *agents}
        raise input_error(
            [
                _unknown_header_fault(header, accepted, is_turned=chosen[header] in known)
                if header not in passed_over
                else _passed_over_fault(accepted)
                for header in strangers
            ]
        )
    ours = {
        header: name
        for header, name in chosen.items()
        if header in tickets and (header not in agents or not name or name in TICKETS or name not in AGENTS)
    }
    return ours, {header: name for header, name in chosen.items() if header not in ours}


def _passed_over_fault(accepted: str) -> Fault:
    problem = "The column is of the sheet of agents, which is not read: others were given."
    return Fault("columns", problem, accepted, "Leave the column out, or the agents that were given.")


def refuse_unknown(headers: Sequence[str], words: Mapping[str, str], chosen: Mapping[str, str]) -> None:
    """Refuse choices that name no column of a table, no field, or several columns as a field that has one.

    Raises:
        InputError: There are such.
    """
    accepted, known = ", ".join(filter(None, headers)), ", ".join(words)
    faults = [
        _unknown_header_fault(each, accepted, is_turned=name in headers)
        for each, name in chosen.items()
        if each not in headers
    ]
    faults += [
        Fault("columns", "There is no such field.", known, which=(_shown(each, name),))
        for each, name in chosen.items()
        if name and name not in words
    ]
    counts = Counter(filter(None, chosen.values()))
    faults += [
        Fault("columns", f"Several columns are named {name}.", "one column", 'Name the others ""; they are left out.')
        for name, count in counts.items()
        if count > 1 and name in words and name not in SEVERAL
    ]
    for begin, end in ((f"{place}opens", f"{place}closes") for place in ("", "pickup_")):
        if max(begins := counts[begin], ends := counts[end]) > 1 and begins != ends:
            problem = f"Columns named {begin} are {begins}, and those named {end} {ends}."
            faults.append(
                Fault("columns", problem, "a begin and an end of each window", 'Name the others ""; they are left out.')
            )
    if faults:
        raise input_error(faults)


def _unknown_header_fault(header: str, accepted: str, *, is_turned: bool) -> Fault:
    """Return the fault of a header that no table has; `is_turned`: the field it is given is one."""
    hint = "Write the header first, then its field." if is_turned else ""
    return Fault("columns", "There is no such column.", accepted, hint, which=(plain(header, MAX_HEADER_SHOWN),))


def _shown(header: str, name: str) -> str:
    return f"{plain(header, MAX_HEADER_SHOWN)} ({plain(name, MAX_HEADER_SHOWN)})"
