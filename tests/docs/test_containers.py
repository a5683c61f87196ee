"""The container files say what the command line understands."""

import json
import os
import re
import subprocess
import sys
import tomllib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.server.http.routes.discovery_routes import mcp_url
from planner_mcp.settings import Settings
from tests.shared.http.local_server import QuietHandler, serving

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def test_compose_has_two_servers_workers_and_one_store(compose: dict[str, Any]) -> None:
    """SPEC O1: compose.yaml is the scaled-out deployment."""
    commands = {name: service.get("command", [""])[0] for name, service in compose["services"].items()}
    assert sorted(commands.values()) == ["", "serve", "serve", "start-dev", "valkey-server", "worker"]


def test_compose_uses_options_and_settings_that_exist(compose: dict[str, Any]) -> None:
    """Our choice: a setting that is renamed is renamed here too."""
    known = {f"PLANNER_{name.upper()}" for name in Settings.model_fields}
    ours = [service for service in compose["services"].values() if service.get("image", "").startswith("planner-mcp")]
    assert len(ours) == 3
    for service in ours:
        assert {name for name in service.get("environment", {}) if name.startswith("PLANNER_")} <= known
        command = service.get("command", [""])
        if command[0] in ("serve", "worker"):
            shown_text = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, [command[0], "--help"]).output
            assert [word for word in command if word.startswith("--") and word not in shown_text] == []


def test_compose_refers_to_what_it_declares(compose: dict[str, Any]) -> None:
    """Our choice: no service waits for one that is not there."""
    services = compose["services"]
    for service in services.values():
        assert set(service.get("depends_on", ())) <= set(services)
        assert {entry["source"] for entry in service.get("configs", ())} <= set(compose["configs"])
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source in compose["volumes"] or (ROOT / source).is_file()


def test_compose_publishes_on_loopback_only(compose: dict[str, Any]) -> None:
    """SPEC A3: without authorization nothing is reachable from outside."""
    ports = [port for service in compose["services"].values() for port in service.get("ports", ())]
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_balancer_lets_through_what_the_servers_take_and_says_who_asks(compose: dict[str, Any]) -> None:
    """SPEC A3, T7: a matrix of the largest size passes, and guessers are counted by their own address."""
    shown_text = compose["configs"]["balancer"]["content"]
    size = re.search(r"client_max_body_size (\d+)m;", shown_text)
    assert size is not None and int(size[1]) << 20 >= Settings().max_matrix_bytes
    assert "proxy_set_header X-Forwarded-For $$remote_addr;" in shown_text
    servers = [service for service in compose["services"].values() if service.get("command", [""])[0] == "serve"]
    assert [service["environment"].get("FORWARDED_ALLOW_IPS") for service in servers] == ["*", "*"]


def test_balancer_finds_a_server_that_was_made_anew(compose: dict[str, Any]) -> None:
    """SPEC O1: it has another address, and nginx looks names up once unless it is told to go on."""
    upstream = re.search(r"upstream planner \{(.*?)\}", compose["configs"]["balancer"]["content"], re.DOTALL)
    assert upstream is not None
    assert re.search(r"resolver \S+ valid=\d+s;", upstream[1]) and "zone " in upstream[1]
    assert re.findall(r"server (\S+):8080 resolve;", upstream[1]) == ["server-1", "server-2"]
    version = re.fullmatch(r"nginx:(\d+)\.(\d+)\S*", compose["services"]["balancer"]["image"])
    assert version is not None and (int(version[1]), int(version[2])) >= (1, 28)  # `resolve` came with 1.27.3


