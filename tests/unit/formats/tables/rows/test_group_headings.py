"""Headings of days, tours and drivers between the rows of tickets (SPEC T7)."""

import pytest

from planner_mcp.errors import InputError, grouped
from tests.shared.formats.day_tables import imported_day

PROBLEM = "The row looks like the heading of those below it."


@pytest.mark.parametrize(
    "headings",
    [
        ("Monday 7 Dec", "Tuesday, 8 Dec"),
        ("Mo 7.12.", "Di 8.12."),
        ("2026-12-07", "2026-12-08"),
        ("Van 2 – Paul", "Van 3 – Anna"),
        ("Tour 3", "Tour B"),
        ("Driver: Paul", "Fahrer: Anna"),
        ("PAUL", "Anna"),
        ("周一", "星期二"),
        ("司机:张三", "第2车"),
    ],
)
@pytest.mark.parametrize("columns", ["id,address,qty", "Stop,note,qty", "address,name,qty"])
def test_a_heading_of_a_group_is_refused_as_what_it_is(headings: tuple[str, str], columns: str) -> None:
    """SPEC T7: it was a row without a place, or a stop called Tour 3."""
    first, second = headings
    rows = f'"{first}",,\na,Ring 1,1\nb,Ring 2,2\n"{second}",,\nc,Ring 3,1\n'
    agents = ({"id": "Paul", "capacity": 9}, {"id": "v", "name": "Anna", "capacity": 9})
    with pytest.raises(InputError) as caught:
        imported_day(f"{columns}\n{rows}", agents=agents)
    found = [fault for fault in caught.value.errors if fault.problem == PROBLEM]
    assert [fault.path for fault in found] == ["/2", "/5"]
    assert [fault.path for fault in caught.value.errors if fault.path.startswith("/")] == ["/2", "/5"]
    (fault,) = grouped(found)
    assert fault.which == (f"row 2 ({first})", f"row 5 ({second})")


def test_faults_in_the_cell_of_a_heading_are_left_out() -> None:
    """SPEC T7: it stands in a column of numbers as it stands first."""
    with pytest.raises(InputError) as caught:
        imported_day("lat,lon,id\nTour 1,,\n52.5,13.4,a\n52.6,13.4,b\n")
    assert [(fault.path, fault.problem) for fault in caught.value.errors] == [("/2", PROBLEM)]


@pytest.mark.parametrize(
    "table",
    [
        "address,qty\nTour Eiffel,\nRing 1,1\n",
        "address,qty\nRing 1,1\nRoute 66,\nRing 2,1\n",
        "address,qty\nRoute 66,\nRing 1,\nRing 2,1\n",
        "address,qty\nVan Ness Avenue,\nSun Street 4,\nRing 2,1\n",
        "address\nTour 1\nRing 1\n",
        "location\nTour 1\nTour 2\n",
        "id,qty\nTour Eiffel,\na,1\n",
        "address,qty\nRing 1,1\nTour 2,\n",
        "location,qty\nVan 3,\nVan 4,1\nVan 5,\n",
        "address,qty\nRoute 9 North,\nRoute 22 South,1\n",
    ],
)
def test_a_row_of_one_cell_that_may_be_a_stop_is_one(table: str) -> None:
    """SPEC T5: an address without an amount, a road with a number, a table of one column."""
    assert len(imported_day(table).body["tickets"]) == table.count("\n") - 1


def test_a_ticket_without_a_place_is_no_heading() -> None:
    """SPEC T7: its place was forgotten."""
    with pytest.raises(InputError) as caught:
        imported_day("id,lat,lon\nA-4,,\nVan der Berg,,\nb,52.5,13.4\n")
    assert {fault.problem for fault in caught.value.errors} == {"The row has no place."}
