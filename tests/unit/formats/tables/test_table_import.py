"""Scenarios from tables people have (SPEC T5)."""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import pytest

from planner_mcp.errors import InputError, TooLargeError
from planner_mcp.formats.geojson_points import read_points
from planner_mcp.formats.tables.column_mapping import ColumnMapping, split_by_table
from planner_mcp.formats.tables.column_proposal import propose_mapping
from planner_mcp.formats.tables.column_values import values_of
from planner_mcp.formats.tables.header_words import AGENTS, TICKETS
from planner_mcp.formats.tables.import_options import ImportOptions
from planner_mcp.formats.tables.scenario_from_tables import scenario_of_tables
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.formats.tables.text_tables import Table, read_table
from planner_mcp.formats.tables.unit_columns import with_units
from planner_mcp.formats.vroom_format import assumed, read_vroom
from planner_mcp.routing.scenario.scenario_model import end_of, start_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario

ORDERS = """订单号,客户名称,地址,纬度,经度,重量(kg),最早时间,最晚时间,服务分钟,优先级,内部码
A001,张三,长安街1号,39.95,116.40,12.5,08:00,12：00,5,9,x
A002,李四,长安街2号,39.96,116.41,"1,200",,,,,y
A003,王五,长安街1号,39.95,116.40,3,,18:00,,,z
"""
FLEET = "Vehicle;Capacity;Shift start;Shift end;Skills\n京A1;2000;08:00;18:00;cold、lift\n京A2;500;28800;;\n"


def table(text: str, encoding: str = "utf-8") -> Table:
    return read_table(text.encode(encoding), max_rows=100)


def proposed(headers: str, cells: str = "", chosen: dict[str, str] | None = None) -> ColumnMapping:
    """Return what the columns of a table of one ticket are taken for."""
    return propose_mapping(table(f"{headers}\n{cells}\n"), "tickets", chosen or {})


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030"])
def test_chinese_orders_become_a_day(encoding: str) -> None:
    """SPEC T5: headers in Chinese, in UTF-8 and GB18030; what no field is for is left out and said so."""
    day = TableImport()
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


def test_headers_that_only_resemble_a_word_are_reported_as_guesses() -> None:
    """SPEC T5: a proposed mapping, to be looked at; whoever knows better says so."""
    proposal = proposed("Order ID,Quantitty,Place,Colour", "a,3,A,red")
    assert proposal.fields == {"Order ID": "id", "Quantitty": "demand", "Place": "location"}
    assert proposal.guessed == ("Quantitty",)
    assert proposal.left_out == ("Colour",)
    assert proposal.looks == {"Colour": "texts (red)"}
    chosen = proposed("Order ID,Place,Colour", "a,A,red", {"Colour": "notes", "Place": ""})
    assert chosen.fields == {"Colour": "notes", "Order ID": "id"}
    for wrong in ({"Size": "id"}, {"Place": "colour"}):
        with pytest.raises(InputError):
            proposed("Order ID,Place", "a,A", wrong)


def test_a_choice_goes_to_the_table_that_has_the_column() -> None:
    """SPEC T5: to the tickets where both have it, unless agents alone know the field."""
    chosen = {"Nr": "id", "Last": "capacity", "Foo": "", "Boss": "name", "Art": "nothing"}
    tickets, agents = split_by_table(chosen, ("Nr", "Last", "Foo", "Art"), ("Nr", "Last", "Foo", "Boss"))
    assert tickets == {"Nr": "id", "Foo": "", "Art": "nothing"}
    assert agents == {"Last": "capacity", "Boss": "name"}
    with pytest.raises(InputError):
        split_by_table({"Bar": ""}, ("Nr",), ("Last",))


def test_a_known_word_goes_before_one_that_resembles_it() -> None:
    """SPEC T5: the number of an order is its id, whatever stands in front of it."""
    assert proposed("order_code,order_id", "x,a").fields == {"order_id": "id"}


@pytest.mark.parametrize(
    ("header", "cell", "field"),
    [
        ("服务时间(分钟)", "15", "service_min"),
        ("服务时间（分钟/单）", "15", "service_min"),
        ("Service time (est.) (min)", "15", "service_min"),
        ("Service time (s)", "15", "service_s"),
        ("service_hr", "0.25", "service_h"),
        ("Service time (std.)", "0.25", "service_h"),
        ("Standzeit Min.", "15", "service_min"),
        ("服务时间", "0:15", "service_min"),
        ("Stop time", "15 min", "service_min"),
        ("Durée d'arrêt", "1h30", "service_min"),
        ("服务时间", "900", "service_s"),
    ],
)
def test_the_unit_of_a_service_time_is_that_of_its_header_or_its_cells(header: str, cell: str, field: str) -> None:
    """SPEC T5: a quarter of an hour is not 15 seconds."""
    assert proposed(f"id,{header}", f"a,{cell}").fields[header] == field


@pytest.mark.parametrize(
    ("header", "cells", "amounts"),
    [
        ("Bruttogewicht", ("ca. 10 kg", "ungefähr 12,5 kg"), [10, 12.5]),
        ("Weight", ("approx. 10 kg", "~ 8"), [10, 8]),
        ("预计重量", ("约10公斤", "12公斤左右"), [10, 12]),
        ("Poids", ("env. 1 200 kg", "30 kg"), [1200, 30]),
    ],
)
def test_an_estimate_is_an_amount_and_a_note_says_so(header: str, cells: tuple[str, str], amounts: list[float]) -> None:
    """SPEC T5: a column of them was left out as text, and nothing was carried."""
    day = TableImport(are_agents_made_up=True)
    day.add_tickets(table(f"id;address;{header}\nA1;x;{cells[0]}\nA2;y;{cells[1]}\n"), {})
    day.agents.append({"id": "v", "capacity": 1e6})
    tickets = day.scenario(name="d", planning_date="2025-07-15")["tickets"]
    assert [each["demand"] for each in tickets] == amounts
    assert f'Estimates in "{header}" such as "{cells[0]}" are read as they stand.' in day.notices


@pytest.mark.parametrize("cell", ["15", "0.25", "120"])
@pytest.mark.parametrize("header", ["Service time", "服务时间", "Stop time", "卸货时长", "Standzeit", "Duración"])
def test_fifteen_is_never_silently_fifteen_seconds(header: str, cell: str) -> None:
    """SPEC T5, T7: "15 what?" is asked; the argument that answers is named."""
    day = TableImport()
    day.add_tickets(table(f"id,place,qty,{header}\na,A,1,{cell}\n"), {})
    (fault,) = day.faults
    assert (fault.path, fault.accepted) == ("columns", "service_min or service_s or service_h")
    assert f'Column "{header}" is not used' in fault.problem and cell in fault.problem
    day = TableImport()
    day.add_tickets(table(f"id,place,qty,{header}\na,A,1,{cell}\n"), {header: "service_min"})
    assert (day.faults, day.tickets[0]["service_time_s"]) == ([], float(cell) * 60)


def test_an_agent_called_like_a_ticket_starts_where_its_row_says() -> None:
    """SPEC T5: both sheets count from 1; a place made from a position belongs to that position."""
    day = TableImport()
    day.add_tickets(table("id,lat,lon,demand\n1,39.95,116.4,1\n"), {})
    day.add_agents(table("id,lat,lon,capacity\n1,39.9,116.4,5\n2,39.9,116.4,5\n"), {})
    scenario = parse_scenario(day.scenario(name="day", planning_date="2025-07-15", depot=None))
    places = {place.id: place.lat for place in scenario.locations}
    assert places[scenario.tickets[0].location] == 39.95
    assert {places[start_of(scenario, driver) or ""] for driver in scenario.agents} == {39.9}


def test_a_row_without_a_position_is_nowhere() -> None:
    """SPEC T7: not at the place of an agent that is called alike."""
    day = TableImport()
    day.add_tickets(table("id,lat,lon,demand\nA,,,1\nB,39.95,116.4,1\n"), {})
    day.add_agents(table("id,lat,lon,capacity\nA,39.9,116.4,5\n"), {})
    assert [(fault.path, fault.problem) for fault in day.faults] == [("/2", "The row has no place.")]


def test_every_word_names_one_field() -> None:
    """Our choice: no header of a kind of table is two things."""
    for words in (TICKETS, AGENTS):
        known = [word for line in words.values() for word in set(line.split())]
        assert sorted(known) == sorted(set(known))


