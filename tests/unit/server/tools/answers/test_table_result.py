"""Tables as text: cells as people write them."""

from planner_mcp.server.tools.answers.table_result import table_page, table_text


def test_a_load_is_written_as_amounts_and_not_as_an_object_of_the_program() -> None:
    """SPEC T9: `kg=339` costs less than a Python dict, and is what a dispatcher reads."""
    rows = [["t-1", {"kg": 339.0, "m3": 2.5}], ["t-2", {}], ["t-3", None]]
    table = table_page(["ticket", "load"], rows, page=1, size=20, total=3)
    assert table_text("visits", table).splitlines()[1:] == ["t-1 kg=339,m3=2.5", "t-2 -", "t-3 -"]
    assert table.rows == rows
