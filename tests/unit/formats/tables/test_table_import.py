"""Scenarios from tables people have (SPEC T5)."""

from collections.abc import Callable
from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.formats.geojson_points import read_points
from planner_mcp.formats.tables.columns.unit_columns import with_units
from planner_mcp.formats.tables.day_settlement import settle_agents, settle_hours
from planner_mcp.formats.tables.table_import import TableImport
from planner_mcp.routing.scenario.scenario_model import start_of
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.day_tables import day_of, imported_day, table

ORDERS = """订单号,客户名称,地址,纬度,经度,重量(kg),最早时间,最晚时间,服务分钟,优先级,内部码
A001,张三,长安街1号,39.95,116.40,12.5,08:00,12：00,5,9,x
A002,李四,长安街2号,39.96,116.41,"1,200",,,,,y
A003,王五,长安街1号,39.95,116.40,3,,18:00,,,z
"""
FLEET = "Vehicle;Capacity;Shift start;Shift end;Skills\n京A1;2000;08:00;18:00;cold、lift\n京A2;500;28800;;\n"


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


def test_an_agent_called_like_a_ticket_starts_where_its_row_says() -> None:
    """SPEC T5: both sheets count from 1; a place made from a position belongs to that position."""
    day = day_of("id,lat,lon,demand\n1,39.95,116.4,1\n", "id,lat,lon,capacity\n1,39.9,116.4,5\n2,39.9,116.4,5\n")
    scenario = parse_scenario(day.scenario(name="day", planning_date="2025-07-15"))
    places = {place.id: place.lat for place in scenario.locations}
    assert places[scenario.tickets[0].location] == 39.95
    assert {places[start_of(scenario, driver) or ""] for driver in scenario.agents} == {39.9}


def _of_cells() -> None:
    day_of("id,place,qty\n" + "a,A,much\n" * 60).scenario()


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


def test_assumptions_about_a_table_are_reported() -> None:
    """SPEC T5: no demand, kinds nobody knows; words for kinds are known however they are written."""
    day = day_of('id,place,qty,type,skills\na,A,,Pick-up,"cold, lift ,"\nb,B,2,return,\nc,C,3,VIP,\n')
    assert [ticket.get("kind") for ticket in day.tickets] == ["pickup", "pickup", None]
    assert day.tickets[0]["skills"] == ["cold", "lift"]
    assert day.assumed() == [
        "Tickets without a demand, for which 0 is taken: 1.",
        "Of unknown kind, taken as deliveries: VIP.",
    ]


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
    day = day_of(f"id,place,qty,{header}\na,A,1,{cells[0]}\nb,B,1,{cells[1]}\n")
    assert (day.faults, day.tickets[1]["time_windows"]) == ([], [["12:00", "18:00"]])
    (note,) = day.notices
    assert note.startswith(f'"{header}" names halves of the day: mornings are read as until 12:00')


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
    day = day_of(text)
    assert [fault.which for fault in day.faults] == [("row 2",), ("row 4",)]


def test_hours_after_the_midnight_that_all_shifts_pass_are_of_the_next_day() -> None:
    """SPEC T5, T7: a night round begins in the evening; who opens at 3 is not served the evening before."""
    rows = "a,A,1,02:00-05:30\nb,B,1,from 03:00\nc,C,1,until 05:00\nd,D,1,22:00-02:00\ne,E,1,from 19:00\n"
    windows = {}
    for start in ("21:00", "05:00"):
        day = day_of(
            f"id,place,qty,slot\n{rows}",
            f"id,capacity,shift start,shift end\nv,9,20:00,05:00\nw,9,{start},06:00\n",
            chosen={"slot": "window"},
        )
        settle_agents(day)
        settle_hours(day)
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
    day = day_of(text, chosen={"Abfuhrtage": "date"})
    assert ([each["id"] for each in day.tickets], day.faults) == (["a", "c", "d"], [])
    assert "Rows of another day than the planning date in Abfuhrtage, passed over: 1." in day.notices


def test_a_fraction_where_whole_numbers_count_is_reported() -> None:
    """SPEC T7: nothing is rounded in silence."""
    day = day_of("id,place,qty,priority\na,A,1,2.5\n", "id,capacity,max_tickets\nv,9,3.5\n")
    with pytest.raises(InputError) as caught:
        parse_scenario(day.scenario(name="x", planning_date="2025-07-15"))
    assert {"/tickets/0/priority", "/agents/0/max_tickets"} <= {fault.path for fault in caught.value.errors}


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
    day = day_of(f"{headers}\n{cells}\n")
    day.agents.append({"id": "van", "capacity": 1})
    assert day.scenario()["locations"] == [{"id": "at A1", "lat": 52.52, "lon": 13.405}]


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
    day = day_of(f"Order;Lat;Lon;{header}\nA1;52.5;13.4;{cells[0]}\nA2;52.6;13.4;{cells[1]}\n")
    note = f'"{header}" is read as minutes and seconds: 15:00 is 15 minutes.'
    assert (day.faults, [ticket["service_time_s"] for ticket in day.tickets]) == ([], seconds)
    assert (note in day.assumed()) == (seconds[1] < 900)


