"""Plans as files (SPEC T5)."""

import csv
import io
import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest
from python_calamine import load_workbook

from planner_mcp.errors import InputError
from planner_mcp.formats.import_formats import open_columns
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.plan_exports import FORMS, export
from planner_mcp.formats.stop_tables import workbook
from planner_mcp.formats.tables.import_options import Form, ImportOptions
from planner_mcp.formats.tables.sheets.exported_stops import RARE_COLUMNS, without_plan
from planner_mcp.formats.tables.sheets.text_tables import read_table
from planner_mcp.routing.plan import Plan, Unassigned, Visit
from planner_mcp.routing.scenario.coordinates import globe_positions
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from tests.shared.formats.day_tables import read_file
from tests.shared.scenarios.planned_days import plan_of

DAY: dict[str, Any] = {
    "name": "城配",
    "planning_date": "2025-07-15",
    "depot": "D",
    "locations": [
        {"id": "D", "lat": 39.90, "lon": 116.40},
        {"id": "=A", "lat": 39.95, "lon": 116.40},
        {"id": "北 & <B>", "lat": 39.95, "lon": 116.50},
    ],
    "agents": [{"id": "京A·1", "capacity": 2, "shift_start": "08:00"}, {"id": "idle", "capacity": 1}],
    "tickets": [
        {"id": "+1", "location": "=A", "demand": 1},
        {"id": "t2", "location": "北 & <B>", "demand": 1, "time_windows": [["25:00", "26:00"]]},
        {"id": "t3", "location": "=A", "demand": 2},
    ],
}


def plan(day: dict[str, Any] = DAY) -> Plan:
    return plan_of(day, [0, 1])


def test_a_spreadsheet_gets_a_row_a_stop_and_no_formula() -> None:
    """SPEC T5: stops in order with times, what is left out at the end; text that looks like a formula is quoted."""
    rows = list(csv.DictReader(io.StringIO(export(plan(), DAY, "csv"))))
    assert [(row["agent_id"], row["stop"], row["ticket_id"], row["location"]) for row in rows] == [
        ("京A·1", "1", "'+1", "'=A"),
        ("京A·1", "2", "t2", "北 & <B>"),
        ("", "", "t3", "'=A"),
    ]
    assert rows[1]["start"] == "25:00:00"
    assert (rows[0]["lat"], rows[0]["lon"]) == ("39.95", "116.4")
    assert rows[2]["kind"] == "unassigned"
    assert rows[2]["note"]


def test_a_workbook_has_numbers_and_text_as_they_are() -> None:
    """SPEC T5: the rows of the CSV; Excel opens it by itself, whatever parts the cells of a CSV in its country."""
    first = {**DAY["tickets"][0], "id": "007", "name": "=1+1", "phone": "+49 30 1"}
    day = {**DAY, "tickets": [first, *DAY["tickets"][1:]]}
    made = plan(day)
    rest = Visit("break", None, None, 90_000.0, 90_000.0, 90_600.0, {}, 0.0, None)
    made = replace(made, routes=(replace(made.routes[0], visits=(*made.routes[0].visits, rest)),))
    book = load_workbook(io.BytesIO(workbook(made, day, is_draft=True)))
    headers, *cells = book.get_sheet_by_index(0).to_python()
    rows = [dict(zip(headers, row, strict=True)) for row in cells]
    by_csv = list(csv.DictReader(io.StringIO(export(made, day, "csv", is_draft=True))))
    assert headers == list(by_csv[0])
    assert [rows[0][name] for name in ("ticket_id", "name", "phone")] == ["007", "=1+1", "+49 30 1"]
    assert [rows[0][name] for name in ("lat", "stop", "demand")] == [39.95, 1, 1]
    assert [row["kind"] for row in rows] == ["ticket", "ticket", "break", "unassigned"]
    assert [rows[at]["start"] for at in (1, 2)] == ["25:00:00", "25:00:00"]
    assert all("DRAFT" in row["note"] for row in rows)


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("=1+1", "'=1+1"),
        ("＝1+1", "'＝1+1"),
        ("＠SUM(A1)", "'＠SUM(A1)"),
        ("a;=1+1", "a;'=1+1"),
        ("a; \t-1;b;＋1", "a; \t'-1;b;'＋1"),
        ("a\n@b", "a\n'@b"),
        ('a;"=1+1;b', "a;\"'=1+1;b"),
        ('"" -1', '"" \'-1'),
        ("\ta", "'\ta"),
        (" =1", " '=1"),
        ("a;b=c", "a;b=c"),
        ("a-b, +c", "a-b, +c"),
    ],
)
def test_no_text_is_a_formula_whichever_separator_parts_the_line(text: str, quoted: str) -> None:
    """SPEC T5: `;` where commas are decimal, full-width signs, spaces and quotes before them."""
    parsed_value = replace(plan(), routes=(), unassigned=(Unassigned(text, "late", "x"),))
    written = export(parsed_value, {}, "csv")
    (row,) = csv.DictReader(io.StringIO(written, newline=""))
    assert row["ticket_id"] == quoted
    cells = [cell for line in csv.reader(io.StringIO(written, newline=""), delimiter=";") for cell in line]
    assert not any(cell.lstrip().startswith(tuple("=+-@＝＋－＠")) for cell in cells)