def test_cells_that_cannot_be_read_are_reported_with_their_line() -> None:
    """SPEC T7: all at once, each with the line of the file and its header."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,open\na,A,much,8\nb,B,1,08:00\nc,C,nan,soon\n"), {})
    with pytest.raises(InputError) as caught:
        day.scenario(name="x", planning_date="2025-07-15")
    assert [(fault.path, fault.problem) for fault in caught.value.errors] == [
        ("/2/qty", '"much" is not a number: demand.'),
        ("/4/qty", '"nan" is not a number: demand.'),
        ("/4/open", '"soon" is not a time.'),
    ]


def _of_cells() -> None:
    day = TableImport()
    day.add_tickets(table("id,place,qty\n" + "a,A,much\n" * 60), {})
    day.scenario(name="x", planning_date="2025-07-15")


def _of_points() -> None:
    read_points({"type": "FeatureCollection", "features": [{}] * 60}, max_rows=60)


def _of_rows() -> None:
    table("id,qty\n" + "a,1,2\n" * 60)


@pytest.mark.parametrize("read", [_of_cells, _of_points, _of_rows])
def test_equal_faults_are_reported_once_with_each_place(read: Callable[[], None]) -> None:
    """SPEC T7, T9: a message that says fifty sends back who has mended fifty of sixty."""
    with pytest.raises(InputError) as caught:
        read()
    assert caught.value.message == "60 problems; each is listed in errors."
    assert [(fault.count, len(fault.which)) for fault in caught.value.errors] == [(60, 60)]


@pytest.mark.parametrize("cell", ["1,2,3", "1_000", "1e5", "5 apples"])
def test_what_is_no_number_is_reported_with_its_value(cell: str) -> None:
    """SPEC T7: row, column, and the value that was seen."""
    day = TableImport()
    day.add_tickets(table(f"id;place;qty\na;A;{cell}\n"), {})
    assert [(fault.path, cell in fault.problem) for fault in day.faults][:1] in (
        [("/2/qty", True)],
        [("columns", True)],
    )


@pytest.mark.parametrize(
    ("cells", "amounts"),
    [
        (("12,5", "3"), [12.5, 3]),
        (("1.200,5", "1.200"), [1200.5, 1200]),
        (("1,200.5", "1,200"), [1200.5, 1200]),
        (("0,750", "1,500"), [0.75, 1.5]),
        (("1'200", "1 200,5"), [1200, 1200.5]),
        (("1,500,000", "2,500"), [1500000, 2500]),
        (("12 kg", "0,5 t"), [12, 500]),
    ],
)
def test_the_decimal_mark_is_that_of_the_whole_column(cells: tuple[str, str], amounts: list[float]) -> None:
    """SPEC T5: one cell that is clear settles those that are not."""
    day = TableImport()
    day.add_tickets(table("id;place;qty\na;A;{}\nb;B;{}\n".format(*cells)), {})
    body = day.scenario(name="x", planning_date="2025-07-15")
    assert [ticket["demand"] for ticket in body["tickets"]] == amounts


@pytest.mark.parametrize("cell", ["1,500", "1，500", "1.500"])
def test_a_mark_that_nothing_settles_is_asked_about_once(cell: str) -> None:
    """SPEC T7: tenfold loads would be planned; another column of the file settles it, and so does the caller."""
    day = TableImport()
    day.add_tickets(table(f"id;place;qty\na;A;{cell}\nb;B;{cell}\n"), {})
    assert [(fault.path, cell.replace("，", ",")[1:] in fault.problem.replace("，", ",")) for fault in day.faults] == [
        ("decimal", True)
    ]
    for mark, amount in ((",", 1.5), (".", 1500)):
        day = TableImport(decimal=mark)  # type: ignore[arg-type]
        day.add_tickets(table(f"id;place;qty\na;A;{cell}\n"), {})
        expected = amount if "." not in cell else {1.5: 1500, 1500: 1.5}[amount]
        assert day.scenario(name="x", planning_date="2025-07-15")["tickets"][0]["demand"] == expected
    day = TableImport()
    day.add_tickets(table(f"id;lat;lon;qty\na;48,1371;11,5754;{cell}\n"), {})
    assert day.scenario(name="x", planning_date="2025-07-15")["tickets"][0]["demand"] == (1500 if "." in cell else 1.5)


def test_a_mark_is_asked_about_between_commas_where_columns_show_both() -> None:
    """SPEC T7: `3,5` beside it says that 1,200 may be 1.2, whatever the coordinates are written with."""
    for volume, asked in (('"3,5"', ["decimal"]), ("3.5", [])):
        day = TableImport()
        day.add_tickets(table(f'id,lat,lon,kg,m3\na,48.1371,11.5754,"1,200",{volume}\n'), {})
        assert [fault.path for fault in day.faults] == asked


def test_a_number_of_a_workbook_that_ends_in_a_zero_is_asked_about() -> None:
    """SPEC T7: it is text there, perhaps of a German program: 1.500 kg would be planned as 1.5."""
    for cell, asked in (("1.500", ["decimal"]), ("1.500 kg", ["decimal"]), ("1.125", [])):
        day = TableImport()
        day.add_tickets(Table(("id", "place", "qty"), ((2, {"id": "a", "place": "A", "qty": cell}),)), {})
        assert [fault.path for fault in day.faults] == asked


def test_amounts_without_a_unit_beside_tonnes_are_reported() -> None:
    """SPEC T5, T7: 500 of them were perhaps kilograms; a header that says the unit settles it."""
    notes = {}
    for header in ("qty", "weight (kg)"):
        day = TableImport()
        day.add_tickets(table(f"id;place;{header}\na;A;500\nb;B;1,2 t\n"), {})
        notes[header] = [note for note in day.assumed() if "without a unit" in note]
    assert notes == {"qty": ['Amounts without a unit in "qty" are read in that of "1,2 t".'], "weight (kg)": []}


def test_a_shift_of_several_parts_is_reported_with_its_cell() -> None:
    """SPEC T7: the afternoon would be lost in silence."""
    day = TableImport(planning_date="2025-07-15")
    day.add_agents(table("vehicle;capacity;shift\nv;9;08:00-12:00, 13:00-17:00\nw;9;08:00-17:00\n"), {})
    assert [(fault.path, fault.problem) for fault in day.faults] == [("/2/shift", "The shift has several parts.")]


@pytest.mark.parametrize("headers", ["姓名,上班,下班,午休", "name,shift start,shift end,lunch break"])
def test_hours_of_a_break_are_a_break_of_the_agent(headers: str) -> None:
    """SPEC T5: a nurse is not sent to a visit in the hour in which she eats."""
    day = TableImport(planning_date="2025-07-15")
    day.add_agents(table(f"{headers}\nLi,7:30,19:00,12:00-12:45\nWu,8:00,17:00,-\n"), {})
    assert (day.faults, [agent.get("breaks") for agent in day.agents]) == (
        [],
        [[{"earliest": "12:00", "latest": "12:00", "duration_s": 2700.0}], None],
    )
    assert [(agent["shift_start"], agent["shift_end"]) for agent in day.agents] == [
        ("07:30", "19:00"),
        ("08:00", "17:00"),
    ]


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("from 12:00", '"from 12:00" has no begin and end.'),
        ("until 12:00", '"until 12:00" has no begin and end.'),
        ("上午", '"上午" has no begin and end.'),
        ("13:00-12:00", "The break has no begin and end on one day."),
    ],
)
def test_a_break_without_both_sides_is_reported_with_its_cell(cell: str, problem: str) -> None:
    """SPEC T7: how long it lasts is not known; `until 12:00` is no break from midnight."""
    day = TableImport(planning_date="2025-07-15")
    day.add_agents(table(f"vehicle;capacity;break\nv;9;{cell}\nw;9;12:00-13:00\n"), {})
    assert [(fault.path, fault.problem) for fault in day.faults] == [("/2/break", problem)]


def test_a_break_after_midnight_is_in_the_night_of_the_shift() -> None:
    """SPEC T5: at 02:00 of the day before, the agent has not begun, and the break would be lost in silence."""
    day = TableImport(planning_date="2025-07-15")
    day.add_agents(table("vehicle;capacity;shift;break\nv;9;22:00-06:00;23:45-00:15, 02:00-02:30\n"), {})
    assert day.agents[0]["breaks"] == [
        {"earliest": "23:45", "latest": "23:45", "duration_s": 1800.0},
        {"earliest": "26:00", "latest": "26:00", "duration_s": 1800.0},
    ]


def test_breaks_of_several_columns_are_all_taken() -> None:
    """SPEC T5: else the second column is asked about, and no answer to that is accepted."""
    day = TableImport(planning_date="2025-07-15")
    day.add_agents(table("vehicle;capacity;break;lunch\nv;9;10:00-10:15;12:00-12:30\n"), {})
    assert (day.faults, [each["earliest"] for each in day.agents[0]["breaks"]]) == ([], ["10:00", "12:00"])


def test_a_name_at_two_positions_is_reported_with_its_line() -> None:
    """SPEC T7: the second ticket is not sent to where the first one is; a metre of difference is none."""
    day = TableImport()
    rows = "a,A,39.9,116.4\nb,A,39.95,116.4\nc,A,39.90001,116.4\nd,A,,\n"
    day.add_tickets(table(f"id,place,lat,lon\n{rows}"), {})
    with pytest.raises(InputError) as caught:
        day.scenario(name="x", planning_date="2025-07-15")
    assert [fault.path for fault in caught.value.errors] == ["/3"]


def test_assumptions_about_a_table_are_reported() -> None:
    """SPEC T5: no demand, kinds nobody knows; words for kinds are known however they are written."""
    day = TableImport()
    day.add_tickets(table('id,place,qty,type,skills\na,A,,Pick-up,"cold, lift ,"\nb,B,2,return,\nc,C,3,VIP,\n'), {})
    assert [ticket.get("kind") for ticket in day.tickets] == ["pickup", "pickup", None]
    assert day.tickets[0]["skills"] == ["cold", "lift"]
    assert day.assumed() == [
        "Tickets without a demand, for which 0 is taken: 1.",
        "Of unknown kind, taken as deliveries: VIP.",
    ]


def test_agents_without_a_capacity_are_reported() -> None:
    """SPEC T5: they carry nothing, and would stay at home in silence."""
    day = TableImport()
    day.add_agents(table("id,capacity\nv,9\nw,\n"), {})
    day.settle()
    assert ([agent["capacity"] for agent in day.agents], day.assumed()) == (
        [9, 0],
        ["Agents without a capacity, for which 0 is taken: 1."],
    )


def test_a_window_that_closes_at_midnight_is_not_open_for_ever() -> None:
    """SPEC T7: 0 is a time; whoever wrote it is told that the window closes before it opens."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,open,close\na,A,1,08:00,0\n"), {})
    assert day.tickets[0]["time_windows"] == [["08:00", 0]]


@pytest.mark.parametrize("cells", [("3", "4"), ("早上", "晚上"), ("soon", "later")])
def test_a_column_called_after_windows_that_has_none_is_asked_about(cells: tuple[str, str]) -> None:
    """SPEC T5: a slot may be a number; another column that has windows is taken in its place."""
    day = TableImport()
    text = "id,place,qty,slot,时段\na,A,1,{},08:00-12:00\nb,B,1,{},不限\n".format(*cells)
    proposal = day.add_tickets(table(text), {})
    assert proposal.fields["时段"] == "window"
    (fault,) = day.faults
    assert fault.path == "columns" and 'Column "slot" is not used' in fault.problem and cells[0] in fault.problem
    assert [each.get("time_windows") for each in day.tickets] == [[["08:00", "12:00"]], None]


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("到货时间", ("8:00-10:30", "下午")),
        ("Delivery window", ("AM", "PM")),
        ("Slot", ("AM and PM", "afternoon")),
    ],
)
def test_halves_of_the_day_are_windows_and_a_note_says_of_what_hours(header: str, cells: tuple[str, str]) -> None:
    """SPEC T5, T7: orders name mornings and afternoons more often than hours."""
    day = TableImport()
    day.add_tickets(table(f"id,place,qty,{header}\na,A,1,{cells[0]}\nb,B,1,{cells[1]}\n"), {})
    assert (day.faults, day.tickets[1]["time_windows"]) == ([], [["12:00", "18:00"]])
    (note,) = day.notices
    assert note.startswith(f'"{header}" names halves of the day: mornings are read as until 12:00')


def test_a_sentence_that_names_a_half_of_the_day_is_no_window() -> None:
    """SPEC T5: what a customer asks for stays a note."""
    assert values_of(["morning, please ring", "afternoon, by the back door"]).kind == "texts"


@pytest.mark.parametrize(
    "text",
    [
        "id,Weight (kg)\nA,3 pallets\nB,4 kg\nC,5 pallets\n",
        "id,address\nA,\nB,Rue Une 1\nC,\n",
        "id,service_s,service_min\nA,60,5\nB,60,1\nC,60,9\n",
        "id,window,opens\nA,08:00-09:00,11:00\nB,08:00-09:00,\nC,08:00-09:00,10:00\n",
    ],
)
def test_a_fault_of_a_row_names_it(text: str) -> None:
    """SPEC T7: a slip that many rows have is one mistake with its rows."""
    day = TableImport()
    day.add_tickets(table(text), {})
    assert [fault.which for fault in day.faults] == [("row 2",), ("row 4",)]


