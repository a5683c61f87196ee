"""What the command says of itself."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

import planner_mcp
from planner_mcp.auth.masking import MASKED, masked_fields, plan_for, scenario_for
from planner_mcp.cli.commands import app
from planner_mcp.cli.files import check_output, read_matrices, read_scenario
from planner_mcp.cli.planning import print_failure
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.files.exports import FORMS
from planner_mcp.jobs.model import Principal
from planner_mcp.settings import Settings
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.scenario import parse_scenario
from tests.system.scenarios import SMALLEST
from tests.unit.files.test_imports import VROOM
from tests.unit.files.workbooks import rows_of, sheet_xml, workbook


def test_the_command_tells_its_version() -> None:
    """Our choice: the first thing a report of a fault names."""
    told = CliRunner().invoke(app, ["--version"])
    assert (told.exit_code, told.output) == (0, f"planner-mcp {planner_mcp.__version__}\n")


@pytest.mark.parametrize("command", ["serve", "worker", "solve", "matrix", "doctor", "keys list", "webhooks list"])
def test_who_names_the_data_folder_learns_what_lies_in_it(command: str) -> None:
    """SPEC O1: the key that opens stored secrets moves with it, whichever command is told so."""
    told = CliRunner().invoke(app, [*command.split(), "--help"])
    words = " ".join(told.output.replace("│", "").split())
    assert (told.exit_code, "Folder of the bundled store and of the key file." in words) == (0, True)


def test_spans_without_their_extra_are_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3, T8: what to install, and no traceback."""
    monkeypatch.setenv("PLANNER_OTEL", "true")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    told = CliRunner().invoke(app, ["validate", "-"])
    assert (told.exit_code, "planner-mcp[otel]" in told.output) == (2, True)


PLAN = lay_out(compile_scenario(parse_scenario(SMALLEST)), Candidate.of_tickets({0: [0]})).as_json()