def test_tickets_without_any_place_are_reported() -> None:
    """SPEC T5: a day whose legs all count 1 says so when it is read."""
    read = imported_day("Order;Weight\nA1;5\nA2;2\n")
    assert "No place has a position or an address: each leg counts 1." in read.assumptions


def test_where_vehicles_start_may_be_a_position() -> None:
    """SPEC T5: one that ends elsewhere is asked about."""
    day = day_of(agents="Vehicle;Payload;Start;End\nV1;9;41,3870, 2,1701;41,4, 2,2\n")
    assert [fault.accepted for fault in day.faults] == ["position"]
    assert day.locations[day.agents[0]["start_location"]] == {"id": "at V1", "lat": 41.387, "lon": 2.1701}


def test_a_wrong_date_is_reported_beside_what_is_wrong_in_the_file() -> None:
    """SPEC T7: all at once; who mended the file was sent back for the date."""
    day = day_of("id,place,demand\na,A,much\n", planning_date="15.07.2025")
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
    first, second = day.scenario()["tickets"]
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
    day = day_of("id,place,qty,type\n" + "".join(f"{at},A,1,{each}\n" for at, each in enumerate(cells)))
    assert [ticket.get("kind") for ticket in day.tickets] == kinds
    assert day.taken_as_deliveries


SHOP = """Name,Lineitem quantity,Lineitem name,Shipping Name,lat,lon,Created at,Paid at,Priority
#1001,2,Rye,Ann,52.1,13.1,2026-11-28 09:12:11 -0600,,H
#1001,1,Roll,,,,2026-11-28 09:12:11 -0600,,
#1002,4,Rye,Bob,52.2,13.1,2026-11-28 10:00:00 -0600,2026-11-28 10:01:00 -0600,C
"""


def test_the_export_of_a_shop_is_read_without_its_bookkeeping() -> None:
    """SPEC T5: orders are called #1001, later lines are empty but for the article, and C beside H is critical."""
    day = day_of(SHOP, chosen={"Lineitem quantity": "demand"})
    day.agents, day.are_agents_made_up = [{"id": "v", "capacity": 99}], True
    first, second = day.scenario()["tickets"]
    assert (day.faults, first["id"], first["name"], first["demand"]) == ([], "#1001", "Ann", 3)
    assert (first["priority"], second["priority"]) == (7, 9)
    assert 'Words in "Priority" are read as L 3, M 5, H 7, C 9.' in day.assumed()


@pytest.mark.parametrize("row", ["1;A;52.1;13.1;2;CTN;30;cold", "1;C;52.3;13.1;2;CTN;30;"])
def test_rows_of_one_id_that_are_no_lines_stay_two(row: str) -> None:
    """SPEC T7: the same row twice, or an order of another customer, is a mistake that a person must see."""
    day = TableImport()
    day.add_tickets(with_units(table(f"{LINES}{row}\n")), {})
    assert [each["id"] for each in day.tickets] == ["1", "2", "1"]


@pytest.mark.parametrize("cell", ["n/a", "-", "k.A.", "geen", "N/A"])
def test_a_cell_that_says_that_there_is_nothing_is_empty(cell: str) -> None:
    """SPEC T5: one sample tube that nobody counted kept the day of all others from being read."""
    day = day_of(f"id;place;qty;prio;service_min\na;A;3;5;10\nb;B;{cell};{cell};{cell}\n")
    day.settle()
    assert (day.faults, day.tickets[1]) == ([], {"id": "b", "demand": 0, "location": "B"})


def test_agents_of_one_town_may_start_at_positions_of_their_own() -> None:
    """SPEC T5: two nurses of Bonn were refused, as if the town were one place."""
    day = day_of(agents="Name,Wohnort,lat,lon\nAnn,Bonn,50.73,7.10\nBo,Bonn,50.70,7.15\n")
    assert (day.faults, [each["start_location"] for each in day.agents]) == ([], ["at row-2", "at row-3"])


