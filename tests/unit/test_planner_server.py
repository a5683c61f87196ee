"""The planner as one command, as examples and tests start it."""

import os
from pathlib import Path

import anyio
import pytest

from examples.planner_server import running_server
from tests.shared.processes.process_tree import children

pytestmark = pytest.mark.anyio

DRAINS = """
import json, pathlib, signal, sys

def drain(*_):
    pathlib.Path(sys.argv[sys.argv.index("--data-dir") + 1], "drained").touch()
    sys.exit()

signal.signal(signal.SIGTERM, drain)
print(json.dumps({"message": "listening", "url": "http://127.0.0.1:1/mcp"}), file=sys.stderr, flush=True)
signal.pause()
"""


async def test_a_server_has_drained_when_a_block_that_ran_out_of_time_is_left(tmp_path: Path) -> None:
    """Our choice: a server that nobody waits for outlives its test, and its pipe is found open by another one."""
    (tmp_path / "draining_server.py").write_text(DRAINS, encoding="utf-8")
    before = children(os.getpid())
    with anyio.CancelScope() as scope:
        async with running_server(tmp_path, module="draining_server", settings={"PYTHONPATH": str(tmp_path)}):
            scope.cancel()
            await anyio.sleep_forever()
    assert (tmp_path / "drained").exists()
    assert children(os.getpid()) == before
