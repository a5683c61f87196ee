"""Files of dispatchers lose nothing in silence (SPEC T5, T7)."""

from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.tables.columns.column_values import OPEN_KINDS
from planner_mcp.formats.tables.import_options import ImportedScenario
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.day_tables import read_file
from tests.shared.formats.dispatcher_files import FILES, FRESH, UNSEEN, DispatcherFile

PRICES_AND_COUNTS = {"Invoice total", "序号", "Drop #", "Stopp", "Lfd. Nr."}
"""Columns of numbers that are rightly left out: what a customer pays, and the number of a row."""


def imported(file: DispatcherFile, columns: dict[str, str]) -> ImportedScenario:
    """Read a file as a day."""
    return read_file(file.text.encode(file.encoding), columns=columns, agents=file.agents)


def asked(file: DispatcherFile) -> set[str]:
    """Return the headers that a file is asked about; anything else wrong with it fails the test."""
    try:
        imported(file, {})
    except InputError as error:
        problems = [fault.problem for fault in error.errors]
        assert {fault.path for fault in error.errors} == {"columns"}, problems
        return {header for header in headers(file) if any(f'"{header}"' in problem for problem in problems)}
    return set()


def headers(file: DispatcherFile) -> list[str]:
    """Return the headers that the questions of a file are about."""
    return list(file.answers)


@pytest.mark.parametrize("file", [*FILES, *UNSEEN, *FRESH], ids=lambda file: file.name)
def test_i_give_you_my_list_as_it_is(file: DispatcherFile) -> None:
    """SPEC T5: every column is used, asked about, or listed with what it looks like; the first order is right."""
    assert asked(file) == set(file.answers)
    read = imported(file, file.answers)
    ticket = read.body["tickets"][0]
    places = {place["id"]: place for place in read.body.get("locations", [])}
    found: dict[str, Any] = places.get(ticket["location"], {}) | ticket
    assert {name: found.get(name) for name in file.first} == file.first
    mapping = read.proposals["tickets"]
    assert set(mapping.left_out) == set(mapping.looks)
    silent = [
        h for h, looks in mapping.looks.items() if looks.split(" ")[0] in OPEN_KINDS and file.answers.get(h) != ""
    ]
    assert set(silent) <= PRICES_AND_COUNTS
    scenario = parse_scenario(read.body)
    assert len(scenario.tickets) == 2


def test_there_are_forty_of_them_in_five_languages() -> None:
    """Our choice: twenty sets of headers, two files each."""
    assert (len(FILES), {file.name[:2] for file in FILES}) == (40, {"zh", "en", "de", "fr", "es"})


@pytest.mark.parametrize(
    ("header", "days", "planned"),
    [
        ("Date", ("2026-12-07", "2026-12-07"), "2026-12-07"),
        ("Lieferdatum", ("Mo 07.12.2026", ""), "2026-12-07"),
        ("From", ("2026-12-07 08:00", "2026-12-07 09:30"), "2026-12-07"),
        ("Date", ("46363", "46363"), "2026-12-07"),
        ("Date", ("2026-12-07", "Total"), "2026-12-07"),
        ("Req. delivery", ("2026-12-07", "2026-12-07"), "2026-12-07"),
        ("Date", ("2026-12-07", "2026-12-08"), "2026-11-30"),
        ("Best before date", ("2027-03-01", "2027-03-01"), "2026-11-30"),
        ("Date of birth", ("1940-03-01", "1940-03-01"), "2026-11-30"),
        ("Order date", ("2026-11-27", "2026-11-27"), "2026-11-30"),
        ("Date", ("11/30/2026", "11/30/2026"), "2026-11-30"),
    ],
)
def test_the_one_day_of_all_rows_is_planned_where_nobody_names_a_day(
    header: str, days: tuple[str, str], planned: str
) -> None:
    """SPEC T5: who plans tomorrow's list today would have all its hours on the wrong day; what is given goes first."""
    text = f'id,address,{header}\na,"Weg 1, Ulm",{days[0]}\nb,"Weg 2, Ulm",{days[1]}\n'
    for given, date in (("", planned), ("2026-11-29", "2026-11-29")):
        read = read_file(text, planning_date=given, default_date="2026-11-30")
        assert read.body["planning_date"] == date
        note = f"Planned for {date}, the day of all rows that name one."
        assert (note in read.assumptions) == (not given and date != "2026-11-30")


@pytest.mark.parametrize("day", ["", "12/07/2026"])
def test_a_day_that_nobody_names_clearly_is_missing(day: str) -> None:
    """SPEC T5: 12/07 may be of July; no other day is taken in its place."""
    with pytest.raises(InputError) as refused:
        read_file(f"id,date\na,{day}\n", planning_date="")
    assert [(fault.path, fault.kind) for fault in refused.value.errors] == [("planning_date", "missing")]
