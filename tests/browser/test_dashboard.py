"""The dashboard as a dispatcher uses it, in a real browser on a real server."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from python_calamine import load_workbook

import planner_mcp
from examples.planner_server import PlannerServer
from tests.browser.conftest import call, solved, submitted
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook
from tests.shared.http.http_clients import http_client
from tests.shared.scenarios.client_scenarios import ring
from tests.shared.scenarios.scenario_builders import agent, body, plane, ticket

pytestmark = pytest.mark.anyio
SCRIPT = "<img src=x onerror=alert(1)><script>alert(2)</script>"
NOW, NOW_OR_NOT = "Now", "Now (empty: nothing has begun)"
FROM, TO = "Picked up at (empty: at the depot)", "Delivered to (empty: to the depot)"
READY, AGENT_OR_NOT = "Goods ready from", "Agent (empty: as in the plan)"
VEHICLES, CAPACITY = "Vehicles, if none are listed", "Capacity of each"
FLEET = {VEHICLES: "2", CAPACITY: "10", "Depot": "52.51, 13.39"}
UNCLEAR = "id;lat;lon;Menge;Stop time\na;48,1371;11,5754;3;15\n"
FITS = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
TABLE = "id,lat,lon,demand,service_time_s\nc1,52.52,13.40,1,300\nc2,52.50,13.45,2,300\nc3,52.54,13.38,1,300\n"


def _url(server: PlannerServer, path: str) -> str:
    return f"{server.mcp.removesuffix('/mcp')}/ui#/{path}"


async def _choose(page: Any, content: str | bytes, name: str = "a.csv") -> None:
    """Choose a file in the form of an import."""
    data = content.encode() if isinstance(content, str) else content
    await page.get_by_label("File").set_input_files({"name": name, "mimeType": "text/csv", "buffer": data})


async def _fill(form: Any, fields: Mapping[str, str]) -> None:
    for label, value in fields.items():
        await form.get_by_label(label).fill(value)


async def _import(
    page: Any, content: str | bytes, fields: Mapping[str, str] | None = None, name: str = "a.csv"
) -> None:
    """Choose a file, fill fields of the form, and send it."""
    await _choose(page, content, name)
    await _fill(page, fields or {})
    await page.get_by_role("button", name="Import and check").click()


async def _refused_calls(page: Any) -> list[Any]:
    """Refuse each call of a tool that the page makes from now on; return the list they are noted in."""
    asked: list[Any] = []

    async def answer(route: Any) -> None:
        asked.append(route.request.post_data_json)
        await route.fulfill(json={"is_error": True, "structured": {"message": "Not now."}, "text": ""})

    await page.route("**/ui/call", answer)
    return asked


async def test_a_day_is_solved_and_seen_live(server: PlannerServer, page: Any) -> None:
    """SPEC O2: a solve is started on a scenario's page; figures, map, timeline and stops appear by themselves."""
    day = ring(20) | {"name": SCRIPT}
    day["tickets"][0]["name"] = SCRIPT
    scenario_id = (await call(server, "create_scenario", **day))["scenario_id"]
    await page.goto(_url(server, f"scenarios/{scenario_id}"))
    await page.get_by_label("Solve time (s)").fill("1")
    await page.get_by_role("button", name="Solve").click()
    await page.locator("svg.map .stop").first.wait_for(timeout=60_000)
    await page.get_by_text("Completed", exact=True).wait_for(timeout=60_000)
    await page.get_by_text("Gap to lower bound").wait_for(timeout=30_000)
    assert await page.locator("svg.map .stop").count() == 19
    assert await page.locator("svg.times .service").count() > 0 or await page.locator("svg.times .drives").count() > 0
    assert await page.get_by_role("region", name="Stops").locator("tbody tr").count() >= 19
    assert await page.locator("img").count() == 0, "names are text, never markup"
    assert await page.locator(".stamp").inner_text() == "✓ Verified"
    assert "(1 per metre)" in await page.locator(".figure", has_text="Cost").inner_text(), "this day has no prices"
    assert await page.title() == f"{SCRIPT}, {day['planning_date']} · planner-mcp", "tabs and history name their day"
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Calendar of an agent").click()
    assert (await (await saved.value).path()).read_bytes().startswith(b"BEGIN:VCALENDAR")
    async with page.expect_download() as saved:
        await page.get_by_role("button", name="Stops (Excel)").click()
    rows = load_workbook(await (await saved.value).path()).get_sheet_by_index(0).to_python()
    assert (rows[0][0], len(rows) - 1) == ("agent_id", 19)
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.get_by_role("button", name="Share a link").click()
    await page.get_by_label("Link to the plan").wait_for()
    assert await page.evaluate(FITS)


@pytest.mark.slow
async def test_a_table_is_imported_and_its_columns_are_shown(server: PlannerServer, page: Any) -> None:
    """SPEC T5: the page says which columns were used and which were not."""
    await page.goto(_url(server, "import"))
    await _import(page, TABLE)
    outcome = page.locator("[role=status] >> text=/Imported. Agents: \\d+, tickets: 3/")
    refusal = page.get_by_role("alert")
    await outcome.or_(refusal).first.wait_for(timeout=30_000)
    if await refusal.count():
        assert "agents" in await refusal.inner_text(), "a table without vehicles is refused with what is missing"
    else:
        assert "Used" in await page.locator("[role=status]").nth(-1).inner_text()


@pytest.mark.slow
async def test_an_import_names_the_tickets_that_nobody_can_serve(server: PlannerServer, page: Any) -> None:
    """SPEC T5, T7: with the value, the limit and what to change, before anything is solved."""
    await page.goto(_url(server, "import"))
    await _import(page, TABLE.replace("13.45,2", "13.45,99"), FLEET)
    await page.get_by_role("heading", name="Tickets that nobody can serve").wait_for(timeout=30_000)
    await page.get_by_text("c2 (99): The demand is above the capacity (10)").wait_for()