def test_a_map_gets_lines_and_points() -> None:
    """SPEC T5: GeoJSON in WGS-84, longitude first, the way from and to the depot included."""
    parsed_value = json.loads(export(plan(), DAY, "geojson"))
    line, first, _second = parsed_value["features"]
    assert line["geometry"]["coordinates"] == [[116.4, 39.9], [116.4, 39.95], [116.5, 39.95], [116.4, 39.9]]
    assert line["properties"]["agent_id"] == "京A·1"
    assert first["properties"]["ticket_id"] == "+1"


def test_a_line_over_the_180th_meridian_is_cut_there() -> None:
    """SPEC T5: RFC 7946, section 3.1.9; there and back again, and from the meridian itself."""
    places = [("D", -16.8, 179.9), ("E", -16.7, -179.9), ("F", -16.9, 180.0), ("G", -16.9, -179.8)]
    day = {
        "name": "Fiji",
        "planning_date": "2025-07-15",
        "depot": "D",
        "agents": [{"id": "v", "capacity": 9}],
        "locations": [{"id": name, "lat": lat, "lon": lon} for name, lat, lon in places],
        "tickets": [{"id": f"t{name}", "location": name, "demand": 1} for name in "EFG"],
    }
    line = json.loads(export(plan_of(day, [0, 1, 2]), day, "geojson"))["features"][0]["geometry"]
    assert line == {
        "type": "MultiLineString",
        "coordinates": [
            [[179.9, -16.8], [180.0, -16.75]],
            [[-180.0, -16.75], [-179.9, -16.7], [-180.0, -16.9]],
            [[180.0, -16.9], [180.0, -16.9], [180.0, -16.9]],
            [[-180.0, -16.9], [-179.8, -16.9], [-180.0, -16.833333]],
            [[180.0, -16.833333], [179.9, -16.8]],
        ],
    }


