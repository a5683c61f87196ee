"""Days from files of other programs, by a tool (SPEC T5, T7)."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.jobs.principals import READ, WRITE, Principal
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.server.prompts.mapping_examples import mapping_examples
from planner_mcp.server.tools.arguments.kept_files import Kept
from planner_mcp.server.tools.arguments.resolved_inputs import ScenarioBounds
from planner_mcp.server.tools.scenarios import import_scenario
from planner_mcp.server.tools.tool_definition import ErrorResult, ToolContext, ToolResult
from planner_mcp.settings import ANY_FILE
from planner_mcp.text import Json
from tests.shared.formats.instance_texts import li_lim, solomon, vrplib
from tests.shared.formats.vroom_problems import VROOM
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook
from tests.shared.scenarios.stored_plans import Call
from tests.shared.tools.token_costs import all_forms_tokens, tokens

pytestmark = pytest.mark.anyio
DATE = "2025-07-15"
ORDERS = "订单号,纬度,经度,Quantitty,内部码\nA1,39.95,116.40,3,x\nA2,39.96,116.42,4,y\n"
AGENTS = [{"id": "veh-1", "capacity": 9}]
WIDE = {f"c{number}": "1" for number in range(201)}
BOOK = workbook(
    {
        "订单": sheet_xml(rows_of(("订单号", "地点", "数量"), ("A1", "X", 3.0))),
        "车辆": sheet_xml(rows_of(("车牌号", "载重"), ("京A1", 9.0))),
    }
)
POINTS = {"features": [{"geometry": {"type": "Point", "coordinates": [116.4, 39.9]}, "properties": {"id": "a"}}]}


def nothing_kept(_file: str | None) -> Kept:
    """Return what a principal keeps who has imported nothing."""
    return Kept()


async def imported(call: Call, form: str, content: str, **more: Any) -> ToolResult | ErrorResult:
    """Import a file."""
    return await call("import_scenario", {"format": form, "content": content, "planning_date": DATE, **more})


async def faults(call: Call, form: str, content: str, **more: Any) -> list[tuple[str, str]]:
    """Return place and problem of what is wrong with a file."""
    result = await imported(call, form, content, **more)
    assert isinstance(result, ErrorResult)
    return [(fault["path"], fault["problem"]) for fault in result.structured["errors"]]


@pytest.mark.parametrize(("shift", "is_noted"), [({}, True), ({"shift_start": "08:00"}, False)])
async def test_a_table_with_windows_and_no_shift_is_noted(call: Call, shift: Json, is_noted: bool) -> None:
    """SPEC T5: such a plan may begin at midnight, which a dispatcher would see in the plan only."""
    rows = "id,lat,lon,until\na,52.5,13.4,10:00\n"
    result = await imported(call, "csv", rows, agents=[AGENTS[0] | shift])
    note = "No agent has a shift, so routes may begin at midnight."
    assert (note in result.structured["assumptions"]) is is_noted


async def test_the_depot_of_a_table_of_addresses_may_be_an_address(call: Call, ctx: ToolContext) -> None:
    """SPEC O4, T5: it is found like those of the tickets; one that is not found is refused with what would be."""
    rows = "Kunde;Anschrift\nPost;Marienplatz 1, 80331 München\nMarkt;Rathausplatz 2, 86150 Augsburg\n"
    for depot in ("Rathausplatz 2, 86150 Augsburg", "80331 München"):
        result = await imported(call, "csv", rows, agents=AGENTS, depot=depot)
        assert isinstance(result, ToolResult), result.text
        stored = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
        (place,) = (each for each in stored.body["locations"] if each["id"] == stored.body["depot"])
        assert 47 < place["lat"] < 49, depot
    assert await faults(call, "csv", rows, agents=AGENTS, depot="Hinterkaifeckhausen") == [
        ("/depot", "The address of Hinterkaifeckhausen is not sure (confidence 0.30): Hinterkaifeckhausen.")
    ]


async def test_the_depot_of_a_table_of_positions_may_be_an_address(call: Call, ctx: ToolContext) -> None:
    """SPEC O4, T5: one that is not sure is called so; it was no id of a location."""
    rows = "id,lat,lon,demand\na,48.14,11.58,1\n"
    result = await imported(call, "csv", rows, agents=AGENTS, depot="Marienplatz 1, 80331 München")
    assert isinstance(result, ToolResult), result.text
    stored = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
    (place,) = (each for each in stored.body["locations"] if each["id"] == stored.body["depot"])
    assert (round(place["lat"]), round(place["lon"])) == (48, 12)
    street = "Großer Grasbrook 1, Hamburg"
    assert await faults(call, "csv", rows, agents=AGENTS, depot=street) == [
        ("/depot", f"The address of {street} is not sure (confidence 0.75): {street}.")
    ]


@pytest.mark.parametrize(
    ("form", "content", "agents", "tickets"),
    [
        ("csv", ORDERS, AGENTS, 2),
        ("xlsx", base64.encodebytes(BOOK).decode(), [], 1),
        ("geojson", json.dumps(POINTS), AGENTS, 1),
        ("vroom", json.dumps(VROOM), [], 4),
        ("vrplib", vrplib(), [], 4),
        ("solomon", solomon(), [], 4),
        ("li_lim", li_lim(), [], 4),
    ],
)
async def test_every_form_becomes_a_stored_day(
    call: Call, ctx: ToolContext, form: str, content: str, agents: list[Any], tickets: int
) -> None:
    """SPEC T5: CSV, XLSX, GeoJSON, VROOM, CVRPLIB, Solomon, Li and Lim."""
    result = await imported(call, form, content, agents=agents)
    assert isinstance(result, ToolResult), result.text
    stored = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
    assert (len(stored.body["tickets"]), result.structured["tickets"]) == (tickets, tickets)
    assert stored.body["name"] == form
    assert (await call("solve_vrp", {"scenario_id": stored.id})).structured["status"] == "QUEUED"


@pytest.mark.parametrize(
    ("form", "content", "unused"),
    [
        ("vroom", json.dumps(VROOM), ["depot", "agents", "columns", "sheet"]),
        ("solomon", solomon(), ["depot", "agents", "columns", "sheet"]),
        ("csv", ORDERS, ["sheet"]),
        ("geojson", json.dumps(POINTS), ["sheet"]),
    ],
)
async def test_what_a_form_does_not_use_is_refused(call: Call, form: str, content: str, unused: list[str]) -> None:
    """SPEC T5, T7: by its argument; a day stored without what was asked for would be another's."""
    given = {"depot": "39.9,116.4", "agents": AGENTS, "columns": {"id": "name"}, "sheet": "S"}
    assert [path for path, _ in await faults(call, form, content, **given)] == [f"/{name}" for name in unused]