COMMANDS = (
    ("manifest",),
    ("keys", "list"),
    ("webhooks", "list"),
    ("import", "orders.csv", "--date", "2025-07-15"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PLANNER_ROUTERS", "osrm:s3cret"),
        ("PLANNER_AUTH_ISSUERS", '["s3cret"]'),
        ("PLANNER_REDIS_URL", "http://:s3cret@store:6379"),
        ("PLANNER_REDIS_URL", "redis://:s3cret/x@store:6379"),
        ("PLANNER_REDIS_URL", "redis://s3cret:1234?x@store:6379/0"),
        ("PLANNER_REDIS_URL", "redis://:s3cret@store:6379?ssl=true"),
        ("PLANNER_REDIS_URL", "redis://:s3cret@store:6379/0?db=x"),
        ("PLANNER_ALLOWED_ORIGINS", "https://s3cret.example/"),
        ("PLANNER_WORKERS", "x"),
        ("PLANNER_TOOLSETS", "core,s3cret"),
        ("PLANNER_WEBHOOK_ALLOW_NETWORKS", "s3cret"),
        ("PLANNER_WEBHOOK_ALLOW_PORTS", "[s3cret"),
    ],
)
def test_a_setting_that_cannot_be_read_is_told_in_a_sentence_without_its_value(
    command: tuple[str, ...], variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC T8, A3: every command names the setting; no traceback, and no password of a URL in a terminal's log."""
    monkeypatch.setenv(variable, value)
    told = CliRunner(env={"COLUMNS": "200"}).invoke(app, command)
    assert (told.exit_code, isinstance(told.exception, SystemExit)) == (2, True)
    assert variable in told.output
    assert "s3cret" not in told.output and "Traceback" not in told.output


def listed(monkeypatch: pytest.MonkeyPatch, data: Path, **variables: str) -> tuple[int, dict[str, str]]:
    """Return the exit status of `doctor` and what it says, by the name of each check."""
    for name, value in {"PORT": "0", **variables}.items():
        monkeypatch.setenv(f"PLANNER_{name}", value)
    told = CliRunner().invoke(app, ["doctor", "--data-dir", str(data)])
    return told.exit_code, {line[4:12].strip(): line[:4] + line[13:] for line in told.stdout.splitlines()}


def test_doctor_tells_a_variable_that_is_nearly_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3: a misspelt setting has no effect, which is told; what Kubernetes or others add is no fault."""
    status, told = listed(monkeypatch, tmp_path, SERVICE_HOST="10.96.0.7", PORT_8080_TCP="tcp://10.0.0.7:80", MOOD="1")
    assert (status, told["settings"]) == (0, "ok  PLANNER_MOOD is no setting")
    status, told = listed(monkeypatch, tmp_path, REDISURL="redis://store")
    assert status == 1
    assert told["settings"] == "BAD PLANNER_MOOD is no setting; PLANNER_REDISURL is no setting; PLANNER_REDIS_URL is"


def test_doctor_passes_over_what_kubernetes_writes_for_other_services(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3: a Service called `planner-redis` is no misspelt setting; a setting that looks like one is."""
    address = "tcp://10.96.0.9:6379"
    links = {
        "REDIS_PORT": address,
        "REDIS_SERVICE_HOST": "10.96.0.9",
        "REDIS_SERVICE_PORT": "6379",
        "REDIS_SERVICE_PORT_STORE": "6379",
        "REDIS_PORT_6379_TCP": address,
        "REDIS_PORT_6379_TCP_ADDR": "10.96.0.9",
        "REDIS_PORT_6379_TCP_PORT": "6379",
        "REDIS_PORT_6379_TCP_PROTO": "tcp",
    }
    status, told = listed(monkeypatch, tmp_path, **links)
    assert (status, told["settings"]) == (0, "ok  every PLANNER_ variable is one")
    status, told = listed(monkeypatch, tmp_path, REDIS_PORT="6379")
    assert (status, told["settings"][:28]) == (1, "BAD PLANNER_REDIS_PORT is no")


def test_an_ipv6_address_without_brackets_is_told_how_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O3, T7: as `$(POD_IP):8080` becomes on an IPv6 cluster."""
    monkeypatch.setenv("PLANNER_ALLOWED_HOSTS", "planner:8080,fd00::1:8080")
    told = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["manifest"])
    assert (told.exit_code, "[fd00::1]:8080" in told.output) == (2, True)
    monkeypatch.setenv("PLANNER_ALLOWED_HOSTS", "planner:8080,[fd00::1]:8080")
    assert CliRunner().invoke(app, ["manifest"]).exit_code == 0


def test_doctor_names_the_setting_where_somebody_else_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3: what to do, in words the command knows."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        status, told = listed(monkeypatch, tmp_path, PORT=str(other.server_port))
        other.shutdown()
    assert (status, told["address"].endswith("choose another with PLANNER_PORT")) == (1, True)


@pytest.mark.parametrize("host", ["planner.invalid", "192.0.2.1"])
def test_doctor_names_the_setting_of_a_host_that_is_not_here(
    host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3: no port mends a name without an address, or an address of another machine."""
    status, told = listed(monkeypatch, tmp_path, HOST=host, AUTH_API_KEYS="true")
    assert (status, told["address"][:3], told["address"].endswith("choose another with PLANNER_HOST")) == (
        1,
        "BAD",
        True,
    )


def test_doctor_finds_what_serve_would_refuse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3, A3: an address that others reach needs authorization."""
    status, told = listed(monkeypatch, tmp_path, HOST="0.0.0.0")  # noqa: S104 - only looked at
    assert (status, told["access"][:3], "--insecure" in told["access"]) == (1, "BAD", True)
    status, told = listed(monkeypatch, tmp_path, AUTH_API_KEYS="true")
    assert (status, "access" in told) == (0, False)


def test_doctor_finds_no_fault_with_a_planner_that_was_let_listen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3, A3: behind a proxy `serve --insecure` is a choice; that nobody is authenticated is told all the same."""

    class Healthy(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "ok", "version": "1"}')

    with ThreadingHTTPServer(("0.0.0.0", 0), Healthy) as planner:  # noqa: S104 - what is told of it is the test
        threading.Thread(target=planner.serve_forever, daemon=True).start()
        status, told = listed(monkeypatch, tmp_path, HOST="0.0.0.0", PORT=str(planner.server_port))  # noqa: S104
        planner.shutdown()
    assert (status, told["access"][:3], "--insecure" in told["access"]) == (0, "ok ", True), told


def test_doctor_looks_for_the_folder_of_reports(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3, R1: a folder that is not there serves nothing, and nothing else says so."""
    status, told = listed(monkeypatch, tmp_path, REPORTS_DIR=str(tmp_path))
    assert (status, told["reports"]) == (0, f"ok  {tmp_path} is served")
    for unreachable in ("none", "x" * 300):
        status, told = listed(monkeypatch, tmp_path, REPORTS_DIR=str(tmp_path / unreachable))
        assert (status, told["reports"].endswith("PLANNER_REPORTS_DIR")) == (1, True)


@pytest.mark.parametrize(
    "url",
    [
        "redis://ada:s3cret@127.0.0.1:1/0",
        "redis://:s3cret@127.0.0.1:1/0,redis://:s3cret@127.0.0.1:1/0",
        "unix:///nowhere/127.0.0.1:1/0?password=s3cret",
    ],
)
def test_doctor_names_the_store_without_its_password(url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3, T8: what it prints ends up in logs and reports of faults."""
    status, told = listed(monkeypatch, tmp_path, REDIS_URL=url)
    assert (status, "s3cret" in str(told), "127.0.0.1:1/0: " in told["store"]) == (1, False, True)


@pytest.mark.parametrize("command", ["doctor", "serve", "worker"])
def test_a_key_that_cannot_be_kept_is_told_once(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store_url: str
) -> None:
    """SPEC O3, T8: what to set, and no traceback; a worker does not start to fail at every webhook."""
    monkeypatch.setenv("PLANNER_PORT", "0")
    monkeypatch.setenv("PLANNER_REDIS_URL", store_url)
    (tmp_path / "file").touch()
    said = told_of(command, "--data-dir", str(tmp_path / "file"))
    lines = [line for line in said.splitlines() if "PLANNER_SECRET_KEY, or PLANNER_DATA_DIR" in line]
    assert len(lines) == 1 and f"{tmp_path / 'file'} cannot be used" in lines[0]


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("redis://127.0.0.1:1", "Nobody listens"),
        ("redis://store.invalid", "not found"),
        ("unix:///no/sock", "not there"),
    ],
)
def test_doctor_says_why_there_is_no_store(
    url: str, remedy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3: what is missing, and where to mend it."""
    status, told = listed(monkeypatch, tmp_path, REDIS_URL=url)
    assert (status, remedy in told["store"], "PLANNER_REDIS_URL" in told["store"]) == (1, True, True), told


@pytest.mark.parametrize("is_taken", [False, True], ids=["no such package", "another's package of this name"])
def test_the_benchmark_is_refused_in_a_sentence_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, is_taken: bool
) -> None:
    """SPEC T8: a wheel does not hold it; what to run instead, and no traceback."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    stranger = ModuleType("benchmarks")
    stranger.__path__ = []
    monkeypatch.setitem(sys.modules, "benchmarks", stranger if is_taken else None)
    told = CliRunner().invoke(app, ["bench", "--most", "1"])
    assert (told.exit_code, "bench-plans" in told.output) == (2, True)


def test_a_fault_is_told_with_what_would_be_accepted(tmp_path: Path) -> None:
    """SPEC T6, T7: the text is complete by itself."""
    agents, tickets = [{"id": "v", "capacity": 5}], [{"id": "t", "location": "A", "demand": 1, "priority": 12}]
    day = {"name": "m", "planning_date": "2025-07-15", "agents": agents, "tickets": tickets, "travel": {"router": "x"}}
    day["locations"] = [{"id": "A", "lat": 39.9, "lon": 116.4}]
    file = tmp_path / "day.json"
    file.write_text(json.dumps(day))
    priority = "/tickets/0/priority: The number is out of range. (accepted: a number from 1 to 9)"
    router = "/travel/router: There is no road engine of this name. (accepted: no road engine is configured here)"
    told = CliRunner().invoke(app, ["validate", str(file)])
    assert (told.exit_code, sorted(told.stdout.splitlines())) == (1, [priority, router, "not valid"])
    told = CliRunner().invoke(app, ["export", str(tmp_path / "nofile"), str(file), "--output", "x.csv"])
    assert told.exit_code == 1
    assert told.stderr == f"/: {tmp_path / 'nofile'}: No such file or directory (accepted: JSON (UTF-8))\n"
    told = CliRunner().invoke(app, ["import", str(tmp_path / "nofile.csv"), "--date", "2025-07-15"])
    assert told.stderr == f"/: {tmp_path / 'nofile.csv'}: No such file or directory\n"


def told_of(*command: str) -> str:
    """Return what a command says that ends with status 1 and without a traceback."""
    told = CliRunner().invoke(app, command)
    assert (told.exit_code, isinstance(told.exception, SystemExit)) == (1, True), told.exception
    return told.output


@pytest.mark.parametrize(
    ("name", "why"),
    [("none.json", "none.json: No such file or directory"), ("a\0b", "The file cannot be read."), ("\ud800", "read.")],
)
def test_a_file_of_matrices_that_cannot_be_read_is_told_with_its_name(name: str, why: str, tmp_path: Path) -> None:
    """SPEC T7: whatever a scenario names; no traceback."""
    day = tmp_path / "day.json"
    day.write_text(json.dumps({**SMALLEST, "travel": {"matrix": name}}))
    said = told_of("validate", str(day))
    assert said.startswith(f"/travel/matrix: {tmp_path}") and why in said


def test_a_file_of_matrices_that_is_not_there_is_named(tmp_path: Path) -> None:
    """SPEC T7: by the command that keeps them."""
    with pytest.raises(InputError) as caught:
        read_matrices(tmp_path / "none.json", Settings())
    why = f"{tmp_path / 'none.json'}: No such file or directory"
    assert caught.value.lines() == [f"/: {why} (accepted: JSON (UTF-8))"]


def test_a_scenario_is_read_behind_a_mark_and_however_deep_it_is(tmp_path: Path) -> None:
    """SPEC T7: editors write a mark before UTF-8; what nests beyond measure is told, without a traceback."""
    day = tmp_path / "day.json"
    day.write_text(json.dumps(SMALLEST), encoding="utf-8-sig")
    assert read_scenario(day) == SMALLEST
    day.write_text("[" * 200_000)
    assert told_of("validate", str(day)) == f"/: {day} is not JSON. (accepted: JSON (UTF-8))\n"


def test_a_dash_is_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice: as it is standard input; no file of this name is written, and none is looked for."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-").mkdir()
    (tmp_path / "orders.csv").write_text("id,lat,lon\nA1,39.95,116.40\n")
    command = ("import", "orders.csv", "--date", "2025-07-15", "--depot", "39.9,116.4", "--output", "-")
    told = CliRunner().invoke(app, command)
    assert (told.exit_code, json.loads(told.stdout)["tickets"][0]["id"]) == (0, "A1"), told.output
    check_output(Path("-"), SMALLEST)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """SPEC T7: by `import` and by `export`."""
    plan, day, orders, lost = (tmp_path / name for name in ("plan.json", "day.json", "orders.csv", "none/x.csv"))
    plan.write_text(json.dumps(PLAN))
    day.write_text(json.dumps(SMALLEST))
    orders.write_text("id,lat,lon\nA1,39.95,116.40\n")
    assert f"{lost}: No such file" in told_of("export", str(plan), str(day), "--output", str(lost))
    depot = ("--date", "2025-07-15", "--depot", "39.9,116.4")
    assert f"{lost}: No such file" in told_of("import", str(orders), *depot, "--output", str(lost))