def test_a_column_of_two_kinds_equally_often_is_read_in_one_way() -> None:
    """SPEC T5: the same file is read in the same way, in whatever process."""
    one_of_each = {"times": "09:30", "durations": "15 min", "amounts": "12 kg", "numbers": "7", "places": "Hauptstr. 5"}
    for first, second in combinations(one_of_each, 2):
        assert values_of([one_of_each[second], one_of_each[first]]).kind == first, (first, second)


def test_a_column_that_is_named_as_one_of_windows_has_some() -> None:
    """SPEC T7: whoever names it wants its windows."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,slot\na,A,1,3\n"), {"slot": "window"})
    assert [(fault.path, fault.problem) for fault in day.faults] == [("/2/slot", '"3" is no time window.')]


def test_a_window_that_says_the_hours_beside_it_is_read_once() -> None:
    """SPEC T5: two columns that agree mean one thing; of others holds what they share, and none is no mistake."""
    rows = ("08:00,12:00,8:00-12:00", "28800,12:00,08:00-12:00", "09:00,,-", "12:00,,08:00-12:00")
    day = TableImport()
    day.add_tickets(table("\n".join(["id,place,qty,open,close,slot", *(f"a,A,1,{row}" for row in rows)])), {})
    assert [fault.path for fault in day.faults] == ["/5"]
    assert [each["time_windows"] for each in day.tickets[:3]] == [
        [["08:00", "12:00"]],
        [[28800, "12:00"]],
        [["09:00", "47:59"]],
    ]
    assert not any("share" in notice for notice in day.assumed())
    day = TableImport()
    day.add_tickets(table("id,place,qty,opening hours,until\na,A,1,08:00-17:00,11:00\nb,B,1,8-12; 14-18,16:00\n"), {})
    assert (day.faults, [each["time_windows"] for each in day.tickets]) == (
        [],
        [[["08:00", "11:00"]], [["08:00", "12:00"], ["14:00", "16:00"]]],
    )
    assert "Tickets with hours in several columns, read as what these share: 2." in day.assumed()


def test_hours_after_the_midnight_that_all_shifts_pass_are_of_the_next_day() -> None:
    """SPEC T5, T7: a night round begins in the evening; who opens at 3 is not served the evening before."""
    rows = "a,A,1,02:00-05:30\nb,B,1,from 03:00\nc,C,1,until 05:00\nd,D,1,22:00-02:00\ne,E,1,from 19:00\n"
    windows = {}
    for start in ("21:00", "05:00"):
        day = TableImport()
        day.add_tickets(table(f"id,place,qty,slot\n{rows}"), {"slot": "window"})
        day.add_agents(table(f"id,capacity,shift start,shift end\nv,9,20:00,05:00\nw,9,{start},06:00\n"), {})
        day.settle_agents()
        day.settle_hours()
        windows[start] = [each["time_windows"][0] for each in day.tickets]
        assert ("Read as after midnight" in " ".join(day.assumed())) is (start == "21:00")
    assert windows["21:00"] == [
        ["26:00", "29:30"],
        ["27:00", "47:59"],
        ["24:00", "29:00"],
        ["22:00", "26:00"],
        ["19:00", "47:59"],
    ]
    assert windows["05:00"][:3] == [["02:00", "05:30"], ["03:00", "47:59"], ["00:00", "05:00"]], "one drives by day"


def test_rows_of_other_weekdays_are_asked_about_and_passed_over() -> None:
    """SPEC T5, T7: containers have days of their own; the planning date is a Tuesday."""
    text = 'id,place,qty,Abfuhrtage\na,A,1,Di + Do\nb,B,1,"Mo, Mi, Fr"\nc,C,1,täglich\nd,D,1,Mo-Mi\n'
    day = TableImport("2025-07-15")
    mapping = day.add_tickets(table(text), {})
    assert [(column.header, column.options) for column in mapping.open_columns] == [("Abfuhrtage", ("date",))]
    day = TableImport("2025-07-15")
    day.add_tickets(table(text), {"Abfuhrtage": "date"})
    assert ([each["id"] for each in day.tickets], day.faults) == (["a", "c", "d"], [])
    assert "Rows of another day than the planning date in Abfuhrtage, passed over: 1." in day.notices


@pytest.mark.parametrize("header", ["time window", "时间窗", "TW"])
def test_a_column_of_windows_is_one_of_hours(header: str) -> None:
    """SPEC T5: none is left out for its form; hours in columns of their own beside it are asked about."""
    day = TableImport()
    day.add_tickets(table(f"id,place,{header},open\na,A,08:00-12:00,\nb,B,,09:00\nc,C,08:00-9:00,9:00\n"), {})
    assert [each["time_windows"] for each in day.tickets[:2]] == [[["08:00", "12:00"]], [["09:00", "47:59"]]]
    assert [(fault.path, fault.problem) for fault in day.faults] == [
        ("/4", "The row has a time window, and other hours beside it.")
    ]
    proposal = proposed("time_window_start,time_window_end", "08:00,09:00")
    assert list(proposal.fields.values()) == ["opens", "closes"]


def test_amounts_and_capacities_are_brought_to_one_unit() -> None:
    """SPEC T5: tonnes on a van that is measured in kilograms would fit a thousandfold; its driver reads kilograms."""
    notice = '"重量(吨)" and "载重(kg)" are brought to one unit.'
    for heading, demand, notices in (
        ("载重(kg)", {"weight_kg": 12000}, [notice]),
        ("载重（吨）", 12, []),
        ("载重", 12, ['"重量(吨)" and "载重": numbers are taken as they stand.']),
    ):
        day = TableImport()
        day.add_tickets(table("订单号,地点,重量(吨)\na,A,12\n"), {})
        day.add_agents(table(f"车辆,{heading}\nv,2000\n"), {})
        body = day.scenario(name="x", planning_date="2025-07-15")
        assert (body["tickets"][0]["demand"], day.assumed()) == (demand, notices)


def test_which_of_two_weights_a_vehicle_is_limited_by_is_asked() -> None:
    """SPEC T5, T7: the weight of a case for that of the order would overload every vehicle in silence."""
    orders, fleet = "id,location,kg per case,Total weight (kg)\na,A,12.25,98\n", "van,Payload (kg)\nv,900\n"
    for capacities in ((), ({"weight_kg": 900},)):
        day = TableImport()
        day.add_tickets(table(orders), {})
        if capacities:
            day.agents += [{"id": "v", "capacity": each} for each in capacities]
        else:
            day.add_agents(table(fleet), {})
        with pytest.raises(InputError) as caught:
            day.scenario(name="x", planning_date="2025-07-15")
        (fault,) = caught.value.errors
        assert (fault.path, fault.choices) == ("columns", ("kg per case", "Total weight (kg)"))
    day = TableImport()
    day.add_tickets(table(orders), {"Total weight (kg)": "demand", "kg per case": "notes"})
    day.add_agents(table(fleet), {})
    (ticket,) = day.scenario(name="x", planning_date="2025-07-15")["tickets"]
    assert (ticket["demand"], ticket["notes"]) == (98, "kg per case 12.25")


def test_weight_and_volume_are_both_held_against_the_fleet() -> None:
    """SPEC T5: boxes that no vehicle counts are kept for the driver."""
    day = TableImport()
    day.add_tickets(table("订单号,地点,重量(kg),体积(m³),箱数\na,A,12,0.5,3\n"), {})
    day.add_agents(table("车牌号,核载(吨),容积(方)\nv,2,8\n"), {})
    body = day.scenario(name="x", planning_date="2025-07-15")
    (ticket,), (agent,) = body["tickets"], body["agents"]
    assert ticket["demand"] == {"weight_kg": 12, "volume_m3": 0.5}, "what is called kg is kg, whatever vehicles are in"
    assert (agent["capacity"], ticket["notes"]) == ({"weight_kg": 2000, "volume_m3": 8}, "箱数 3")
    assert 'Kept as notes, for no capacity limits it: "箱数".' in day.assumed()


def test_boxes_are_not_held_against_kilograms() -> None:
    """SPEC T7: nor two amounts against one capacity that nobody said the measure of."""
    day = TableImport()
    day.add_tickets(table("订单号,地点,箱数\na,A,12\n"), {})
    day.add_agents(table("车牌号,载重(kg)\nv,2000\n"), {})
    day.settle()
    assert [(fault.path, '"箱数"' in fault.problem) for fault in day.faults] == [("columns", True)]


def test_two_service_times_of_a_row_are_asked_about() -> None:
    """SPEC T7: neither is passed over; where they say the same there is nothing to ask."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,service_s,service_min\na,A,1,90,5\nb,B,1,300,5\nc,C,1,,5\n"), {})
    assert [fault.path for fault in day.faults] == ["/2"]
    assert [ticket["service_time_s"] for ticket in day.tickets[1:]] == [300, 300]


@pytest.mark.parametrize(
    ("cell", "opens"), [("0830", "08:30"), ("8", "08:00"), ("9am", "09:00"), ("上午9点半", "09:30")]
)
def test_an_hour_without_its_colon_is_not_taken_for_seconds(cell: str, opens: str) -> None:
    """SPEC T7: half past eight is not 830 seconds after midnight."""
    day = TableImport()
    day.add_tickets(table(f"id,place,qty,open,close\na,A,1,{cell},43200\n"), {})
    assert (day.faults, day.tickets[0]["time_windows"]) == ([], [[opens, 43200]])


def test_hours_with_decimals_beside_hours_without_a_colon_stay_so() -> None:
    """SPEC T5: each column shows by itself how it is written."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,ready,due\na,A,1,0730,17.5\nb,B,1,0815,16.75\n"), {})
    windows = [ticket["time_windows"] for ticket in day.tickets]
    assert (day.faults, windows) == ([], [[["07:30", "17:30"]], [["08:15", "16:45"]]])


@pytest.mark.parametrize(
    ("cells", "is_read"), [(("600", "1100"), True), (("900", "1230"), False), (("610", "1100"), False)]
)
def test_quarters_without_a_colon_are_hours_where_they_are_none_as_minutes(
    cells: tuple[str, str], is_read: bool
) -> None:
    """SPEC T5, T7: 1100 minutes are 18:20, which nobody writes beside 600; 900 and 1230 may be 15:00 and 20:30."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,ready\n" + "".join(f"{cell},A,1,{cell}\n" for cell in cells)), {})
    assert (day.faults == []) == is_read


