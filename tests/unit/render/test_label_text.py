"""How pages tell lengths (SPEC R1)."""

import pytest

from planner_mcp.render.label_text import length, length_unit
from planner_mcp.routing.plan import Plan, PlanStatus


@pytest.mark.parametrize(
    ("source", "travelled", "written"),
    [
        ("haversine", 1_234_567.0, "1,235 km"),
        ("haversine", 99_940.0, "99.9 km"),
        ("matrices", 8_060.0, "8.1 km"),
        ("haversine", 430.0, "0.43 km"),
        ("haversine", 0.0, "0 km"),
        ("plane", 64.474, "64.5 units"),
        ("plane", 0.0344, "0.034 units"),
        ("unit legs", 5.0, "5.0 units"),
    ],
)
def test_a_length_is_written_in_the_unit_of_travel(source: str, travelled: float, written: str) -> None:
    """SPEC R1: kilometres only where there are metres, and a short way is not nothing."""
    unit = length_unit(Plan(PlanStatus.FEASIBLE, 0.0, (), (), 0.0, 0.0, 0, 0, 0, travel={"source": source}))
    assert f"{length(travelled, unit)} {unit}" == written
