"""What is measured of child processes."""

import subprocess
import sys

import pytest

from planner_mcp.process_limits import cpu_s, resident_mb

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
TABLE_MB = 64
FORKS = f"""
import os, sys
table = bytearray(os.urandom(1)) * ({TABLE_MB} << 20)
for _ in range(3):
    if os.fork() == 0:
        sum(table[::4096])
        os.write(1, b"r")
        sys.stdin.read()
        os._exit(0)
sys.stdin.read()
"""


def test_memory_that_forks_share_counts_once() -> None:
    """SPEC J6, O8: three searches of a large day do not end it for tables that they have in common."""
    command = [sys.executable, "-I", "-S", "-c", FORKS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.read(3) == b"rrr"
        assert TABLE_MB < resident_mb(child.pid) < 2 * TABLE_MB
        assert cpu_s(child.pid) > 0
        child.communicate()
    assert resident_mb(child.pid) == 0