def imported(tmp_path: Path, name: str, text: str | bytes, *options: str) -> tuple[int, list[str], Any]:
    """Return the exit status of `import`, what it tells and the day it makes, None where it makes none."""
    file, day = tmp_path / name, tmp_path / "made.json"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    told = CliRunner().invoke(app, ["import", str(file), "--date", "2025-07-15", "--output", str(day), *options])
    made = json.loads(day.read_text(encoding="utf-8")) if day.exists() else None
    day.unlink(missing_ok=True)
    return told.exit_code, told.output.splitlines(), made


ORDERS = "id,place,qty\na,A,3\n"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            (),
            ["No agents in the file: 1 of capacity 1000000 is taken; --agents, or --agent and --capacity, say others."],
        ),
        (("--agent", "3"), ["No capacity given: 1000000 each is taken; --capacity says another."]),
        (("--capacity", "9"), []),
    ],
)
def test_a_fleet_that_nobody_described_is_told(options: tuple[str, ...], told: list[str], tmp_path: Path) -> None:
    """SPEC T5, O3: a day on one van of any size looks like a plan; the capacity is what is made up."""
    status, said, day = imported(tmp_path, "orders.csv", ORDERS, *options)
    assert (status, [each for each in said if each.startswith("No ")]) == (0, told)
    assert day["agents"][0]["id"] == "agent-1"