def test_noon_beside_hours_without_a_colon_leaves_them_hours() -> None:
    """SPEC T5: the other column of times shows what four digits are, and a word in this one says so itself."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,ready,due\na,A,1,0800,1130\nb,B,1,0930,noon\nc,C,1,8.30 am,1600\n"), {})
    assert day.faults == []
    assert [ticket["time_windows"] for ticket in day.tickets] == [
        [["08:00", "11:30"]],
        [["09:30", "12:00"]],
        [["08:30", "16:00"]],
    ]


@pytest.mark.parametrize("header", ["Kd.-Nr.", "N° client", "客户信息 门店编号", "Customer ID"])
def test_numbers_of_customers_name_tickets_also_above_a_total(header: str) -> None:
    """SPEC T5: the row that adds up the others has none; such tickets were named by their rows."""
    text = f"Nr,{header},Nom,lat,lon,kg\n1,K-1,Éclair,48.8,2.3,5\n2,K-2,Ôtel,48.9,2.4,6\n,,Total,,,11\n"
    day = TableImport()
    day.add_tickets(table(text), {})
    assert [(ticket["id"], ticket["name"]) for ticket in day.tickets] == [("K-1", "Éclair"), ("K-2", "Ôtel")]
    twice = proposed(f"{header},Nom,lat,lon,kg", "K-1,Éclair,48.8,2.3,5\nK-1,Éclair,48.8,2.3,5\n,,,,10")
    assert header not in twice.fields, "what names two rows names none"
    assert "Kundennummer" not in proposed("Kundennummer,lat,lon", "7,48.8,2.3\n7,48.9,2.4").fields
    assert proposed("Order,lat,lon", "7,48.8,2.3\n7,48.9,2.4").fields["Order"] == "id", (
        "two orders of one number are a mistake"
    )


def test_a_line_of_units_below_the_header_belongs_to_it() -> None:
    """SPEC T5: its words were read as the first ticket, and every column was refused for them."""
    lines = "Auftrag,Breite,Länge,Gewicht,von,bis,Standzeit", ",°,°,kg,Uhr,Uhr,[min]", "A1,48.1,11.5,120,08:00,12:00,15"
    day = TableImport()
    mapping = day.add_tickets(table("\n".join(lines)), {})
    assert (day.faults, mapping.open_columns, len(day.tickets)) == ([], (), 1)
    assert (day.tickets[0]["service_time_s"], mapping.units["Gewicht (kg)"].dimension) == (900, "weight_kg")
    assert len(table("Auftrag,Gewicht,Menge\nA1,kg,3\n").rows) == 1, "a ticket with a unit in it is one"
    assert table("Auftrag,Gewicht,Standzeit,Tor\n,kg,min\nA1,3,5,2\n").headers[-1] == "Tor", "the line may end early"


def test_headers_below_their_groups_need_no_merged_cells() -> None:
    """SPEC T5: a workbook saved as CSV has none; the line of headers was read as the first ticket."""
    groups, heads = "Client;Livraison;;;Horaires;;Charge;", ";Rue;CP;Ville;Ouverture;Fermeture;Poids kg;Nb palettes"
    rows = "Noël;1 rue Hugo;69002;Lyon;8h;12h;150,5;1\nÇelik;2 place B;69002;Lyon;7h30;11h45;80;1"
    day = TableImport()
    mapping = day.add_tickets(table(f"{groups}\n{heads}\n{rows}\n"), {"Charge Nb palettes": "notes"})
    assert (day.faults, mapping.open_columns, len(day.tickets)) == ([], (), 2)
    first = {name: day.tickets[0][name] for name in ("name", "address", "time_windows")}
    assert first == {"name": "Noël", "address": "1 rue Hugo, 69002 Lyon", "time_windows": [["08:00", "12:00"]]}


def test_short_clock_times_may_be_durations() -> None:
    """SPEC T5: whoever is asked what 0:15 is can say that it is how long a stop takes."""
    (column,) = proposed("id,lat,lon,Abladen", "a,48.1,11.5,0:15").open_columns
    assert column.options == ("service_min", "opens", "closes")


def test_numbers_that_may_be_degrees_are_asked_about_as_coordinates() -> None:
    """SPEC T5: in a language that we have no words of, whoever knows can say where the places are."""
    mapping = proposed("Szerokość,Długość,Waga [kg]", "52.2360,21.0080,120\n52.2290,121.0030,85")
    offered = {column.header: column.options[:2] for column in mapping.open_columns}
    assert offered == {"Szerokość": ("lat", "lon"), "Długość": ("lon", "notes")}
    day = TableImport()
    day.add_depot("52.23,21.01")
    assert not day.lacks_coordinates(day.add_tickets(table("Nr,Szerokość\n1,52.2360\n2,52.2290\n"), {})), "it is asked"


@pytest.mark.parametrize("cell", ["1300", "830"])
def test_thirteen_hundred_may_be_seconds_and_is_asked_about(cell: str) -> None:
    """SPEC T7: 1300 alone may be one o'clock or 00:21:40."""
    day = TableImport()
    day.add_tickets(table(f"id,place,qty,open\na,A,1,{cell}\n"), {})
    assert [(fault.path, fault.problem) for fault in day.faults] == [
        ("/2/open", f'"{cell}" may mean hours or seconds.')
    ]


def test_a_fraction_where_whole_numbers_count_is_reported() -> None:
    """SPEC T7: nothing is rounded in silence."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,priority\na,A,1,2.5\n"), {})
    day.add_agents(table("id,capacity,max_tickets\nv,9,3.5\n"), {})
    with pytest.raises(InputError) as caught:
        parse_scenario(day.scenario(name="x", planning_date="2025-07-15"))
    assert {"/tickets/0/priority", "/agents/0/max_tickets"} <= {fault.path for fault in caught.value.errors}


@pytest.mark.parametrize("text", ["", "\n\n", "a,a\n1,2\n", ",,\n"])
def test_what_is_no_table_is_refused(text: str) -> None:
    """SPEC T7: no header, or one twice."""
    with pytest.raises(InputError):
        table(text)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('id,place,code\na,A,"urgent\nb,B,x\nc,C,y\n', "/2"),
        ('id,place,code\na,A,"two\nlines"\nb,B,"urgent\nc,C,"x"\n', "/4"),
        ('id;place;code\na;A;"said ""urgent""\n' + "b;B;x\n" * 30_000, "/2"),
        ("id,place,qty\na,A,3\nb,B,1,200\n", "/3"),
    ],
    ids=["open", "opened twice", "long", "thousands"],
)
def test_a_row_whose_cells_are_not_clear_is_reported_by_its_line(text: str, path: str) -> None:
    """SPEC T5, T7: a quote that nothing closes swallows no rows, 1,200 is not 1; neither is passed over."""
    with pytest.raises(InputError) as caught:
        read_table(text.encode(), max_rows=100_000)
    assert [fault.path for fault in caught.value.errors] == [path]


def test_a_cell_in_quotes_may_have_lines_and_separators() -> None:
    """SPEC T5: as spreadsheets write them; a quote within a cell, and empty cells behind the last, are no slip."""
    rows = table('id,notes,size\na,"two\nlines, ""so""",5" pipe,,\n').rows
    assert [cells for _, cells in rows] == [{"id": "a", "notes": 'two\nlines, "so"', "size": '5" pipe'}]


@pytest.mark.parametrize(
    ("line", "mark"), [("sep=;\r\n", ";"), ('"SEP=|"\n', "|"), ("sep=\t\n", "\t"), ("sep=,\n", ",")]
)
def test_a_separator_that_the_first_line_names_parts_the_rows(line: str, mark: str) -> None:
    """SPEC T5: a line for spreadsheets is no header; rows keep the numbers they have in the file."""
    read = table(line + "id,notes;x\na,b\n".replace(",", mark))
    assert (read.headers[0], [(number, cells["id"]) for number, cells in read.rows]) == ("id", [(3, "a")])


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_lines_are_counted_however_they_end(end: str) -> None:
    """SPEC T5, T7: those of an old Mac too; a row of several lines is told by its first."""
    lines = ["id,place,qty", "a,A,1", "", '"b', 'c",B,1,5', "d,D,7"]
    with pytest.raises(InputError) as caught:
        table(end.join(lines))
    assert [fault.path for fault in caught.value.errors] == ["/4"]
    with pytest.raises(InputError) as caught:
        table(end.join([*lines[:4], 'c",B,1', 'd,"D,7', ""]))
    assert [fault.path for fault in caught.value.errors] == ["/6"]
    assert [line for line, _ in table(end.join([*lines[:4], 'c",B,1', lines[5]])).rows] == [2, 4, 6]
    assert [line for line, _ in table(end.join(["sep=;", "id;place,", "a;A"])).rows] == [3]


def test_a_line_that_breaks_outside_of_quotes_is_reported() -> None:
    """SPEC T7: half a row is no ticket."""
    with pytest.raises(InputError) as caught:
        table("id,place\na,A\nb,B\rb,C\nd,D\n")
    (fault,) = caught.value.errors
    assert (fault.path, fault.problem) == ("/3", "The file is not a table of text.")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8", "gb18030"])
def test_the_encoding_that_was_assumed_is_reported(encoding: str) -> None:
    """SPEC T5: the "Unicode text" of a spreadsheet is read; bytes of another code page would be other names."""
    read = table("订单号\t地点\na\tA\n", encoding)
    assert read.rows == ((2, {"订单号": "a", "地点": "A"}),)
    notices = ("The file is not UTF-8; it was read as GB18030.",)
    assert table("Auftrag;Straße\na;Königsallee\n", "cp1252").headers == ("Auftrag", "Straße")
    assert table("id,place\na,A\n", "utf-16-le").headers == ("id", "place")
    assert read.notices == (notices if encoding == "gb18030" else ())


@pytest.mark.parametrize(
    ("encoding", "name", "cell"),
    [
        ("cp932", "Shift JIS", "鈴木商店 東京都千代田区丸の内1-1"),
        ("cp949", "EUC-KR", "이영희 서울특별시 종로구 사직로 161"),
        ("cp950", "Big5", "王小明 臺北市中正區重慶南路一段122號"),
    ],
)
def test_east_asian_text_keeps_its_letters(encoding: str, name: str, cell: str) -> None:
    """SPEC T5: nearly any bytes of these can be read as GB18030, which gave other names and addresses."""
    read = table(f"id,address\na,{cell}\n", encoding)
    assert read.rows[0][1]["address"] == cell
    assert read.notices == (f"The file is not UTF-8; it was read as {name}.",)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff\xfei", "The text has no known encoding."),
        (b"PK\x03\x04\x14\0\x06", "The file is a workbook, not text."),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "The file is a workbook, not text."),
    ],
)
def test_what_is_no_table_of_text_is_named_once(data: bytes, problem: str) -> None:
    """SPEC T7: and what to do; not each row below a title."""
    with pytest.raises(InputError) as caught:
        read_table(data, max_rows=100)
    (fault,) = caught.value.errors
    assert (fault.problem, bool(fault.accepted and fault.hint)) == (problem, True)


