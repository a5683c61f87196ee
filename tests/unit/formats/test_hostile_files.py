"""Files made to hurt: whatever comes in, a scenario, a table or a short list of faults comes out (SPEC T7, T8)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.errors import InputError
from planner_mcp.formats.geojson_points import read_points
from planner_mcp.formats.tables.headers.header_words import TICKETS
from planner_mcp.formats.tables.sheets.text_tables import read_table
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.formats.vroom_format import read_vroom
from planner_mcp.routing.scenario.matrix_json_reader import read_travel_matrices
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.property_tests.example_counts import examples

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))


def fields(*names: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return objects that have some of the names, with anything under them."""
    return st.dictionaries(st.sampled_from(names), values, max_size=len(names))


job = fields(
    "id", "location", "delivery", "pickup", "service", "service_per_type", "skills", "priority", "time_windows"
)
vehicle = fields(
    *("id", "start", "end", "capacity", "time_window", "breaks", "costs", "skills", "max_tasks", "profile", "type")
)
shipment = st.fixed_dictionaries({"pickup": job, "delivery": job}, optional={"amount": values})


@pytest.mark.slow
@examples(80)
@given(st.lists(vehicle, max_size=2), st.lists(job | values, max_size=2), st.lists(shipment | values, max_size=2))
def test_any_problem_of_vroom(vehicles: list[Any], jobs: list[Any], shipments: list[Any]) -> None:
    """SPEC T7: no exception but ours."""
    file = {"vehicles": vehicles, "jobs": jobs, "shipments": shipments}
    try:
        parse_scenario(read_vroom(file, name="x", planning_date="2025-07-15"))
    except InputError as error:
        assert error.errors


@examples(80)
@given(st.binary(max_size=60) | st.text(alphabet='ab,;\t"\n\r地1', max_size=60).map(str.encode))
def test_any_table(data: bytes) -> None:
    """SPEC T7: any bytes, any quoting."""
    try:
        day = TableImport()
        day.add_tickets(read_table(data, max_rows=10), {})
        day.scenario(name="x", planning_date="2025-07-15")
    except InputError as error:
        assert error.message


@examples(60)
@given(st.lists(st.dictionaries(st.sampled_from(sorted(TICKETS)), st.text(max_size=8)), min_size=1, max_size=3))
def test_any_cells(rows: list[dict[str, str]]) -> None:
    """SPEC T7: known columns, any text in them; what is read is judged like any scenario."""
    heads = sorted({name for row in rows for name in row}) or ["id"]
    lines = [heads, *([row.get(name, "").replace('"', "") for name in heads] for row in rows)]
    text = "\n".join(",".join(f'"{cell}"' for cell in line) for line in lines)
    try:
        day = TableImport()
        day.add_tickets(read_table(text.encode("utf-8", "replace"), max_rows=50), {})
        day.agents = [{"id": "v", "capacity": 5}]
        parse_scenario(day.scenario(name="x", planning_date="2025-07-15"))
    except InputError as error:
        assert error.message


@examples(60)
@given(values | st.fixed_dictionaries({"features": st.lists(fields("geometry", "properties", "id") | values)}))
def test_any_points(value: Any) -> None:
    """SPEC T7: any JSON."""
    try:
        read_points(value, max_rows=5)
    except InputError as error:
        assert error.message


@examples(80)
@given(st.text(max_size=40) | fields("locations", "distances", "durations").map(json.dumps))
def test_any_upload(text: str) -> None:
    """SPEC T7: any text, any members."""
    try:
        read_travel_matrices(text, max_locations=3)
    except InputError as error:
        assert error.message