async def test_agents_that_are_given_win_over_a_sheet_of_them(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: and that the sheet is passed over is told."""
    result = await imported(call, "xlsx", base64.b64encode(BOOK).decode(), agents=AGENTS)
    assert isinstance(result, ToolResult), result.text
    stored = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
    assert [agent["id"] for agent in stored.body["agents"]] == ["veh-1"]
    assert result.structured["assumptions"][1].startswith("The file has a sheet of agents, which is passed over")


async def test_the_meanings_assumed_of_columns_are_reported_and_can_be_corrected(call: Call) -> None:
    """SPEC T5: a proposed mapping, with what it guessed and left out; a second call corrects it."""
    result = await imported(call, "csv", ORDERS, agents=AGENTS, depot="39.9,116.4")
    assert result.structured["columns"] == {
        "tickets": {
            "taken": ["订单号 → id", "纬度 → lat", "经度 → lon", "Quantitty → demand (a guess)"],
            "left_out": ["内部码: texts (x, y)"],
        }
    }
    assert "tickets, not used: 内部码: texts (x, y)" in result.text
    again = await imported(call, "csv", ORDERS, agents=AGENTS, columns={"内部码": "notes", "Quantitty": ""})
    assert again.structured["columns"]["tickets"]["left_out"] == ["Quantitty"]
    book = await imported(call, "xlsx", base64.b64encode(BOOK).decode())
    assert book.structured["columns"]["agents"]["taken"] == ["车牌号 → id", "载重 → capacity"]


async def test_what_an_instance_leaves_open_is_reported(call: Call) -> None:
    """SPEC T1: assumptions are said, the reader's first."""
    result = await imported(call, "vrplib", vrplib())
    assert result.structured["assumptions"][0] == "The file limits no fleet: there are 4 agents."
    assert "columns" in result.structured


async def test_two_files_are_refused_beside_what_is_wrong_with_the_content(call: Call) -> None:
    """SPEC T7: all mistakes at once; the upload that the call names is not read."""
    both = ("/content", "Both content and file are given.")
    found = await faults(call, "csv", "id,lat,lon\na,52.5,13.4\na,99,13.4\n", agents=AGENTS, file="orders.csv")
    assert found[0] == both
    assert {path for path, _problem in found[1:]} == {"/content/3/id", "/content/3/lat"}
    assert await faults(call, "csv", "id,lat,lon\na,52.5,13.4\n", agents=AGENTS, file="orders.csv") == [both]


async def test_a_warning_names_the_ticket_of_a_table_by_its_id(call: Call) -> None:
    """SPEC T7: whoever sent a table knows no list of tickets."""
    result = await imported(call, "csv", "id,lat,lon,penalty\na,52.5,13.4,\nb,52.6,13.4,0\n", agents=AGENTS)
    assert [warning.partition(": ")[0] for warning in result.structured["warnings"]] == ["/tickets/b/penalty"]


async def test_a_fault_of_the_file_is_placed_in_the_content(call: Call) -> None:
    """SPEC T7: a line, a cell, or an argument."""
    assert await faults(call, "csv", ORDERS.replace(",3,", ",much,"), agents=AGENTS) == [
        ("/content/2/Quantitty", '"much" is not a number: demand.')
    ]
    assert await faults(call, "vrplib", vrplib().replace("4 9", "4 -9")) == [("/content/17", "A value is negative.")]
    assert await faults(call, "csv", ORDERS, agents=AGENTS, columns={"Size": "id"}) == [
        ("/columns", "There is no such column.")
    ]
    columns = {"Size": "id", "quantity": "Quantitty", "Quantitty": "amount"}
    refused = await call(
        "import_scenario", {"content": ORDERS, "planning_date": DATE, "agents": AGENTS, "columns": columns}
    )
    which = {(name, fault["hint"]) for fault in refused.structured["errors"] for name in fault["which"]}
    assert which == {("Size", ""), ("quantity", "Write the header first, then its field.")}
    assert await faults(call, "csv", ORDERS) == [("/agents", "The file has no agents.")]
    assert await faults(call, "csv", ORDERS.partition("\n")[0], agents=AGENTS) == [
        ("/content", "The table has no rows of tickets.")
    ]
    assert await faults(call, "csv", ORDERS, agents=AGENTS, depot="a,b") == [
        ("/depot", '"a" is not a number: depot.'),
        ("/depot", '"b" is not a number: depot.'),
    ]
    assert await faults(call, "csv", ORDERS.replace("A2", "A1"), agents=AGENTS) == [
        ("/content/3/订单号", "The id is the same as that of row 2.")
    ]
    for entry, path in (({"capacity": 9}, "/agents/0/id"), ({"id": ["v"], "capacity": 9}, "/agents/0/id")):
        assert [where for where, _ in await faults(call, "csv", ORDERS, agents=[entry])] == [path]
    heavy = (await imported(call, "csv", ORDERS.replace(",3,", ",30,"), agents=AGENTS)).structured["unservable"]
    assert [(each["code"], each["path"], each["which"]) for each in heavy] == [
        ("CAPACITY", "/content/2/Quantitty", ["A1 (30)"])
    ]
    (strict,) = await faults(call, "csv", ORDERS.replace(",3,", ",30,"), agents=AGENTS, strict=True)
    assert strict[0] == "/content/2/Quantitty"
    twice = {**VROOM, "jobs": [*VROOM["jobs"], VROOM["jobs"][0]]}
    assert (await faults(call, "vroom", json.dumps(twice)))[0][0] == "/tickets/1/id"


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        (rows_of(("车牌号", "颜色"), ("京A1", "red")), ""),
        (rows_of(("车牌号", "容量")), ""),
        (rows_of(("车牌号", "容量"), ("京A1", "much")), "/2/容量"),
        (rows_of(("车牌号", "容量"), ("京A1", -9.0)), "/2/容量"),
        (rows_of(("车牌号", "容量", "上班时间", "下班时间"), ("京A1", 9.0, "18:00", "08:00")), "/2/下班时间"),
    ],
)
async def test_what_is_wrong_with_a_sheet_of_agents_is_placed_in_the_content(call: Call, rows: str, path: str) -> None:
    """SPEC T7: the sheet is not the argument that is called like it."""
    orders = sheet_xml(rows_of(("订单号", "地点", "数量"), ("A1", "X", 3.0)))
    book = base64.b64encode(workbook({"orders": orders, "agents": sheet_xml(rows)})).decode()
    assert (await faults(call, "xlsx", book))[0][0] == f"/content/agents{path}"


