"""A table of resolved addresses becomes a day; what is not sure is looked up again."""

from planner_mcp.addresses import structured_address
from planner_mcp.formats.tables.sheets import resolved_addresses
from tests.shared.formats.day_tables import read_file

HEADER = "address,lat,lon,accuracy,radius_m,confidence,status,resolved,source,note"
TABLE = f"""{HEADER}
"Alexanderplatz 1, 10178 Berlin",52.52,13.41,point,20,0.95,resolved,Berlin,roads,
"Hauptstraße 1, Berlin",52.48,13.35,city,15000,0.6,resolved,Berlin,offline,there are several
"12 High Street, Richmond",,,none,,0.3,ambiguous,Richmond,offline,
"""


def test_a_table_and_the_resolver_agree_from_where_a_position_is_sure() -> None:
    """SPEC O4: formats and addresses know nothing of each other, so each states the confidence."""
    assert resolved_addresses.SURE == structured_address.SURE


def test_positions_below_the_confidence_are_not_taken() -> None:
    """SPEC O4, T5: columns of the answer are neither asked about nor kept; the planner resolves the open ones."""
    imported = read_file(TABLE)
    places = {place["id"]: place.get("lat") for place in imported.body["locations"]}
    assert [places.get(each.get("location", "")) for each in imported.body["tickets"]] == [52.52, None, None]
    assert all(each["address"] for each in imported.body["tickets"])
    assert any("below 0.8" in text for text in imported.assumptions)


def test_a_row_with_an_address_alone_has_a_place_among_rows_with_positions() -> None:
    """SPEC T5: half a list has coordinates; the other half is resolved."""
    table = "id,address,lat,lon\na,Alexanderplatz 1,52.52,13.41\nb,Marienplatz 8,,\n"
    body = read_file(table).body
    assert [each["address"] for each in body["tickets"]] == ["Alexanderplatz 1", "Marienplatz 8"]


def test_cells_that_were_quoted_for_spreadsheets_come_back_as_they_were() -> None:
    """SPEC T5: the table is written by this program; a phone number began with a quote afterwards."""
    row = "'@ACME,'+49 30 123,\"Alexanderplatz 1, 10178 Berlin\",52.52,13.41,point,20,0.95,resolved,Berlin,roads,"
    table = f"name,phone,{HEADER}\n{row}\n"
    (ticket,) = read_file(table).body["tickets"]
    assert (ticket["name"], ticket["phone"]) == ("@ACME", "+49 30 123")
