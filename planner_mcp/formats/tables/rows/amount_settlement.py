"""Which amounts of tickets are held against which capacities of agents, and in what unit (SPEC T5).

Owns the pairing. Amounts of one dimension are brought to the unit of the capacity; one that no capacity limits is
kept as a note of its ticket; where two measures meet that cannot be compared, whoever knows is asked.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.cells.cell_text import shown
from planner_mcp.formats.tables.cells.unit_words import AmountUnit, dimension_named, unit_named
from planner_mcp.formats.tables.columns.column_mapping import IN_COLUMNS
from planner_mcp.formats.tables.headers.header_meanings import meaning_of, normalized, split_brackets
from planner_mcp.text import figure, plain

_SHOWN: Final = 40


@dataclass(slots=True)
class AmountColumn:
    """A column of amounts: one number a row, all in one unit."""

    header: str
    dimension: str = ""
    """Empty for an amount of anything."""
    factor: float = 0.0
    """How many of the dimension's usual unit one is; 0 where nobody says."""
    is_chosen: bool = False
    """Whether the caller named it."""
    numbers: list[float | None] = field(default_factory=list)
    first_with_unit: tuple[str, AmountUnit] | None = None
    """The first cell that says a unit."""
    unit_of_cell: str = ""
    """The cell whose unit the column has, where its header says none, and that is not the usual one of its kind."""
    has_bare_numbers: bool = False
    """Whether some cells say no unit."""
    is_repeated: bool = False
    """Whether each line of a ticket has the amount of all of them."""

    @classmethod
    def of(cls, header: str, unit: AmountUnit | None, *, is_chosen: bool) -> "AmountColumn":
        """Return a column without numbers, in the unit that its header says."""
        unit = unit or AmountUnit("", 0.0)
        return cls(header, unit.dimension, unit.factor, is_chosen=is_chosen)

    def join(self, lines: Sequence[Sequence[int]]) -> None:
        """Add up the numbers of the lines of each ticket; a total that all its lines repeat counts once."""
        joined = [[number for at in ats if (number := self.numbers[at]) is not None] for ats in lines]
        is_total = "total" in meaning_of(self.header, "tickets").concepts
        self.is_repeated = is_total and all(len(set(numbers)) <= 1 for numbers in joined)
        self.numbers = [(numbers[0] if self.is_repeated else sum(numbers)) if numbers else None for numbers in joined]

    @property
    def is_of_rare_unit(self) -> bool:
        """Whether its unit is known and not the usual one of its kind: tonnes, grams, pounds or litres."""
        return self.factor not in (0.0, 1.0)

    @property
    def shown(self) -> str:
        """The header as an answer quotes it."""
        return shown(self.header)