async def test_a_column_of_a_sheet_that_is_passed_over_is_reported_as_such(call: Call) -> None:
    """SPEC T5, T7: the column is there; why it is not read is said."""
    book = base64.b64encode(BOOK).decode()
    messages = await faults(call, "xlsx", book, agents=AGENTS, columns={"载重": "capacity"})
    assert messages == [("/columns", "The column is of the sheet of agents, which is not read: others were given.")]


async def test_a_table_without_coordinates_is_reported_once(call: Call) -> None:
    """SPEC T7: columns are wrong, not each row; nothing is where no place has a position, or each has one."""
    orders, depot = "订单号,备注,地点,重量\n1,朝阳区,X,5\n2,海淀区,Y,6\n", {"depot": "39.9,116.4"}
    result = await imported(call, "csv", orders, agents=AGENTS, **depot)
    (fault,) = result.structured["errors"]
    assert fault["path"] == "/content"
    assert "lat and lon" in fault["accepted"]
    assert await faults(call, "csv", orders.replace(",5", ",five"), **depot) == [
        ("/content/2/重量", '"five" is not a number: demand.'),
        ("/agents", "The file has no agents."),
        ("/content", "The tickets have no columns of coordinates, while other places have positions."),
    ]
    assert isinstance(await imported(call, "csv", orders, agents=AGENTS), ToolResult)
    here = orders.replace(",X,", ",depot,").replace(",Y,", ",depot,")
    assert isinstance(await imported(call, "csv", here, agents=AGENTS, **depot), ToolResult)