FLEET = "车牌,吨位\nv,9\n"


def test_columns_of_a_fleet_can_be_corrected(tmp_path: Path) -> None:
    """SPEC T5, T7: a capacity under an unknown header is told as such, not as heavy tickets; --column names it."""
    (tmp_path / "fleet.csv").write_text(FLEET, encoding="utf-8")
    fleet = ("--agents", str(tmp_path / "fleet.csv"))
    status, said, day = imported(tmp_path, "orders.csv", ORDERS, *fleet)
    fault = (
        "/fleet.csv: No column of the agents is their capacity. (accepted: a column of capacity) "
        "Name it with --column; left out: 吨位."
    )
    assert (status, said, day) == (1, [fault], None)
    status, said, day = imported(tmp_path, "orders.csv", ORDERS, *fleet, "--column", "吨位=capacity")
    assert (status, day["agents"]) == (0, [{"id": "v", "capacity": 9}])
    status, said, _ = imported(tmp_path, "orders.csv", ORDERS, *fleet, "--column", "载重=capacity")
    assert (status, said) == (1, ["--column: There is no such column. (accepted: id, place, qty, 车牌, 吨位)"])


def test_faults_of_a_fleet_begin_with_the_name_of_its_file(tmp_path: Path) -> None:
    """SPEC T7: line 3 of which file, a person would ask."""
    for text, told in (
        ("车牌,容量\nv,9\nw,1,200\n", "/fleet.csv/3: The row has more cells"),
        ("车牌,容量\nv,much\n", "/fleet.csv/2/容量: The cell of capacity is not a number."),
        ("车牌,容量\nv,9\nw,-5\n", "/fleet.csv/3/容量: The amount is negative."),
        ("车牌,容量\nv,9\nv,5\n", "/fleet.csv/3/车牌: The id is the same as that of row 2."),
        ("车牌,容量\n", "/fleet.csv: The file has no agents."),
        ('车牌,容量\n"v,9\n', "/fleet.csv/2: A quote opens a cell"),
        ("容量,容量\n", "/fleet.csv: Two columns have the same header."),
    ):
        (tmp_path / "fleet.csv").write_text(text, encoding="utf-8")
        status, said, _ = imported(tmp_path, "orders.csv", ORDERS, "--agents", str(tmp_path / "fleet.csv"))
        assert (status, [line for line in said if line.startswith(told)]) == (1, said[-1:]), said