def test_navigation_gets_a_route_an_agent() -> None:
    """SPEC T5: GPX 1.1, names escaped."""
    root = ElementTree.fromstring(export(plan(), DAY, "gpx"))  # noqa: S314 — our own words
    space = {"g": "http://www.topografix.com/GPX/1/1"}
    assert [each.text for each in root.findall("g:rte/g:name", space)] == ["京A·1"]
    points = root.findall("g:rte/g:rtept", space)
    assert [(each.get("lat"), each.get("lon")) for each in points][:2] == [
        ("39.900000", "116.400000"),
        ("39.950000", "116.400000"),
    ]
    assert [each.findtext("g:name", namespaces=space) for each in points] == ["D", "+1", "t2", "D"]
    assert [each.findtext("g:desc", namespaces=space) for each in points][1:] == ["24:43", "25:00; 25:00-26:00", None]
    texts = {"name": "Café <Ö>", "address": "Torstr. 1\n10115 Berlin", "phone": "+49 30 1", "notes": "ring & wait"}
    day = {**DAY, "tickets": [{**DAY["tickets"][0], **texts}, *DAY["tickets"][1:]]}
    root = ElementTree.fromstring(export(plan(day), day, "gpx"))  # noqa: S314 — our own words
    (shown,) = [each.text for each in root.findall("g:rte/g:rtept/g:desc", space) if "Café" in str(each.text)]
    assert shown == "24:43; Café <Ö>; Torstr. 1 10115 Berlin; +49 30 1; ring & wait", "what the driver needs there"
    chinese = {"name": "望京店", "time_windows": [["10:00", "47:59"], [0, "12:00"]]}
    day = {**DAY, "tickets": [{**DAY["tickets"][0], **chinese}, *DAY["tickets"][1:]]}
    assert "24:43; 10:00 起; 12:00 前; 望京店" in export(plan(), day, "gpx"), "in the language of the day, as on paper"
    masked = {**DAY, "tickets": [{**DAY["tickets"][0], "name": "***", "notes": "***"}, *DAY["tickets"][1:]]}
    assert "<name>+1</name><desc>24:43</desc>" in export(plan(), masked, "gpx"), "nothing of what is masked"


def test_two_tickets_at_one_place_are_two_stops_and_one_point_is_no_line() -> None:
    """SPEC T5: each stop by its ticket; RFC 7946 asks two places of a line."""
    there = [{**each, "location": "=A", "time_windows": []} for each in DAY["tickets"][:2]]
    parsed_value = export(plan({**DAY, "tickets": there}), DAY, "gpx")
    assert [name for name in ("D", "+1", "t2") if f"<name>{name}</name>" in parsed_value] == ["D", "+1", "t2"]
    loose = {key: value for key, value in DAY.items() if key != "depot"} | {"tickets": there[:1]}
    line, stop = json.loads(export(plan_of(loose, [0]), loose, "geojson"))["features"]
    assert line["geometry"] is None
    assert stop["geometry"]["type"] == "Point"


def test_chinese_coordinates_are_converted() -> None:
    """SPEC T5: what leaves is WGS-84, whatever was declared."""
    shifted = globe_positions({**DAY, "travel": {"crs": "gcj02"}})["D"]
    assert 0.001 < abs(shifted[0] - 39.90) < 0.01


def test_a_plan_reads_back_from_json_and_maps_need_a_globe() -> None:
    """SPEC T5: JSON is the plan itself; on a plane there is no map of the world."""
    assert json.loads(export(plan(), DAY, "json")) == json.loads(json.dumps(plan().as_json()))
    flat = {**DAY, "locations": [{"id": place["id"], "x": n, "y": n} for n, place in enumerate(DAY["locations"])]}
    assert "t2" in export(plan(flat), flat, "csv")
    for form in ("geojson", "gpx", "xls"):
        with pytest.raises(InputError):
            export(plan(flat), flat, form)


def test_every_form_has_its_resource() -> None:
    """SPEC R1, T5: what the command line writes can be read by URI."""
    from planner_mcp.server.resources.resource_catalogue import TEMPLATES

    suffixes = {template.uri_template.rpartition(".")[2] for template in TEMPLATES if "." in template.uri_template}
    assert suffixes >= set(FORMS) - {"json"}


LIST = """单号,客户名称,地址,电话,纬度,经度,重量(kg),体积(m³),送货时间段,停留时间(分钟),类型,技能,备注,优先级
A1,=超市,朝阳区建国路1号,138,39.9087,116.3975,12.5,0.3,8:30-12:00; 14:00-16:00,15,送货,lift、cold,"后门, 右手",7
A2,李四,海淀区中关村2号,,39.9831,116.3163,3,0.1,10点以后,10,取货,,,5
"""


