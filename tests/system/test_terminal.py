"""The command line at a terminal: what a person is asked and shown there."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
HOSTILE = "\u202e<script>\x1b]0;owned\x07\x1b[2J"
TABLE = "id;lat;lon;Menge;Stop time\nt1;48,1371;11,5754;60;15\n<script>;48,1372;11,5755;60;15\n"
LONGEST_S = 60.0
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Terminal:
    """A command whose input and errors are a terminal; its output is a pipe."""

    process: "subprocess.Popen[bytes]"
    end: int
    seen: bytearray = field(default_factory=bytearray)

    @property
    def text(self) -> str:
        """What was shown, without colours."""
        return COLOURS.sub("", self.seen.decode(errors="replace")).replace("\r", "")

    def read_until(self, text: str) -> str:
        """Return what was shown once a text is among it."""
        until = time.monotonic() + LONGEST_S
        while text not in self.text:
            assert self._read(until - time.monotonic()), f"ended without {text!r}: {self.text}"
        return self.text

    def read_all(self) -> str:
        """Return what was shown until the end."""
        until = time.monotonic() + LONGEST_S
        while self._read(until - time.monotonic()):
            pass
        return self.text

    def write(self, line: str) -> None:
        """Type a line."""
        os.write(self.end, f"{line}\n".encode())

    def _read(self, timeout_s: float) -> bool:
        assert select.select([self.end], [], [], max(0.0, timeout_s))[0], f"nothing more came: {self.text}"
        try:
            part = os.read(self.end, 65536)
        except OSError:  # Linux says so when the other side is closed
            part = b""
        self.seen += part
        return bool(part)


@contextmanager
def at_terminal(*args: str) -> Iterator[Terminal]:
    """Run `planner-mcp` at a terminal."""
    end, other = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "planner_mcp", *args],
        stdin=other,
        stderr=other,
        stdout=subprocess.PIPE,
        env={**os.environ, "COLUMNS": "200", "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(other)
    try:
        yield Terminal(process, end)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()
        os.close(end)


FLEET = ("--agent", "1", "--capacity", "100", "--depot", "48.14,11.58", "--date", "2026-11-24")


def test_a_table_is_solved_after_its_questions_are_answered(tmp_path: Path) -> None:
    """Our choice: `solve x.csv` asks what the file leaves open, then plans it and says what is not served."""
    table = tmp_path / "orders.csv"
    table.write_text(TABLE)
    with at_terminal("solve", str(table), *FLEET, "--seconds", "1", "--data-dir", str(tmp_path / "data")) as terminal:
        terminal.read_until("HEADER=FIELD")
        terminal.write("hours")
        terminal.read_until("There is no such field.")
        terminal.write("service_min")
        shown = terminal.read_all()
        plan, _nothing = terminal.process.communicate(timeout=LONGEST_S)
    assert terminal.process.returncode == 0, shown
    assert json.loads(plan)["tickets_served"] == 1
    assert re.search("(t1|<script>): ", shown), "the first that is not served, with its reason"


def test_no_text_of_a_file_reaches_the_terminal_as_it_is(tmp_path: Path) -> None:
    """SPEC R3: control characters of a refused id neither move the cursor nor name the window."""
    table = tmp_path / "orders.csv"
    table.write_text(TABLE.replace("t1", f'"{HOSTILE}"'))
    with at_terminal("solve", str(table), *FLEET, "--column", "Stop time=service_min") as terminal:
        shown = terminal.read_all()
        assert terminal.process.wait(LONGEST_S) != 0
    assert "control characters" in shown
    for raw in (b"\x1b]0;", b"\x1b[2J", b"\x07", "\u202e".encode()):
        assert raw not in terminal.seen


def test_a_server_says_three_lines_to_a_person(tmp_path: Path) -> None:
    """Our choice: where it listens, what runs and how it ends, how a client connects; no JSON, Ctrl-C ends it well."""
    with at_terminal("serve", "--port", "0", "--workers", "0", "--data-dir", str(tmp_path)) as terminal:
        shown = terminal.read_until("planner-mcp config claude-code --url")
        lines = shown.strip().splitlines()
        assert len(lines) == 3, shown
        assert re.search(r"MCP at http://127\.0\.0\.1:\d+/mcp, dashboard at http://127\.0\.0\.1:\d+/ui", lines[0])
        assert "Ctrl-C stops it" in lines[1]
        terminal.process.send_signal(signal.SIGINT)
        rest = terminal.read_all()
        assert "{" not in rest
        assert terminal.process.wait(LONGEST_S) == 0


@pytest.mark.parametrize(("typed", "offered"), [("so", {"solve"}), ("config v", {"vscode"})])
def test_a_shell_completes_commands_and_clients(typed: str, offered: set[str]) -> None:
    """Our choice: as the script that `--install-completion` writes asks for it."""
    words = {"COMP_WORDS": f"planner-mcp {typed}", "COMP_CWORD": str(len(typed.split()))}
    asked = {**os.environ, **words, "_PLANNER_MCP_COMPLETE": "complete_bash"}
    command = str(Path(sys.executable).with_name("planner-mcp"))
    found = subprocess.run([command], env=asked, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    assert offered <= set(found.stdout.split()), found
