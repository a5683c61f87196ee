"""Points of a map as a table (SPEC T5)."""

import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.geojson_points import read_points
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario


def test_points_of_a_map_are_a_table() -> None:
    """SPEC T5: GeoJSON; properties are columns."""
    points = [
        {
            "type": "Feature",
            "id": "a",
            "geometry": {"type": "Point", "coordinates": [116.4, 39.95, 50]},
            "properties": {"数量": 3, "skills": ["cold", "lift"], "remark": None},
        }
    ]
    day = TableImport()
    day.add_tickets(read_points({"features": points}, max_rows=10), {})
    day.agents = [{"id": "v", "capacity": 9, "skills": ["cold", "lift"]}]
    (ticket,) = parse_scenario(day.scenario(name="x", planning_date="2025-07-15")).tickets
    assert (ticket.id, ticket.demand, ticket.skills) == ("a", {"load": 3.0}, ("cold", "lift"))
    for wrong in (None, {"features": [{"geometry": {"type": "LineString"}}]}, {"features": []}, []):
        with pytest.raises(InputError):
            read_points(wrong, max_rows=10)
    with pytest.raises(TooLargeError):
        read_points({"features": points * 3}, max_rows=2)


def test_a_feature_that_is_no_point_is_reported_by_its_place() -> None:
    """SPEC T7: one line among the points does not make the whole file unreadable."""
    point = {"geometry": {"type": "Point", "coordinates": [116.4, 39.9]}, "properties": {"id": "a"}}
    features = [point, {"geometry": None, "properties": None}, {"geometry": {"type": "LineString"}}, 5]
    with pytest.raises(InputError) as caught:
        read_points({"features": features}, max_rows=9)
    assert [fault.path for fault in caught.value.errors] == ["/features/1", "/features/2", "/features/3"]


def test_a_point_beside_the_meridian_of_greenwich_is_read() -> None:
    """SPEC T5: a map writes 4e-05 for some metres of London."""
    day = TableImport()
    point = {"geometry": {"type": "Point", "coordinates": [-4e-05, 51.48]}, "properties": {"id": "a"}}
    day.add_tickets(read_points({"features": [point]}, max_rows=1), {"lat": "lat", "lon": "lon"})
    assert (day.faults, day.locations["at a"]["lon"]) == ([], -0.00004)