def test_cells_without_a_header_are_reported() -> None:
    """SPEC T5: nothing is left out in silence; empty columns are nothing to tell."""
    read = table("id,,place,\na,cold,A,\nb,,B,\n")
    assert read.notices == ("Cells left out, for their columns have no header: 1.",)
    assert propose_mapping(read, "tickets", {}).left_out == ()
    assert table("id,,place,\na,,A,\n").notices == ()


@pytest.mark.parametrize(
    "text",
    [
        "Orders of Monday\nid,place\na,A\nb,B\n",
        ",,Monday,\nid,place\na,A\nb,B\n",
        "Tour 5,,\n\nMonday,15.07.2025,\nid,place,qty\na,A,1\n",
    ],
)
def test_a_title_above_the_header_is_passed_over_and_reported(text: str) -> None:
    """SPEC T5: people put one there; no column is called like it."""
    read = table(text)
    assert read.headers[:2] == ("id", "place")
    assert read.notices[0].startswith("Lines above the header, passed over: ")


def test_a_header_in_two_lines_is_read_as_one() -> None:
    """SPEC T5: the window's begin and end stand under it."""
    read = table("单号,地点,时间窗,\n,,开始,结束\na,A,08:00,12:00\n")
    assert read.headers == ("单号", "地点", "时间窗 开始", "时间窗 结束")
    assert list(propose_mapping(read, "tickets", {}).fields.values()) == ["id", "location", "opens", "closes"]


def test_headers_that_stand_twice_are_named() -> None:
    """SPEC T7: among two hundred columns nobody finds them."""
    with pytest.raises(InputError) as caught:
        table("id,Weight,place,Weight\na,1,A,2\n")
    assert caught.value.errors[0].hint == "Rename one: Weight."


def test_a_table_too_long_is_refused() -> None:
    """SPEC X3: limits before work."""
    with pytest.raises(TooLargeError):
        read_table(b"id\n" + b"1\n" * 101, max_rows=100)
    with pytest.raises(InputError):
        read_table(b"\xff\xff\xff\xff", max_rows=100)


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


VROOM: dict[str, Any] = {
    "vehicles": [
        {
            "id": 1,
            "start": [2.35, 48.87],
            "end": [2.35, 48.87],
            "capacity": [4, 2],
            "skills": [1, 14],
            "time_window": [28800, 43200],
            "breaks": [{"id": 1, "time_windows": [[32400, 34200]], "service": 300}],
            "max_tasks": 4,
            "costs": {"fixed": 100, "per_hour": 36, "per_km": 1},
        },
        {"id": 2, "start": [2.35, 48.87]},
    ],
    "jobs": [
        {"id": 1, "location": [2.36, 48.88], "service": 300, "delivery": [1, 0], "skills": [1], "priority": 100},
        {"id": 2, "location": [2.37, 48.89], "pickup": [1, 0], "time_windows": [[1752570000, 1752573600]]},
    ],
    "shipments": [
        {
            "amount": [1, 1],
            "pickup": {"id": 4, "location": [2.34, 48.86], "setup": 60},
            "delivery": {"id": 4, "location": [2.33, 48.85]},
        }
    ],
}


def test_a_problem_of_vroom_is_a_day() -> None:
    """SPEC T5: vehicles, jobs and shipments with all that both models know."""
    scenario = parse_scenario(read_vroom(VROOM, name="v", planning_date="2025-07-15"))
    first, second = scenario.agents
    assert (first.shift_start, first.shift_end, first.max_tickets) == (28800.0, 43200.0, 4)
    assert (first.fixed_cost, first.cost_per_hour, first.cost_per_km) == (100.0, 36.0, 1.0)
    assert first.breaks[0].duration_s == 300.0
    assert (end_of(scenario, second), start_of(scenario, second)) == (None, first.start_location)
    by_id = {ticket.id: ticket for ticket in scenario.tickets}
    assert (by_id["1"].priority, by_id["1"].skills, by_id["1"].demand) == (9, ("1",), {"d1": 1.0, "d2": 0.0})
    assert (by_id["2"].kind, by_id["2"].time_windows) == ("pickup", ((32400.0, 36000.0),))
    assert (by_id["delivery 4"].pickup, by_id["pickup 4"].setup_time_s) == ("pickup 4", 60.0)
    assert len(scenario.locations) == 5


def test_a_word_of_vroom_that_means_something_else_is_reported() -> None:
    """SPEC T5: hours are paid while waiting too, and a window holds after setup; nothing is said of days without."""

    def notices(**jobs: Any) -> list[str]:
        problem = {"vehicles": [{"id": 1, "start": [2.35, 48.87], "costs": {"per_hour": jobs.pop("pay", 0)}}], **jobs}
        return assumed(read_vroom(problem, name="v", planning_date="2025-07-15"))

    timed = {"id": 1, "location": [2.36, 48.88], "time_windows": [[0, 60]]}
    assert notices(jobs=[timed]) == []
    assert ["per_hour" in each for each in notices(jobs=[timed], pay=36)] == [True]
    assert ["setup" in each for each in notices(jobs=[{**timed, "setup": 60}])] == [True]


@pytest.mark.parametrize("name", [True, None, 1.5, [1]])
def test_an_id_of_vroom_is_text_or_a_whole_number(name: Any) -> None:
    """SPEC T7: "true" is nobody's id; the fault names the place."""
    with pytest.raises(InputError) as caught:
        read_vroom({**VROOM, "jobs": [{**VROOM["jobs"][0], "id": name}]}, name="v", planning_date="2025-07-15")
    assert ("/jobs/0/id", "a whole number or text") in [(fault.path, fault.accepted) for fault in caught.value.errors]


def test_places_of_vroom_closer_than_a_hand_are_one() -> None:
    """SPEC T5: equal to six decimals, so that no two locations have one id."""
    jobs = [{"id": number, "location": [2.36 + number * 1e-8, 48.88]} for number in (1, 2)]
    body = read_vroom({**VROOM, "jobs": jobs}, name="v", planning_date="2025-07-15")
    assert len(parse_scenario(body).locations) == 4


def test_a_wrong_date_is_not_blamed_on_the_file() -> None:
    """SPEC T7: it is told with the scenario, by its own place."""
    body = read_vroom(VROOM, name="v", planning_date="15.07.2025")
    with pytest.raises(InputError) as caught:
        parse_scenario(body)
    assert "/planning_date" in [fault.path for fault in caught.value.errors]


def changed(part: str, **words: object) -> dict[str, object]:
    """Return the list that a problem of VROOM has under a name, with more words in its first entry."""
    first, *others = VROOM[part]
    return {part: [{**first, **words}, *others]}


SHIPMENT = VROOM["shipments"][0]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"jobs": [{"id": 1, "location": [0, 1], "delivery": [1], "pickup": [1]}]}, "/jobs/0"),
        ({"jobs": [{"id": 1, "location_index": 3}]}, "/jobs/0/location"),
        ({"vehicles": [{"id": 1, "start": [0, 1], "max_travel_time": 5}]}, "/vehicles/0/max_travel_time"),
        ({"matrices": {"car": {}}}, "/matrices"),
        ({"matrix": [[0]]}, "/matrix"),
        (changed("vehicles", profile="bike"), "/vehicles/0/profile"),
        (changed("vehicles", steps=[{"type": "start"}]), "/vehicles/0/steps"),
        (changed("vehicles", costs={"per_task_hour": 100}), "/vehicles/0/costs/per_task_hour"),
        (changed("vehicles", breaks=[{"id": 1, "max_load": [0]}]), "/vehicles/0/breaks/0/max_load"),
        (changed("vehicles", tim_window=[0, 1]), "/vehicles/0/tim_window"),
        ({"vehicles": [{"id": 1, "start_index": 0, "end": [0, 1]}]}, "/vehicles/0/start"),
        (changed("jobs", **{"a/b": 1}), "/jobs/0/a~1b"),
        (changed("jobs", time_window=[0, 1]), "/jobs/0/time_window"),
        (changed("shipments", service=60), "/shipments/0/service"),
        (changed("shipments", pickup={**SHIPMENT["pickup"], "skills": [1]}), "/shipments/0/pickup/skills"),
        ({"vehicles": 7}, ""),
        ({"jobs": 7}, ""),
        ({"jobs": [{}]}, "/jobs/0"),
        ({"jobs": [7]}, "/jobs/0"),
        (changed("jobs", time_windows=[[28800]]), "/jobs/0/time_windows"),
        (changed("jobs", priority="high"), "/jobs/0/priority"),
        (changed("jobs", location={"lon": 2, "lat": 48}), "/jobs/0/location"),
        (changed("vehicles", time_window=["08:00", "12:00"]), "/vehicles/0/time_window"),
        (changed("vehicles", breaks=[{"id": 1, "time_windows": [[0]]}]), "/vehicles/0/breaks/0"),
        (changed("vehicles", type=["truck"]), "/vehicles/0"),
        (changed("shipments", pickup={"location": [0, 1]}), "/shipments/0/pickup"),
        (changed("shipments", priority="high"), "/shipments/0/priority"),
    ],
)
def test_what_this_model_lacks_is_reported_by_its_place(change: dict[str, object], path: str) -> None:
    """SPEC T7: refused, not passed over."""
    with pytest.raises(InputError) as caught:
        read_vroom({**VROOM, **change}, name="v", planning_date="2025-07-15")
    assert path in [fault.path for fault in caught.value.errors]


def test_what_a_part_of_vroom_misses_is_named_beside_the_other_slips() -> None:
    """SPEC T7: all at once, each once."""
    jobs = [{"location": [0, 1]}, {"id": 2, "location": [0, "x"], "priority": "high"}]
    with pytest.raises(InputError) as caught:
        read_vroom({**VROOM, "jobs": jobs}, name="v", planning_date="2025-07-15")
    assert [(fault.path, fault.problem) for fault in caught.value.errors] == [
        ("/jobs/0", "A word is missing: id."),
        ("/jobs/1/priority", "A value is not of the right kind."),
        ("/jobs/1/location", "A value is not of the right kind."),
    ]


def test_words_of_vroom_that_say_nothing_here_are_passed_over() -> None:
    """SPEC T5: labels, indexes beside positions, how to search, and what is said to be as it is anyway."""
    idle = {"description": "van", "profile": "car", "steps": [], "start_index": 0, "costs": {"per_task_hour": 0}}
    change = {**changed("vehicles", **idle), **changed("jobs", location_index=1, speed=None), "options": {"g": True}}
    body = read_vroom({**VROOM, **change}, name="v", planning_date="2025-07-15")
    assert parse_scenario(body).agents[0].name == "van"


