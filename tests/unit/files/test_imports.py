"""Scenarios from tables people have (SPEC T5)."""

import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.files.columns import AGENTS, TICKETS, propose
from planner_mcp.files.imports import Import
from planner_mcp.files.tables import Table, read_table
from planner_mcp.vrp.scenario import parse_scenario

ORDERS = """订单号,客户名称,地址,纬度,经度,重量(kg),最早时间,最晚时间,服务分钟,优先级,内部码
A001,张三,长安街1号,39.95,116.40,12.5,08:00,12：00,5,9,x
A002,李四,长安街2号,39.96,116.41,"1,200",,,,,y
A003,王五,长安街1号,39.95,116.40,3,,18:00,,,z
"""
FLEET = "Vehicle;Capacity;Shift start;Shift end;Skills\n京A1;2000;08:00;18:00;cold、lift\n京A2;500;28800;;\n"


def table(text: str, encoding: str = "utf-8") -> Table:
    return read_table(text.encode(encoding), max_rows=100)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_chinese_orders_become_a_day(encoding: str) -> None:
    """SPEC T5: headers in Chinese, in UTF-8 and GB18030; what no field is for is left out and said so."""
    day = Import()
    depot = day.add_depot("39.90,116.40")
    proposal = day.add_tickets(table(ORDERS, encoding), {})
    day.add_agents(table(FLEET), {})
    body = day.scenario(name="城配", planning_date="2025-07-15", depot=depot)
    scenario = parse_scenario(body)
    assert proposal.left_out == ("内部码",)
    assert proposal.guessed == ()
    first, second, third = scenario.tickets
    assert (first.id, first.name, first.demand, first.priority) == ("A001", "张三", {"load": 12.5}, 9)
    assert (first.time_windows, first.service_time_s) == (((28800.0, 43200.0),), 300.0)
    assert (second.demand, second.time_windows) == ({"load": 1200.0}, ())
    assert third.time_windows == ((0.0, 64800.0),)
    assert first.location == third.location, "equal positions are one place"
    assert [(each.id, each.skills, each.shift_start) for each in scenario.agents] == [
        ("京A1", ("cold", "lift"), 28800.0),
        ("京A2", (), 28800.0),
    ]


def test_headers_that_only_resemble_a_word_are_said_to_be_guesses() -> None:
    """SPEC T5: a proposed mapping, to be looked at; whoever knows better says so."""
    proposal = propose(("Order ID", "Quantitty", "Place", "Colour"), TICKETS, {})
    assert proposal.fields == {"Order ID": "id", "Quantitty": "demand", "Place": "location"}
    assert proposal.guessed == ("Quantitty",)
    assert proposal.left_out == ("Colour",)
    chosen = propose(("Order ID", "Place", "Colour"), TICKETS, {"Colour": "notes", "Place": ""})
    assert chosen.fields == {"Colour": "notes", "Order ID": "id"}
    for wrong in ({"Size": "id"}, {"Place": "colour"}):
        with pytest.raises(InputError):
            propose(("Order ID", "Place"), TICKETS, wrong)


def test_every_word_names_one_field() -> None:
    """Our choice: no header of a kind of table is two things."""
    for words in (TICKETS, AGENTS):
        known = [word for line in words.values() for word in line.split()]
        assert sorted(known) == sorted(set(known))


def test_cells_that_cannot_be_read_are_told_with_their_line() -> None:
    """SPEC T7: all at once, each with the line of the file and its header."""
    day = Import()
    day.add_tickets(table("id,place,qty,open\na,A,much,8\nb,B,1,08:00\nc,C,nan,soon\n"), {})
    with pytest.raises(InputError) as caught:
        day.scenario(name="x", planning_date="2025-07-15")
    assert [fault.path for fault in caught.value.errors] == ["/2/qty", "/4/qty", "/4/open"]


@pytest.mark.parametrize("text", ["", "\n\n", "a,a\n1,2\n", ",,\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    """SPEC T7: no header, or one twice."""
    with pytest.raises(InputError):
        table(text)


def test_a_table_too_long_is_refused() -> None:
    """SPEC X3: limits before work."""
    with pytest.raises(TooLargeError):
        read_table(b"id\n" + b"1\n" * 101, max_rows=100)
    with pytest.raises(InputError):
        read_table(b"\xff\xfe\xff\xff", max_rows=100)