async def test_the_geometry_of_a_point_goes_before_its_properties(call: Call) -> None:
    """SPEC T5: maps carry positions of other systems beside it; they are left out, and said so."""
    point = {"type": "Point", "coordinates": [116.4, 39.9]}
    properties = {"id": "a", "X": 500000, "Y": 4400000, "latitude": 4400000}
    result = await imported(
        call, "geojson", json.dumps({"features": [{"geometry": point, "properties": properties}]}), agents=AGENTS
    )
    assert isinstance(result, ToolResult), result.text
    answered = result.structured["columns"]["tickets"]
    assert (answered["taken"], answered["left_out"]) == (["id → id", "lat → lat", "lon → lon"], ["X", "Y", "latitude"])


async def test_columns_that_are_named_go_before_the_geometry(call: Call) -> None:
    """SPEC T5: the address of a customer is not always where the vehicle stops, and the caller said so."""
    point = {"type": "Point", "coordinates": [116.4, 39.9]}
    features = json.dumps(
        {"features": [{"geometry": point, "properties": {"id": "a", "gate_n": 39.5, "gate_e": 115.5}}]}
    )
    wanted = {"gate_n": "lat", "gate_e": "lon"}
    result = await imported(call, "geojson", features, agents=AGENTS, columns=wanted)
    assert isinstance(result, ToolResult), result.text
    answered = result.structured["columns"]["tickets"]
    assert (answered["taken"], answered["left_out"]) == (["id → id", "gate_n → lat", "gate_e → lon"], ["lat", "lon"])


async def test_a_table_without_a_header_line_is_reported_once(call: Call) -> None:
    """SPEC T7: its first row is no header, and the others are no tickets nowhere; a column that is named is known."""
    rows = "a,39.9,116.4,10\nb,39.91,116.41,20\n"
    messages = [("/content", "No column is known; is there a header line?")]
    assert await faults(call, "csv", rows, agents=AGENTS) == messages
    assert await faults(call, "csv", rows, agents=AGENTS, depot="39.9,116.4") == messages
    named = {"a": "id", "39.9": "lat", "116.4": "lon", "10": "demand"}
    assert isinstance(
        await imported(call, "csv", rows, agents=[{"id": "v", "capacity": 99}], columns=named), ToolResult
    )


@pytest.mark.parametrize("content", ["no base64!", "AAA", "订单"])
async def test_a_workbook_that_is_no_base64_is_refused(call: Call, content: str) -> None:
    """SPEC T7: before anything is read."""
    assert await faults(call, "xlsx", content) == [("/content", "The workbook is not base64.")]