def by_type(*types: str) -> dict[str, Any]:
    """Return a problem of VROOM whose vehicles are of some types, with a job that takes trucks and bikes longer."""
    fleet = [{"id": number, "start": [0, 1], **({"type": kind} if kind else {})} for number, kind in enumerate(types)]
    longer = {"service_per_type": {"truck": 600}, "setup_per_type": {"bike": 300}}
    job = {"id": 1, "location": [0, 2], "service": 60, "setup": 20, **longer}
    return {"vehicles": fleet, "jobs": [job]}


@pytest.mark.parametrize(
    ("types", "times"), [(("truck", "truck"), (600, 20)), (("bike",), (60, 300)), (("", "van"), (60, 20))]
)
def test_a_time_of_vroom_by_type_is_that_of_the_whole_fleet(types: tuple[str, ...], times: tuple[int, int]) -> None:
    """SPEC T5: where every vehicle needs the same."""
    (ticket,) = read_vroom(by_type(*types), name="v", planning_date="2025-07-15")["tickets"]
    assert (ticket["service_time_s"], ticket["setup_time_s"]) == times


@pytest.mark.parametrize(
    ("types", "fields"),
    [(("truck", ""), {"service"}), (("bike", "van"), {"setup"}), (("truck", "bike"), {"service", "setup"})],
)
def test_a_time_of_vroom_that_differs_between_vehicles_is_refused(types: tuple[str, ...], fields: set[str]) -> None:
    """SPEC T7: a ticket has no time for each agent."""
    with pytest.raises(InputError) as caught:
        read_vroom(by_type(*types), name="v", planning_date="2025-07-15")
    assert {fault.path for fault in caught.value.errors} == {f"/jobs/0/{name}_per_type" for name in fields}


def test_a_file_full_of_strange_words_is_reported_briefly() -> None:
    """SPEC T9: fifty faults at most, names cut."""
    change = changed("jobs", **{f"{n}{'x' * 1000}": n for n in range(100)})
    with pytest.raises(InputError) as caught:
        read_vroom({**VROOM, **change}, name="v", planning_date="2025-07-15")
    assert caught.value.message == "100 problems; the first 50 are listed."
    assert caught.value.errors[50].problem == "50 more problems are not listed."
    assert max(len(fault.path) for fault in caught.value.errors) < 200


@pytest.mark.parametrize(
    ("header", "cell"),
    [("营业时间", "周一至周五 9:00-17:00"), ("Hours", "Mo-Fr 9-17"), ("Info", "Mon-Fri 08:00-18:00, Sat 9-12")],
)
def test_hours_by_weekday_are_a_window_whatever_their_header(header: str, cell: str) -> None:
    """SPEC T5: by the values below it."""
    assert proposed(f"id,Place,{header}", f'a,A,"{cell}"').fields[header] == "window"


@pytest.mark.parametrize(
    ("headers", "cells"),
    [
        ("Order;Coordinates", "A1;52°31'12\"N 13°24'18\"E"),
        ("Order;Lat;Lon", "A1;52°31'12\"N;13°24'18\"E"),
        ("Order;Mark;Other", "A1;52°31'12\"N;13°24'18\"E"),
        ("Order;Koordinaten", "A1;52,5200, 13,4050"),
        ("Order;Latitude;Longitude", "A1;52.52 N;13.405 E"),
        ("Order;Link", "A1;https://maps.google.com/?q=52.52,13.405"),
        ("Order;WKT", "A1;POINT (13.405 52.52)"),
        ("Order;Geometry", 'A1;"SRID=4326;POINT Z(13.405 52.52 34.1)"'),
        ("Order;Lat;Lon;Map", "A1;52.52;13.405;https://maps.google.com/?q=52.5,13.4"),
    ],
)
def test_positions_are_read_however_degrees_are_written(headers: str, cells: str) -> None:
    """SPEC T5: no column of positions is left out in silence."""
    day = TableImport()
    day.add_tickets(table(f"{headers}\n{cells}\n"), {})
    day.agents.append({"id": "van", "capacity": 1})
    assert day.scenario()["locations"] == [{"id": "at A1", "lat": 52.52, "lon": 13.405}]


def test_degrees_that_may_be_east_or_west_are_refused_with_their_row() -> None:
    """SPEC T5: a position that cannot be read is never passed over."""
    day = TableImport()
    day.add_tickets(table("Order;Breite;Länge\nA1;52°31'12\"N;13°24'18\"O\n"), {})
    assert [(fault.path, fault.hint) for fault in day.faults] == [("/2/Länge", "O may be east or west: write E or W.")]


def test_night_hours_end_on_the_next_day_and_say_so() -> None:
    """SPEC T5: windows and shifts that pass midnight."""
    day = TableImport()
    day.add_tickets(table("Order;Lat;Lon;Slot\nA1;52.5;13.4;22:00-06:00\nA2;52.6;13.4;08:00-12:00\n"), {})
    day.add_agents(table("Vehicle;Capacity;Shift start;Shift end\nV1;9;20:00;04:00\n"), {})
    body = day.scenario()
    assert [ticket["time_windows"] for ticket in body["tickets"]] == [[["22:00", "30:00"]], [["08:00", "12:00"]]]
    assert (body["agents"][0]["shift_start"], body["agents"][0]["shift_end"]) == ("20:00", "28:00")
    assert "Read as ending on the next day: 22:00-06:00, 20:00-04:00." in day.assumed()


def test_hours_from_midnight_to_midnight_are_the_whole_day_and_say_so() -> None:
    """SPEC T5: programs write them where nothing is limited; all such tickets would have to be served at once."""
    day = TableImport()
    day.add_tickets(table("Order;Lat;Lon;From;To\nA1;52.5;13.4;00:00;00:00\nA2;52.6;13.4;08:00;12:00\n"), {})
    day.add_agents(table("Vehicle;Capacity;Shift\nV1;9;0:00-0:00\n"), {})
    body = day.scenario()
    assert body["tickets"][0]["time_windows"] == [["00:00", "24:00"]]
    assert (body["agents"][0]["shift_start"], body["agents"][0]["shift_end"]) == ("00:00", "24:00")
    assert "Read as ending on the next day: 00:00-00:00." in day.assumed()


@pytest.mark.parametrize(
    ("header", "cells", "seconds"),
    [
        ("service minutes", ("15:00", "05:30"), [900, 330]),
        ("service (min)", ("15:00:00", "5:30:00"), [900, 330]),
        ("service (mm:ss)", ("12:30:00", "00:02:30"), [750, 150]),
        ("service minutes", ("0:15", "1:30"), [900, 5400]),
    ],
)
def test_fifteen_minutes_are_not_fifteen_hours(header: str, cells: tuple[str, str], seconds: list[int]) -> None:
    """SPEC T5: below minutes 15:00 has seconds, also as a spreadsheet keeps it; 0:15 beside 1:30 has hours."""
    day = TableImport()
    day.add_tickets(table(f"Order;Lat;Lon;{header}\nA1;52.5;13.4;{cells[0]}\nA2;52.6;13.4;{cells[1]}\n"), {})
    note = f'"{header}" is read as minutes and seconds: 15:00 is 15 minutes.'
    assert (day.faults, [ticket["service_time_s"] for ticket in day.tickets]) == ([], seconds)
    assert (note in day.assumed()) == (seconds[1] < 900)


def test_a_fleet_that_nobody_named_carries_all_there_is() -> None:
    """SPEC T5: tonnes beside grams do not exceed a vehicle that was assumed."""
    options = ImportOptions("day", "2025-07-15", default_agents=({"id": "van", "capacity": 1e6},))
    read = scenario_of_tables(
        {"tickets": table("Order;Lat;Lon;Weight\nA1;52.5;13.4;500 g\nA2;52.6;13.4;2 t\n")}, options
    )
    assert [ticket["demand"] for ticket in read.body["tickets"]] == [500, 2_000_000]
    assert read.body["agents"][0]["capacity"] == 2_000_500


def test_tickets_without_any_place_are_reported() -> None:
    """SPEC T5: a day whose legs all count 1 says so when it is read."""
    options = ImportOptions("day", "2025-07-15", default_agents=({"id": "van", "capacity": 9},))
    read = scenario_of_tables({"tickets": table("Order;Weight\nA1;5\nA2;2\n")}, options)
    assert "No place has a position or an address: each leg counts 1." in read.assumptions


def test_headers_of_a_goods_system_are_known() -> None:
    """SPEC T5: short German names of its fields, as its exports write them."""
    headers = "VBELN;NAME1;STRAS;PSTLZ;ORT01;UHRVON;UHRBIS;BRGEW;TELF1"
    mapping = proposed(headers, "80001;Muster GmbH;Torstr. 1;10115;Berlin;08:00;12:00;12,5;030 1234567")
    fields = ["id", "name", "address", "address", "address", "opens", "closes", "demand", "phone"]
    assert list(mapping.fields.values()) == fields


def test_a_column_of_priorities_says_which_end_is_high() -> None:
    """SPEC T5: many firms call the most urgent order 1."""
    day = TableImport()
    day.add_tickets(table("Order;Lat;Lon;Prio\nA1;52.5;13.4;High\nA2;52.6;13.4;2\n"), {})
    assert [ticket["priority"] for ticket in day.tickets] == [7, 2]
    assert list(day.notices) == [
        '"Prio" is read as 1, the least, to 9, the most.',
        'Words in "Prio" are read as low or C 3, normal or B 5, high or A 7, urgent 9.',
    ]


def test_a_point_beside_the_meridian_of_greenwich_is_read() -> None:
    """SPEC T5: a map writes 4e-05 for some metres of London."""
    day = TableImport()
    point = {"geometry": {"type": "Point", "coordinates": [-4e-05, 51.48]}, "properties": {"id": "a"}}
    day.add_tickets(read_points({"features": [point]}, max_rows=1), {"lat": "lat", "lon": "lon"})
    assert (day.faults, day.locations["at a"]["lon"]) == ([], -0.00004)


def test_where_vehicles_start_may_be_a_position() -> None:
    """SPEC T5: one that ends elsewhere is asked about."""
    day = TableImport()
    day.add_agents(table("Vehicle;Payload;Start;End\nV1;9;41,3870, 2,1701;41,4, 2,2\n"), {})
    assert [fault.accepted for fault in day.faults] == ["position"]
    assert day.locations[day.agents[0]["start_location"]] == {"id": "at V1", "lat": 41.387, "lon": 2.1701}