@pytest.mark.parametrize(
    ("tables", "faults"),
    [
        (
            {"tickets": "id,place,qty,open\na,A,much,8\nb,B,1,08:00\nc,C,nan,soon\n"},
            [
                ("/2/qty", '"much" is not a number: demand.'),
                ("/4/qty", '"nan" is not a number: demand.'),
                ("/4/open", '"soon" is not a time.'),
            ],
        ),
        (  # not at the place of an agent that is called alike
            {"tickets": "id,lat,lon\nA,,\nB,39.95,116.4\n", "agents": "id,lat,lon,capacity\nA,39.9,116.4,5\n"},
            [("/2", "The row has no place.")],
        ),
        (  # a metre of difference is none
            {"tickets": "id,place,lat,lon\na,A,39.9,116.4\nb,A,39.95,116.4\nc,A,39.90001,116.4\nd,A,,\n"},
            [("/3", 'The place "A" has another position in a row before.')],
        ),
        (
            {"tickets": "Order;Breite;Länge\nA1;52°31'12\"N;13°24'18\"O\n"},
            [("/2/Länge", '"13°24\'18"O" is no longitude.')],
        ),
        (
            {"tickets": "id,place,qty,slot\na,A,1,3\n", "chosen": {"slot": "window"}},
            [("/2/slot", '"3" is no time window.')],
        ),
        ({"tickets": "id,place,qty,open\na,A,1,1300\n"}, [("/2/open", '"1300" may mean hours or seconds.')]),
        ({"tickets": "id,place,qty,open\na,A,1,830\n"}, [("/2/open", '"830" may mean hours or seconds.')]),
        ({"tickets": "id;place;von\na;A;0,5\n"}, [("/2/von", '"0,5" may mean hours or seconds.')]),
        (  # where they say the same there is nothing to ask
            {"tickets": "id,place,qty,service_s,service_min\na,A,1,90,5\nb,B,1,300,5\nc,C,1,,5\n"},
            [("/2", "The row has two service times.")],
        ),
        (
            {"agents": "vehicle;capacity;shift\nv;9;08:00-12:00, 13:00-17:00\nw;9;08:00-17:00\n"},
            [("/2/shift", "The shift has several parts.")],
        ),
    ],
)
def test_cells_that_cannot_be_read_in_one_way_are_reported_with_their_line(
    tables: dict[str, Any], faults: list[tuple[str, str]]
) -> None:
    """SPEC T7: all at once, each with the line of the file and its header; nothing is guessed or lost in silence."""
    day = day_of(**tables)
    assert [(fault.path, fault.problem) for fault in day.faults] == faults
    with pytest.raises(InputError) as caught:
        day.scenario()
    assert [fault.path for fault in caught.value.errors] == [path for path, _ in faults]


@pytest.mark.parametrize(
    ("columns", "breaks"),
    [
        ("上班,下班,午休\n7:30,19:00,12:00-12:45", [("12:00", "12:00", 2700)]),
        ("shift start,shift end,lunch break\n7:30,19:00,12:00-12:45", [("12:00", "12:00", 2700)]),
        ('shift,break\n22:00-06:00,"23:45-00:15, 02:00-02:30"', [("23:45", "23:45", 1800), ("26:00", "26:00", 1800)]),
        ("break,lunch\n10:00-10:15,12:00-12:30", [("10:00", "10:00", 900), ("12:00", "12:00", 1800)]),
        ("Break start,Break end,Break duration\n12:00,13:00,30", [("12:00", "12:30", 1800)]),
        ("Pause von,Pause bis\n12:00,12:30", [("12:00", "12:00", 1800)]),
        ("Lunch start,Lunch duration\n12:00,0:45", [("12:00", "12:00", 2700)]),
        ("Start,End,Break start,Break duration\n22:00,06:00,01:00,30 min", [("25:00", "25:00", 1800)]),
        ("Start,End,Break start,Break end,Break duration\n22:00,06:00,23:30,01:00,30", [("23:30", "24:30", 1800)]),
    ],
)
def test_breaks_are_read_however_columns_say_them(columns: str, breaks: list[tuple[str, str, float]]) -> None:
    """SPEC T5: a nurse is not sent to a visit in the hour in which she eats, at night neither.

    As other programs export them, a break shorter than its hours lies anywhere in them; `-` is none.
    """
    headers, row = columns.split("\n")
    day = day_of(agents=f"vehicle,payload,{headers}\nv,9,{row}\nw,9,{',' * headers.count(',')}-\n")
    made = [[tuple(each.values()) for each in agent.get("breaks", [])] for agent in day.agents]
    assert (day.faults, made) == ([], [breaks, []])
    assert ("07:30" in day.agents[0].values()) is ("7:30" in row), "the shift is read beside it"


