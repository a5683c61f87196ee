"""What `doctor` finds, and what it says to do."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from tests.shared.http.local_server import QuietHandler, serving
from tests.shared.roads.road_installations import osrm_or_skip
from tests.shared.roads.street_grid import write_grid


def listed(monkeypatch: pytest.MonkeyPatch, data: Path, **variables: str) -> tuple[int, dict[str, str]]:
    """Return the exit status of `doctor` and what it says, by the name of each check."""
    for name, value in {"PORT": "0", **variables}.items():
        monkeypatch.setenv(f"PLANNER_{name}", value)
    output = CliRunner().invoke(app, ["doctor", "--data-dir", str(data)])
    return output.exit_code, {line[4:12].strip(): line[:4] + line[13:] for line in output.stdout.splitlines()}


def test_doctor_reports_a_variable_that_is_nearly_a_setting(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3: a misspelt setting has no effect, which is told; what Kubernetes or others add is no fault."""
    status, output = listed(
        monkeypatch, tmp_path, SERVICE_HOST="10.96.0.7", PORT_8080_TCP="tcp://10.0.0.7:80", MOOD="1"
    )
    assert (status, output["settings"]) == (0, "ok  PLANNER_MOOD is no setting")
    status, output = listed(monkeypatch, tmp_path, REDISURL="redis://store")
    assert status == 1
    assert output["settings"] == "BAD PLANNER_MOOD is no setting; PLANNER_REDISURL is no setting; PLANNER_REDIS_URL is"


def test_doctor_reports_settings_that_are_accepted_and_do_harm(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3: whoever asks is told what the log of a start says."""
    status, output = listed(monkeypatch, tmp_path, POOLS="2")
    assert status == 1
    assert output["settings"].startswith("BAD PLANNER_POOLS is for Redis Cluster")


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
    status, output = listed(monkeypatch, tmp_path, **links)
    assert (status, output["settings"]) == (0, "ok  every PLANNER_ variable is one")
    status, output = listed(monkeypatch, tmp_path, REDIS_PORT="6379")
    assert (status, output["settings"][:28]) == (1, "BAD PLANNER_REDIS_PORT is no")


def test_doctor_names_the_setting_where_somebody_else_listens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3: what to do, in words the command knows."""
    with serving(other := ThreadingHTTPServer(("127.0.0.1", 0), QuietHandler)):
        status, output = listed(monkeypatch, tmp_path, PORT=str(other.server_port))
    assert (status, output["address"].endswith("choose another with PLANNER_PORT")) == (1, True)


@pytest.mark.parametrize("host", ["planner.invalid", "192.0.2.1"])
def test_doctor_names_the_setting_of_a_host_that_is_not_here(
    host: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3: no port mends a name without an address, or an address of another machine."""
    status, output = listed(monkeypatch, tmp_path, HOST=host, AUTH_API_KEYS="true")
    assert (status, output["address"][:3], output["address"].endswith("choose another with PLANNER_HOST")) == (
        1,
        "BAD",
        True,
    )


def test_doctor_finds_what_serve_would_refuse(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3, A3: an address that others reach needs authorization."""
    status, output = listed(monkeypatch, tmp_path, HOST="0.0.0.0")  # noqa: S104 - only looked at
    assert (status, output["access"][:3], "--insecure" in output["access"]) == (1, "BAD", True)
    status, output = listed(monkeypatch, tmp_path, AUTH_API_KEYS="true")
    assert (status, "access" in output) == (0, False)


def test_doctor_finds_no_fault_with_a_planner_that_was_let_listen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3, A3: behind a proxy `serve --insecure` is a choice; that nobody is authenticated is told all the same."""

    class Healthy(QuietHandler, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(200, {"status": "ok", "version": "1"})

    with serving(planner := ThreadingHTTPServer(("0.0.0.0", 0), Healthy)):  # noqa: S104 - what is told of it is the test
        status, output = listed(monkeypatch, tmp_path, HOST="0.0.0.0", PORT=str(planner.server_port))  # noqa: S104
    assert (status, output["access"][:3], "--insecure" in output["access"]) == (0, "ok ", True), output


@pytest.mark.parametrize("name", ["reports", "files"])
def test_doctor_looks_for_the_folders_of_reports_and_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """SPEC O3, R1: a folder that is not there serves nothing, and nothing else says so."""
    setting = f"{name.upper()}_DIR"
    status, output = listed(monkeypatch, tmp_path, **{setting: str(tmp_path)})
    assert (status, output[name]) == (0, f"ok  {tmp_path} is served")
    for unreachable in ("none", "x" * 300):
        status, output = listed(monkeypatch, tmp_path, **{setting: str(tmp_path / unreachable)})
        assert (status, output[name].endswith(f"PLANNER_{setting}")) == (1, True)


def test_doctor_finds_what_is_wrong_with_the_roads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """SPEC O3, O9: a missing extract is the roads' fault and not the store's; a good one is named with the engine."""
    status, output = listed(monkeypatch, tmp_path, ROADS_PBF=str(tmp_path / "none.osm.pbf"))
    assert (status, output["roads"][:3], output["store"][:3]) == (1, "BAD", "ok ")
    assert "none.osm.pbf cannot be read: No such file" in output["roads"]
    osrm_or_skip()
    extract = write_grid(tmp_path / "grid.osm")
    status, output = listed(monkeypatch, tmp_path, ROADS_PBF=str(extract))
    assert (status, output["roads"]) == (0, f"ok  {extract}; the engine is absent")


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
    status, output = listed(monkeypatch, tmp_path, REDIS_URL=url)
    assert (status, "s3cret" in str(output), "127.0.0.1:1/0: " in output["store"]) == (1, False, True)


@pytest.mark.parametrize(
    ("url", "remedy"),
    [
        ("redis://127.0.0.1:1", "Nothing listens"),
        ("redis://store.invalid", "not found"),
        ("unix:///no/sock", "not there"),
    ],
)
def test_doctor_says_why_there_is_no_store(
    url: str, remedy: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """SPEC O3: what is missing, and where to mend it."""
    status, output = listed(monkeypatch, tmp_path, REDIS_URL=url)
    assert (status, remedy in output["store"], "PLANNER_REDIS_URL" in output["store"]) == (1, True, True), output