def test_one_field_is_named_for_one_column() -> None:
    """SPEC T7: two columns of latitudes are refused, two parts of an address are not."""
    text = table("Order;A;B\nA1;52.5;52.6\n")
    with pytest.raises(InputError) as error:
        propose_mapping(text, "tickets", {"A": "lat", "B": "lat"})
    assert [fault.problem for fault in error.value.errors] == ["Several columns are named lat."]
    assert propose_mapping(text, "tickets", {"A": "address", "B": "address"}).fields["B"] == "address"


def test_a_weight_that_is_held_against_a_volume_is_taken_as_it_stands() -> None:
    """SPEC T5: who names both says that they are of one kind, whatever their headers say."""
    day = TableImport()
    day.add_tickets(table("Order;Lat;Lon;Weight (t)\nA1;52.5;13.4;3\n"), {"Weight (t)": "demand"})
    day.add_agents(table("Vehicle;Volume (m3)\nV1;9\n"), {"Volume (m3)": "capacity"})
    body = day.scenario()
    assert (body["tickets"][0]["demand"], body["agents"][0]["capacity"]) == (3, 9)


@pytest.mark.parametrize(
    ("headers", "row", "address"),
    [
        (
            "Billing Street,Billing City,Shipping Street,Shipping Address1,Shipping City",
            "1 A,Leeds,9 Ship Rd,9 Ship Rd,York",
            "9 Ship Rd, York",
        ),
        ("Rechnungsadresse,Lieferstraße,Liefer-PLZ,Lieferort", "Weg 1,Ring 2,01067,Dresden", "Ring 2, 01067 Dresden"),
        ("Rue de livraison,Rue de facturation", "2 rue B,1 rue A", "2 rue B"),
        ("发票地址,收货地址", "建国路1号,世纪大道2号", "世纪大道2号"),
        ("城市,地址", "上海,上海市浦东新区世纪大道2号", "上海市浦东新区世纪大道2号"),
        ("Straße,Nr.,PLZ,Ort", "Ringstr.,7a,10117,Berlin", "Ringstr. 7a, 10117 Berlin"),
        ("Address 1,Address 2", '"Weg 1, 10115 Berlin","Weg 1, 10115 Berlin"', "Weg 1, 10115 Berlin"),
        ("Straße,PLZ,Ort", "Am Markt,10117,Berlin", "Am Markt, 10117 Berlin"),
        ("Buyer Address 1,Buyer City,Ship To Address 1,Ship To City", "1 A St,Leeds,9 Ship Rd,York", "9 Ship Rd, York"),
        ("billing_address_1,billing_city", "1 Bill St,Leeds", "1 Bill St, Leeds"),
        ("Postcode (Billing),Street (Shipping),Postcode (Shipping)", "94032,Ring 8,94034", "Ring 8, 94034"),
        ("Postcode (Billing),Ship To Street,Ship To Town", "94032,Ring 8,Ulm", "Ring 8, Ulm"),
        ("Service street,Service city,Service ZIP code", "1 Main St,Mesa,85203", "1 Main St, Mesa, 85203"),
        ("Site,Billing Address", '"12 High St, Leeds","1 A St, London"', "12 High St, Leeds"),
        ("Kund,Lieferadresse,Postnr,Ort", "Ek,Storgatan 4,582 23,Linköping", "Storgatan 4, 582 23 Linköping"),
        ("address_1,address_2,city,postcode,country", "Weg 5,2. OG,Bonn,53111,DE", "Weg 5, 2. OG, Bonn, 53111, DE"),
    ],
)
def test_an_address_is_that_of_the_goods_with_all_its_parts(headers: str, row: str, address: str) -> None:
    """SPEC T5: with that of the bill it was in two towns; a column `Nr.` was lost, and a postcode was its number."""
    day = TableImport()
    day.add_tickets(table(f"{headers}\n{row}\n"), {})
    assert (day.tickets[0]["address"], day.tickets[0].get("notes")) == (address, None)


@pytest.mark.parametrize(
    ("header", "cell", "asked"),
    [
        ("Scheduled Date", "2025-07-15 09:30:00", ["opens or closes"]),
        ("Datum", "15.07.2025 14:00", ["opens or closes"]),
        ("Order date", "2025-07-14 08:11:00", []),
        ("Date", "2025-07-15", []),
    ],
)
def test_hours_below_a_header_of_days_are_asked_about(header: str, cell: str, asked: list[str]) -> None:
    """SPEC T5: an appointment was left out as a date; when an order was made, and days alone, are no hours."""
    mapping = proposed(f"id,place,{header}", f"a,A,{cell}")
    assert [column.fault().accepted for column in mapping.open_columns] == asked


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('="0012"', "0012"),
        ("'75008", "75008"),
        ("'+33 6", "+33 6"),
        ("'t Hof 5", "'t Hof 5"),
        ("=A1+1", "=A1+1"),
        ('=""', ""),
    ],
)
def test_a_number_that_is_marked_as_text_is_read_without_the_mark(cell: str, text: str) -> None:
    """SPEC T5: exports write zeros in front so; with the marks a postcode is of no city."""
    quoted = cell.replace('"', '""')
    assert table(f'id,code\na,"{quoted}"\n').rows[0][1].get("code", "") == text


def test_places_below_start_and_end_are_where_vehicles_begin_and_end() -> None:
    """SPEC T5: names of depots are no times; left out, every vehicle began at its first ticket."""
    day = TableImport()
    day.add_agents(table("Vehicle,Load,Start,End,Shift\nV1,9,North,Hub,8-17\nV2,9,South,Hub,8-17\n"), {})
    ends = [(agent["start_location"], agent["end_location"], agent["shift_start"]) for agent in day.agents]
    assert (day.faults, ends) == ([], [("North", "Hub", "08:00"), ("South", "Hub", "08:00")])


def test_the_name_and_the_phone_of_a_stop_are_those_of_its_recipient() -> None:
    """SPEC T5: no goods and no buyer in the name; a number in the second of two columns of phones is not lost."""
    headers = "buyer-name,product-name,Customer Email,Full Name,First Name,buyer-phone,Telephone,Mobile"
    day = TableImport()
    day.add_tickets(
        table(f"id,{headers}\na,Bob,Tea,a@x.example,Ann Roe,Ann,+1,,+49 2\nb,Bob,Tea,,Tom Doe,,+1,+49 3,+49 4\n"), {}
    )
    assert [(each["name"], each["phone"]) for each in day.tickets] == [
        ("Ann Roe", "+49 2"),
        ("Tom Doe", "+49 3, +49 4"),
    ]


@pytest.mark.parametrize(
    ("headers", "row", "field"),
    [
        ("ID,Order ID,Lat,Lon", ",A1,52.5,13.4", "id"),
        ("Order,Lat,Lon,Open,From", "A,52.5,13.4,,08:00", "opens"),
        ("Order,Lat,Lon,Service time (min),Duration (min)", "A,52.5,13.4,,10", "service_min"),
    ],
)
def test_a_column_that_nobody_filled_takes_no_field_from_another(headers: str, row: str, field: str) -> None:
    """SPEC T5: templates have such columns; beside them ids were dropped, and hours asked about."""
    mapping = proposed(headers, row)
    names, at = headers.split(","), row.split(",").index("")
    assert (mapping.open_columns, mapping.left_out) == ((), (names[at],))
    assert mapping.fields[names[at + 1]] == field


@pytest.mark.parametrize(
    ("headers", "units", "amounts"),
    [
        ("Weight,Unit", ("KG", "g"), [12, 0.3, 5]),
        ("Gewicht,GEH", ("KG", "TO"), [12, 300_000, 5]),
        ("Qty,UoM", ("EA", "PAL"), [12, 300, 5]),
    ],
)
def test_units_in_a_column_of_their_own_are_those_of_the_amounts(
    headers: str, units: tuple[str, str], amounts: list[float]
) -> None:
    """SPEC T5: 300 grams beside 12 kilograms were a load of 312; with an unknown unit numbers stay as they are.

    A row without a unit, such as that of a total, changes nothing in the others.
    """
    rows = table(f"id,place,{headers}\na,A,12,{units[0]}\nb,B,300,{units[1]}\nc,C,5,\n")
    day = scenario_of_tables(
        {"tickets": rows}, ImportOptions("d", "2025-07-15", agents=({"id": "v", "capacity": 9e6},))
    )
    assert [ticket["demand"] for ticket in day.body["tickets"]] == amounts
    assert any("is read as the unit of" in notice for notice in day.assumptions) is ("EA" not in units)


@pytest.mark.parametrize(("header", "cell"), [("id", "1001"), ("zip", "10115"), ("lat", "52.5"), ("phone", "030 12")])
def test_numbers_that_are_no_amounts_take_no_unit_from_the_next_column(header: str, cell: str) -> None:
    """SPEC T5: lists that say the unit before the amount had tickets called 1001 KG."""
    rows = with_units(table(f"{header},Unit,Qty\n{cell},KG,12\n")).rows
    assert rows[0][1] == {header: cell, "Unit": "KG", "Qty": "12"}


def test_units_of_capacities_may_have_a_column_of_their_own() -> None:
    """SPEC T5: a lorry of 12 t carried 12 kg, beside a van of 800 kg."""
    fleet = table("id,capacity,Unit\na,12,t\nb,800,kg\n")
    orders = table("id,place,Weight,Unit\na,A,12,kg\n")
    day = scenario_of_tables({"tickets": orders, "agents": fleet}, ImportOptions("d", "2025-07-15"))
    assert [agent["capacity"] for agent in day.body["agents"]] == [{"weight_kg": 12_000}, {"weight_kg": 800}]
    assert day.body["tickets"][0]["demand"] == {"weight_kg": 12}


@pytest.mark.parametrize(
    "headers",
    [
        "Absenderadresse,Empfängeradresse",
        "Sender Address,Receiver Address",
        "发件地址,收件地址",
        "Shipper street,Consignee street",
        "Ophaaladres,Bezorgadres",
    ],
)
def test_which_of_two_whole_addresses_counts_is_asked(headers: str) -> None:
    """SPEC T5: lists of couriers have those of sender and receiver; joined they were one address in two towns.

    Who answers with the one that counts says nothing of the other.
    """
    rows = table(f'id,{headers}\na,"Weg 1, Berlin","Ring 2, 01067 Dresden"\n')
    assert [column.header for column in propose_mapping(rows, "tickets", {}).open_columns] == headers.split(",")
    for header in headers.split(","):
        answered = propose_mapping(rows, "tickets", {header: "address"})
        assert answered.open_columns == ()
        assert [each for each, name in answered.fields.items() if name == "address"] == [header]


def test_a_wrong_date_is_reported_beside_what_is_wrong_in_the_file() -> None:
    """SPEC T7: all at once; who mended the file was sent back for the date."""
    day = TableImport("15.07.2025")
    day.add_tickets(table("id,place,demand\na,A,much\n"), {})
    with pytest.raises(InputError) as caught:
        day.scenario()
    assert [fault.path for fault in caught.value.errors] == ["/2/demand", "planning_date"]