@dataclass(slots=True)
class SettledAmounts:
    """What tickets want and agents carry."""

    demands: list[float | dict[str, float]] = field(default_factory=list)
    capacities: list[float | dict[str, float]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """For each ticket, its amounts that no capacity limits; empty for none."""
    notices: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def settle_amounts(
    wanted: Sequence[AmountColumn],
    carried: Sequence[AmountColumn] | None,
    given: Sequence[Any],
    *,
    tickets: int,
    is_made_up: bool = False,
) -> SettledAmounts:
    """Return the demand of each ticket and the capacity of each agent.

    Args:
        wanted: Columns of the tickets.
        carried: Columns of the table of agents; None where agents were given by the caller.
        given: Capacities of those.
        tickets: How many tickets there are.
        is_made_up: Whether the capacities given are nobody's: they are then of each dimension, and hold all there is.
    """
    settled = SettledAmounts()
    wanted = [column for column in wanted if any(number is not None for number in column.numbers)] or list(wanted[:1])
    if carried is None:
        pairs = _with_given(wanted, given, settled, is_made_up=is_made_up)
    else:
        pairs = _with_carried(wanted, carried, settled)
    used = {id(column) for column, _, _ in pairs}
    for row in range(tickets):
        amounts = {name: _scaled(column.numbers[row], factor) for column, name, factor in pairs}
        settled.demands.append(amounts.get("", 0) if set(amounts) <= {""} else amounts)
        extras = (_note(column, row) for column in wanted if id(column) not in used)
        settled.notes.append("; ".join(filter(None, extras)))
    if kept := [column.shown for column in wanted if id(column) not in used]:
        settled.notices.append(f"Kept as notes, for no capacity limits it: {', '.join(kept)}.")
    return settled


def _scaled(number: float | None, factor: float) -> float:
    value = (number or 0) * factor
    return int(value) if float(value).is_integer() else value


def _note(column: AmountColumn, row: int) -> str:
    number = column.numbers[row]
    outside, brackets = split_brackets(column.header)
    return "" if number is None else " ".join([plain(outside.strip(), _SHOWN), figure(number), *map(plain, brackets)])


Pairs = list[tuple[AmountColumn, str, float]]
"""Columns of tickets that count, each with the dimension's name (empty for the only one) and a factor."""


def _with_given(
    wanted: Sequence[AmountColumn], given: Sequence[Any], settled: SettledAmounts, *, is_made_up: bool
) -> Pairs:
    names = list(dict.fromkeys(name for each in given if isinstance(each, dict) for name in each))
    chosen = [column for column in wanted if column.is_chosen]
    if is_made_up:
        dimensions = Counter(map(_name, wanted))
        names_of = {
            "" if len(wanted) == 1 else name if dimensions[name] == 1 else plain(column.header, _SHOWN): column
            for column in wanted
            for name in [_name(column)]
        }
        for each in given:
            room = {name: max(each, sum(filter(None, column.numbers))) for name, column in names_of.items()}
            settled.capacities.append(room.get("", each) if set(room) <= {""} else room)
        return [(column, name, 1.0) for name, column in names_of.items()]
    if not names:
        if len(wanted) > 1 and len(chosen) != 1:
            settled.faults.append(_several(wanted, "the agents have one capacity"))
            return []
        counted = (chosen or wanted)[:1]
        settled.notices += [
            f"{column.shown} and the capacity of the agents: numbers are taken as they stand."
            for column in counted
            if column.is_of_rare_unit
        ]
        return [(column, "", 1.0) for column in counted]
    if len(names) == 1 and len(wanted) == 1:
        matched = [(wanted[0], names[0])]
    else:
        others = _not_called(wanted, names)
        by_name = {name: _called(wanted, name) or [c for c in others if _is_called(c, name)] for name in names}
        matched = [(column, name) for name, alike in by_name.items() for column in _one_of(alike, shown(name), settled)]
    if wanted and not matched and not settled.faults:
        settled.faults.append(_several(wanted, f"the agents carry {' and '.join(map(plain, names))}"))
    return [(column, name, _factor_of_given(column, name, settled)) for column, name in matched]


def _factor_of_given(column: AmountColumn, name: str, settled: SettledAmounts) -> float:
    """Return how many of the unit at the end of a capacity's name, such as `weight_kg`, one of an amount is.

    Where the name ends with no unit, numbers are taken as they stand, with a notice where an amount's unit is not the
    usual one.
    """
    unit = unit_named(normalized(name).rpartition(" ")[2])
    if not column.factor or (unit and unit.dimension != column.dimension):
        return 1.0
    if unit is None:
        if column.factor != 1:
            settled.notices.append(_as_they_stand(column, shown(name)))
        return 1.0
    if column.factor != unit.factor:
        settled.notices.append(f"{column.shown} and {shown(name)} are brought to one unit.")
    return column.factor / unit.factor


def _as_they_stand(column: AmountColumn, limit: str) -> str:
    return f"{column.shown} and {limit}: numbers are taken as they stand."


def _name(column: AmountColumn) -> str:
    return column.dimension or plain(column.header, _SHOWN)


def _is_called(column: AmountColumn, name: str) -> bool:
    word = normalized(name)
    unit = unit_named(word)
    dimension = unit.dimension if unit else dimension_named(word)
    outside, brackets = split_brackets(column.header)
    if word in (normalized(outside), *map(normalized, brackets)):
        return True
    return bool(dimension and dimension == column.dimension)


def _with_carried(wanted: Sequence[AmountColumn], carried: Sequence[AmountColumn], settled: SettledAmounts) -> Pairs:
    matched: list[tuple[AmountColumn, AmountColumn]] = []
    for limit in carried:
        alike = [column for column in wanted if limit.dimension and column.dimension == limit.dimension]
        if sum(each.dimension == limit.dimension for each in carried) > 1:
            alike = _called(alike, limit.header) or _not_called(alike, [each.header for each in carried])
        matched += [(column, limit) for column in _one_of(alike, limit.shown, settled)]
    if not matched and wanted and carried and not settled.faults:
        chosen = [column for column in wanted if column.is_chosen] or list(wanted)
        limits = [column for column in carried if column.is_chosen] or list(carried)
        if len(chosen) == 1 and len(limits) == 1 and _are_comparable(chosen[0], limits[0]):
            matched = [(chosen[0], limits[0])]
        else:
            settled.faults.append(_several(wanted, f"the agents carry {' and '.join(c.shown for c in carried)}"))
    pairs: Pairs = []
    scaled: list[tuple[AmountColumn, str, float]] = []
    dimensions = Counter(_name(column) for column in {id(column): column for column, _ in matched}.values())
    are_named = len(matched) > 1 or any(_have_two_units(*pair) for pair in matched)  # by their usual unit, weight_kg
    for column, limit in matched:
        if _have_two_units(column, limit):
            settled.notices.append(f"{column.shown} and {limit.shown} are brought to one unit.")
        elif column.factor != limit.factor and (
            column.dimension == limit.dimension or column.is_of_rare_unit or limit.is_of_rare_unit
        ):
            settled.notices.append(_as_they_stand(column, limit.shown))
        wants, carries = column.factor or limit.factor or 1.0, limit.factor or column.factor or 1.0
        name = _name(column) if dimensions[_name(column)] == 1 else plain(column.header, _SHOWN)
        pairs.append((column, name, wants) if are_named else (column, "", 1.0))
        scaled.append((limit, name, carries if are_named else 1.0))
    scaled = scaled or [(limit, _name(limit), 1.0) for limit in carried[:1]]
    for row in range(len(carried[0].numbers) if carried else 0):
        amounts = {name: _scaled(limit.numbers[row], factor) for limit, name, factor in scaled}
        settled.capacities.append(amounts if are_named else next(iter(amounts.values())))
    used = [limit for limit, _, _ in scaled]
    if unused := [limit.shown for limit in carried if limit not in used and wanted and not settled.faults]:
        settled.notices.append(f"Limits nothing, for no ticket has such an amount: {', '.join(unused)}.")
    return pairs


def _called(columns: Sequence[AmountColumn], name: str) -> list[AmountColumn]:
    """Return the column of some that is called as a capacity is, such as that of a compartment."""
    return [column for column in columns if normalized(column.header) == normalized(name)]


def _not_called(columns: Sequence[AmountColumn], names: Sequence[str]) -> list[AmountColumn]:
    """Return the columns that are called as no capacity is: what goes into one compartment loads no other."""
    known = set(map(normalized, names))
    return [column for column in columns if normalized(column.header) not in known]


def _have_two_units(column: AmountColumn, limit: AmountColumn) -> bool:
    """Return whether an amount and its capacity are of one dimension, in different units."""
    are_known = column.factor and limit.factor and column.dimension == limit.dimension
    return bool(are_known) and column.factor != limit.factor


def _one_of(alike: Sequence[AmountColumn], limit: str, settled: SettledAmounts) -> Sequence[AmountColumn]:
    """Return the column that a capacity limits, of those of its kind; none, and a fault, where several might be it.

    The weight of a case beside that of the order: whichever came first would load the day wrongly.
    """
    chosen = [column for column in alike if column.is_chosen]
    if len(alike) <= 1 or len(chosen) == 1:
        return chosen if len(chosen) == 1 else alike
    settled.faults.append(_several(alike, f"{limit} limits one of them"))
    return []


def _are_comparable(column: AmountColumn, limit: AmountColumn) -> bool:
    are_known = column.dimension and limit.dimension and column.dimension != limit.dimension
    return not are_known or column.is_chosen or limit.is_chosen


def _several(wanted: Sequence[AmountColumn], but: str) -> Fault:
    columns = ", ".join(column.shown for column in wanted)
    problem = f"Which amount of a ticket counts is open: it has {columns}, and {but}."
    hint = f'Name it {IN_COLUMNS} as demand; as notes it is kept for the driver, "" leaves it out.'
    choices = tuple(column.header for column in wanted)
    return Fault("columns", problem, "one amount that capacities are of", hint, "missing", choices=choices)
