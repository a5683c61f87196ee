"""A sheet of places beside those of tickets and agents (SPEC T5)."""

import pytest

from planner_mcp.errors import Fault, InputError, placed
from planner_mcp.formats.tables.import_options import ImportedScenario, ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import scenario_of_tables
from planner_mcp.formats.tables.sheets.sheet_reader import tables_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook

ORDERS = sheet_xml(rows_of(("Nr", "lat", "lon", "Menge"), ("A-1", 52.52, 13.4, 2.0), ("A-2", 52.5, 13.5, 3.0)))
FLEET = ("Kennzeichen", "Nutzlast")
DEPOTS = sheet_xml(
    rows_of(
        ("Nr", "Lager", "Anschrift", "lat", "lon", "Leiter"),
        ("D1", "Nord", "Müllerstr. 1, 13353 Berlin", 52.55, 13.35, "Frau X"),
        ("D2", "Süd", "Tempelhofer Damm 2, 12099 Berlin", 52.46, 13.38, "Herr Y"),
        ("D3", "Alt", "", "", "", ""),
    )
)


def read(**sheets: str) -> ImportedScenario:
    """Return the day of a workbook."""
    return scenario_of_tables(tables_of(workbook(sheets), sheet="", max_rows=99), ImportOptions("d", "2026-12-01"))


@pytest.mark.parametrize(("begin", "end"), [("Depot", "Zielort"), ("von", "bis"), ("Start", "Ende")])
def test_agents_start_and_end_at_places_of_a_sheet_by_any_of_their_names(begin: str, end: str) -> None:
    """SPEC T5: by number, or by name in any case; a column is known by its cells, and what nobody names is left out."""
    fleet = sheet_xml(rows_of((*FLEET, begin, end), ("B-1", 10.0, "nord", "D2"), ("B-2", 10.0, "Süd", "")))
    body = read(Aufträge=ORDERS, Fahrzeuge=fleet, Depots=DEPOTS).body
    ends = [(agent["start_location"], agent["end_location"]) for agent in body["agents"]]
    assert ends == [("Nord", "Süd"), ("Süd", "Süd")]
    places = {place.id: (place.lat, place.lon) for place in parse_scenario(body).locations}
    assert (places["Nord"], places["Süd"], "Alt" in places) == ((52.55, 13.35), (52.46, 13.38), False)


def test_a_single_place_is_the_depot_where_nothing_names_one() -> None:
    """SPEC T5: a sheet of one warehouse says where vehicles start; its address is looked up like others."""
    fleet = sheet_xml(rows_of(FLEET, ("B-1", 10.0)))
    found = read(Aufträge=ORDERS, Fahrzeuge=fleet, Lager=sheet_xml(rows_of(("Anschrift",), ("Müllerstr. 1, Berlin",))))
    assert (found.body["depot"], found.body["locations"][0]["address"]) == ("Müllerstr. 1, Berlin",) * 2
    assert 'All agents start and end at "Müllerstr. 1, Berlin", the only place of its sheet.' in found.assumptions
    several = read(Aufträge=ORDERS, Fahrzeuge=fleet, Depots=DEPOTS)
    assert ("depot" in several.body, len(several.body["locations"])) == (False, 2)


def test_a_position_where_several_agents_start_is_the_depot_and_not_at_the_first_of_them() -> None:
    """SPEC T5: sheets of all drivers said that they start "at B-1"; a start of one agent alone is called after it."""
    rows = (*FLEET, "Depot lat", "Depot lon"), ("B-1", 10.0, 52.5, 13.4), ("B-2", 10.0, 52.5, 13.4)
    for more, named in (((), ["Depot"]), ((("B-3", 10.0, 52.6, 13.5),), ["Depot", None])):
        body = read(Aufträge=ORDERS, Fahrzeuge=sheet_xml(rows_of(*rows, *more))).body
        starts = dict.fromkeys(agent["start_location"] for agent in body["agents"])
        places = {place["id"]: place for place in body["locations"]}
        assert [places[start].get("name") for start in starts] == named


def test_a_sheet_of_places_has_the_tickets_where_no_other_sheet_has() -> None:
    """SPEC T5: customers may stand in a sheet called sites."""
    fleet = sheet_xml(rows_of(FLEET, ("B-1", 10.0)))
    assert [ticket["id"] for ticket in read(Standorte=ORDERS, Fahrzeuge=fleet).body["tickets"]] == ["A-1", "A-2"]


@pytest.mark.parametrize(
    ("header", "home"), [("Wohnort", "Esslingen"), ("Home address", "Esslingen"), ("Start", "73728 Esslingen")]
)
def test_the_home_of_an_agent_may_be_no_more_than_a_town(header: str, home: str) -> None:
    """SPEC T5, O4: it is looked up like an address; it was called a place that the file does not have."""
    fleet = sheet_xml(rows_of((*FLEET, header), ("B-1", 10.0, home), ("B-2", 10.0, home)))
    body = read(Aufträge=ORDERS, Fahrzeuge=fleet).body
    assert [place for place in body["locations"] if "address" in place] == [{"id": home, "address": home}]
    assert {agent["start_location"] for agent in body["agents"]} == {home}
    unplaced = sheet_xml(rows_of(("Nr", "Menge"), ("A-1", 2.0)))
    assert "locations" not in read(Aufträge=unplaced, Fahrzeuge=fleet).body


def test_a_wrong_cell_of_a_place_is_reported_by_its_row() -> None:
    """SPEC T7: by sheet, row and column, as of any other table."""
    depots = sheet_xml(rows_of(("Depot", "lat", "lon"), ("Nord", "x", 13.35), ("Süd", 52.4, 13.4)))
    with pytest.raises(InputError) as caught:
        read(Aufträge=ORDERS, Fahrzeuge=sheet_xml(rows_of(FLEET, ("B-1", 10.0))), Depots=depots)
    assert [fault.path for fault in caught.value.errors] == ["/Depots/2/lat"]


def test_a_place_of_an_agent_that_nothing_positions_is_reported_once_with_what_to_add() -> None:
    """SPEC T7: one cell is begin and end of a route, and its fault says what a spreadsheet can say."""
    fleet = sheet_xml(rows_of((*FLEET, "Depot"), ("B-1", 10.0, "West")))
    found = read(Aufträge=ORDERS, Fahrzeuge=fleet)

    def in_file(fault: Fault) -> Fault:
        return found.in_file(fault) or fault

    with pytest.raises(InputError) as caught, placed(in_file):
        parse_scenario(found.body)
    (fault,) = caught.value.errors
    assert (fault.path, caught.value.message) == ("/Fahrzeuge/2/Depot", fault.problem)
    assert fault.hint == "Give it lat and lon or an address, beside it or in a sheet called Depots."
