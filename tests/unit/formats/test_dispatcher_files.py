"""Files of dispatchers lose nothing in silence (SPEC T5, T7)."""

from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.import_formats import read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.column_values import OPEN_KINDS
from planner_mcp.formats.tables.import_options import ImportedScenario, ImportOptions
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.dispatcher_files import FILES, FRESH, UNSEEN, DispatcherFile

DATE = "2025-07-15"
PRICES_AND_COUNTS = {"Invoice total", "序号", "Drop #", "Stopp", "Lfd. Nr."}
"""Columns of numbers that are rightly left out: what a customer pays, and the number of a row."""


def imported(file: DispatcherFile, columns: dict[str, str]) -> ImportedScenario:
    """Read a file as a day."""
    options = ImportOptions("day", DATE, columns=columns, agents=file.agents)
    return read_scenario_file(Content(file.text.encode(file.encoding)), "csv", options, max_tickets=99, max_agents=9)


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