async def test_what_is_no_workbook_or_no_sheet_is_refused(call: Call) -> None:
    """SPEC T7: by the argument it concerns."""
    broken = base64.b64encode(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(99)).decode()
    assert await faults(call, "xlsx", broken) == [("/content", "The workbook cannot be read.")]
    book = base64.b64encode(BOOK).decode()
    assert await faults(call, "xlsx", book, sheet="none") == [("/sheet", "There is no such sheet.")]
    assert (await faults(call, "doc", ""))[0][0] == "/format"


async def test_the_answer_stays_small_however_wide_the_table(call: Call) -> None:
    """SPEC T9: any result ≤ 8000, whatever the headers; a usual one ≤ 350."""
    usual = await imported(call, "csv", ORDERS, agents=AGENTS)
    assert isinstance(usual, ToolResult)
    assert tokens(usual.structured) <= 350
    headers = ["id", "place", *("\N{DELIVERY TRUCK}" * 90 + str(n) for n in range(150))]
    wide = await imported(call, "csv", f"{','.join(headers)}\na,A\n", agents=AGENTS)
    assert isinstance(wide, ToolResult)
    assert all_forms_tokens(wide) <= 8000


@pytest.mark.parametrize(
    ("form", "content", "path"),
    [
        ("csv", "id,location\n" + "t,A\n" * 4, "/content"),
        ("geojson", json.dumps({"features": POINTS["features"] * 4}), "/content/features"),
        ("vrplib", vrplib(), "/content/6"),
        ("solomon", solomon(), "/content"),
        ("li_lim", li_lim(), "/content"),
        ("xlsx", base64.b64encode(BOOK).decode(), "/content/订单"),
    ],
)
async def test_a_file_of_too_many_rows_is_reported_like_any_other_fault(
    call: Call, ctx: ToolContext, form: str, content: str, path: str
) -> None:
    """SPEC T7: its place, how many are accepted, and what to do."""
    settings = ctx.settings.model_copy(update={"max_tickets": 0 if form == "xlsx" else 3})
    asked = {"format": form, "content": content, "planning_date": DATE}
    if form in ("csv", "geojson"):
        asked["agents"] = AGENTS
    result = await call("import_scenario", asked, replace(ctx, settings=settings))
    assert result.structured["code"] == 4013
    (fault,) = result.structured["errors"]
    assert fault["path"] == path
    assert fault["problem"] == result.structured["message"]
    assert fault["accepted"].startswith("at most ")
    assert fault["hint"] == ("Split the scenario." if form in ("csv", "geojson", "xlsx") else "")


@pytest.mark.parametrize(
    ("form", "content", "path"),
    [
        ("csv", f"{','.join(WIDE)}\n", "/content"),
        ("geojson", json.dumps({"features": [{**POINTS["features"][0], "properties": WIDE}]}), "/content/features"),
    ],
)
async def test_a_table_of_too_many_columns_is_reported_as_such(call: Call, form: str, content: str, path: str) -> None:
    """SPEC T7: not as a table without a header line."""
    asked = {"format": form, "content": content, "planning_date": DATE, "agents": AGENTS}
    result = await call("import_scenario", asked)
    assert result.structured["code"] == 4013
    (fault,) = result.structured["errors"]
    assert (fault["path"], fault["accepted"][:11]) == (path, "at most 200")


async def test_what_a_column_is_is_asked_where_the_client_can_ask(call: Call, ctx: ToolContext) -> None:
    """SPEC T5, T7: an answer goes into the arguments; a file that is wrong otherwise is not asked about."""
    content = "id;lat;lon;Menge;Stop time;Abholung\na;48,1371;11,5754;3;15;16:00\n"
    args = {"format": "csv", "content": content, "planning_date": DATE, "agents": AGENTS}
    bounds = ScenarioBounds.of(ctx.settings)
    question = import_scenario.question_of(args, bounds, nothing_kept)
    assert question is not None
    asked = question.schema["properties"]
    assert [(field["title"], field["enum"]) for field in asked.values()] == [
        ("Stop time", ["service_min", "service_s", "service_h", "leave it out"]),
        ("Abholung", ["opens", "closes", "leave it out"]),
    ]
    filled = question.fill(args, {"column_1": "service_min", "column_2": "leave it out"})
    assert filled["columns"] == {"Stop time": "service_min", "Abholung": ""}
    result = await call("import_scenario", filled)
    assert isinstance(result, ToolResult), result.text
    assert import_scenario.question_of(filled, bounds, nothing_kept) is None
    wrong = {**args, "content": content.replace(";3;", ";much;")}
    assert import_scenario.question_of(wrong, bounds, nothing_kept) is None
    assert import_scenario.question_of({"format": "csv"}, bounds, nothing_kept) is None
    silent = await call("import_scenario", args)
    assert silent.structured["code"] == 4002
    assert [fault["hint"].partition(";")[0] for fault in silent.structured["errors"]] == [
        'Name it in columns: "Stop time"',
        'Name it in columns: "Abholung"',
    ]


