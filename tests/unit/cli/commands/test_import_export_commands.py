"""`import` and `export`: what was taken for granted, what a file lacks, and what goes out."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.formats.plan_exports import FORMS
from planner_mcp.jobs.masking.field_masking import MASKED, masked_fields, plan_for, scenario_for
from planner_mcp.jobs.principals import Principal
from planner_mcp.routing.plan import Plan
from tests.shared.formats.vroom_problems import VROOM
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.unit.cli.cli_runs import PLAN, refused_output, without_code


def imported(tmp_path: Path, name: str, text: str | bytes, *options: str) -> tuple[int, list[str], Any]:
    """Return the exit status of `import`, what it tells and the day it makes, None where it makes none."""
    file, day = tmp_path / name, tmp_path / "made.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    done = CliRunner().invoke(app, ["import", str(file), "--date", "2025-07-15", "--output", str(day), *options])
    made = json.loads(day.read_text(encoding="utf-8")) if day.exists() else None
    day.unlink(missing_ok=True)
    return done.exit_code, without_code(done.output).splitlines(), made


ORDERS = "id,place,qty\na,A,3\n"


@pytest.mark.parametrize(
    ("options", "notices"),
    [
        (
            (),
            ["No agents in the file: 1 of capacity 1000000 is taken; --agents, or --agent and --capacity, say others."],
        ),
        (("--agent", "3"), ["No capacity given: 1000000 each is taken; --capacity says another."]),
        (("--capacity", "9"), []),
    ],
)
def test_a_fleet_that_nobody_described_is_reported(
    options: tuple[str, ...], notices: list[str], tmp_path: Path
) -> None:
    """SPEC T5, O3: a day on one van of any size looks like a plan; the capacity is what is made up."""
    status, output_lines, day = imported(tmp_path, "orders.csv", ORDERS, *options)
    assert (status, [each for each in output_lines if each.startswith(("No agents", "No capacity"))]) == (0, notices)
    assert day["agents"][0]["id"] == "agent-1"


def test_a_warning_names_the_ticket_of_a_table_by_its_id(tmp_path: Path) -> None:
    """SPEC T7: as the answer of import_scenario does; who has the table knows no list of tickets."""
    text = "id,lat,lon,penalty\na,52.5,13.4,\nb,52.6,13.4,0\n"
    _, output_lines, _ = imported(tmp_path, "orders.csv", text, "--capacity", "9")
    assert any(line.startswith("Warning: /tickets/b/penalty: ") for line in output_lines)


FLEET = "车牌,颜色\nv,9\n"


def test_columns_of_a_fleet_can_be_corrected(tmp_path: Path) -> None:
    """SPEC T5, T7: a capacity under an unknown header is told as such, not as heavy tickets; --column names it."""
    (tmp_path / "fleet.csv").write_text(FLEET, encoding="utf-8")
    fleet = ("--agents", str(tmp_path / "fleet.csv"))
    status, output_lines, day = imported(tmp_path, "orders.csv", ORDERS, *fleet)
    fault = '--column: Column "颜色" is not used: it looks like numbers (9).'
    assert (status, [line.startswith(fault) for line in output_lines], day) == (1, [True], None)
    hint = 'Write --column "颜色=FIELD", or --column "颜色=" to leave it out.'
    assert output_lines[0].endswith(hint), "of several fields none is named first"
    status, output_lines, day = imported(tmp_path, "orders.csv", ORDERS, *fleet, "--column", "颜色=capacity")
    assert (status, day["agents"]) == (0, [{"id": "v", "capacity": 9}])
    status, output_lines, _ = imported(tmp_path, "orders.csv", ORDERS, *fleet, "--column", "载重=capacity")
    fault = "--column: 载重: There is no such column. (accepted: id, place, qty, 车牌, 颜色)"
    assert (status, output_lines) == (1, [fault])


def test_a_column_without_a_field_is_no_wish_to_leave_it_out(tmp_path: Path) -> None:
    """SPEC T7: who forgets the field would lose the column; a header may have the mark."""
    text = "id,place,kg = Netto,qty\na,A,3,4\n"
    status, output_lines, day = imported(tmp_path, "orders.csv", text, "--column", "qty")
    assert (status, day) == (1, None)
    assert output_lines == ["--column: It names no field. (accepted: HEADER=FIELD, or HEADER= to leave the column out)"]
    named = ("--column", "kg = Netto=demand", "--column", "qty=")
    status, _, day = imported(tmp_path, "orders.csv", text, *named)
    assert (status, day["tickets"][0]["demand"]) == (0, 3)


def test_hints_for_an_address_say_what_to_write_in_the_file(tmp_path: Path) -> None:
    """SPEC T7: tools of a server are nothing that a person at a shell has."""
    hint = "Write a fuller address, or give its latitude and longitude, in a table as columns lat and lon."
    text = 'id,address,kg\na,"5 Market St, San Antonio",3\nb,"Königstr. 1, Stuttgart",4\n'
    status, output_lines, _ = imported(tmp_path, "orders.csv", text)
    assert (status, output_lines[-1].startswith("Nobody can serve it: /2/address: a (")) == (0, True)
    assert output_lines[-1].endswith(hint)
    status, output_lines, _ = imported(tmp_path, "orders.csv", text, "--depot", "Springfield")
    assert (status, output_lines[-1].endswith(hint)) == (1, True)


def test_faults_of_a_fleet_begin_with_the_name_of_its_file(tmp_path: Path) -> None:
    """SPEC T7: line 3 of which file, a person would ask."""
    for text, faults in (
        ("车牌,容量\nv,9\nw,1,200\n", "/fleet.csv/3: row 3: The row has more cells"),
        ("车牌,容量\nv,much\n", '/fleet.csv/2/容量: row 2: "much" is not a number: capacity.'),
        ("车牌,容量\nv,9\nw,-5\n", "/fleet.csv/3/容量: w (-5): The amount is negative."),
        ("车牌,容量\nv,9\nv,5\n", "/fleet.csv/3/车牌: v: The id is the same as that of row 2."),
        ("车牌,容量\n", "/fleet.csv: The file has no agents."),
        ('车牌,容量\n"v,9\n', "/fleet.csv/2: A quote opens a cell"),
        ("容量,容量\n", "/fleet.csv: Two columns have the same header."),
    ):
        (tmp_path / "fleet.csv").write_text(text, encoding="utf-8")
        status, output_lines, _ = imported(tmp_path, "orders.csv", ORDERS, "--agents", str(tmp_path / "fleet.csv"))
        assert (status, [line for line in output_lines if line.startswith(faults)]) == (1, output_lines[-1:]), (
            output_lines
        )


def test_faults_in_a_sheet_of_agents_are_reported_by_sheet_and_row(tmp_path: Path) -> None:
    """SPEC T7: not by options that nobody gave; a sheet may be called like one of them."""
    orders = sheet_xml(rows_of(("订单号", "纬度", "经度", "数量"), ("A1", 39.95, 116.4, 3.0)))
    book, depot = tmp_path / "book.xlsx", ("--depot", "39.9,116.4")
    for rows, faults in (
        (rows_of(("车牌", "颜色"), ("v", "red")), "/agents: No column of the agents is their capacity."),
        (rows_of(("车牌", "容量")), "/agents: The file has no agents."),
        (rows_of(("车牌", "容量"), ("v", -5.0)), "/agents/2/容量: v (-5): The amount is negative."),
    ):
        book.write_bytes(workbook({"订单": orders, "agents": sheet_xml(rows)}))
        assert faults in refused_output("import", str(book), "--date", "2025-07-15", *depot)
    more = ("--agent", "2", "--column", "容量=capacity")
    faults = refused_output("import", str(book), "--date", "2025-07-15", *depot, *more)
    assert without_code(faults).startswith(
        "--column: The column is of the sheet of agents, which is not read: others were given."
    )


def test_a_refused_day_is_reported_by_the_rows_of_its_file(tmp_path: Path) -> None:
    """SPEC T7: a person sees lines and headers, and never counted tickets."""
    rows = "a,39.9,116.4,3,08:00,07:00,\na,39.9,616.4,3,2025-07-14T08:00,,\nb,39.9,116.4,9999999,,,\n"
    text = f"订单号,纬度,经度,数量,最早时间,最晚时间,服务分钟\n{rows}"
    _, output_lines, _ = imported(tmp_path, "orders.csv", text, "--depot", "139.9,116.4", "--capacity", "1000000")
    faults = [line.partition(":")[0] for line in output_lines if line.startswith(("/", "--"))]
    assert faults == ["/3/最早时间", "/3/订单号", "--depot", "/3/经度", "/2", "/4/数量"]
    assert any(line.startswith("/3/订单号: a: The id is the same as that of row 2.") for line in output_lines)
    faults = refused_output("import", str(tmp_path / "orders.csv"), "--date", "15.7.", "--depot", "39.9,116.4")
    assert "--date: The value is not a date." in faults
    faults = refused_output("import", str(tmp_path / "orders.csv"), "--date", "2025-07-14", "--depot", "nowhere")
    assert "--depot: The address of nowhere is not sure" in faults


def test_assumptions_about_a_table_are_shown_for_a_refused_day_too(tmp_path: Path) -> None:
    """SPEC T7: what was taken for granted may be what is wrong."""
    status, output_lines, _ = imported(tmp_path, "orders.csv", "id,place,qty\na,A,\na,B,3\n", "--capacity", "9")
    assert (status, "Tickets without a demand, for which 0 is taken: 1." in output_lines) == (1, True)


def test_options_that_a_file_does_not_use_are_refused_by_name(tmp_path: Path) -> None:
    """SPEC T5, T7: nothing that was asked for is passed over in silence; a default asks for nothing."""
    (tmp_path / "fleet.csv").write_text("id,capacity\nv,9\n")
    problem = json.dumps(VROOM)
    assert imported(tmp_path, "problem.json", problem)[0] == 0
    asked = ("--depot", "39.9,116.4", "--agent", "5", "--column", "x=y", "--sheet", "S")
    status, output_lines, day = imported(tmp_path, "problem.json", problem, *asked)
    faults = [line.partition(":")[0] for line in output_lines if line.startswith("--")]
    assert (status, day, faults) == (1, None, ["--depot", "--agent, --capacity", "--column", "--sheet"])
    status, output_lines, _ = imported(tmp_path, "problem.json", problem, "--agents", str(tmp_path / "fleet.csv"))
    assert (status, output_lines[-1][:9]) == (1, "--agents:")
    assert imported(tmp_path, "orders.csv", ORDERS, "--agents", str(tmp_path / "fleet.csv"), "--agent", "2")[0] == 2


@pytest.mark.parametrize(
    ("name", "text", "notice"),
    [
        ("pairs.txt", "25 200\n", "Taken for li_lim; --format says otherwise."),
        ("orders.txt", "id,place,qty\na,A,much\n", "Taken for csv; --format says otherwise."),
        ("orders.json", ORDERS, "Taken for vroom; --format says otherwise."),
        ("orders.csv", "id,place,qty\na,A,much\n", ""),
        ("orders.txt", "\ufeffid,place,qty\na,A,much\n".encode("utf-16-le"), "Taken for csv; --format says otherwise."),
    ],
)
def test_a_guessed_format_is_named_where_it_cannot_be_read(
    name: str, text: str | bytes, notice: str, tmp_path: Path
) -> None:
    """SPEC T5, T7: a table called .txt is no instance with odd numbers."""
    status, output_lines, _ = imported(tmp_path, name, text)
    assert (status, [line for line in output_lines if "--format" in line]) == (1, [notice] if notice else [])


def test_kinds_of_json_are_recognized(tmp_path: Path) -> None:
    """SPEC T5, T7: points are read whatever the name of their file; a scenario needs no import, which is said."""
    point = {"geometry": {"type": "Point", "coordinates": [116.4, 39.9]}, "properties": {"id": "a"}}
    points = json.dumps({"type": "FeatureCollection", "features": [point]})
    status, _, day = imported(tmp_path, "points.json", points)
    assert (status, [ticket["id"] for ticket in day["tickets"]]) == (0, ["a"])
    _, output_lines, _ = imported(tmp_path, "day.json", json.dumps(SMALLEST))
    assert output_lines[-1].endswith("or solve and validate of the command line, take it as it is.")


def test_what_a_principal_sees_masked_is_exported(tmp_path: Path) -> None:
    """SPEC T5, R3: a plan and its scenario as they are read without `planner:sensitive`; JSON keeps all there is."""
    places = [{"id": "LOC_A", "lat": 39.9123, "lon": 116.4}]
    agents = [{**agent, "fixed_cost": 5.0} for agent in SMALLEST["agents"]]
    priced = {**SMALLEST, "agents": agents, "locations": places}
    stranger = Principal(id="k", scopes=frozenset())
    hidden = {MASKED: masked_fields(stranger, priced), **scenario_for(stranger, priced)}
    seen = {"plan_id": "plan-1", **plan_for(stranger, Plan.from_json(PLAN)).as_json()}
    assert (hidden["agents"][0]["fixed_cost"], seen["routes"][0]["cost"]) == (None, None)
    plan, day = tmp_path / "plan.json", tmp_path / "day.json"
    plan.write_text(json.dumps(seen))
    day.write_text(json.dumps(hidden))
    for form in FORMS:
        made = tmp_path / f"made.{form}"
        done = CliRunner().invoke(app, ["export", str(plan), str(day), "--output", str(made)])
        assert (done.exit_code, done.output, made.exists()) == (0, "", True)
    assert json.loads((tmp_path / "made.json").read_text()) == json.loads(json.dumps(seen))


def test_a_plan_of_an_older_worker_is_exported_as_it_is(tmp_path: Path) -> None:
    """SPEC T5: what it does not tell is not told as 0 either."""
    visits = [
        {name: value for name, value in visit.items() if name != "late_s"} for visit in PLAN["routes"][0]["visits"]
    ]
    routes = [{**PLAN["routes"][0], "visits": visits}]
    del routes[0]["overtime_s"]
    older = {name: value for name, value in PLAN.items() if name != "penalty"} | {"routes": routes}
    files = [tmp_path / name for name in ("plan.json", "day.json")]
    for file, value in zip(files, (older, SMALLEST), strict=True):
        file.write_text(json.dumps(value))
    for form in ("json", "csv"):
        done = CliRunner().invoke(app, ["export", *map(str, files), "--output", str(tmp_path / f"made.{form}")])
        assert (done.exit_code, done.output) == (0, "")
    assert json.loads((tmp_path / "made.json").read_text()) == json.loads(json.dumps(older))
    rows = list(csv.DictReader((tmp_path / "made.csv").read_text().splitlines()))
    assert [row["late_min"] for row in rows] == [""] * len(visits)


@pytest.mark.parametrize("form", ["csv", "geojson", "gpx", "json"])
@pytest.mark.parametrize(
    "given",
    [[], 5, {"routes": 5}, {**PLAN, "routes": [{}]}, {**SMALLEST, "locations": [{"id": "A", "lat": "1"}]}, SMALLEST],
    ids=["list", "number", "another object", "routes of nothing", "scenario of no places", "scenario"],
)
def test_what_is_no_plan_is_not_exported(given: Any, form: str, tmp_path: Path) -> None:
    """SPEC T7: every fault with its place, in whichever of the two files it lies; no traceback, and nothing written."""
    plan, other, made = tmp_path / "plan.json", tmp_path / "other.json", tmp_path / f"made.{form}"
    plan.write_text(json.dumps(PLAN))
    other.write_text(json.dumps(given))
    for argument, files in (("plan", (other, other)), ("scenario", (plan, other))):
        if (argument, given) != ("scenario", SMALLEST):
            output_lines = refused_output("export", *map(str, files), "--output", str(made))
            assert output_lines.startswith("error 4")
            lines = without_code(output_lines).splitlines()
            assert all(line.startswith((f"/{argument}", f"{len(lines) - 1} problems")) for line in lines)
    assert not made.exists()


PAPER = [
    ("report.html", b"<!doctype html>"),
    ("day-sheets.html", b"<!doctype html>"),
    ("map.svg", b"<svg"),
    ("map.png", b"\x89PNG"),
    ("stops.ics", b"BEGIN:VCALENDAR\r\n"),
]


@pytest.mark.parametrize(("name", "begins"), PAPER)
def test_a_plan_is_printed_from_files(name: str, begins: bytes, tmp_path: Path) -> None:
    """SPEC T5: report, driver sheets, map and calendar; of one agent alone, and masked scenarios too."""
    plan, day = tmp_path / "plan.json", tmp_path / "day.json"
    plan.write_text(json.dumps(PLAN))
    day.write_text(json.dumps({**SMALLEST, MASKED: ["agents.name"]}))
    agent = PLAN["routes"][0]["agent_id"]
    command = ["export", str(plan), str(day), "--output", str(tmp_path / name), "--agent", agent]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_plan_of_another_day_is_not_printed(tmp_path: Path) -> None:
    """SPEC T7: what does not belong together is refused by its ids, and no file is left."""
    plan, day, out = tmp_path / "plan.json", tmp_path / "day.json", tmp_path / "report.html"
    plan.write_text(json.dumps(PLAN))
    for change, why in (
        ({"agents": [{"id": "other", "capacity": 9}]}, "this one has no agents"),
        ({"agents": 5}, "/scenario/agents: "),
        ({"agents": [{}]}, "The file is not a scenario."),
    ):
        day.write_text(json.dumps({**SMALLEST, **change}))
        assert why in refused_output("export", str(plan), str(day), "--output", str(out))
    day.write_text(json.dumps(SMALLEST))
    refusal = refused_output("export", str(plan), str(day), "--output", str(out), "--agent", "nobody")
    assert "--agent: nobody has no route in this plan." in refusal and not out.exists()