def test_my_list_comes_back_as_it_was() -> None:
    """SPEC T5: a plan exported as CSV or for Excel and imported again is the same day, whoever was served."""
    agents = ({"id": "京A·1", "capacity": {"weight_kg": 20, "volume_m3": 2}, "skills": ["lift", "cold"]},)

    def read(table: str | bytes, form: Form = "csv") -> dict[str, Any]:
        return read_file(table, form, depot="39.9,116.4", agents=agents).body

    day = read(LIST)
    for served in ([0, 1], [0], []):
        made = plan_of(day, served)
        for again in (read(export(made, day, "csv")), read(workbook(made, day), "xlsx")):
            for name in ("tickets", "agents"):
                before, after = (getattr(parse_scenario(body), name) for body in (day, again))
                assert sorted(after, key=lambda each: each.id) == sorted(before, key=lambda each: each.id)
            places = [
                {place.id: (place.lat, place.lon) for place in parse_scenario(body).locations} for body in (day, again)
            ]
            assert places[0] == places[1]


RARE: dict[str, Any] = {
    "setup_time_s": 90,
    "release_time": "07:30",
    "soft_close": "2025-07-18T09:30:15",
    "lateness_cost_per_hour": 12.5,
    "pickup": "+1",
    "agents": ["京A·1"],
    "not_agents": ["idle"],
    "preferred_agent": "京A·1",
    "switch_cost": 4,
}


def test_the_map_of_a_plan_leads_to_its_table() -> None:
    """SPEC T5, T7: its points have no amounts; the refusal said to remove the lines, which would have lost these."""
    with pytest.raises(InputError) as caught:
        read_file(export(plan(), DAY, "geojson"), "geojson")
    assert [fault.accepted for fault in caught.value.errors] == ["stops.xlsx or stops.csv of the plan"]


def test_rules_of_few_tickets_are_read_back() -> None:
    """SPEC T5: set-up, release, the soft end, the pickup of a delivery and who may serve it have columns where used."""
    first, second, third = DAY["tickets"]
    day = {**DAY, "tickets": [{**first, "kind": "pickup"}, {**second, **RARE}, third]}
    text = export(plan(DAY), day, "csv")
    again = read_file(text, agents=tuple(DAY["agents"])).body
    before, after = ({each.id: each for each in parse_scenario(body).tickets} for body in (day, again))
    assert after == before
    assert not set(RARE_COLUMNS) & set(export(plan(), DAY, "csv").partition("\r\n")[0].split(","))


def test_agents_of_the_exported_day_are_not_required_of_a_later_one() -> None:
    """SPEC T5: the file is not refused for the vehicles of the day that it was exported from."""
    day = {**DAY, "tickets": [{**each, "agents": ["京A·1"]} for each in DAY["tickets"]]}
    read = read_file(export(plan(), day, "csv"), planning_date="2025-07-16")
    assert all("agents" not in each for each in read.body["tickets"])
    assert "Tickets that name unknown agents, which may be served by any: 3." in read.assumptions


def test_quotes_against_formulas_are_no_part_of_what_is_read_back() -> None:
    """SPEC T5: also those behind a semicolon; a quote that was there stays."""
    notes, phone = "ring; +49 30 1; don't; '90s", "+49 170 1; +49 170 2"
    ticket = {**DAY["tickets"][0], "notes": notes, "phone": phone}
    day = {**DAY, "tickets": [ticket, *DAY["tickets"][1:]]}
    table = without_plan(read_table(export(plan(day), day, "csv").encode(), max_rows=9))
    (row,) = [cells for _, cells in table.rows if cells["id"] == ticket["id"]]
    assert (row["notes"], row["phone"]) == (notes, phone)