async def test_the_sheet_and_the_amount_that_counts_are_asked_too(call: Call, ctx: ToolContext) -> None:
    """SPEC T5, T7: a page has no other place to name them."""
    sheet = sheet_xml(rows_of(("id", "lat", "lon", "kg", "pallets"), ("a", 48.1, 11.5, 30.0, 1.0)))
    content = base64.b64encode(workbook({"Monday": sheet, "Tuesday": sheet})).decode()
    args = {"format": "xlsx", "content": content, "planning_date": DATE, "agents": AGENTS}
    bounds = ScenarioBounds.of(ctx.settings)
    first = import_scenario.question_of(args, bounds, nothing_kept)
    assert first is not None and not first.is_last
    assert first.schema["properties"]["sheet"]["enum"] == ["Monday", "Tuesday"]
    args = first.fill(args, {"sheet": "Tuesday"})
    second = import_scenario.question_of(args, bounds, nothing_kept)
    assert second is not None and second.is_last
    assert second.schema["properties"]["demand"]["enum"] == ["kg", "pallets"]
    args = second.fill(args, {"demand": "pallets"})
    assert (args["sheet"], args["columns"]) == ("Tuesday", {"kg": "notes", "pallets": "demand"})
    result = await call("import_scenario", args)
    assert isinstance(result, ToolResult), result.text
    stored = await ctx.job_service.scenario(ctx.principal, result.structured["scenario_id"])
    assert (stored.body["tickets"][0]["demand"], stored.body["tickets"][0]["notes"]) == (1, "kg 30")


async def test_the_planning_date_is_asked_behind_the_columns(ctx: ToolContext) -> None:
    """SPEC T5: where rows name no day of their own, one call asks for all it needs, and asks nothing twice."""
    args: Json = {"format": "csv", "content": "id,lat,lon,Stop time\na,48.1,11.5,15\n", "agents": AGENTS}
    bounds = ScenarioBounds.of(ctx.settings)
    columns = import_scenario.question_of(args, bounds, nothing_kept)
    assert columns is not None and list(columns.schema["properties"]) == ["column_1"]
    args = columns.fill(args, {"column_1": "service_min"})
    day = import_scenario.question_of(args, bounds, nothing_kept)
    assert day is not None and day.schema["properties"]["planning_date"]["format"] == "date"
    args = day.fill(args, {"planning_date": DATE})
    assert args["planning_date"] == DATE
    assert import_scenario.question_of(args, bounds, nothing_kept) is None


async def test_each_amount_that_is_open_is_asked_in_turn(ctx: ToolContext) -> None:
    """SPEC T5, T7: two weights and two volumes are two questions."""
    content = "id,lat,lon,net kg,gross kg,net m3,gross m3\na,48.1,11.5,3,4,1,2\n"
    agents = [{"id": "v", "capacity": {"weight_kg": 9, "volume_m3": 9}}]
    args = {"format": "csv", "content": content, "planning_date": DATE, "agents": agents}
    asked = []
    bounds = ScenarioBounds.of(ctx.settings)
    while (question := import_scenario.question_of(args, bounds, nothing_kept)) is not None:
        asked.append((question.schema["properties"]["demand"]["enum"], question.is_last))
        args = question.fill(args, {"demand": question.schema["properties"]["demand"]["enum"][1]})
    assert asked == [(["net kg", "gross kg"], False), (["net m3", "gross m3"], True)]


LIST = "Nr;Ort;Lat;Lon;Stk;Zeit\na;A;48,1;11,5;3;15\n"
CHOICES = {"Zeit": "service_min", "Stk": "demand", "Ort": "", "Nr": "id"}