@pytest.mark.parametrize(
    ("columns", "path", "problem"),
    [
        ("break\nfrom 12:00", "/3/break", '"from 12:00" has no begin and end.'),
        ("break\nuntil 12:00", "/3/break", '"until 12:00" has no begin and end.'),
        ("break\n上午", "/3/break", '"上午" has no begin and end.'),
        ("break\n13:00-12:00", "/3/break", "The break has no begin and end on one day."),
        (
            "Break start,Break end,Break duration\n12:00,12:15,30",
            "/3",
            "The break is longer than the hours that it is to lie in.",
        ),
        (
            "Break start,Break end,Break duration\n13:00,12:00,",
            "/3/Break start",
            "The break has no begin and end on one day.",
        ),
        ("Break start,Break end,Break duration\n,,30", "/3", "The break has no begin, or neither end nor length."),
        ("Break start,Break end,Break duration\n12:00,,", "/3", "The break has no begin, or neither end nor length."),
        ("Break start,Break end,Break duration\n,12:30,", "/3", "The break has no begin, or neither end nor length."),
    ],
)
def test_what_makes_no_break_is_refused(columns: str, path: str, problem: str) -> None:
    """SPEC T5, T7: one that is left out in silence would be worked through; `until 12:00` is none from midnight."""
    headers, row = columns.split("\n")
    well = "12:00,13:00,30" if "," in headers else "12:00-13:00"
    day = day_of(agents=f"vehicle,payload,{headers}\nw,9,{well}\nv,9,{row}\n")
    assert [(fault.path, fault.problem) for fault in day.faults] == [(path, problem)]


@pytest.mark.parametrize(
    ("rows", "windows"),
    [
        (["0830;43200"], [("08:30", 43200)]),
        (["8;43200"], [("08:00", 43200)]),
        (["9am;43200"], [("09:00", 43200)]),
        (["上午9点半;43200"], [("09:30", 43200)]),
        (["08:00;0"], [("08:00", 0)]),
        (["0730;17.5", "0815;16.75"], [("07:30", "17:30"), ("08:15", "16:45")]),
        (["0800;1130", "0930;noon", "8.30 am;1600"], [("08:00", "11:30"), ("09:30", "12:00"), ("08:30", "16:00")]),
        (["600;", "1100;"], [("06:00", "47:59"), ("11:00", "47:59")]),
        (["900;", "1230;"], None),
        (["610;", "1100;"], None),
        (
            ["0,375;0,5", "0.291666666666667;0,75", "0,33333;"],
            [("09:00", "12:00"), ("07:00", "18:00"), ("08:00", "47:59")],
        ),
        (["0,33333;1", "0,6;1"], [("08:00", "24:00"), ("14:24", "24:00")]),
    ],
)
def test_times_are_read_as_their_column_is_written(rows: list[str], windows: list[tuple[Any, Any]] | None) -> None:
    """SPEC T5, T7: half past eight is not 830 seconds after midnight, and 0 is a time.

    Each column shows by itself what its numbers are, or the other one does. 1100 minutes are 18:20, which nobody writes
    beside 600; 900 and 1230 may be 15:00 and 20:30 and are asked about. 0.375 is 09:00, of a workbook without formats.
    """
    day = day_of("id;place;qty;von;bis\n" + "".join(f"{at};A;1;{row}\n" for at, row in enumerate(rows)))
    found = [tuple(window) for ticket in day.tickets for window in ticket.get("time_windows", ())]
    assert (found if not day.faults else None) == windows
    note = 'Numbers in "von" are read as parts of a day: 0.375 is 09:00.'
    assert (note in day.assumed()) is rows[0].startswith("0,3")


@pytest.mark.parametrize(
    ("headers", "hours", "windows"),
    [
        ("open,close,slot", "08:00,12:00,8:00-12:00", [["08:00", "12:00"]]),
        ("open,close,slot", "28800,12:00,08:00-12:00", [[28800, "12:00"]]),
        ("open,close,slot", "09:00,,-", [["09:00", "47:59"]]),
        ("open,close,slot", "12:00,,08:00-12:00", None),
        ("opening hours,until", "08:00-17:00,11:00", [["08:00", "11:00"]]),
        ("opening hours,until", "8-12; 14-18,16:00", [["08:00", "12:00"], ["14:00", "16:00"]]),
        *(
            (f"{header},open", hours, windows)
            for header in ("time window", "时间窗", "TW")
            for hours, windows in (
                ("08:00-12:00,", [["08:00", "12:00"]]),
                (",09:00", [["09:00", "47:59"]]),
                ("08:00-9:00,9:00", None),
            )
        ),
    ],
)
def test_hours_of_several_columns_are_what_these_share(headers: str, hours: str, windows: Any) -> None:
    """SPEC T5: two columns that agree mean one thing; where they share no hour the row is asked about."""
    day = day_of(f"id,place,qty,{headers}\na,A,1,{hours}\n")
    faults = [(fault.path, fault.problem) for fault in day.faults]
    assert faults == ([] if windows else [("/2", "The row has a time window, and other hours beside it.")])
    assert windows is None or day.tickets[0]["time_windows"] == windows
    assert ("read as what these share: 1." in " ".join(day.assumed())) is ("until" in headers)