@pytest.mark.slow
async def test_a_file_of_one_other_day_is_planned_on_it(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: today is what the page proposes, and counts where the dispatcher chooses it."""
    await page.goto(_url(server, "import"))
    lines = TABLE.strip().splitlines()
    dated = "\n".join([f"{lines[0]},date", *(f"{line},2031-02-03" for line in lines[1:])])
    await _import(page, dated, FLEET)
    await page.get_by_text("Planned for 2031-02-03, the day of all rows that name one.").wait_for(timeout=30_000)
    await page.locator("input[type=date]").fill("2031-02-04")
    await page.get_by_role("button", name="Import and check").click()
    await page.get_by_text("Rows with another day than the planning date in date").wait_for(timeout=30_000)


@pytest.mark.slow
async def test_who_goes_back_to_an_import_finds_it_as_it_was(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: file, fields and outcome, from which a column is corrected; a new import begins without them."""
    await page.goto(_url(server, "import"))
    await _import(page, TABLE, FLEET)
    await page.get_by_role("link", name="Open").click(timeout=30_000)
    await page.get_by_label("Solve time (s)").wait_for()
    await page.go_back()
    await page.get_by_text("Imported. Agents: 2, tickets: 3").wait_for()
    assert await page.get_by_label("Depot").input_value() == "52.51, 13.39"
    assert (await page.get_by_label("File").input_value()).endswith("a.csv")
    await page.get_by_role("link", name="Jobs").click()
    await page.get_by_role("link", name="Import").click()
    await page.get_by_role("heading", name="Import").wait_for()
    assert await page.get_by_label("Depot").input_value() == ""


@pytest.mark.slow
async def test_the_link_to_the_content_stays_on_the_page(server: PlannerServer, page: Any) -> None:
    """SPEC O2: the first key stroke of a keyboard user led to the list of jobs, and away from what was filled in."""
    await page.goto(_url(server, "import"))
    await page.get_by_label("Depot").fill("52.51, 13.39")
    await page.get_by_role("link", name="Skip to content").press("Enter")
    assert await page.evaluate("document.activeElement.id") == "content"
    assert page.url == _url(server, "import")
    assert await page.get_by_label("Depot").input_value() == "52.51, 13.39"


@pytest.mark.slow
async def test_what_stands_on_the_map_does_not_cover_it(server: PlannerServer, page: Any) -> None:
    """SPEC O2: agents still at the depot share a label beside its name, and the scale is beside the buttons."""
    day = body([agent(), agent("w")], [ticket("a", demand=9), ticket("b", demand=9)])
    _, job_id = await solved(server, day)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_role("slider", name="Time of day").press("End")
    label, depot = page.locator(".map .agent text"), page.locator(".map .depot text")
    assert (await page.locator(".map .agent").count(), await label.count()) == (2, 1)
    assert await label.text_content() == "2 × Agent · back"
    above, below = await depot.bounding_box(), await label.bounding_box()
    assert below["y"] - above["y"] >= 12, "as far as letters are high"
    drawn, scale = await page.locator("svg.map").bounding_box(), await page.locator(".scale").bounding_box()
    assert scale["y"] > drawn["y"] + drawn["height"]


@pytest.mark.slow
async def test_stops_begin_and_end_at_the_depot_as_on_the_sheets_of_drivers(server: PlannerServer, page: Any) -> None:
    """SPEC O2: when an agent leaves and with what, and when it is back; one pallet is no `pallets`."""
    load = {"weight_kg": 40, "pallets": 1}
    first = ticket("a", demand=load, time_windows=[["08:00", "09:00"]])
    pickup = ticket("b", demand=load, kind="pickup", time_windows=[["10:00", "11:00"]])
    day = body([agent(capacity={"weight_kg": 90, "pallets": 2})], [first, pickup])
    _, job_id = await solved(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    rows = page.get_by_role("region", name="Stops").locator("tbody tr")
    await rows.first.wait_for()
    cells = [[cell.strip() for cell in (await row.inner_text()).split("\t")] for row in await rows.all()]
    assert [row[1:3] for row in cells] == [["", "leaves"], ["1", "a"], ["2", "b"], ["", "back"]]
    assert [row[7] for row in cells] == ["40 kg, 1 pallet", "0 kg, 0 pallets", "40 kg, 1 pallet", ""]
    plan = json.loads((await call(server, "read_resource", uri=f"plan://{job_id.replace('job-', 'plan-')}"))["text"])
    hour, minute = divmod(round(plan["routes"][0]["start_s"] / 60), 60)
    assert cells[0][6] == f"{hour:02}:{minute:02}"


@pytest.mark.slow
async def test_lists_show_the_day_and_how_much_of_it_is_served(server: PlannerServer, page: Any) -> None:
    """SPEC O2: a plan that leaves tickets out is not taken for the cheaper one; at a phone's width too."""
    day = body([agent()], [ticket("a"), ticket("b", demand=99)], name="round") | {"planning_date": "2031-02-03"}
    scenario_id, first = await submitted(server, day)
    other = await call(server, "solve_vrp", scenario_id=scenario_id, solve_time="PT1S", fresh=True)
    for job_id in (first, other["job_id"]):
        await call(server, "query_vrp_status", job_id=job_id, wait_s=30)
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.goto(_url(server, "jobs"))
    row = page.locator("tbody tr", has=page.locator(f"a[href='#/jobs/{first}']"))
    await row.get_by_text("Served 1 of 2").wait_for()
    assert "2031-02-03" in await row.inner_text()
    box = await row.get_by_text("1 of 2").bounding_box()
    assert box["x"] + box["width"] <= 390
    await page.goto(_url(server, "scenarios"))
    await page.locator("tbody tr", has_text="2031-02-03").first.wait_for()
    await page.goto(_url(server, f"jobs/{first}"))
    choice = page.get_by_label("Compare with another plan")
    await choice.wait_for()
    assert "Served 1 of 2 · Cost" in await choice.inner_text()
    assert await page.evaluate(FITS)


@pytest.mark.slow
async def test_faults_of_a_file_are_in_words_of_the_form(server: PlannerServer, browser: Any) -> None:
    """SPEC T7, O2: the column of a cell and the field of the form, no pointer into a call; megabytes, no bytes."""
    page = await browser.new_page(locale="en-GB")
    await page.goto(_url(server, "import"))
    alert = page.get_by_role("alert")
    await _import(page, TABLE.replace("13.45,2", "13.45,two"))
    await alert.get_by_text("demand row 3:").wait_for(timeout=30_000)
    assert "/file" not in await alert.inner_text()
    await _import(page, bytes(9 * 2**20))
    await alert.get_by_text("The file is too large: at most 8 MB are read.").wait_for(timeout=30_000)
    await page.get_by_role("button", name="中文").click()
    await page.get_by_label("文件", exact=True).set_input_files(
        {"name": "a.csv", "mimeType": "text/csv", "buffer": b"id,qty\na,two\n"}
    )
    await page.get_by_role("button", name="导入并检查").click()
    await alert.get_by_text("qty 第 2 行:").wait_for(timeout=30_000)
    await page.close()


async def test_sentences_of_the_server_are_in_words_of_the_page(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: no raw name of a field or of a unit in a warning or a fix, in either language; ids stay."""
    await page.goto(_url(server, "jobs"))
    said = {
        "/agents: The delivery tickets need 9150 of weight_kg. Add agents or reload_locations.": "agents: The delivery "
        "tickets need 9150 kg. Add agents or “places to load again”.",
        "raise the capacity (weight_kg) of van_1 to 520": "raise the capacity (kg) of van_1 to 520",
        "raise the capacity (load) of van_1 to 21": "raise the capacity of van_1 to 21",
        "把 取1 的载量（load）提高到 21": "把 取1 的载量提高到 21",
        "/tickets/a_1/location: Swap lat and lon.": "a_1, name of a place: Swap latitude and longitude.",
        "/agents/van 1~12/shift_end: Set it.": "van 1/2, end of the shift: Set it.",
        "/locations/Hauptstr. 5, 10115 Berlin: The location is 8006 km away.": "Hauptstr. 5, 10115 Berlin: The "
        "location is 8006 km away.",
        "/locations/Café Nord: x and/or: y": "Café Nord: x and/or: y",
        "/locations/a~1b~0c: Swap lat and lon.": "a/b~c: Swap latitude and longitude.",
        "/locations/Dock: 5: Set it.": "Dock: 5: Set it.",
        "/tickets/t1/demand/箱 子: Lower it.": "t1, amount that is carried: Lower it.",
        "they need 4 of pallets, 3 of 5 agents": "they need 4 pallets, 3 of 5 agents",
        "tickets: 新增取货 1 个（N7）": "工单: 新增取货 1 个（N7）",
        "取货工单需要 30 的 load。请提高 max_tickets。": "取货工单需要 30。请提高 “最多单数”。",
        "Ask the user for lat and lon of its location, or for a fuller address.": "Give its latitude and longitude, "
        "or a fuller address.",
    }
    words = "(await import('/ui/assets/view/words.js')).setLanguage(/[取]/.test(line) ? 'zh' : 'en')"
    shown = "(await import('/ui/assets/page.js')).placed(line)"
    for line, wanted in said.items():
        assert await page.evaluate(f"async (line) => {{ {words}; return {shown}; }}", line) == wanted
    fault = {"which": ["a"], "why": "No.", "accepted": "a ticket that some agent can serve", "fix": "Lower min_load."}
    found = await page.evaluate("async (fault) => (await import('/ui/assets/page.js')).nobodyServes(fault)", fault)
    assert found == "a: No. Lower “smallest load”."
    seen = ["a (location at a, time_windows [[06:00,08:00]])", "b ([[07:00,47:59]])", "c (location at c)", "d (99)"]
    written = "(await import('/ui/assets/page.js')).nobodyServes({ which, tickets: 4, why: 'Too late.' })"
    found = await page.evaluate(f"async (which) => {written}", seen)
    assert found == "a (06:00–08:00), b (from 07:00), c, d (99): Too late.", "an open end is no 47:59"
    started = f"Started from plan-0-{'a' * 26}, which is approved."
    elsewhere = (
        "page.go('system', { notes: [line] }), history.replaceState(null, '', '#/jobs'), page.takeMessages().length"
    )
    script = f"async (line) => {{ const page = await import('/ui/assets/page.js'); return ({elsewhere}); }}"
    assert await page.evaluate(script, started) == 0, "a page that was left at once leaves its messages to no other"
    lines = "(page.go('jobs', { notes: [line] }), page.takeMessages()[0].querySelector('a').getAttribute('href'))"
    script = f"async (line) => {{ const page = await import('/ui/assets/page.js'); return {lines}; }}"
    leads = await page.evaluate(script, started)
    assert leads == f"#/jobs/job-0-{'a' * 26}", "a plan that is named is one click away"


@pytest.mark.slow
async def test_warnings_name_the_ticket_and_a_change_of_language_keeps_what_was_typed(
    server: PlannerServer, page: Any
) -> None:
    """SPEC T5, O2: no JSON pointer before a warning; the file and the fields of the form stay in the other language."""
    await page.goto(_url(server, "import"))
    await _choose(page, "id,lat,lon,demand,soft_close\nc1,52.52,13.4,1,09:00\n")
    await _fill(page, FLEET)
    await page.get_by_role("button", name="中文").click()
    await page.get_by_role("heading", name="导入").wait_for()
    await page.get_by_role("button", name="English").click()
    await page.get_by_role("button", name="Import and check").click()
    await page.get_by_text("c1, late from: Being late costs nothing").wait_for(timeout=30_000)


async def test_the_questions_of_an_import_are_a_form(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: columns that are not clear are chosen by the person, whose file is then imported as they say."""
    await page.goto(_url(server, "import"))
    await _import(page, UNCLEAR, {VEHICLES: "2"})
    capacity = page.get_by_label("Capacity of each")  # vehicles that are named here say what they carry
    assert await capacity.evaluate("input => input === document.activeElement && !input.validity.valid")
    await capacity.fill("100")
    await page.get_by_label("Depot").fill("48.14,11.58")
    await page.get_by_role("button", name="Import and check").click()
    form = page.get_by_role("form", name="Questions")
    await form.get_by_label("Stop time").select_option("service_min")
    await form.get_by_role("button", name="Go on").click()
    await page.get_by_text("Imported. Agents: 2, tickets: 1").wait_for(timeout=30_000)
    assert "Stop time" in await page.get_by_text("Used:").first.inner_text()


@pytest.mark.slow
async def test_a_column_is_corrected_and_stops_get_a_time(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: a question can be left; the meaning of a column and the time at a stop are told afterwards."""
    await page.goto(_url(server, "import"))
    text = "id;lat;lon;Menge;Stop time;von\na;48,1371;11,5754;3;15;08:30\nb;48,1372;11,5755;4;15;09:30\n"
    await _import(page, text, {VEHICLES: "2", CAPACITY: "100"})
    imports, form = page.get_by_role("button", name="Import and check"), page.get_by_role("form", name="Questions")
    await form.get_by_role("button", name="Cancel").click(timeout=60_000)
    assert await page.get_by_role("alert").count() == 0
    await imports.click()
    await form.get_by_label("Stop time").select_option("leave it out", timeout=60_000)
    await form.get_by_role("button", name="Go on").click()
    await page.get_by_text("No ticket has a service time").wait_for(timeout=60_000)
    await page.get_by_label("Minutes at a stop, if none are given").fill("10")
    choices = page.get_by_role("status").locator("select")
    column, meaning = choices.nth(0), choices.nth(1)
    offered = await meaning.locator("option").evaluate_all("all => all.map((each) => each.value)")
    assert {"shipment_half", "pickup_ticket"} <= {*offered}
    words = await meaning.locator("option").all_inner_texts()
    assert "address where it is picked up" in words and not any("_" in word for word in words)
    await column.select_option("von")
    await meaning.select_option("")
    await page.get_by_role("button", name="Import again").click()
    await form.get_by_label("Stop time").select_option("leave it out", timeout=60_000)
    await form.get_by_role("button", name="Go on").click()
    await page.get_by_text("Minutes at a stop, for 2 tickets without a time of their own: 10.").wait_for(timeout=60_000)
    assert await page.get_by_text("No ticket has a service time").count() == 0
    assert "von" in await page.get_by_text("Not used:").inner_text()
    opened = str(await page.get_by_role("link", name="Open").get_attribute("href")).rpartition("/")[2]
    async with http_client(base_url=server.url) as http:
        found = (await http.get("/ui/read", params={"uri": f"scenario://{opened}"})).json()
    assert [each["service_time_s"] for each in found["scenario"]["tickets"]] == [600, 600]


@pytest.mark.slow
async def test_an_answer_belongs_to_the_file_that_was_asked_about(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: meanwhile another import, in a second tab, took the place of the file."""
    await page.goto(_url(server, "import"))
    await _choose(page, UNCLEAR)
    vehicles, imports = page.get_by_label("Vehicles"), page.get_by_role("button", name="Import and check")
    await _fill(page, {CAPACITY: "100", "Depot": "48.14,11.58"})
    for wrong in ("1000000000", "1.5"):
        await vehicles.fill(wrong)
        await imports.click()
        assert await vehicles.evaluate("input => input === document.activeElement && !input.validity.valid")
    await vehicles.fill("2")
    await imports.click()
    form = page.get_by_role("form", name="Questions")
    await form.get_by_label("Stop time").select_option("service_min")
    other = UNCLEAR + "b;48,1372;11,5755;3;15\nc;48,1373;11,5756;3;15\n"
    async with http_client(base_url=server.url) as http:
        assert (await http.put("/files/dashboard.csv", content=other.encode())).status_code == 201
    await form.get_by_role("button", name="Go on").click()
    await page.get_by_text("Imported. Agents: 2, tickets: 1").wait_for(timeout=30_000)


async def test_changes_of_a_day_become_arguments_of_the_tool(server: PlannerServer, page: Any) -> None:
    """SPEC T7, T10, O2: removed, locked to the agent of the plan or another, free again; new tickets of each kind."""
    asked: list[dict[str, Any]] = []
    refusal = {"message": "No.", "errors": [{"path": "/cancelled_ticket/1", "problem": "Not now."}]}

    async def answer(route: Any) -> None:
        asked.append(route.request.post_data_json["arguments"])
        await route.fulfill(json={"is_error": True, "structured": refusal, "text": ""})

    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    await page.route("**/ui/call", answer)
    await page.evaluate("""async () => {
        const { dayChanges } = await import("/ui/assets/pages/day_changes.js");
        const agents = [{ id: "van-1", capacity: 9, locked_tickets: ["c", "d"] }, { id: "van-2", capacity: 9 }];
        const shipment = [{ id: "p", kind: "pickup", agents: ["van-1"] }, { id: "q", pickup: "p" }];
        const others = [{ id: "b", kind: "pickup", demand: 5 }, { id: "left out" }, { id: "c" }, { id: "d" }];
        const tickets = [{ id: "a", agents: ["van-2"] }, ...others, ...shipment];
        const visits = [{ ticket_id: null }, { ticket_id: "b" }];
        const plan = { routes: [{ agent_id: "van-1", end_s: 60000, visits }] };
        const panel = dayChanges("job-0-x", { planning_date: "2020-12-01", agents, tickets }, () => plan);
        document.getElementById("content").replaceChildren(panel);
        panel.open = true;
    }""")
    form = page.get_by_role("form", name="Change the day")
    new = {"Id (of your choice)": "n", "Amount that is carried": "2", READY: "09:30"}
    stop = {"demand": 2, "service_time_s": 0}
    here, there = {"address": "Bergstr. 1, Ulm"}, {"address": "Weg 2, Ulm"}
    for change, fields, sent in (
        ("absent", {"Agent": "van-1, van-9"}, "There is no agent with the id \u2068van-9"),
        ("cancelledTicket", {"Ticket": "a, t99"}, "There is no ticket with the id \u2068t99"),
        ("cancelledTicket", {"Ticket": "a, b"}, {"cancelled_ticket": ["a", "b"]}),
        ("lock", {"Ticket": "b"}, {"patch": {"tickets": {"b": {"agents": ["van-1"]}}}}),
        ("lock", {"Ticket": "left out"}, "No agent serves"),
        ("lock", {AGENT_OR_NOT: "van-2"}, {"patch": {"tickets": {"left out": {"agents": ["van-2"]}}}}),
        ("lock", {"Ticket": "q"}, {"patch": {"tickets": {"p": {"agents": ["van-2"]}, "q": {"agents": ["van-2"]}}}}),
        ("lock", {"Ticket": "Post"}, "There is no ticket with the id"),
        ("unlock", {"Ticket": "a"}, {"patch": {"tickets": {"a": {"agents": None}}}}),
        ("unlock", {"Ticket": "b"}, "There is no lock on"),
        ("unlock", {"Ticket": "q"}, {"patch": {"tickets": {"p": {"agents": None}}}}),
        ("unlock", {"Ticket": "c"}, {"patch": {"tickets": {}, "agents": {"van-1": {"locked_tickets": ["d"]}}}}),
        ("newTicket", new, "Say where"),
        ("newTicket", {TO: here["address"]}, {"new_ticket": [{"id": "n", **stop, **here, "release_time": "09:30"}]}),
        ("newTicket", {FROM: "left out"}, "is no pickup"),
        ("newTicket", {FROM: "p"}, "is no pickup, or a ticket delivers its goods already"),
        (
            "newTicket",
            {FROM: "b", "Amount that is carried": ""},
            {"new_ticket": [{"id": "n", **stop, **here, "demand": 5, "pickup": "b", "release_time": "09:30"}]},
        ),
        (
            "newTicket",
            {FROM: there["address"], "Amount that is carried": "2"},
            {
                "new_ticket": [
                    {"id": "n pickup", **stop, **there, "time_windows": [["09:30", 172740]]},
                    {"id": "n", **stop, **here, "pickup": "n pickup"},
                ]
            },
        ),
        (
            "newTicket",
            {TO: "", "Not before": "08:00", "Not after": "12:00"},
            {"new_ticket": [{"id": "n", **stop, **there, "kind": "pickup", "time_windows": [["09:30", "12:00"]]}]},
        ),
        ("window", {"Ticket": "Post", "Not before": "08:00", "Not after": "12:00"}, "There is no ticket with the id"),
    ):
        await form.get_by_label("Change").select_option(change)
        for name, value in fields.items():
            await form.get_by_label(name, exact=True).fill(value)
        asked.clear()
        await form.get_by_role("button", name="Solve with the change").click()
        about = "\u2068b\u2069: " if "cancelled_ticket" in sent else ""
        said = sent if isinstance(sent, str) else f"{about}Not now."
        await page.get_by_role("alert").get_by_text(said).wait_for()
        expected = [] if isinstance(sent, str) else [{"warm_from": "job-0-x", "fresh": True, **sent}]
        assert asked == expected, (change, fields)
    assert await page.locator("#known-pickup option").evaluate_all("all => all.map((each) => each.value)") == ["b"]


@pytest.mark.slow
async def test_a_day_is_changed_before_it_is_solved(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: a wrong ticket had to be planned before it could be removed; the earlier revision stays."""
    here = {"id": "D", "lat": 48.7, "lon": 9.1}
    tickets = [ticket("c", "D"), ticket("fetch", "D"), ticket("bring", "D", pickup="fetch")]
    day = body([agent("van-1", locked_tickets=["fetch"]), agent("van-2")], tickets, locations=[here])
    scenario_id = (await call(server, "create_scenario", **day))["scenario_id"]
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(_url(server, f"scenarios/{scenario_id}"))
    form = page.get_by_role("form", name="Change the day")
    rows = page.get_by_role("region", name="Tickets").locator("tbody tr")
    await rows.nth(1).get_by_text("only van-1").wait_for()
    for change, fields, said, shown in (
        ("unlock", {"Ticket": "bring"}, "agents: 1 changed (van-1)", ["c", "fetch", "bring"]),
        ("cancelledTicket", {"Ticket": "bring"}, "tickets: 2 removed (fetch, bring)", ["c"]),
        ("lock", {"Ticket": "c", "Agent": "van-2"}, "tickets: 1 changed (c)", ["c\nonly van-2"]),
        ("newTicket", {"Id (of your choice)": "n", TO: "48.74, 9.31"}, "tickets: 1 added (n)", ["c\nonly van-2", "n"]),
        ("unlock", {"Ticket": "c"}, "tickets: 1 changed (c)", ["c", "n"]),
    ):
        before = page.url
        await page.locator("summary", has_text="Change the day").press("Enter")
        await form.get_by_label("Change").select_option(change)
        assert await form.get_by_label(NOW_OR_NOT).count() == 0, "nothing of it has begun"
        for name, value in fields.items():
            await form.get_by_label(name, exact=True).fill(value)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await form.get_by_label(next(iter(fields)), exact=True).press("Enter")
        await page.wait_for_url(lambda url, before=before: url != before)
        await page.get_by_text(said).wait_for()
        assert [await row.locator("td").first.inner_text() for row in await rows.all()] == shown, change
    await page.locator("summary", has_text="Change the day").click()
    await form.get_by_label("Change").select_option("newTicket")
    for name, value in {"Id (of your choice)": "c", TO: "48.74, 9.31"}.items():
        await form.get_by_label(name, exact=True).fill(value)
    await form.get_by_role("button", name="Keep as a new revision").click()
    await page.get_by_role("alert").get_by_text("There is a ticket with the id").wait_for()
    await page.get_by_role("link", name="Earlier revision").click()
    await rows.first.get_by_text("only van-2").wait_for()
    await page.evaluate("document.querySelector('main form select').before(document.createElement('select'))")
    await page.get_by_role("button", name="中文").click()
    await page.locator("summary", has_text="当日变更").click()
    await page.locator(
        "main form input[name=ticket]"
    ).wait_for()  # the value of a choice that is gone is not given to another


@pytest.mark.slow
async def test_an_id_with_a_comma_is_one_id(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: several ids have commas between them, and an id may have one itself."""
    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    asked = await _refused_calls(page)
    for written in ("a, b", "a, c"):
        form = "(await import('/ui/assets/pages/day_changes.js')).dayChanges('job-0-x', "
        form += "{ tickets: [{ id: 'a, b' }, { id: 'a' }, { id: 'c' }], agents: [] })"
        await page.evaluate(f"async () => document.getElementById('content').replaceChildren({form})")
        await page.locator("summary", has_text="Change the day").click()
        await page.locator("main select").select_option("cancelledTicket")
        await page.locator("input[name=ticket]").fill(written)
        async with page.expect_response("**/ui/call"):
            await page.get_by_role("button", name="Solve with the change").click()
    assert [each["arguments"].get("cancelled_ticket") for each in asked] == [["a, b"], ["a", "c"]]


@pytest.mark.slow
async def test_every_id_of_a_large_day_is_offered(server: PlannerServer, page: Any) -> None:
    """SPEC O2, O8: of a day of 10,000 tickets nine in ten were not offered, whatever was typed."""
    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    form = "(await import('/ui/assets/pages/day_changes.js')).dayChanges('job-0-x', "
    form += (
        "{ tickets: Array.from({ length: 10_000 }, (_, at) => ({ id: `t${at}`, name: `Shop ${at}` })), agents: [] })"
    )
    await page.evaluate(f"async () => document.getElementById('content').replaceChildren({form})")
    await page.locator("summary", has_text="Change the day").click()
    offered = page.locator("#known-ticket option")
    values = "all => all.map((each) => each.value)"
    assert await offered.count() == 1000
    for typed, found in (("t9876", ["t9876"]), ("shop 9876", ["t9876"]), ("nothing", [])):
        await page.locator("input[name=ticket]").fill(typed)
        assert await offered.evaluate_all(values) == found
    await page.locator("main select").select_option("cancelledTicket")
    await page.locator("input[name=ticket]").fill("t1, t9876")
    assert await offered.evaluate_all(values) == ["t1, t9876"], "the others stay before it"
    await page.locator("input[name=ticket]").fill("t1, shop 9876")
    assert await offered.all_text_contents() == ["t1, t9876 · Shop 9876"], "browsers compare all that was typed"


@pytest.mark.slow
async def test_a_form_that_is_open_stays_so_in_the_other_language(server: PlannerServer, page: Any) -> None:
    """SPEC O2: the form for a change of the day was closed, and what had been typed was gone."""
    day = body([agent("van-1")], [ticket("c", "D")], locations=[{"id": "D", "lat": 48.7, "lon": 9.1}])
    scenario_id = (await call(server, "create_scenario", **day))["scenario_id"]
    await page.goto(_url(server, f"scenarios/{scenario_id}"))
    await page.locator("summary", has_text="Change the day").click()
    await page.get_by_role("form", name="Change the day").get_by_label("Change").select_option("newTicket")
    given = {"id": "n", "address": "48.74, 9.31", "opens": "08:30"}
    for name, value in given.items():
        await page.locator(f"main form input[name={name}]").fill(value)
    await page.get_by_role("button", name="中文").click()
    form = page.get_by_role("form", name="当日变更")
    await form.locator("input[name=id]").wait_for()
    for name, value in given.items():
        assert await form.locator(f"input[name={name}]").input_value() == value


@pytest.mark.slow
async def test_a_form_is_found_by_its_name_where_another_stands_before_it(server: PlannerServer, page: Any) -> None:
    """SPEC O2: what is open, and what was typed in it, is not another form's of the view in the other language."""
    _, job_id = await solved(server, ring(3))
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.locator("summary", has_text="What if").click(timeout=60_000)
    await page.get_by_label("All shifts longer by (min)").fill("45")
    await page.evaluate("document.querySelector('details:has(form)').remove()")  # as before it was offered
    await page.get_by_role("button", name="中文").click()
    await page.get_by_role("form", name="假设分析").wait_for()
    await page.wait_for_function("document.querySelector('input[name=longer]').value === '45'")
    assert not await page.get_by_role("form", name="当日变更").is_visible()


@pytest.mark.slow
async def test_the_sheet_is_asked_before_the_columns_in_it(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: a workbook with a sheet for each day; each choice stands there in words."""
    sheet = sheet_xml(rows_of(("Kunde", "Breite", "Länge", "Kisten", "Zielzeit"), ("K1", 52.5, 13.4, 2.0, "12:30")))
    await page.goto(_url(server, "import"))
    await _import(page, workbook({"Mo": sheet, "Di": sheet}), {VEHICLES: "1", CAPACITY: "9"}, "week.xlsx")
    form = page.get_by_role("form", name="Questions")
    await form.get_by_label("Sheet of the tickets").select_option("Di")
    await form.get_by_role("button", name="Go on").click()
    await form.get_by_label("Zielzeit").select_option(label="not after")
    await form.get_by_role("button", name="Go on").click()
    await page.get_by_text("Imported. Agents: 1, tickets: 1").wait_for(timeout=30_000)
    assert 'Sheets that are not read: "Mo".' in await page.locator("main").inner_text()


@pytest.mark.slow
async def test_a_table_of_addresses_in_the_encoding_of_a_spreadsheet_is_imported(
    server: PlannerServer, page: Any
) -> None:
    """SPEC T5, O2, O4: Chinese spreadsheets write GB18030, which only the bytes of a file show."""
    await page.goto(_url(server, "import"))
    rows = "客户,送货地址,箱数,最晚到店时间\n望京店,北京市朝阳区望京街道,3,12:00\n西单店,北京市西城区西长安街街道,2,\n"
    fields = {VEHICLES: "1", CAPACITY: "100", "Depot": "北京市丰台区丰台街道"}
    await _import(page, rows.encode("gb18030"), fields, "订单.csv")
    await page.get_by_text("Imported. Agents: 1, tickets: 2").wait_for(timeout=30_000)
    assert "送货地址" in await page.get_by_text("Used:").first.inner_text()
    scenario_id = str(await page.get_by_role("link", name="Open").get_attribute("href")).rpartition("/")[2]
    job_id = (await call(server, "solve_vrp", scenario_id=scenario_id, solve_time="PT1S"))["job_id"]
    await call(server, "query_vrp_status", job_id=job_id, wait_s=45)
    plan = await call(server, "read_plan", job_id=job_id, view="visits")
    assert min(row[plan["columns"].index("start")] for row in plan["rows"]) >= "08:00", "nobody drives at night"
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_text("Roads are not known").wait_for()


@pytest.mark.slow
async def test_a_refusal_says_what_would_be_accepted(server: PlannerServer, page: Any) -> None:
    """SPEC T7, O2: each fault with what is accepted at its place, also where it has no hint."""
    await page.goto(_url(server, "import"))
    await _import(page, "id,lat,lon,demand,until\nc1,52.52,13.40,1,9-12 Uhr\nc2,52.50,13.45,2,14:00\n")
    refusal = page.get_by_role("alert")
    await refusal.wait_for(timeout=30_000)
    shown = await refusal.inner_text()
    assert '"9-12 Uhr" is not a time. (accepted: ' in shown
    assert "Say how many vehicles there are and what each carries." in shown
    await _fill(page, {VEHICLES: "1", CAPACITY: "9"})
    await page.get_by_role("button", name="Import without “until”").click()
    await page.get_by_text("Not used: until").wait_for(timeout=30_000)
    vague = "id,lat,lon," + ",".join(f"Zahl{n}" for n in range(9)) + "\n"
    vague += "c1,52.52,13.40,1,2,3,4,5,6,7,8,9\nc2,,,1,2,3,4,5,6,7,8,9\n"
    await _import(page, vague, name="v.csv")
    await page.get_by_text("The row has no place.").wait_for(timeout=30_000)
    places = await refusal.locator("li").all_inner_texts()
    assert len(places) >= 10 and all("(accepted: " in place for place in places), "however many there are"
    late = "id,lat,lon,demand,opens,closes\nc1,52.52,13.40,1,09:00,08:00\nc2,52.50,13.45,2,12:00,08:00\n"
    await _import(page, late, {VEHICLES: "1", CAPACITY: "9"}, "b.csv")
    await page.get_by_text("The window closes before it opens.").first.wait_for(timeout=30_000)
    shown = await page.get_by_role("alert").inner_text()
    assert "c1 ([09:00,08:00])" in shown and "c2 ([12:00,08:00])" in shown, "each row with its value"
    vroom = (
        '{"vehicles": [{"id": 1, "start": [13.4, 52.5]}], "jobs": [{"id": 1, "location": [13.4, 52.6], "colour": 1}]}'
    )
    await _import(page, vroom, {VEHICLES: ""}, "d.json")
    await page.get_by_text("/file/jobs/0/colour").wait_for(timeout=30_000)
    assert await page.get_by_role("button", name="Import without").count() == 0, "it has no columns"
    await page.goto(_url(server, "jobs"))
    assert "Proposed" in await page.get_by_label("Status").locator("option").all_inner_texts()


@pytest.mark.slow
async def test_a_column_that_is_not_clear_beside_another_fault_is_asked_about_later(
    server: PlannerServer, page: Any
) -> None:
    """SPEC T5, T7, O2: the page has no argument `columns`; it asks once the rest is right."""
    await page.goto(_url(server, "import"))
    await _import(page, UNCLEAR)
    refusal = page.get_by_role("alert")
    await refusal.get_by_text("The file has no agents.").wait_for(timeout=30_000)
    shown = await refusal.inner_text()
    assert "(accepted: time at the stop, in minutes, time at the stop, in seconds" in shown
    assert "you are then asked about it" in shown and "in columns" not in shown
    await _fill(page, {VEHICLES: "2", CAPACITY: "100"})
    await page.get_by_role("button", name="Import and check").click()
    await page.get_by_role("form", name="Questions").get_by_label("Stop time").wait_for(timeout=30_000)


@pytest.mark.slow
async def test_times_have_dates_where_a_day_goes_on_after_midnight(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: an hour alone would be of one of two days, of several shifts that begin at any hour."""
    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    form = """async ([shifts, end_s]) => {
        const { dayChanges } = await import("/ui/assets/pages/day_changes.js");
        const agents = shifts.map(([shift_start, shift_end]) => ({ id: "a", shift_start, shift_end }));
        const scenario = { planning_date: "2020-12-01", agents, tickets: [] };
        const form = dayChanges("job-0-x", scenario, () => ({ routes: [{ end_s }] }));
        document.getElementById("content").replaceChildren(form);
        form.open = true;
    }"""
    night, day, dated = ["22:00", "30:00"], ["08:00", "17:00"], ["2020-12-01T20:00:00", "2020-12-02T04:00:00"]
    for shifts, end_s, kind in (
        ([day], 60_000, "time"),
        ([["00:00", "24:00"]], 86_400, "time"),
        ([day, night], 60_000, "datetime-local"),
        ([dated], 60_000, "datetime-local"),
        ([[None, None]], 90_000, "datetime-local"),
    ):
        await page.evaluate(form, [shifts, end_s])
        opens = page.get_by_label("Not before", exact=True)
        assert await opens.get_attribute("type") == kind, (shifts, end_s)
        assert await opens.get_attribute("min") == ("2020-12-01T00:00" if kind == "datetime-local" else None)
    asked = await _refused_calls(page)
    await page.get_by_label("Ticket", exact=True).fill("t-1")
    for name, at in (("Not before", "2020-12-02T01:30"), ("Not after", "2020-12-02T02:30")):
        await page.get_by_label(name, exact=True).fill(at)
    async with page.expect_response("**/ui/call"):
        await page.get_by_role("button", name="Solve with the change").click()
    await page.unroute("**/ui/call")
    patches = [each["arguments"]["patch"] for each in asked]
    assert patches == [{"tickets": {"t-1": {"time_windows": [["2020-12-02T01:30", "2020-12-02T02:30"]]}}}]
    day_of_client = ring(3) | {"planning_date": "2020-12-01"}
    scenario_id = (await call(server, "create_scenario", **day_of_client))["scenario_id"]
    await call(server, "revise_scenario", scenario_id=scenario_id, patch=patches[0])


@pytest.mark.slow
async def test_forms_of_maps_are_offered_on_the_globe_alone(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: on a plane, and where no place is known, both were offered and then refused."""
    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    names = """async (locations) => {
        const { downloads } = await import("/ui/assets/page.js");
        return [...downloads("plan-0-x", [], { locations }).querySelectorAll("button")].map((each) => each.textContent);
    }"""
    for locations, offered in (
        ([{"id": "a", "lat": 52.5, "lon": 13.4}], ["routes.geojson", "routes.gpx"]),
        ([{"id": "a", "x": 0, "y": 0}], []),
        ([{"id": "a"}], []),
    ):
        shown = await page.evaluate(names, locations)
        assert [each for each in shown if "." in each] == offered


@pytest.mark.slow
async def test_changes_are_compared_with_the_day_as_it_is(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: one more vehicle, wider windows, longer shifts: each a patch."""
    day = ring(5)
    day["agents"] = [day["agents"][0] | {"id": "van-1", "shift_start": "08:00", "shift_end": "17:30"}]
    windows: list[list[list[Any]]] = [
        [["15:00", "16:00"], ["08:10", "12:00"], ["12:20", "13:00"]],
        [[600, 1e6]],
        [["2025-07-15T08:10:00", "2025-07-18 12:00"]],
        [["47:00", "47:50"]],
    ]
    wider: list[list[list[Any]]] = [
        [["14:45:00", "16:15:00"], ["07:55:00", "12:15:00"], ["12:05:00", "13:15:00"]],
        [[0, 1_000_900]],
        [[28_500, 303_300]],
        [["46:45:00", 173_100]],
    ]
    for entry, given in zip(day["tickets"], windows, strict=True):
        entry["time_windows"] = given
    scenario_id, job_id = await solved(server, day)
    asked: dict[str, Any] = {}

    async def answer(route: Any) -> None:
        posted = route.request.post_data_json
        if posted["tool"] != "what_if":
            await route.continue_()
            return
        asked.update(posted["arguments"])
        columns = ["case", "job_id", "status", "cost", "saves", "served", "agents", "distance_km", "late_min", "gap"]
        rows = [[name, job_id, "COMPLETED", 9, 2, "4/4", 1, 3, 0, 0.02] for name in ("as it is", *asked["cases"])]
        found = {"columns": columns, "rows": rows, "changes": {}}
        await route.fulfill(json={"is_error": False, "structured": found, "text": ""})

    await page.route("**/ui/call", answer)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.locator("summary", has_text="What if").click(timeout=60_000)
    form = page.get_by_role("form", name="What if")
    await form.get_by_label("One more vehicle like").select_option("van-1")
    await form.get_by_label("All windows wider by (min)").fill("15")
    await form.get_by_label("All shifts longer by (min)").fill("45")
    await form.get_by_role("button", name="Solve and compare").click()
    table = page.get_by_role("region", name="What if")
    await table.get_by_text("The day as it is").wait_for()
    assert await table.locator("tbody tr").count() == 4
    assert await page.evaluate(FITS)
    patches = {name: case["patch"] for name, case in asked["cases"].items()}
    another = patches["One more vehicle like: van-1"]["agents"]["van-1-2"]
    assert another == {name: value for name, value in (await _agents(server, scenario_id))[0].items() if name != "id"}
    assert patches["All windows wider by (min): 15"] == {
        "tickets": {f"t-{number}": {"time_windows": joined} for number, joined in enumerate(wider, 1)}
    }
    assert patches["All shifts longer by (min): 45"] == {"agents": {"van-1": {"shift_end": "18:15:00"}}}
    for patch in patches.values():
        await call(server, "revise_scenario", scenario_id=scenario_id, patch=patch)


@pytest.mark.slow
async def test_a_name_is_looked_for_beyond_the_page_that_is_shown(server: PlannerServer, page: Any) -> None:
    """SPEC O2: the filter knew twenty jobs, and an older day seemed not to be there."""

    async def answer(route: Any) -> None:
        asked = parse_qs(urlsplit(parse_qs(urlsplit(route.request.url).query)["uri"][0]).query)
        number, size = int(asked["page"][0]), int(asked["size"][0])
        last = min(number * size, 250)
        jobs = [
            {
                "job_id": f"job-0-{at}",
                "status": "COMPLETED",
                "scenario_id": "s",
                "scenario_name": f"Day {at}.",
                "cost": at,
            }
            | {"submitted_at": "2026-03-01T08:00:00Z"}
            for at in range((number - 1) * size, last)
        ]
        await route.fulfill(json={"jobs": jobs} | ({"next": "jobs://"} if last < 250 else {}))

    await page.route("**/ui/read?uri=jobs*", answer)
    await page.goto(_url(server, "jobs"))
    await page.get_by_role("link", name="Older").wait_for()
    await page.get_by_label("Filter by name, date, id or status").fill("day 63.")
    await page.get_by_role("link", name="Day 63.").wait_for()
    assert await page.locator("tbody tr").count() == 1
    await page.get_by_label("Filter by name, date, id or status").fill("day 230.")
    await page.get_by_text("Looked for among the newest 200 jobs.").wait_for()
    assert await page.locator("tbody tr").count() == 0
    await page.get_by_label("Filter by name, date, id or status").fill("")
    await page.get_by_role("link", name="Older").wait_for()
    assert await page.locator("tbody tr").count() == 20


@pytest.mark.slow
async def test_a_job_that_ended_without_a_plan_is_solved_anew(server: PlannerServer, page: Any) -> None:
    """SPEC O2: there is no plan to start from; the page offered what is then refused."""
    scenario_id = (await call(server, "create_scenario", **ring(3)))["scenario_id"]
    job = {"job_id": "job-0-x", "status": "CANCELLED", "scenario_id": scenario_id, "engine": "auto", "progress": 0}
    job["solve_time"] = "PT40S"
    await page.route("**/ui/read?uri=job*", lambda route: route.fulfill(json={**job, "submitted_at": "2026-03-01"}))
    await page.route("**/jobs/*/events", lambda route: route.fulfill(json={"events": []}))
    asked = await _refused_calls(page)
    await page.goto(_url(server, "jobs/job-0-x"))
    await page.get_by_role("button", name="Solve again").click()
    await page.get_by_text("Not now.").wait_for()
    assert await page.locator("summary", has_text="What if").count() == 0
    fresh = {"scenario_id": scenario_id, "solve_time": "PT40S", "fresh": True}
    assert asked == [{"tool": "solve_vrp", "arguments": fresh}]


@pytest.mark.slow
async def test_a_shift_over_midnight_ends_on_the_next_day(server: PlannerServer, page: Any) -> None:
    """SPEC T5, O2: hours are chosen as those of a day; swapped ones stay as they are, and are refused."""
    await page.goto(_url(server, "import"))
    ends = "async (hours) => (await import('/ui/assets/pages/import.js')).lastHour(...hours)"
    for hours, end in ((["22:00", "06:00"], "30:00"), (["18:00", "08:00"], "08:00"), (["08:00", "18:00"], "18:00")):
        assert await page.evaluate(ends, hours) == end
    assert await page.evaluate(ends, ["", "06:00"]) == "06:00"


@pytest.mark.slow
async def test_the_planning_date_is_today_where_the_dispatcher_is(server: PlannerServer, browser: Any) -> None:
    """SPEC O2: before eight in the morning in Shanghai it is still yesterday in UTC."""
    context = await browser.new_context(timezone_id="Asia/Shanghai")
    page = await context.new_page()
    await page.clock.set_fixed_time("2026-03-01T23:30:00Z")
    await page.goto(_url(server, "import"))
    assert await page.locator("input[type=date]").input_value() == "2026-03-02"
    await context.close()


@pytest.mark.slow
async def test_the_day_is_changed_from_the_page_of_its_job(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: another window, then a breakdown; each is a job of its own that starts from the plan."""
    day = ring(8) | {"agents": [{"id": name, "capacity": 100} for name in ("veh-1", "veh-2")]}
    _, job_id = await submitted(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    ticket = day["tickets"][0]["id"]
    for change, fields, case in (
        ("Window of a ticket", {"Ticket": ticket, "Not before": "10:00", "Not after": "11:00"}, "time_windows"),
        ("Agents that do not come", {"Agent": "veh-2"}, "veh-2"),
    ):
        await page.locator("summary", has_text="Change the day").click(timeout=60_000)
        form = page.get_by_role("form", name="Change the day")
        await form.get_by_label("Change").select_option(label=change)
        for name, value in fields.items():
            await form.get_by_label(name, exact=True).fill(value)
        before = page.url
        await form.get_by_role("button", name="Solve with the change").click()
        await page.wait_for_url(lambda url, before=before: url != before)
        await page.get_by_text("Completed", exact=True).wait_for(timeout=60_000)
        shown = await call(server, "query_vrp_status", job_id=page.url.rpartition("/")[2])
        assert shown["status"] == "COMPLETED", case


@pytest.mark.slow
async def test_a_day_goes_wrong_and_is_repaired_on_the_page(server: PlannerServer, page: Any) -> None:
    """SPEC T10, T4, O2: what happens on a day, a proved fix, solved again; each calls the tool of clients."""
    hours = {"shift_start": "08:00", "shift_end": "17:00"}
    day = body(
        [agent("van-1", **hours), agent("van-2", **hours)],
        [
            ticket("b", "A", time_windows=[["08:00", "08:30"]], service_time_s=1800),
            ticket("c", "B", time_windows=[["10:00", "16:00"]]),
            ticket("d", "B", time_windows=[["10:00", "16:00"]]),
            ticket("early", "B", time_windows=[["06:00", "06:30"]]),
        ],
        locations=plane({"D": (0, 0), "A": (600, 0), "B": (1800, 0)}),
    )
    _, job_id = await submitted(server, day)
    solved = page.get_by_text("Completed", exact=True)
    form = page.get_by_role("form", name="Change the day")
    for change, fields, asked in (
        (
            "Agent stops for the day (breakdown, illness)",
            {"Agent": "van-1", NOW: "09:00"},
            {"breakdown": {"agent": "van-1"}, "keep_until": "09:00"},
        ),
        (
            "Agents that do not come",
            {NOW_OR_NOT: "07:00", "Agent": "van-2"},
            {"absent": ["van-2"], "keep_until": "07:00"},
        ),
        ("Agent is late", {"Agent": "van-2", "Minutes late": "20"}, {"late_by": {"van-2": 1200}}),
        (
            "Remove tickets (no longer wanted)",
            {NOW_OR_NOT: "08:40", "Ticket": "c"},
            {"cancelled_ticket": ["c"], "keep_until": "08:40"},
        ),
        ("Nobody was there", {"Ticket": "b", NOW: "08:40"}, {"no_show": ["b"], "keep_until": "08:40"}),
    ):
        await page.goto(_url(server, f"jobs/{job_id}"))
        await page.locator("summary", has_text="Change the day").click(timeout=60_000)
        await form.get_by_label("Change").select_option(label=change)
        for name, value in list(fields.items())[:-1]:
            await form.get_by_label(name, exact=True).fill(value)
        await form.get_by_role("button", name="Solve with the change").click()
        assert await form.locator(":invalid").count() == 1, "what is left out is asked for, and nothing is sent"
        await form.get_by_label(list(fields)[-1], exact=True).fill(fields[list(fields)[-1]])
        async with page.expect_request(_resolves) as sent:
            await form.get_by_role("button", name="Solve with the change").click()
        posted = (await sent.value).post_data_json
        assert asked.items() <= posted["arguments"].items()
        await page.wait_for_url(lambda url: job_id not in url)
        await solved.wait_for(timeout=60_000)
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_role("button", name="Find fixes").click(timeout=60_000)
    await page.get_by_role("button", name="Apply and solve").first.click(timeout=60_000)
    await page.wait_for_url(lambda url: job_id not in url)
    await page.get_by_text("4 of 4", exact=True).wait_for(timeout=60_000)
    await solved.wait_for(timeout=60_000)
    mended = page.url
    await page.get_by_role("button", name="Solve again").click()
    await page.wait_for_url(lambda url: url != mended)
    await solved.wait_for(timeout=60_000)


@pytest.mark.slow
async def test_an_urgent_order_is_a_new_ticket_and_what_it_changes_is_shown(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: at an address or a position, of what vans carry, sent by Enter; agents are shown by their names.

    The order has the number of the depot, which stays where it is.
    """
    vans = [{"id": "row-2", "name": "Li Na", "capacity": {"boxes": 9, "weight_kg": 90}}]
    here = {"id": "D", "lat": 48.7, "lon": 9.1}
    day = body(vans, [ticket("row-2", "D", demand={"boxes": 1})], locations=[here])
    _, job_id = await submitted(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.locator("summary", has_text="Change the day").click(timeout=60_000)
    form = page.get_by_role("form", name="Change the day")
    assert await page.locator("#known-agent option").first.text_content() == "row-2 · Li Na"
    assert await page.locator("#known-ticket option").first.text_content() == "row-2", (
        "no ticket has the name of an agent"
    )
    await form.get_by_label("Change").select_option(label="New ticket")
    fields = {"Id (of your choice)": "D", TO: "48.74，9.31", "Not after": "12:00"}
    fields |= {"Amount that is carried (boxes)": "2", "Amount that is carried (kg)": "7.5"}
    for name, value in fields.items():
        await form.get_by_label(name, exact=True).fill(value)
    async with page.expect_request(_resolves) as sent:
        await form.get_by_label("Id (of your choice)", exact=True).press("Enter")
    asked = (await sent.value).post_data_json["arguments"]
    assert (asked["new_ticket"], asked["patch"]) == (
        [
            {
                "id": "D",
                "demand": {"boxes": 2, "weight_kg": 7.5},
                "service_time_s": 0,
                "time_windows": [["00:00", "12:00"]],
                "location": "D*",
            }
        ],
        {"locations": {"D*": {"lat": 48.74, "lon": 9.31}}},
    )
    await page.get_by_text("tickets: 1 added (D)").wait_for(timeout=60_000)
    await page.get_by_text("2 of 2", exact=True).wait_for(timeout=60_000)
    for place in (".legend", "svg.times", "table td", "select"):
        named = page.locator(place, has_text="row-2 · Li Na").first
        await named.wait_for(state="attached", timeout=60_000)
    await page.get_by_label("Compare with another plan").select_option(index=1)
    await page.get_by_role("button", name="Compare", exact=True).click()
    moved = page.get_by_role("region", name="Changed stops").locator("tbody tr")
    await moved.wait_for(timeout=30_000)
    assert await moved.locator("td").all_text_contents() == ["D", "D*", "row-2 · Li Na", "–"], (
        "it is no ticket of that day"
    )


@pytest.mark.slow
async def test_a_ticket_is_locked_a_shipment_comes_and_another_is_removed(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: on a phone, by keyboard, in Chinese at the end; the lock is seen and outlives what follows."""
    here = [{"id": "D", "lat": 48.7, "lon": 9.1}, {"id": "A", "lat": 48.71, "lon": 9.12}]
    hours = {"shift_start": "08:00", "shift_end": "18:00", "max_tickets": 3}
    day = body([agent("van-1", **hours), agent("van-2", **hours)], [ticket("a", "A"), ticket("b", "A")], locations=here)
    _, job_id = await submitted(server, day)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(_url(server, f"jobs/{job_id}"))
    form = page.get_by_role("form", name="Change the day")
    stops = page.get_by_role("region", name="Stops").locator("tbody tr")
    order = {"Id (of your choice)": "n", FROM: "48.72, 9.13", TO: "48.73, 9.14", READY: "11:00"}
    for change, fields, said in (
        ("lock", {"Ticket": "a"}, "1 changed (a)"),
        ("newTicket", order, "2 added (n pickup, n)"),
        ("cancelledTicket", {"Ticket": "b"}, "1 removed (b)"),
    ):
        before = page.url
        await page.locator("summary", has_text="Change the day").press("Enter", timeout=60_000)
        await form.get_by_label("Change").select_option(change)
        for name, value in fields.items():
            await form.get_by_label(name, exact=True).fill(value)
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await form.get_by_label(next(iter(fields)), exact=True).press("Enter")
        await page.wait_for_url(lambda url, before=before: url != before)
        await page.get_by_text(f"tickets: {said}").wait_for(timeout=60_000)
        await page.get_by_text("Completed", exact=True).wait_for(timeout=60_000)
        locked = stops.filter(has_text="only van-")
        await locked.wait_for(timeout=60_000)
        driver = await locked.locator("td").first.inner_text()
        assert await locked.locator("td").nth(2).inner_text() == f"a\nonly {driver.strip()}"
    ids = await stops.locator("td:nth-child(3)").all_inner_texts()
    assert [name for name in ids if name in ("b", "n pickup", "n")] == ["n pickup", "n"]
    fetched = stops.filter(has_text="n pickup").locator("td")
    assert await fetched.nth(5).inner_text() >= "11:00"
    await page.get_by_role("button", name="中文").click()
    await page.locator("summary", has_text="当日变更").press("Enter", timeout=60_000)
    form = page.get_by_role("form", name="当日变更")
    await form.get_by_label("变更").select_option(label="解除工单锁定（任何车辆均可）")
    await form.get_by_label("工单", exact=True).fill("a")
    await form.get_by_role("button", name="据此求解").click()
    await page.get_by_text("已完成", exact=True).wait_for(timeout=60_000)
    await page.get_by_text("仅限").wait_for(state="detached")


@pytest.mark.slow
async def test_every_left_out_ticket_is_looked_at_and_its_fix_holds_what_has_been_driven(
    server: PlannerServer, page: Any
) -> None:
    """SPEC T5, T10, O2: the first three were examined and nothing was said of the rest; no hour could be given."""
    day = body(
        [agent("van-1", shift_start="08:00", shift_end="17:00")],
        [ticket(f"early-{n}", "B", time_windows=[["06:00", "06:30"]]) for n in range(5)] + [ticket("c", "B")],
        locations=plane({"D": (0, 0), "B": (1800, 0)}),
    )
    _, job_id = await submitted(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_text("Completed", exact=True).wait_for(timeout=60_000)
    await page.get_by_role("button", name="Find fixes").click(timeout=60_000)
    more = page.get_by_role("button", name="Find fixes of the next (2 left)")
    await more.click(timeout=60_000)
    await more.wait_for(state="hidden", timeout=60_000)
    rows = page.get_by_role("region", name="Proved fix").locator("tbody tr")
    shown = {await row.locator("td").first.inner_text() for row in await rows.all()}
    shown |= {line.split(":")[0] for line in await page.locator(".plan li").all_inner_texts()}
    assert shown >= {f"early-{n}" for n in range(5)}
    hour = page.get_by_label(NOW_OR_NOT).first
    await hour.fill("11:00")
    async with page.expect_request(_resolves) as sent:
        await page.get_by_role("button", name="Apply and solve").first.click()
    assert (await sent.value).post_data_json["arguments"]["keep_until"] == "11:00"


@pytest.mark.slow
async def test_a_refused_change_speaks_in_words_of_the_page_and_keeps_what_was_typed(
    server: PlannerServer, page: Any
) -> None:
    """SPEC T7, T10, O2: somebody falls ill on the way; the page has no arguments `breakdown` and `keep_until`."""
    day = body(
        [agent("van-1", shift_start="08:00", shift_end="17:00")],
        [ticket("b", "B", service_time_s=1800), ticket("c", "B", time_windows=[["14:00", "16:00"]])],
        locations=plane({"D": (0, 0), "B": (1800, 0)}),
    )
    _, job_id = await submitted(server, day)
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.get_by_text("Completed", exact=True).wait_for(timeout=60_000)
    await page.locator("summary", has_text="Change the day").click(timeout=60_000)
    form = page.get_by_role("form", name="Change the day")
    await form.get_by_label("Change").select_option("absent")
    await form.get_by_label("Agent", exact=True).fill("van-1")
    await form.get_by_label(NOW_OR_NOT, exact=True).fill("14:30")
    await form.get_by_role("button", name="Solve with the change").click()
    refusal = page.get_by_role("alert")
    await refusal.wait_for(timeout=60_000)
    assert "Choose “Agent stops for the day (breakdown, illness)”." in await refusal.inner_text()
    await form.get_by_label("Change").select_option("breakdown")
    assert await form.get_by_label("Agent", exact=True).input_value() == "van-1"
    assert await form.get_by_label(NOW, exact=True).input_value() == "14:30"
    await form.get_by_label("Change").select_option("noShow")
    await form.get_by_label("Ticket", exact=True).fill("c")
    await form.get_by_label(NOW, exact=True).fill("09:00")
    await form.get_by_role("button", name="Solve with the change").click()
    await refusal.get_by_text("\u2068c\u2069: It has not begun by “Now”.").wait_for(timeout=60_000)


@pytest.mark.slow
async def test_the_hour_is_filled_in_on_the_day_itself(server: PlannerServer, page: Any) -> None:
    """SPEC T10, O2: without it a change would plan anew what has been driven."""
    await page.goto(_url(server, "import"))
    await page.get_by_role("heading", name="Import").wait_for()
    hours = """async (day) => {
        const { nowInput } = await import("/ui/assets/pages/day_changes.js");
        const [today, time] = new Date().toLocaleString("sv").split(" ");
        const of = (date, end) => nowInput({ planning_date: date, agents: [{ shift_end: end }] }).value;
        const now = time.slice(0, 5);
        return [of("2025-07-15", "17:00"), of(today, "17:00") === now, of(today, "30:00") === `${today}T${now}`];
    }"""
    assert await page.evaluate(hours) == ["", True, True]


@pytest.mark.slow
async def test_a_page_that_could_not_be_drawn_is_drawn_when_the_server_is_back(
    server: PlannerServer, browser: Any
) -> None:
    """SPEC O2: it says what is wrong in its own words, and nobody has to reload it."""
    page = await browser.new_page(locale="en-GB")
    for path in ("**/ui/session", "**/ui/read*", "**/events"):
        await page.route(path, lambda route: route.abort())
    await page.goto(_url(server, "jobs"))
    await page.get_by_role("alert").get_by_text("The server does not answer.").wait_for(timeout=60_000)
    await page.unroute_all()
    await page.get_by_role("heading", name="Jobs").wait_for(timeout=60_000)
    await page.route("**/ui/read*", lambda route: route.abort())
    await page.goto(_url(server, "system"))
    await page.goto(_url(server, "jobs"))
    await page.get_by_role("alert").get_by_text("The server does not answer.").wait_for(timeout=60_000)
    await page.close()


@pytest.mark.slow
async def test_a_running_job_is_cancelled_from_its_page(server: PlannerServer, page: Any) -> None:
    """SPEC T4, O2: asked first, by keyboard too; with its best plan kept to look at."""
    _, job_id = await submitted(server, ring(), "PT60S")
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.locator("svg.map").wait_for(timeout=60_000)
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    await cancel.click()
    question = page.get_by_role("dialog", name="Cancel this job?")
    assert await question.get_by_role("button", name="Back").evaluate("button => button === document.activeElement")
    await page.keyboard.press("Escape")
    await question.wait_for(state="detached")
    assert await cancel.evaluate("button => button === document.activeElement")
    await cancel.click()
    await question.get_by_role("button", name="Cancel the job").click()
    await page.get_by_text("Cancelled", exact=True).wait_for(timeout=30_000)
    await page.get_by_role("button", name="Solve again").wait_for()
    assert await page.get_by_role("button", name="Finish now").count() == 0
    await page.locator("summary", has_text="Raw JSON").click()
    await page.locator("pre", has_text=job_id).wait_for()


@pytest.mark.slow
async def test_a_running_job_is_finished_from_its_page(server: PlannerServer, page: Any) -> None:
    """SPEC T4: the button calls the same tool as a client does."""
    _, job_id = await submitted(server, ring(), "PT60S")
    await page.goto(_url(server, f"jobs/{job_id}"))
    await page.locator("svg.map").wait_for(timeout=60_000)
    await page.get_by_role("button", name="Zoom in").click()
    enlarged = await page.locator("svg.map").get_attribute("viewBox")
    await page.get_by_role("button", name="Finish now").click()
    await page.get_by_text("Completed", exact=True).wait_for(timeout=30_000)
    assert await page.locator("svg.map").get_attribute("viewBox") == enlarged, "a better plan does not move the map"


@pytest.mark.slow
async def test_the_list_shows_jobs_and_filters_them(server: PlannerServer, page: Any) -> None:
    """SPEC O2: by the name of its day, its id or its status."""
    _, job_id = await submitted(server, ring(5) | {"name": "Monday, north"})
    await page.goto(_url(server, "jobs"))
    await page.get_by_role("link", name="Monday, north").wait_for()
    for text, rows in (("no such job", 0), (job_id[-6:], 1), ("monday, n", 1)):
        await page.get_by_label("Filter by name, date, id or status").fill(text)
        assert await page.locator("tbody tr").count() == rows
    shown = await page.locator("thead th").all_text_contents()
    assert shown[:3] == ["Job", "Status", "Submitted"], "plans of one day differ by that, and a phone shows no more"
    await page.get_by_role("link", name="Monday, north").click()
    await page.wait_for_url(lambda url: url.endswith(job_id))


@pytest.mark.slow
async def test_a_list_that_is_read_anew_keeps_its_rows(server: PlannerServer, page: Any) -> None:
    """SPEC O2: a click that falls on that moment still leads to the job."""
    _, ended = await solved(server, ring(5))
    await page.goto(_url(server, "jobs?status=completed"))
    row = await page.locator("tbody tr", has_text=ended).element_handle()
    await page.evaluate("() => performance.clearResourceTimings()")
    _, solving = await submitted(server, ring(), "PT30S")
    reads = "performance.getEntriesByType('resource').filter((each) => each.name.includes('completed'))"
    await page.wait_for_function(f"() => {reads}.length > 1")  # events of a job that is not in the list
    assert await row.evaluate("(row) => row.isConnected")
    await call(server, "cancel_vrp_job", job_id=solving)


@pytest.mark.slow
async def test_each_place_has_an_address_of_its_own(server: PlannerServer, page: Any) -> None:
    """SPEC O2: a comparison, a revision with the one before it, raw JSON; a reload stays, and back leads back."""
    day = ring(6) | {"agents": [{"id": name, "capacity": 4} for name in ("veh-1", "veh-2")]}
    scenario_id, job_id = await solved(server, day)
    more = {"tickets": {"t-new": {"location": "L3", "demand": 1}}}
    next_job = await call(server, "resolve_vrp", warm_from=job_id, patch=more, solve_time="PT1S", fresh=True)
    await call(server, "query_vrp_status", job_id=next_job["job_id"], wait_s=30)
    before, after = (name.replace("job-", "plan-") for name in (job_id, next_job["job_id"]))
    await page.goto(_url(server, f"compare/{before}/{after}"))
    await page.get_by_role("heading", name="Compare").wait_for()
    await page.reload()
    await page.locator("svg.map").nth(1).wait_for()
    await page.get_by_role("region", name="Cost by agent").get_by_text("veh-1").wait_for()
    await page.get_by_text("The differences are worked out on one, so they may be others").wait_for()
    await page.get_by_text("the day of B.").wait_for()
    moved = page.get_by_role("region", name="Changed stops").locator("tbody tr", has_text="t-new")
    assert [await cell.inner_text() for cell in await moved.locator("td").all()][2] == "–", "it is no ticket of A"
    await page.get_by_role("heading", name="B:").get_by_role("link").click()
    choice = page.get_by_label("Compare with another plan")
    await choice.locator(f"option[value='{before}']").wait_for(state="attached")
    await page.get_by_role("link", name="Scenario", exact=True).click()
    await page.get_by_role("region", name="Tickets").get_by_text("t-new", exact=True).wait_for()
    await page.get_by_role("link", name="Earlier revision").click()
    await page.wait_for_url(lambda url: url.endswith(scenario_id))
    await page.get_by_role("link", name="Later revision").click()
    await page.wait_for_url(lambda url: not url.endswith(scenario_id))
    await page.get_by_role("link", name="Earlier revision").click()
    await page.wait_for_url(lambda url: url.endswith(scenario_id))
    await page.locator("summary", has_text="Raw JSON").click()
    raw = page.locator("pre", has_text=scenario_id)
    assert [each["id"] for each in json.loads(await raw.inner_text())["scenario"]["agents"]] == ["veh-1", "veh-2"]
    await page.go_back()
    await page.get_by_role("region", name="Tickets").get_by_text("t-new", exact=True).wait_for()


@pytest.mark.slow
async def test_an_unknown_job_is_an_error_on_the_page(server: PlannerServer, browser: Any) -> None:
    """SPEC T7: code and message, no blank page."""
    page = await browser.new_page()
    await page.goto(_url(server, "jobs/job-0-aaaaaaaaaaaaaaaaaaaaaaaaaa"))
    await page.get_by_role("alert").wait_for()
    assert "4004" in await page.get_by_role("alert").inner_text()
    await page.close()


@pytest.mark.slow
async def test_the_page_speaks_chinese_on_a_narrow_screen(server: PlannerServer, page: Any) -> None:
    """SPEC O2: two languages, from 390 px on without a horizontal scroll bar."""
    await page.set_viewport_size({"width": 390, "height": 800})
    await page.goto(_url(server, "jobs"))
    await page.get_by_role("button", name="中文").click()
    await page.get_by_role("heading", name="任务").wait_for()
    assert await page.evaluate(FITS)
    assert await page.evaluate("document.documentElement.lang") == "zh"


@pytest.mark.slow
async def test_the_system_page_shows_queue_workers_and_store(server: PlannerServer, page: Any) -> None:
    """SPEC O2, W3: figures of the deployment, webhooks, and the audit log of today for readers with its scope."""
    await page.clock.install()
    await page.goto(_url(server, "system"))
    await page.get_by_role("heading", name="Queue").wait_for()
    await page.get_by_role("heading", name="Webhook deliveries").wait_for()
    workers = page.locator(".figure", has_text="Workers")
    assert int(await workers.locator("dd").inner_text()) >= 1
    worker = page.get_by_role("region", name="Workers").locator("tbody tr").first
    assert await worker.locator("td").nth(1).inner_text() == planner_mcp.__version__
    assert (await worker.inner_text()).endswith("Live")
    await page.locator("summary", has_text="Limits").click()
    limits = page.get_by_role("region", name="Limits").locator("tbody")
    await page.locator("summary", has_text="Audit log").click()
    first = await limits.element_handle()
    await page.clock.fast_forward(10_000)
    await page.wait_for_function("old => !old.isConnected", arg=first)  # drawn anew; what was opened stays open
    assert "Tickets of a scenario" in await limits.inner_text()
    assert "limit_" not in await limits.inner_text()
    await page.get_by_role("region", name="Audit log").wait_for()


@pytest.mark.slow
async def test_deliveries_have_pages_and_the_choice_of_a_state_stays(server: PlannerServer, page: Any) -> None:
    """SPEC W3, O2: the list had its first page alone, and each reading closed the choice while somebody chose."""
    asked: list[Any] = []

    async def answer(route: Any) -> None:
        given = route.request.post_data_json["arguments"]
        asked.append(given.get("page"))
        more = {"next_page": 2} if given.get("page") == 1 else {}
        await route.fulfill(json={"is_error": False, "structured": {"deliveries": [], **more}, "text": ""})

    await page.clock.install()
    await page.route("**/ui/call", answer)
    await page.goto(_url(server, "system"))
    older = page.get_by_role("link", name="Older")
    await older.wait_for()
    await page.locator("main select").focus()
    drawn = await older.element_handle()
    await page.clock.fast_forward(10_000)
    await page.wait_for_function("old => !old.isConnected", arg=drawn)
    assert await page.evaluate("document.activeElement.tagName") == "SELECT"
    await older.click()
    await page.get_by_role("link", name="Newer").wait_for()
    assert 2 in asked


@pytest.mark.slow
async def test_the_audit_log_is_leafed_through(server: PlannerServer, page: Any) -> None:
    """SPEC R1, O2: a page of it has the first hundred lines alone."""

    async def answer(route: Any) -> None:
        after = parse_qs(urlsplit(route.request.url).query)["uri"][0].partition("after=")[2]
        line = {"what": f"call after {after}"}
        await route.fulfill(json={"entries": [line], **({"next": "logs://vrp/x?after=5-0"} if after == "0" else {})})

    await page.route("**/ui/read?uri=logs*", answer)
    await page.goto(_url(server, "system"))
    await page.locator("summary", has_text="Audit log").click()
    await page.get_by_text("call after 0").wait_for()
    await page.get_by_role("button", name="Newer").click()
    await page.get_by_text("call after 5-0").wait_for()
    assert await page.get_by_role("button", name="Newer").count() == 0
    await page.get_by_role("button", name="Older").click()
    await page.get_by_text("call after 0").wait_for()


@pytest.mark.slow
async def test_a_shared_plan_that_cannot_be_read_says_so(server: PlannerServer, browser: Any) -> None:
    """SPEC O2: a proxy that answers with a page of its own, and a network that is gone, left the page blank."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.route("**/shared/proxy/plan", lambda route: route.fulfill(status=502, body="<html>"))
    await page.route("**/shared/gone/plan", lambda route: route.abort())
    for token, said in (("proxy", "HTTP 502"), ("gone", "The server does not answer.")):
        await page.goto(f"{server.url}/shared/{token}")
        await page.get_by_role("alert").get_by_text(said).wait_for()
    await context.close()


@pytest.mark.slow
async def test_a_delivery_that_waits_is_listed_and_shown(server: PlannerServer, page: Any) -> None:
    """SPEC W3: which event, how often it was tried, what went wrong; the whole record by its button."""
    scenario_id = (await call(server, "create_scenario", **ring(4)))["scenario_id"]
    solve = {"scenario_id": scenario_id, "solve_time": "PT1S", "fresh": True, "callback_url": "https://hooks.example/a"}
    job_id = (await call(server, "solve_vrp", **solve))["job_id"]
    await call(server, "query_vrp_status", job_id=job_id, wait_s=45)
    await page.goto(_url(server, "system?state=pending"))
    row = page.get_by_role("region", name="Webhook deliveries").locator("tbody tr").first
    await row.get_by_text("Pending").wait_for(timeout=30_000)
    assert "completed" in await row.inner_text()
    await page.get_by_role("region", name="Webhook endpoints").get_by_text("https://hooks.example/a").wait_for()
    assert await row.get_by_role("button", name="Send again").count() == 0, "it is on its way"
    await row.get_by_role("button", name="Show").click()
    record = page.get_by_role("status").locator("pre")
    await record.wait_for()
    assert '"state": "pending"' in await record.inner_text()


@pytest.mark.slow
async def test_no_text_of_a_caller_becomes_markup_anywhere(server: PlannerServer, page: Any) -> None:
    """SPEC R3: script, markup and right-to-left text in every field, on each page, in print and pictures."""
    hostile = f"{SCRIPT}\u05d0\u05d1 &amp; \"'"
    day = ring(5) | {"name": hostile}
    day["agents"] = [{**day["agents"][0], "id": hostile[:60], "name": hostile, "skills": [hostile[:60]]}]
    for number, each in enumerate(day["tickets"]):
        each |= {"id": f"{number}{hostile[:60]}", **dict.fromkeys(("name", "notes", "phone", "address"), hostile)}
    day["tickets"][-1] |= {"skills": ["<b>none</b>"]}
    for each in day["locations"]:
        each |= {"name": hostile}
    scenario_id, job_id = await solved(server, day)
    plan_id = job_id.replace("job-", "plan-")
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    for path in ("jobs", f"jobs/{job_id}", "scenarios", f"scenarios/{scenario_id}", f"compare/{plan_id}/{plan_id}"):
        await page.goto("about:blank")
        await page.goto(_url(server, path))
        await page.get_by_text("<img src=x").first.wait_for(timeout=30_000)
        assert await page.locator("img, b, main script").count() == 0, path
    made = {"script", "img", "b"}
    for form in ("report.html", "sheets.html", "map.svg"):
        answer = await page.request.get(f"{server.url}/ui/read", params={"uri": f"plan://{plan_id}/{form}"})
        text = await answer.text()
        assert "&lt;img src=x" in text, form
        assert "<img src=x" not in text, form
        assert "<script" not in text, form
        if form.endswith("svg"):
            tags = {each.tag.rpartition("}")[2] for each in ElementTree.fromstring(text).iter()}  # noqa: S314 ours
            assert not made & tags
    assert asked == []


async def _agents(server: PlannerServer, scenario_id: str) -> list[dict[str, Any]]:
    async with http_client(base_url=server.url, timeout=60) as http:
        answer = await http.get("/ui/read", params={"uri": f"scenario://{scenario_id}"})
    return list(answer.json()["scenario"]["agents"])


def _resolves(request: Any) -> bool:
    """Whether a request of the page is a re-solve; the page also reads progress and reviews by itself."""
    return request.url.endswith("/ui/call") and request.post_data_json["tool"] == "resolve_vrp"
