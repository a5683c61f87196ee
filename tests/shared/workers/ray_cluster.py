"""A Ray cluster of one node on this machine, for slow tests."""

import contextlib
import importlib.util
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.shared.http.free_ports import free_port
from tests.shared.processes.process_tree import LONGEST_S

HOW_TO_INSTALL = "Ray is not installed: make setup-ray"


@dataclass(frozen=True)
class RayCluster:
    """A running cluster."""

    address: str
    pid: int
    """Of the process above all of its nodes' processes."""


@contextlib.contextmanager
def ray_cluster() -> Iterator[RayCluster]:
    """Run a cluster; skip the test where Ray is not installed."""
    if importlib.util.find_spec("ray") is None:
        pytest.skip(HOW_TO_INSTALL)
    os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32), "RAY_USAGE_STATS_ENABLED": "0"}
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        port, log = free_port(), Path(folder) / "head.log"
        options = ["--head", "--block", f"--port={port}", "--num-cpus=2", f"--temp-dir={folder}/r"]
        ports = ["--min-worker-port=0", "--max-worker-port=0"]  # any: the range it would take has ours in it
        quiet = ["--include-dashboard=false", "--object-store-memory=100000000", "--disable-usage-stats"]
        with log.open("w") as lines:
            head = subprocess.Popen(
                [sys.executable, "-m", "ray.scripts.scripts", "start", *options, *ports, *quiet],
                stdout=lines,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
            try:
                _wait_until_started(head, log)
                yield RayCluster(f"127.0.0.1:{port}", head.pid)
            finally:
                head.terminate()
                head.wait(30)


def _wait_until_started(head: subprocess.Popen[bytes], log: Path) -> None:
    ends_at = time.monotonic() + LONGEST_S
    while "Ray runtime started" not in log.read_text():
        assert head.poll() is None and time.monotonic() < ends_at, log.read_text()[-2000:]
        time.sleep(0.1)