def test_what_is_wrong_with_a_sheet_of_agents_is_told_by_its_sheet_and_row(tmp_path: Path) -> None:
    """SPEC T7: not by options that nobody gave; a sheet may be called like one of them."""
    orders = sheet_xml(rows_of(("订单号", "纬度", "经度", "数量"), ("A1", 39.95, 116.4, 3.0)))
    book, depot = tmp_path / "book.xlsx", ("--depot", "39.9,116.4")
    for rows, told in (
        (rows_of(("车牌", "吨位"), ("v", 9.0)), "/agents: No column of the agents is their capacity."),
        (rows_of(("车牌", "容量")), "/agents: The file has no agents."),
        (rows_of(("车牌", "容量"), ("v", -5.0)), "/agents/2/容量: The amount is negative."),
    ):
        book.write_bytes(workbook({"订单": orders, "agents": sheet_xml(rows)}))
        assert told in told_of("import", str(book), "--date", "2025-07-15", *depot)
    more = ("--agent", "2", "--column", "容量=capacity")
    told = told_of("import", str(book), "--date", "2025-07-15", *depot, *more)
    assert told.startswith("--column: The column is of the sheet of agents, which is not read: others were given.")


def test_a_day_that_is_refused_is_told_by_the_rows_of_its_file(tmp_path: Path) -> None:
    """SPEC T7: a person sees lines and headers, and never counted tickets."""
    rows = "a,39.9,116.4,3,08:00,07:00,\na,39.9,616.4,3,soon:T,,\nb,39.9,116.4,9999999,,,-1\n"
    text = f"订单号,纬度,经度,数量,最早时间,最晚时间,服务分钟\n{rows}"
    _, said, _ = imported(tmp_path, "orders.csv", text, "--depot", "139.9,116.4")
    told = [line.partition(":")[0] for line in said if line.startswith(("/", "--"))]
    assert told == ["/3/最早时间", "/4/服务分钟", "/3/订单号", "--depot", "/3/经度", "/2", "/4/数量"]
    assert any(line.startswith("/3/订单号: The id is the same as that of row 2.") for line in said)
    told = told_of("import", str(tmp_path / "orders.csv"), "--date", "15.7.", "--depot", "nowhere")
    assert "\n--date: The value is not a date." in told and "\n--depot: There is no location" in told


