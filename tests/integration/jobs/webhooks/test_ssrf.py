"""Nothing forbidden is ever connected to (SPEC W4)."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RANDOM = 10_000
ROOT = Path(__file__).parents[4]


def can_enclose() -> bool:
    """Return whether this machine lets us make a network namespace."""
    if os.geteuid() != 0 or not (shutil.which("unshare") and shutil.which("ip")):
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not can_enclose(), reason="needs root, unshare and ip to make a network namespace")
def test_no_forged_target_sees_a_connection() -> None:
    """SPEC W4: targets, names that lead to forbidden addresses, 10,000 random ones: 0 connections, a canary awake."""
    command = ["unshare", "--net", sys.executable, "-m", "tests.integration.jobs.webhooks.ssrf_probe", str(RANDOM)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["control"] == 3
    assert seen["tried"] >= 97
    assert seen["forged"] == 0
    print(seen)  # noqa: T201