LINES = """Order;Customer;Lat;Lon;Qty;UoM;Total weight;Notes
1;A;52.1;13.1;2;CTN;30;cold
1;A;52.1;13.1;3;CTN;30;
1;;;;4;CTN;;ring
2;B;52.2;13.1;3;CTN;8;
"""


def test_lines_of_one_order_are_one_ticket() -> None:
    """SPEC T5: order systems write a line for each article; a total that all lines repeat counts once."""
    day = TableImport()
    day.add_tickets(with_units(table(LINES)), {})
    day.agents, day.are_agents_made_up = [{"id": "v", "capacity": 99}], True
    first, second = day.scenario(name="day", planning_date="2025-07-15")["tickets"]
    assert (first["demand"], first["notes"]) == ({"boxes": 9, "weight_kg": 30}, "cold; ring")
    assert second["demand"] == {"boxes": 3, "weight_kg": 8}
    assert [origin.number for origin in day.origins["tickets"]] == ["2", "5"]
    assert [notice for notice in day.assumed() if "line" in notice] == [
        '"Total weight" is the same in each line of a ticket and counts once.',
        "Rows with the id of a row above, read as lines of its ticket and added up: 2.",
    ]


@pytest.mark.parametrize(("cells", "kinds"), [("PDT", ["pickup", None, None]), ("PSS", [None, None, None])])
def test_p_is_a_pickup_beside_d_and_else_a_class(cells: str, kinds: list[str | None]) -> None:
    """SPEC T5, T7: premium customers are no pickups; what is no known kind is a delivery, with a note."""
    day = TableImport()
    day.add_tickets(table("id,place,qty,type\n" + "".join(f"{at},A,1,{each}\n" for at, each in enumerate(cells))), {})
    assert [ticket.get("kind") for ticket in day.tickets] == kinds
    assert day.taken_as_deliveries


SHOP = """Name,Lineitem quantity,Lineitem name,Shipping Name,lat,lon,Created at,Paid at,Priority
#1001,2,Rye,Ann,52.1,13.1,2026-11-28 09:12:11 -0600,,H
#1001,1,Roll,,,,2026-11-28 09:12:11 -0600,,
#1002,4,Rye,Bob,52.2,13.1,2026-11-28 10:00:00 -0600,2026-11-28 10:01:00 -0600,C
"""


def test_the_export_of_a_shop_is_read_without_its_bookkeeping() -> None:
    """SPEC T5: orders are called #1001, later lines are empty but for the article, and C beside H is critical."""
    day = TableImport()
    day.add_tickets(table(SHOP), {"Lineitem quantity": "demand"})
    day.agents, day.are_agents_made_up = [{"id": "v", "capacity": 99}], True
    first, second = day.scenario(name="day", planning_date="2026-12-01")["tickets"]
    assert (day.faults, first["id"], first["name"], first["demand"]) == ([], "#1001", "Ann", 3)
    assert (first["priority"], second["priority"]) == (7, 9)
    assert 'Words in "Priority" are read as L 3, M 5, H 7, C 9.' in day.assumed()


@pytest.mark.parametrize("row", ["1;A;52.1;13.1;2;CTN;30;cold", "1;C;52.3;13.1;2;CTN;30;"])
def test_rows_of_one_id_that_are_no_lines_stay_two(row: str) -> None:
    """SPEC T7: the same row twice, or an order of another customer, is a mistake that a person must see."""
    day = TableImport()
    day.add_tickets(with_units(table(f"{LINES}{row}\n")), {})
    assert [each["id"] for each in day.tickets] == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("encoding", "headers"),
    [
        ("utf-8", "Ordernummer;Klant;Straat;Plaats;Vroegste levertijd;Uiterste levertijd;Lostijd (min);Gewicht (kg)"),
        ("utf-8", "N. ordine;Cliente;Indirizzo;Città;Consegnare dalle;Consegnare entro;Tempo di scarico (min);Peso"),
        ("cp1250", "Nr zamówienia;Klient;Adres;Miasto;Dostawa od;Dostawa do;Czas rozładunku (min);Ilość palet"),
    ],
)
def test_headers_are_known_in_dutch_italian_and_polish(encoding: str, headers: str) -> None:
    """SPEC T5: also in the encoding that spreadsheets of Central Europe write."""
    read = table(f"{headers}\na;Bo;X 1;Y;08:00;12:00;10;5\n", encoding)
    fields = propose_mapping(read, "tickets", {}).fields
    assert list(fields.values()) == ["id", "name", "address", "address", "opens", "closes", "service_min", "demand"]


@pytest.mark.parametrize(
    ("encoding", "names"),
    [
        ("cp1250", "Dvořák;Příbram;Šťastný;Žižkova 2"),
        ("cp1250", "Łódź;Święta;Żaba;Gdańsk"),
        ("cp1254", "Ayşe Yılmaz;Kadıköy;Çelik Ltd;Üsküdar"),
        ("cp1252", "Jón Þór;Reykjavík;við;Akureyri"),
        ("cp1252", "Søren;Ærø;Ålborg;Žižek"),
        ("cp1252", "Crèche Škoda;Besançon;Forêt;Nîmes"),
        ("cp1252", "Nicolò Žerjal;Forlì;Cantù;Libertà"),
        ("cp1252", "Peña;São João;où;Müller"),
    ],
)
def test_names_are_read_in_the_encoding_of_their_language(encoding: str, names: str) -> None:
    """SPEC T5: ğ and ř were letters of Iceland and Denmark, and Czech text with ť had no known encoding."""
    one, two, three, four = names.split(";")
    rows = [f"{number};{one};{two}\n{number}a;{three};{four}\n" for number in range(9)]
    read = table("".join(["Order number;Customer;City\n", *rows]), encoding)
    assert [row["Customer"] for _, row in read.rows[:2]] == [one, three]
    assert [row["City"] for _, row in read.rows[:2]] == [two, four]


def test_a_header_that_each_page_repeats_is_passed_over() -> None:
    """SPEC T5: a list copied page by page was refused, for no cell of its headers was a number."""
    read = table("id,place,qty\na,A,1\nid,place,qty\nb,B,2\n")
    assert [row["id"] for _, row in read.rows] == ["a", "b"]
    assert read.notices == ("Lines that repeat the header, passed over: 1.",)


@pytest.mark.parametrize("cell", ["n/a", "-", "k.A.", "geen", "N/A"])
def test_a_cell_that_says_that_there_is_nothing_is_empty(cell: str) -> None:
    """SPEC T5: one sample tube that nobody counted kept the day of all others from being read."""
    day = TableImport()
    day.add_tickets(table(f"id;place;qty;prio;service_min\na;A;3;5;10\nb;B;{cell};{cell};{cell}\n"), {})
    day.settle()
    assert (day.faults, day.tickets[1]) == ([], {"id": "b", "demand": 0, "location": "B"})


def test_times_that_lost_their_format_are_parts_of_a_day() -> None:
    """SPEC T5: 0.375 is no hour and no second; a workbook full of them was refused cell by cell."""
    day = TableImport()
    day.add_tickets(table("id;place;von;bis\na;A;0,375;0,5\nb;B;0.291666666666667;0,75\nc;C;0,33333;\n"), {})
    windows = [ticket["time_windows"] for ticket in day.tickets]
    assert (day.faults, windows) == ([], [[["09:00", "12:00"]], [["07:00", "18:00"]], [["08:00", "47:59"]]])
    assert 'Numbers in "von" are read as parts of a day: 0.375 is 09:00.' in day.assumed()
    late = TableImport()
    late.add_tickets(table("id;place;von;bis\na;A;0,33333;1\nb;B;0,6;1\n"), {})
    assert [ticket["time_windows"] for ticket in late.tickets] == [[["08:00", "24:00"]], [["14:24", "24:00"]]]
    alone = TableImport()
    alone.add_tickets(table("id;place;von\na;A;0,5\n"), {})
    assert [fault.problem for fault in alone.faults] == ['"0,5" may mean hours or seconds.']


def test_classes_of_urgency_are_priorities() -> None:
    """SPEC T5: P1 is the most urgent, as a note says, although 1 alone is the least."""
    day = TableImport()
    day.add_tickets(table("id;place;Priority\na;A;P1\nb;B;P3\nc;C;\n"), {})
    assert [ticket.get("priority") for ticket in day.tickets] == [9, 5, None]
    assert 'Classes in "Priority" are read as P1 9, P2 7, P3 5, P4 3, P5 1.' in day.assumed()


def test_agents_of_one_town_may_start_at_positions_of_their_own() -> None:
    """SPEC T5: two nurses of Bonn were refused, as if the town were one place."""
    day = TableImport()
    day.add_agents(table("Name,Wohnort,lat,lon\nAnn,Bonn,50.73,7.10\nBo,Bonn,50.70,7.15\n"), {})
    assert (day.faults, [each["start_location"] for each in day.agents]) == ([], ["at row-2", "at row-3"])


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Break start,Break end,Break duration\n12:00,13:00,30", ("12:00", "12:30", 1800)),
        ("Pause von,Pause bis\n12:00,12:30", ("12:00", "12:00", 1800)),
        ("Lunch start,Lunch duration\n12:00,0:45", ("12:00", "12:00", 2700)),
        ("Start,End,Break start,Break duration\n22:00,06:00,01:00,30 min", ("25:00", "25:00", 1800)),
        ("Start,End,Break start,Break end,Break duration\n22:00,06:00,23:30,01:00,30", ("23:30", "24:30", 1800)),
    ],
)
def test_a_break_may_stand_in_columns_of_its_begin_end_and_length(text: str, made: tuple[str, str, float]) -> None:
    """SPEC T5: other programs export it so; one shorter than its hours lies anywhere in them."""
    headers, row = text.split("\n")
    day = TableImport()
    day.add_agents(read_table(f"vehicle,payload,{headers}\nv,9,{row}\n".encode(), max_rows=9), {})
    assert day.faults == []
    assert day.agents[0]["breaks"] == [{"earliest": made[0], "latest": made[1], "duration_s": made[2]}]


@pytest.mark.parametrize("row", ["12:00,12:15,30", ",,30", "12:00,,", ",12:30,"])
def test_parts_that_make_no_break_are_refused(row: str) -> None:
    """SPEC T5: a break that is left out in silence would be worked through."""
    day = TableImport()
    headers = "vehicle,payload,Break start,Break end,Break duration"
    day.add_agents(read_table(f"{headers}\nw,9,12:00,13:00,30\nv,9,{row}\n".encode(), max_rows=9), {})
    assert [fault.path for fault in day.faults] == ["/3"]
