"""`planner-mcp config CLIENT`: what a client's configuration needs to reach this planner, printed or written.

Owns the form each client wants and where its file lies. A file is changed only where it is plain JSON or TOML that can
be added to without losing anything of it, and is replaced as a whole, so that it is never half written.
"""

import json
import shutil
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

import typer

from planner_mcp.cli.command_runner import refuse
from planner_mcp.cli.files.command_files import write_text
from planner_mcp.errors import Fault, InputError, input_error
from planner_mcp.text import Json

NAME: Final = "planner"
"""Of the server in every configuration."""
_STDIO_ONLY: Final = "This client takes only commands in its file; leave --url out."

app = typer.Typer()


class ClientName(StrEnum):
    """Clients that the how-to page names."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    VSCODE = "vscode"
    CURSOR = "cursor"
    CODEX = "codex"
    GOOSE = "goose"
    WINDSURF = "windsurf"
    ZED = "zed"


@dataclass(frozen=True, slots=True)
class ClientFile:
    """Where a client reads its servers."""

    path: str
    """`~` is the home folder; others are relative to the project."""
    key: str
    """Of the object or table with the servers."""
    local: Callable[[str], Json]
    """The entry of a command."""
    remote: Callable[[str], Json] | None
    """The entry of a URL; None where the file takes none."""


def _stdio(command: str) -> Json:
    return {"command": command, "args": []}


def _typed(command: str) -> Json:
    return {"type": "stdio", "command": command, "args": []}


def _extension(kind: str, **more: Any) -> Json:
    return {"enabled": True, "type": kind, "name": NAME, "timeout": 300, **more}


_DESKTOP: Final = "~/Library/Application Support/Claude" if sys.platform == "darwin" else "~/.config/Claude"
FILES: Final = {
    ClientName.CLAUDE_CODE: ClientFile(".mcp.json", "mcpServers", _typed, lambda url: {"type": "http", "url": url}),
    ClientName.CLAUDE_DESKTOP: ClientFile(f"{_DESKTOP}/claude_desktop_config.json", "mcpServers", _stdio, None),
    ClientName.VSCODE: ClientFile(".vscode/mcp.json", "servers", _typed, lambda url: {"type": "http", "url": url}),
    ClientName.CURSOR: ClientFile("~/.cursor/mcp.json", "mcpServers", _stdio, lambda url: {"url": url}),
    ClientName.CODEX: ClientFile("~/.codex/config.toml", "mcp_servers", _stdio, lambda url: {"url": url}),
    ClientName.GOOSE: ClientFile(
        "~/.config/goose/config.yaml",
        "extensions",
        lambda command: _extension("stdio", cmd=command, args=[]),
        lambda url: _extension("streamable_http", uri=url),
    ),
    ClientName.WINDSURF: ClientFile(
        "~/.codeium/windsurf/mcp_config.json", "mcpServers", _stdio, lambda url: {"serverUrl": url}
    ),
    ClientName.ZED: ClientFile("~/.config/zed/settings.json", "context_servers", _stdio, lambda url: {"url": url}),
}


@app.command()
def config(
    client: Annotated[ClientName, typer.Argument(help="The client.")],
    url: Annotated[str, typer.Option(help="Of a server, such as http://127.0.0.1:8080/mcp; absent: stdio.")] = "",
    write: Annotated[bool, typer.Option("--write", help="Add it to the client's file instead of printing it.")] = False,
) -> None:
    """Print what a client's configuration needs, or write it there."""
    known = FILES[client]
    path = Path(known.path).expanduser()
    try:
        entry = _entry(known, url)
        text = _added_to(path, known.key, entry) if write else _document(path.suffix, known.key, entry)
        if write:
            _replace(path, text)
    except InputError as error:
        refuse(error)
    typer.echo(f"Written to {path}; restart the client." if write else f"For {path}:", err=True)
    if not write:
        typer.echo(text, nl=False)


def _entry(known: ClientFile, url: str) -> Json:
    """Return the entry of the server; refuse a URL that the client does not take, or that is none of HTTP."""
    if not url:
        return known.local(_command())
    if known.remote is None:
        raise input_error([Fault("--url", _STDIO_ONLY)])
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
        raise input_error([Fault("--url", "It is no URL of HTTP.", "http://127.0.0.1:8080/mcp")])
    return known.remote(url)


def _command() -> str:
    """Return the full path of this program: desktop clients do not read the PATH of a shell."""
    beside = Path(sys.executable).with_name("planner-mcp")
    return str(beside) if beside.exists() else shutil.which("planner-mcp") or "planner-mcp"


def _document(suffix: str, key: str, entry: Json) -> str:
    """Return the entry as a whole file."""
    if suffix == ".toml":
        return _toml(key, entry)
    if suffix == ".yaml":  # YAML takes JSON values
        lines = "".join(f"    {name}: {json.dumps(value)}\n" for name, value in entry.items())
        return f"{key}:\n  {NAME}:\n{lines}"
    return json.dumps({key: {NAME: entry}}, indent=2) + "\n"


def _toml(key: str, entry: Json) -> str:
    """Return a table; the strings and lists of JSON are those of TOML."""
    return f"[{key}.{NAME}]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in entry.items())


def _added_to(path: Path, key: str, entry: Json) -> str:
    """Return the text of a file with the entry added; refuse one in which other servers and settings would not stay."""
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except (OSError, ValueError) as error:
        raise input_error([Fault("--write", f"{path} cannot be read.", "a text file in UTF-8")]) from error
    if not text.strip():
        return _document(path.suffix, key, entry)
    by_hand = Fault("--write", f"{path} cannot be added to without loss.", "", "Add what is printed without --write.")
    try:
        if path.suffix == ".toml":
            if NAME in tomllib.loads(text).get(key, {}):
                raise input_error([Fault("--write", f"{path} has a server {NAME} already.", "", "Change it by hand.")])
            added = f"{text.rstrip()}\n\n{_toml(key, entry)}"
            tomllib.loads(added)  # a table on one line takes no further server
            return added
        whole = json.loads(text)
    except (ValueError, RecursionError, AttributeError, TypeError) as error:  # comments, YAML, or no table there
        raise input_error([by_hand]) from error
    servers = whole.setdefault(key, {}) if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        raise input_error([by_hand])
    servers[NAME] = entry
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write a file as a whole, where a link leads; it keeps the rights it had."""
    target = path.resolve()
    fresh = target.with_name(f".{target.name}.planner-new")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            fresh.touch(mode=0o600)  # it may hold keys of other servers
        write_text(text, fresh)
        if target.exists():
            shutil.copymode(target, fresh)
        fresh.replace(target)
    except OSError as error:
        raise input_error([Fault("--write", f"{path}: {error.strerror}", "a file that can be written")]) from error