def test_what_is_assumed_of_a_table_is_told_of_a_day_that_is_refused_too(tmp_path: Path) -> None:
    """SPEC T7: what was taken for granted may be what is wrong."""
    status, said, _ = imported(tmp_path, "orders.csv", "id,place,qty\na,A,\na,A,3\n", "--capacity", "9")
    assert (status, "1 ticket without a demand: 0 is taken." in said) == (1, True)


def test_options_that_a_file_does_not_use_are_refused_by_name(tmp_path: Path) -> None:
    """SPEC T5, T7: nothing that was asked for is passed over in silence; a default asks for nothing."""
    (tmp_path / "fleet.csv").write_text("id,capacity\nv,9\n")
    problem = json.dumps(VROOM)
    assert imported(tmp_path, "problem.json", problem)[0] == 0
    asked = ("--depot", "39.9,116.4", "--agent", "5", "--column", "x=y", "--sheet", "S")
    status, said, day = imported(tmp_path, "problem.json", problem, *asked)
    told = [line.partition(":")[0] for line in said if line.startswith("--")]
    assert (status, day, told) == (1, None, ["--depot", "--agent, --capacity", "--column", "--sheet"])
    status, said, _ = imported(tmp_path, "problem.json", problem, "--agents", str(tmp_path / "fleet.csv"))
    assert (status, said[-1][:9]) == (1, "--agents:")
    assert imported(tmp_path, "orders.csv", ORDERS, "--agents", str(tmp_path / "fleet.csv"), "--agent", "2")[0] == 2


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("orders.txt", ORDERS, "Taken for li_lim; --format says otherwise."),
        ("orders.json", ORDERS, "Taken for vroom; --format says otherwise."),
        ("orders.csv", "id,place,qty\na,A,much\n", ""),
        ("orders.txt", "\ufeffid,place,qty\na,A,much\n".encode("utf-16-le"), "Taken for csv; --format says otherwise."),
    ],
)
def test_a_form_that_was_guessed_is_told_where_it_cannot_be_read(
    name: str, text: str | bytes, told: str, tmp_path: Path
) -> None:
    """SPEC T5, T7: a table called .txt is no instance with odd numbers."""
    status, said, _ = imported(tmp_path, name, text)
    assert (status, [line for line in said if "--format" in line]) == (1, [told] if told else [])