@pytest.mark.parametrize(
    ("hours", "shift", "window", "end", "note"),
    [
        ("22:00;06:00", "20:00;04:00", ["22:00", "30:00"], "28:00", "22:00-06:00, 20:00-04:00"),
        ("00:00;00:00", "0:00;0:00", ["00:00", "24:00"], "24:00", "00:00-00:00"),
    ],
)
def test_hours_that_pass_midnight_end_on_the_next_day_and_say_so(
    hours: str, shift: str, window: list[str], end: str, note: str
) -> None:
    """SPEC T5: from midnight to midnight is the whole day, as programs write where nothing is limited."""
    day = day_of(
        f"Order;Lat;Lon;From;To\nA1;52.5;13.4;{hours}\nA2;52.6;13.4;08:00;12:00\n",
        f"Vehicle;Capacity;Shift start;Shift end\nV1;9;{shift}\n",
    )
    assert [each["time_windows"] for each in day.tickets] == [[window], [["08:00", "12:00"]]]
    assert day.agents[0]["shift_end"] == end
    assert f"Read as ending on the next day: {note}." in day.assumed()


@pytest.mark.parametrize(
    ("cells", "priorities", "note"),
    [
        (["High", "2"], [7, 2], 'Words in "Prio" are read as low or C 3, normal or B 5, high or A 7, urgent 9.'),
        (["P1", "P3", ""], [9, 5, None], 'Classes in "Prio" are read as P1 9, P2 7, P3 5, P4 3, P5 1.'),
    ],
)
def test_a_column_of_priorities_says_which_end_is_high(cells: list[str], priorities: list[Any], note: str) -> None:
    """SPEC T5: many firms call the most urgent order 1, and P1 is, although 1 alone is the least."""
    day = day_of("Order;Lat;Lon;Prio\n" + "".join(f"A{cell};52.5;13.4;{cell}\n" for cell in cells))
    assert [ticket.get("priority") for ticket in day.tickets] == priorities
    assert list(day.notices) == ['"Prio" is read as 1, the least, to 9, the most.', note]


@pytest.mark.parametrize(
    ("cells", "depot"),
    [("13.4,52.51", "52.5,13.4"), ("116.4,39.9", "39.9,116.4"), ("116.4,39.9", "")],
    ids=["near the depot", "beyond a pole", "beyond a pole, no depot"],
)
def test_exchanged_headers_are_named_with_what_to_call_them(cells: str, depot: str) -> None:
    """SPEC T7: whoever has two hundred stops below exchanged headers swaps two names, and no cells."""
    rows = f"id,Breitengrad,Längengrad\na,{cells}\n"
    read = imported_day(rows, depot=depot)
    with pytest.raises(InputError) as caught:
        parse_scenario(read.body)
    (fault,) = map(read.in_file, caught.value.errors)
    assert fault is not None
    names = '"Breitengrad" as lon, "Längengrad" as lat'
    assert fault.hint == f"Swap lat and lon; if their headers are exchanged, name them in columns: {names}."
    swapped = imported_day(rows, depot=depot, columns={"Breitengrad": "lon", "Längengrad": "lat"})
    parse_scenario(swapped.body)


@pytest.mark.parametrize(
    ("hours", "way"),
    [("Max hours", "Max distance (km)"), ("最长工时(小时)", "最大里程(km)"), ("Max. Stunden", "km max.")],
)
def test_the_longest_hours_and_ways_of_agents_are_limits(hours: str, way: str) -> None:
    """SPEC T5, S1: what could be answered to the question about them was a price, or a number of stops."""
    day = day_of(agents=f"id;capacity;{hours};{way}\na;9;9,5;250\nb;9;8:00;\n")
    limits = [{name: agent[name] for name in sorted(agent) if name.startswith("max")} for agent in day.agents]
    assert limits == [{"max_distance_km": 250, "max_duration_s": 34200}, {"max_duration_s": 28800}]
