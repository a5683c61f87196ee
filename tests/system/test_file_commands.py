"""A scenario of a file checked and planned by the command line, as a person does it.

One command runs as a process of its own; the others run in the test process, which does not wait for their start.
"""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from examples.beijing import DAY_FILE
from tests.shared.cli.command_runs import run_command_line
from tests.shared.formats.instance_texts import li_lim, solomon, vrplib
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.street_scenario import day as road_day

WRONG = "error 4001 InvalidParameter: "
PLANNER = Path(sys.executable).with_name("planner-mcp")


def test_a_sound_scenario_is_called_valid() -> None:
    """SPEC T5: validate only."""
    done = run_command_line("validate", "-", given=SMALLEST)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0] == "valid"


def test_every_fault_is_reported_and_the_exit_status_says_so() -> None:
    """SPEC T5, T7: all at once, each with its place; no traceback for what is no scenario at all."""
    done = run_command_line("validate", "-", given={**SMALLEST, "agents": [], "depot": 5})
    assert done.exit_code == 1
    assert {line.partition(":")[0] for line in done.stdout.splitlines()[1:]} == {"/agents", "/depot"}
    broken = run_command_line("validate", "-", given="{")
    assert (broken.exit_code, broken.stdout) == (1, "")
    assert broken.stderr.strip() == f"{WRONG}/: The standard input is not JSON. (accepted: JSON (UTF-8))"


def test_what_a_command_refuses_is_reported_with_its_place(tmp_path: Path) -> None:
    """SPEC T6, T7: by the commands that have a store too."""
    (tmp_path / "roads.json").write_text("[]")
    refused = run_command_line("matrix", str(tmp_path / "roads.json"), "--data-dir", str(tmp_path / "data"))
    assert refused.exit_code == 1
    assert refused.stderr.startswith(f"{WRONG}/: The text is not JSON of this form from byte 1 on. (accepted: ")
    refused = run_command_line("webhooks", "test", "http://example.com/hook", "--data-dir", str(tmp_path / "data"))
    assert refused.exit_code == 1
    assert refused.stderr.startswith("error 4014 EndpointForbidden: /url: ") and "(accepted: " in refused.stderr


