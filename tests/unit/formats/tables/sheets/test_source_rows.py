"""Faults of a day are told by the file it was read from (SPEC T7)."""

import pytest

from planner_mcp.errors import Fault
from planner_mcp.formats.tables.sheets.source_rows import SourceRow, in_file

HEADERS = {"opens": "From", "service_min": "Min/stop", "demand": "Qty"}
SOURCE_ROWS = {
    "tickets": [SourceRow("/orders/2", HEADERS), SourceRow("/orders/3", HEADERS)],
    "agents": [],
    "locations": [SourceRow("depot", {})],
}


@pytest.mark.parametrize(
    ("path", "reported"),
    [
        ("/tickets/1/demand", "/orders/3/Qty"),
        ("/tickets/1/demand/load", "/orders/3/Qty"),
        ("/tickets/0/time_windows/0/0", "/orders/2/From"),
        ("/tickets/0/time_windows/0", "/orders/2"),
        ("/tickets/0/service_time_s", "/orders/2/Min~1stop"),
        ("/tickets/0/name", "/orders/2"),
        ("/tickets", "/orders"),
        ("/locations/0/lat", "depot"),
    ],
)
def test_a_place_in_the_day_is_one_in_the_file(path: str, reported: str) -> None:
    """SPEC T7: by the column where the field has one, else by the row; a wish by its name."""
    assert in_file(Fault(path, "No."), SOURCE_ROWS) == Fault(reported, "No.")


@pytest.mark.parametrize("path", ["", "/", "/tickets/2", "/tickets/a-1/id", "/agents", "/agents/0", "/planning_date"])
def test_a_place_that_no_row_became_is_left_as_it_is(path: str) -> None:
    """SPEC T7: agents that the caller gave are not of the file."""
    assert in_file(Fault(path, "No."), SOURCE_ROWS) is None


@pytest.mark.parametrize(
    ("place", "column"),
    [
        ("skills/0", "Needs"),
        ("time_windows", "Hours"),
        ("time_windows/0/1", "Hours"),
        ("time_windows/1", "Hours"),
        ("time_windows/1/0", "Hours"),
    ],
)
def test_one_of_several_values_in_a_cell_is_reported_by_its_column(place: str, column: str) -> None:
    """SPEC T7: a cell may have several skills and windows."""
    origins = {"tickets": [SourceRow("/2", {"skills": "Needs", "window": "Hours"})]}
    assert in_file(Fault(f"/tickets/0/{place}", "No."), origins) == Fault(f"/2/{column}", "No.")


def test_a_part_that_is_named_in_the_text_is_reported_by_its_row() -> None:
    """SPEC T7: what came from no row keeps its place."""
    reported = in_file(Fault("/tickets/1", "As /tickets/0, not /agents/0."), SOURCE_ROWS)
    assert reported == Fault("/orders/3", "As row 2, not /agents/0.")