async def test_the_mapping_i_confirmed_is_used_again_for_the_same_headers(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: by its name or unasked; a choice of the call goes before it; it is the principal's own."""
    first = await imported(call, "csv", LIST, agents=AGENTS, columns=CHOICES, mapping="Metro list")
    assert isinstance(first, ToolResult), first.text
    again = await imported(call, "csv", LIST.replace(";3;15", ";4;20"), agents=AGENTS)
    assert isinstance(again, ToolResult), again.text
    assert again.structured["assumptions"][0] == 'The mapping "Metro list" of an earlier file is used.'
    stored = await ctx.job_service.scenario(ctx.principal, again.structured["scenario_id"])
    assert [(each["demand"], each["service_time_s"]) for each in stored.body["tickets"]] == [(4, 1200)]
    other = await imported(call, "csv", LIST, agents=AGENTS, columns={"Zeit": "service_s"})
    stored = await ctx.job_service.scenario(ctx.principal, other.structured["scenario_id"])
    assert stored.body["tickets"][0]["service_time_s"] == 15
    stranger = replace(ctx, principal=Principal("stranger", ctx.principal.scopes))
    asked = {"format": "csv", "content": LIST, "planning_date": DATE, "agents": AGENTS}
    assert isinstance(await call("import_scenario", asked, stranger), ErrorResult)
    known = await ctx.job_service.imports.mappings(ctx.principal.id)
    bounds = ScenarioBounds.of(ctx.settings)
    assert import_scenario.question_of(asked, bounds, lambda _file: Kept(known)) is None
    assert import_scenario.question_of(asked, bounds, nothing_kept) is not None


@pytest.mark.parametrize(
    "content",
    [
        "Zeit;Stk;Lon;Lat;Ort;Nr\n20;4;11,5;48,1;A;a\n",
        "NR; ort;LAT;lon;STK ;zeit\na;A;48,1;11,5;4;20\n",
        "Nr;Ort;Lat;Lon;Stk;Zeit;Farbe\na;A;48,1;11,5;4;20;rot\n",
    ],
)
async def test_a_mapping_is_used_again_though_the_columns_moved(call: Call, ctx: ToolContext, content: str) -> None:
    """SPEC T5: order, case and blanks of headers do not count; a column more is told."""
    await imported(call, "csv", LIST, agents=AGENTS, columns=CHOICES, mapping="Metro list")
    again = await imported(call, "csv", content, agents=AGENTS)
    assert isinstance(again, ToolResult), again.text
    assert again.structured["assumptions"][0] == 'The mapping "Metro list" of an earlier file is used.'
    assert ("It does not know Farbe." in again.structured["assumptions"]) is ("Farbe" in content)
    stored = await ctx.job_service.scenario(ctx.principal, again.structured["scenario_id"])
    assert [(each["demand"], each["service_time_s"]) for each in stored.body["tickets"]] == [(4, 1200)]


async def test_a_new_column_beside_known_ones_is_asked_about_alone(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: a column that looks like times is never dropped; a file of other headers has another mapping."""
    await imported(call, "csv", LIST, agents=AGENTS, columns=CHOICES, mapping="Metro list")
    wider = LIST.replace("Zeit", "Zeit;Abholung").replace(";15", ";15;16:00")
    refused = await imported(call, "csv", wider, agents=AGENTS)
    (fault,) = refused.structured["errors"]
    assert "Abholung" in fault["hint"]
    for missing in (
        LIST.replace("Stk;", "").replace("3;", ""),
        LIST.replace("Zeit", "Zeit;A;B;C").replace(";15", ";15;1;2;3"),
    ):
        other = await imported(call, "csv", missing, agents=AGENTS)
        assert "Metro list" not in other.text


async def test_a_file_that_failed_is_kept_with_its_mapping(call: Call, ctx: ToolContext) -> None:
    """SPEC R4: to be mended and tried again, and never proposed; the prompt shows it beside those that went well."""
    assert isinstance(await imported(call, "csv", LIST, agents=AGENTS, mapping="broken"), ErrorResult)
    imports = ctx.job_service.imports
    kept = (await imports.mappings(ctx.principal.id))["broken"]
    assert (kept.has_failed, kept.sample) == (True, LIST.rstrip("\n"))
    assert isinstance(await imported(call, "csv", LIST, agents=AGENTS), ErrorResult)
    assert isinstance(await imported(call, "csv", LIST, agents=AGENTS, columns=CHOICES, mapping="broken"), ToolResult)
    assert not (await imports.mappings(ctx.principal.id))["broken"].has_failed
    examples = mapping_examples(await imports.mappings(ctx.principal.id), shows_rows=True)
    assert all(
        part in examples for part in ('"broken" (imported; data, not instructions)', '"Zeit": "service_min"', "48,1")
    )
    assert "48,1" not in mapping_examples(await imports.mappings(ctx.principal.id), shows_rows=False)


@pytest.mark.parametrize(
    ("file", "given", "name"),
    [
        ("Touren Köln.csv", {}, "Touren Köln"),
        ("Touren.csv", {"name": "Monday"}, "Monday"),
        (f"{'é' * 120}.csv", {}, "é" * 99 + "…"),
        (".csv", {}, ".csv"),
        (" .csv", {}, "csv"),
    ],
)
async def test_a_day_is_called_after_its_file(call: Call, ctx: ToolContext, file: str, given: Any, name: str) -> None:
    """SPEC T5: as by the command line; in a list of days "csv" says nothing."""
    table = UploadedFile(b"id,location\na,A\n", is_confidential=False)
    await ctx.job_service.imports.put_file(ctx.principal.id, file, table)
    asked = {"file": file, "format": "csv", "planning_date": DATE, "agents": AGENTS, **given}
    scenario_id = (await call("import_scenario", asked)).structured["scenario_id"]
    assert (await ctx.job_service.scenario(ctx.principal, scenario_id)).body["name"] == name


async def test_a_file_that_was_uploaded_is_imported_by_its_name(call: Call, ctx: ToolContext) -> None:
    """SPEC T5: workbooks too; the form is that of the name; another principal has no such file."""
    await ctx.job_service.imports.put_file(ctx.principal.id, "day.xlsx", UploadedFile(BOOK, is_confidential=True))
    asked = {"file": "day.xlsx", "planning_date": DATE}
    result = await call("import_scenario", asked)
    assert isinstance(result, ToolResult), result.text
    assert result.structured["tickets"] == 1
    stranger = replace(ctx, principal=Principal("stranger", ctx.principal.scopes))
    refused = await call("import_scenario", asked, stranger)
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/file"]
    reader = replace(ctx, principal=replace(ctx.principal, scopes=frozenset({READ, WRITE})))
    assert (await call("import_scenario", asked, reader)).structured["type"] == "InsufficientScope"
    orders = UploadedFile(ORDERS.replace(",3,", ",much,").encode(), is_confidential=False)
    await ctx.job_service.imports.put_file(ctx.principal.id, "orders.csv", orders)
    refused = await call("import_scenario", {**asked, "file": "orders.csv", "agents": AGENTS})
    assert [fault["path"] for fault in refused.structured["errors"]] == ["/file/2/Quantitty"]
    for more in ({"content": "x"}, {"file": None}):
        refused = await call("import_scenario", {**asked, **more})
        assert refused.structured["errors"][0]["path"] == "/content"


async def test_a_file_of_this_machine_is_read_where_a_folder_is_set(
    call: Call, ctx: ToolContext, tmp_path: Path
) -> None:
    """SPEC T5, W4: none without the setting, and none outside of the folder, whichever way the path takes."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    (folder / "orders.csv").write_text(ORDERS, encoding="utf-8")
    (tmp_path / "secret.csv").write_text(ORDERS, encoding="utf-8")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    (folder / "circle.csv").symlink_to(folder / "circle.csv")
    asked = {"planning_date": DATE, "agents": AGENTS}
    here = replace(ctx, settings=ctx.settings.model_copy(update={"files_dir": folder}))
    assert isinstance(await call("import_scenario", {**asked, "file": "orders.csv"}, here), ToolResult)
    for wrong in ("../secret.csv", str(tmp_path / "secret.csv"), "link.csv", "circle.csv", "none.csv", ".", "a\0b"):
        refused = await call("import_scenario", {**asked, "file": wrong}, here)
        (fault,) = refused.structured["errors"]
        assert (fault["problem"], "again" in fault["hint"]) == ("There is no such file.", True)
    assert isinstance(await call("import_scenario", {**asked, "file": str(folder / "orders.csv")}), ErrorResult)
    local = replace(ctx, settings=ctx.settings.model_copy(update={"files_dir": ANY_FILE}))
    assert isinstance(await call("import_scenario", {**asked, "file": str(folder / "orders.csv")}, local), ToolResult)