@pytest.mark.slow
def test_a_file_is_planned(tmp_path: Path) -> None:
    """SPEC T5, O1: one command, from a scenario to a verified plan."""
    day, plan = tmp_path / "day.json", tmp_path / "plan.json"
    day.write_text(json.dumps(SMALLEST), encoding="utf-8")
    options = ("--seconds", "1", "--cores", "2", "--output", plan, "--data-dir", tmp_path / "data")
    done = subprocess.run([PLANNER, "solve", day, *options], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert json.loads(plan.read_text(encoding="utf-8"))["tickets_served"] == 1
    assert "COMPLETED 100%" in done.stderr


def test_machines_read_json_alone(tmp_path: Path) -> None:
    """SPEC T5, O1: events and the result as lines of JSON; a table is imported on the way, with its questions."""
    orders = tmp_path / "orders.csv"
    orders.write_text("id,lat,lon,Service time,qty\nA1,39.95,116.40,15,3\n", encoding="utf-8")
    command = ("solve", str(orders), "--json", "--seconds", "1", "--depot", "39.9,116.4")
    data = ("--data-dir", str(tmp_path / "data"))
    asked = run_command_line(*command, *data)
    assert (asked.exit_code, asked.stdout, "--column: Column" in asked.stderr) == (1, "", True)
    answers = ("--column", "Service time=service_min", "--date", "2026-11-24")
    done = subprocess.run([PLANNER, *command, *data, *answers], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    *events, result = map(json.loads, done.stdout.splitlines())
    assert [each["status"] for each in (events[0], events[-1], result)] == ["QUEUED", "COMPLETED", "COMPLETED"]
    assert result["plan"]["tickets_served"] == 1 and "COMPLETED" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c_ends_a_search_with_its_plan_or_without(signals: int, tmp_path: Path) -> None:
    """SPEC T4: once takes the best plan, twice gives up; workers of the terminal's group do not stop by themselves."""
    plan = tmp_path / "plan.json"
    command = (
        PLANNER,
        "solve",
        str(DAY_FILE),
        "--seconds",
        "90",
        "--output",
        str(plan),
        "--data-dir",
        str(tmp_path / "d"),
    )
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True) as solving:
        assert solving.stderr is not None
        for line in solving.stderr:
            if "served 120/120" in line:
                break
        for _ in range(signals):
            os.killpg(solving.pid, signal.SIGINT)
            next(line for line in solving.stderr if "best plan" in line or "Stopped" in line or "CANCELLED" in line)
        shown = solving.stderr.read()
        assert (solving.wait(timeout=60), plan.exists()) == ((0, True) if signals == 1 else (130, False)), shown
    assert signals == 2 or "120 of 120 tickets served" in shown


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("none/plan.json", "No such file or directory"),
        ("", "Is a directory"),
        ("plan.pdf", "There is no such form."),
        ("plan.gpx", "The scenario has no positions on the globe."),
    ],
)
def test_an_unwritable_output_path_is_reported_before_the_search(output: str, error: str, tmp_path: Path) -> None:
    """SPEC T7: a plan that was found is not lost for want of a folder; no traceback."""
    place = str(tmp_path / output) if output else ""
    data = ("--data-dir", str(tmp_path / "data"))
    done = run_command_line("solve", "-", "--seconds", "1", "--output", place, *data, given=SMALLEST)
    assert (done.exit_code, done.stdout, error in done.stderr) == (1, "", True), done.stderr
    assert "QUEUED" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_reason_a_day_could_not_be_solved_is_shown(tmp_path: Path) -> None:
    """SPEC T7: code, type, what happened and where, when a job fails."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    routers = json.dumps({"car": {"kind": "osrm", "url": url}})
    data = ("--data-dir", str(tmp_path / "data"))
    done = run_command_line("solve", "-", "--seconds", "1", *data, given=road_day(), PLANNER_ROUTERS=routers)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "error 5050 RoadsUnavailable: " in done.stderr, done.stderr


@pytest.mark.slow
def test_a_spreadsheet_becomes_a_plan_and_a_spreadsheet_again(tmp_path: Path) -> None:
    """SPEC T5: import with a proposed mapping, solve, export; nothing of it needs a client."""
    orders, day, rows = tmp_path / "orders.csv", tmp_path / "day.json", tmp_path / "plan.csv"
    orders.write_bytes("订单号,纬度,经度,重量\nA1,39.95,116.40,3\nA2,39.96,116.42,4\n".encode("gb18030"))
    made = run_command_line(
        "import", str(orders), "--date", "2025-07-15", "--depot", "39.9,116.4", "--output", str(day)
    )
    assert made.exit_code == 0, made.stderr
    assert "tickets: 订单号 → id" in made.stderr
    gone = run_command_line("import", str(tmp_path / "none.csv"), "--date", "2025-07-15")
    assert (gone.exit_code, "Traceback" in gone.stderr) == (1, False)
    done = run_command_line(
        "solve", str(day), "--seconds", "1", "--output", str(rows), "--data-dir", str(tmp_path / "data")
    )
    assert done.exit_code == 0, done.stderr
    assert rows.read_bytes().startswith(b"\xef\xbb\xbfagent_id,stop,kind,ticket_id")
    assert {line.split(",")[3] for line in rows.read_text(encoding="utf-8-sig").splitlines()[1:]} == {"A1", "A2"}


@pytest.mark.slow
def test_matrices_beside_a_scenario_are_read_and_a_plan_is_exported(tmp_path: Path) -> None:
    """SPEC S1, T5: large tables come from a file; a stored plan becomes what another program wants."""
    places = [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 39.95, "lon": 116.4}]
    tickets = [{"id": "t", "location": "A", "demand": 1}]
    body = {**SMALLEST, "depot": "D", "locations": places, "tickets": tickets, "travel": {"matrix": "roads.json"}}
    (tmp_path / "day.json").write_text(json.dumps(body), encoding="utf-8")
    (tmp_path / "roads.json").write_text(json.dumps({"locations": ["D", "A"], "distances": [[0, 70], [80, 0]]}))
    data = ("--data-dir", str(tmp_path / "data"))
    assert run_command_line("validate", str(tmp_path / "day.json")).exit_code == 0
    kept = run_command_line("matrix", str(tmp_path / "roads.json"), *data)
    assert kept.stdout.startswith("mat-0-"), kept.stderr
    (tmp_path / "again.json").write_text(json.dumps({**body, "travel": {"matrix": kept.stdout.strip()}}))
    sound = run_command_line("validate", str(tmp_path / "again.json"))
    assert sound.stdout.splitlines() == ["valid", "The stored matrix is read when the scenario is solved."]
    (tmp_path / "gone.json").write_text(json.dumps({**body, "travel": {"matrix": f"mat-0-{'a' * 26}"}}))
    gone = run_command_line(
        "solve", str(tmp_path / "gone.json"), "--seconds", "1", "--data-dir", str(tmp_path / "data")
    )
    assert (gone.exit_code, "QUEUED" in gone.stderr) == (1, False)
    assert gone.stderr.startswith("error 4005 InvalidScenario: /travel/matrix: There are no matrices of this id.")
    plan, track = tmp_path / "plan.json", tmp_path / "plan.gpx"
    files = (str(tmp_path / "day.json"), "--seconds", "1", "--output", str(plan))
    done = run_command_line("solve", *files, *data)
    assert done.exit_code == 0, done.stderr
    assert json.loads(plan.read_text(encoding="utf-8"))["distance_m"] == 150
    exported = run_command_line("export", str(plan), str(tmp_path / "day.json"), "--output", str(track))
    assert exported.exit_code == 0, exported.stderr
    assert track.read_text(encoding="utf-8").count("<rtept") == 3


def test_a_workbook_and_an_instance_become_days(tmp_path: Path) -> None:
    """SPEC T5: XLSX with its fleet, CVRPLIB, Solomon and Li and Lim by the names of their files."""
    book, day = tmp_path / "orders.xlsx", tmp_path / "day.json"
    sheets = {"订单": rows_of(("订单号", "地点"), ("A1", "X")), "车辆": rows_of(("车牌号", "载重"), ("京A1", 9.0))}
    book.write_bytes(workbook({name: sheet_xml(rows) for name, rows in sheets.items()}))
    made = run_command_line("import", str(book), "--date", "2025-07-15", "--output", str(day))
    assert made.exit_code == 0, made.stderr
    assert "agents: 车牌号 → id" in made.stderr
    assert [agent["id"] for agent in json.loads(day.read_text(encoding="utf-8"))["agents"]] == ["京A1"]
    for name, text in (("toy.vrp", vrplib()), ("toy.txt", solomon()), ("pairs.txt", li_lim())):
        (tmp_path / name).write_text(text)
        done = run_command_line("import", str(tmp_path / name), "--date", "2025-07-15")
        assert len(json.loads(done.stdout)["tickets"]) == 4, done.stderr
    (tmp_path / "old.xls").write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(99))
    refused = run_command_line("import", str(tmp_path / "old.xls"), "--date", "2025-07-15")
    assert (refused.exit_code, refused.stderr.strip()) == (
        1,
        f"{WRONG}/: The workbook cannot be read. (accepted: a workbook as .xlsx, .ods or .xls) Save it as .xlsx again.",
    )