def test_kinds_of_json_are_told_apart(tmp_path: Path) -> None:
    """SPEC T5, T7: points are read whatever the name of their file; a scenario needs no import, which is said."""
    point = {"geometry": {"type": "Point", "coordinates": [116.4, 39.9]}, "properties": {"id": "a"}}
    points = json.dumps({"type": "FeatureCollection", "features": [point]})
    status, _, day = imported(tmp_path, "points.json", points)
    assert (status, [ticket["id"] for ticket in day["tickets"]]) == (0, ["a"])
    _, said, _ = imported(tmp_path, "day.json", json.dumps(SMALLEST))
    assert said[-1].endswith("or solve and validate of the command line, take it as it is.")


def test_an_option_that_is_refused_is_told_by_its_name(tmp_path: Path) -> None:
    """SPEC T6, T7: in the words of the command line, not those of a tool, and not as a line of the log."""
    plan, day = tmp_path / "plan.json", tmp_path / "day.json"
    plan.write_text(json.dumps(PLAN))
    day.write_text(json.dumps(SMALLEST))
    for name, why in (("plan.xlsx", "There is no such form."), ("plan.gpx", "The scenario has no positions on the")):
        assert told_of("export", str(plan), str(day), "--output", str(tmp_path / name)).startswith(f"--output: {why}")
    told = told_of("solve", str(day), "--seconds", "4000", "--data-dir", str(tmp_path / "data"))
    problem = "--seconds: The search is longer than PLANNER_MAX_SOLVE_TIME_S allows. (accepted: 1 to 3600)"
    assert told.splitlines() == [problem]


def test_what_a_principal_sees_masked_is_exported(tmp_path: Path) -> None:
    """SPEC T5, R3: a plan and its scenario as they are read without `planner:sensitive`; JSON keeps all there is."""
    places = [{"id": "LOC_A", "lat": 39.9123, "lon": 116.4}]
    agents = [{**agent, "fixed_cost": 5.0} for agent in SMALLEST["agents"]]
    priced = {**SMALLEST, "agents": agents, "locations": places}
    stranger = Principal(id="k", scopes=frozenset())
    hidden = {MASKED: masked_fields(stranger, priced), **scenario_for(stranger, priced)}
    seen = {"plan_id": "plan-1", **plan_for(stranger, PLAN)}
    assert (hidden["agents"][0]["fixed_cost"], seen["routes"][0]["cost"]) == (None, None)
    plan, day = tmp_path / "plan.json", tmp_path / "day.json"
    plan.write_text(json.dumps(seen))
    day.write_text(json.dumps(hidden))
    for form in FORMS:
        made = tmp_path / f"made.{form}"
        told = CliRunner().invoke(app, ["export", str(plan), str(day), "--output", str(made)])
        assert (told.exit_code, told.output, made.exists()) == (0, "", True)
    assert json.loads((tmp_path / "made.json").read_text()) == json.loads(json.dumps(seen))


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
            said = told_of("export", *map(str, files), "--output", str(made))
            assert all(line.startswith(f"/{argument}") for line in said.splitlines())
    assert not made.exists()


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        ({"code": 5015, "type": "PoisonedJob", "message": "It died."}, ["error 5015 PoisonedJob: It died."]),
        (
            input_error([Fault("/tickets/0", "No."), Fault("/depot", "Neither.")]).as_json("trace"),
            [
                "error 4001 InvalidParameter: 2 problems; each is listed in errors.",
                "/tickets/0: No.",
                "/depot: Neither.",
            ],
        ),
    ],
    ids=["written by the store", "written by a worker"],
)
def test_the_error_of_a_job_is_told_with_its_faults(
    error: dict[str, Any], lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """SPEC T7: whoever wrote it; a job that killed its workers lists none."""
    print_failure(error)
    assert capsys.readouterr().err.splitlines() == lines