def test_servers_behind_the_balancer_name_an_address_that_clients_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC M1: what the server card advertises is not the address it listens on."""
    for name in ("open", "keycloak"):
        for line in (ROOT / "deploy" / f"{name}.env").read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                monkeypatch.setenv(*line.split("=", 1))
        assert mcp_url(Settings(host="0.0.0.0")) == "http://localhost:8080/mcp"  # noqa: S104 - listens nowhere
        monkeypatch.delenv("PLANNER_PUBLIC_URL")


def test_compose_store_keeps_every_write_and_evicts_nothing(compose: dict[str, Any]) -> None:
    """SPEC J7: what was acknowledged is on disk."""
    command = compose["services"]["valkey"]["command"]
    assert command[command.index("--appendfsync") + 1] == "always"
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


def test_a_store_that_is_full_refuses_writes_before_its_container_is_killed(compose: dict[str, Any]) -> None:
    """SPEC J7: it was killed at the limit, and again each time it had read its log; a rewrite of the log takes more."""
    manifests = yaml.safe_load_all((ROOT / "deploy" / "k8s" / "store.yaml").read_text(encoding="utf-8"))
    (pod,) = [each["spec"]["template"]["spec"] for each in manifests if each["kind"] == "StatefulSet"]
    container, service = pod["containers"][0], compose["services"]["valkey"]
    for words, limit in (
        (service["command"], service["mem_limit"]),
        (container["args"], container["resources"]["limits"]["memory"].removesuffix("i").lower()),
    ):
        most, most_mb = re.fullmatch(r"(\d+)g", limit), re.fullmatch(r"(\d+)mb", words[words.index("--maxmemory") + 1])
        assert most and most_mb and int(most_mb[1]) <= 0.6 * 1024 * int(most[1])


def test_image_runs_as_nobody_in_particular_and_says_how_it_is() -> None:
    """Our choice: non-root, a health check, the label registries look for."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"\nUSER [1-9]\d*\n", lines)  # `runAsNonRoot` of Kubernetes refuses a name
    assert "\nHEALTHCHECK " in lines
    assert "io.modelcontextprotocol.server.name=" in lines
    copies = [line.split()[1:-1] for line in lines.splitlines() if line.startswith("COPY ") and "--from" not in line]
    shipped = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[0] == "!"}
    assert {name.removeprefix("./") for names in copies for name in names} == shipped


def test_image_listens_where_the_settings_say() -> None:
    """SPEC O1, A3: an option would win over PLANNER_HOST; without either it is loopback."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == 'CMD ["serve"]'
    assert Settings.model_fields["host"].default == "127.0.0.1"


def test_image_has_all_that_a_wheel_is_built_from() -> None:
    """Our choice: packages, build hook and the files the metadata names are copied into the image."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {*build["packages"], "pyproject.toml", "README.md", *settings["project"]["license-files"]}
    needed |= {"hatch_build.py"} if build.get("hooks", {}).get("custom") is not None else set()
    copied = (ROOT / ".dockerignore").read_text(encoding="utf-8")
    assert sorted(name for name in needed if f"!{name}\n" not in copied) == []


def test_every_service_has_a_limit_of_memory_and_a_pinned_image(compose: dict[str, Any]) -> None:
    """SPEC O7: one service cannot take the machine, and a pull next year brings what was tried."""
    for name, service in compose["services"].items():
        assert "mem_limit" in service, name
        assert service["image"] == "planner-mcp:local" or re.search(r":\d+\.\d+", service["image"]), name


def test_every_service_that_listens_has_a_health_check(compose: dict[str, Any]) -> None:
    """SPEC O7: servers have that of the image; a worker listens nowhere, and loses its lease when it stalls."""
    services = compose["services"]
    without = {name for name, each in services.items() if each.get("healthcheck", {"disable": True}).get("disable")}
    assert without == {"server-1", "server-2", "worker"}


@pytest.mark.parametrize(("status", "is_healthy"), [(200, True), (503, False)])
def test_the_health_check_of_keycloak_reads_the_status(compose: dict[str, Any], status: int, is_healthy: bool) -> None:
    """SPEC O7: run as written, but for the port, against a server that answers with this status."""

    class Ready(QuietHandler, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(status if self.path == "/health/ready" else 404)

    _cmd, *words = compose["services"]["keycloak"]["healthcheck"]["test"]
    with serving(server := ThreadingHTTPServer(("127.0.0.1", 0), Ready)):
        words[-1] = words[-1].replace("/9000 ", f"/{server.server_port} ").replace("$$", "$")
        checked = subprocess.run(words)
    assert (checked.returncode == 0) is is_healthy


def test_the_health_check_of_the_image_follows_the_port() -> None:
    """SPEC O7: it runs as written here, and succeeds only where a server answers at PLANNER_PORT."""
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    words = json.loads(re.findall(r"^    CMD (\[.*\])$", lines, re.MULTILINE)[0])
    with serving(server := ThreadingHTTPServer(("127.0.0.1", 0), _Healthy)):
        checked = [
            subprocess.run(
                [sys.executable, *words[1:]], env=os.environ | {"PLANNER_PORT": port}, stderr=subprocess.DEVNULL
            )
            for port in (str(server.server_port), "1")
        ]
    assert [each.returncode == 0 for each in checked] == [True, False]


class _Healthy(QuietHandler, BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply(200 if self.path == "/healthz" else 404)
