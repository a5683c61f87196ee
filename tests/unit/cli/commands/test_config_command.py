"""What `config` gives each client (SPEC O1, T6)."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from planner_mcp.cli.command_line import app
from planner_mcp.cli.commands.config_command import FILES, ClientName
from tests.unit.cli.cli_runs import refused_output

URL = "http://127.0.0.1:8080/mcp"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def _read(path: Path) -> dict[str, object]:
    text = path.read_text(encoding="utf-8")
    read = {".toml": tomllib.loads, ".yaml": yaml.safe_load}.get(path.suffix, json.loads)
    return dict(read(text))


@pytest.mark.parametrize("client", list(ClientName))
@pytest.mark.parametrize("url", ["", URL])
def test_each_client_gets_what_it_reads(client: ClientName, url: str, tmp_path: Path) -> None:
    """SPEC O1: printed, and written to a new file, in the client's own form; a command by its full path."""
    options = ["--url", url] if url else []
    if url and FILES[client].remote is None:
        assert "--url: This client takes only commands" in refused_output("config", client, *options)
        return
    printed = CliRunner().invoke(app, ["config", client, *options])
    written = CliRunner().invoke(app, ["config", client, "--write", *options])
    assert (printed.exit_code, written.exit_code) == (0, 0), written.output
    path = Path(FILES[client].path).expanduser()
    entry = _read(path)[FILES[client].key]["planner"]  # type: ignore[index]
    assert path.read_text(encoding="utf-8") == printed.stdout
    assert (url or "planner-mcp") in json.dumps(entry)
    assert url or Path(str(entry.get("command", entry.get("cmd")))).is_absolute()


def test_other_servers_and_settings_stay() -> None:
    """SPEC O1: in JSON and in TOML; an entry of ours is replaced in JSON."""
    cursor, codex = (Path(FILES[name].path).expanduser() for name in (ClientName.CURSOR, ClientName.CODEX))
    for path, text in ((cursor, '{"mcpServers": {"a": {"url": "x"}, "planner": 1}, "b": "é"}'), (codex, 'model = "m"')):
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
    for client in ("cursor", "codex"):
        assert CliRunner().invoke(app, ["config", client, "--write", "--url", URL]).exit_code == 0
    assert _read(cursor) == {"mcpServers": {"a": {"url": "x"}, "planner": {"url": URL}}, "b": "é"}
    assert _read(codex) == {"model": "m", "mcp_servers": {"planner": {"url": URL}}}
    assert "has a server planner already" in refused_output("config", "codex", "--write")


@pytest.mark.parametrize("text", ["{ // a comment\n}", "[]", '{"context_servers": 5}', "\0"])
def test_a_file_that_would_lose_something_is_left_alone(text: str) -> None:
    """SPEC T7: comments, or what is no settings; the snippet can be added by hand."""
    path = Path(FILES[ClientName.ZED].path).expanduser()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert "cannot be added to without loss" in refused_output("config", "zed", "--write")
    assert path.read_text(encoding="utf-8") == text
    assert [each.name for each in path.parent.iterdir()] == ["settings.json"]


@pytest.mark.parametrize("text", ["mcp_servers = {a = {command = 'x'}}\n", "mcp_servers = 5\n", "mcp_servers = []\n"])
def test_a_table_that_takes_no_further_server_is_left_alone(text: str) -> None:
    """SPEC T7: TOML ends a table on one line; the client could not read what stood below."""
    path = Path(FILES[ClientName.CODEX].path).expanduser()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert "cannot be added to without loss" in refused_output("config", "codex", "--write")
    assert path.read_text(encoding="utf-8") == text


def test_keys_of_other_servers_are_at_no_time_for_everybody_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: what is written beside the file has its rights from the beginning."""
    path = Path(FILES[ClientName.CURSOR].path).expanduser()
    path.parent.mkdir(parents=True)
    path.write_text("{}", encoding="utf-8")
    path.chmod(0o600)
    copy, seen = shutil.copymode, []

    def watched(target: Path, fresh: Path) -> None:
        seen.append(fresh.stat().st_mode & 0o777)
        copy(target, fresh)

    monkeypatch.setattr(shutil, "copymode", watched)
    assert CliRunner().invoke(app, ["config", "cursor", "--write", "--url", URL]).exit_code == 0
    assert (seen, path.stat().st_mode & 0o777) == ([0o600], 0o600)


def test_what_is_no_url_is_refused() -> None:
    """SPEC T7: before it stands in a file."""
    assert "--url: It is no URL of HTTP." in refused_output("config", "zed", "--url", "javascript:x")