def test_windows_of_later_days_are_read_back() -> None:
    """SPEC T5: a shop that is closed today is open at 105:00, which no table can say."""
    later = [["2025-07-19T09:00", "2025-07-19T12:00"], ["2025-07-20T22:00", "2025-07-21T06:00"]]
    windows = [["08:00", "26:00"], *later]
    day = {**DAY, "tickets": [{**each, "time_windows": windows} for each in DAY["tickets"]]}
    text = export(plan(day), day, "csv")
    again = read_file(text).body
    before, after = (parse_scenario(body).tickets[0].time_windows for body in (day, again))
    assert sorted(after) == sorted(before)


def test_windows_with_one_side_are_read_back() -> None:
    """SPEC T5: they are written as people write them."""
    windows = [["10:00", "47:59"]], [["00:00", "12:00"]], [["10:00", "47:59"]]
    tickets = [{**each, "time_windows": sides} for each, sides in zip(DAY["tickets"], windows, strict=True)]
    text = export(plan(), {**DAY, "tickets": tickets}, "csv")
    again = read_file(text).body
    assert [each["time_windows"] for each in again["tickets"]] == list(windows)


def test_numbers_are_written_as_an_import_reads_them() -> None:
    """SPEC T5: Python writes 4e-05 for some metres west or east of Greenwich."""
    places = [{**DAY["locations"][0], "lon": -4e-05}, *({**each, "lon": 4e-05} for each in DAY["locations"][1:])]
    day = {**DAY, "locations": places}
    rows = list(csv.DictReader(io.StringIO(export(plan(day), day, "csv"))))
    assert [row["lon"] for row in rows] == ["0.00004"] * 3


def test_what_the_plan_decided_is_not_asked_about_when_its_table_is_imported() -> None:
    """SPEC T5: a person would be asked which end of a window the arrivals are."""
    content = Content(export(plan(), DAY, "csv").encode())
    assert open_columns(content, "csv", ImportOptions("d", "2025-07-15"), max_tickets=9) == []


def test_people_and_windows_stand_in_every_export() -> None:
    """SPEC T5: what a driver needs at the door; a map's points have it too."""
    tickets = [{**DAY["tickets"][1], "name": "Ann", "address": "1 High St", "phone": "5", "notes": "ring"}]
    day = {**DAY, "tickets": [DAY["tickets"][0], *tickets, DAY["tickets"][2]]}
    row = list(csv.DictReader(io.StringIO(export(plan(day), day, "csv"))))[1]
    details = {name: row[name] for name in ("name", "address", "phone", "notes", "window")}
    assert details == {"name": "Ann", "address": "1 High St", "phone": "5", "notes": "ring", "window": "25:00-26:00"}
    points = [each["properties"] for each in json.loads(export(plan(day), day, "geojson"))["features"]]
    assert [details.items() <= point.items() for point in points].count(True) == 1


LINE = [(39.9, 116.4), (39.93, 116.41), (39.95, 116.4)]


def test_lines_along_roads_stand_in_maps_with_whom_to_name() -> None:
    """SPEC O9: GeoJSON has the line, GPX a track beside the route; ODbL asks for the name."""
    drawn = json.loads(export(plan(), DAY, "geojson", {"京A·1": LINE}))
    assert drawn["attribution"] == "© OpenStreetMap contributors"
    assert drawn["features"][0]["geometry"]["coordinates"] == [[116.4, 39.9], [116.41, 39.93], [116.4, 39.95]]
    assert drawn["features"][0]["properties"]["along_roads"] is True
    root = ElementTree.fromstring(export(plan(), DAY, "gpx", {"京A·1": LINE}))  # noqa: S314 — our own words
    names = {"g": "http://www.topografix.com/GPX/1/1"}
    assert [child.tag.partition("}")[2] for child in root] == ["metadata", "rte", "trk"]
    points = root.findall("g:trk/g:trkseg/g:trkpt", names)
    assert [(point.get("lat"), point.get("lon")) for point in points][1] == ("39.930000", "116.410000")


@pytest.mark.parametrize("form", ["geojson", "gpx"])
def test_straight_lines_name_nobody(form: str) -> None:
    """SPEC O9: there is nothing of OpenStreetMap in them."""
    assert "OpenStreetMap" not in export(plan(), DAY, form)
