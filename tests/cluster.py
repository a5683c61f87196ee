"""A Redis Cluster of three nodes on loopback, without replicas."""

import contextlib
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import redis

from planner_mcp.store.embedded import find_server
from tests.chaos.valkey import free_port

NODES = 3
SLOTS = 16384


def node(stack: ExitStack, folder: Path) -> int:
    port = free_port()
    options = [
        "--port",
        str(port),
        "--dir",
        str(folder),
        "--cluster-enabled",
        "yes",
        "--appendonly",
        "no",
        "--save",
        "",
    ]
    process = subprocess.Popen([find_server(), *options, "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return port


def lines(ports: list[int]) -> list["redis.Redis"]:
    return [redis.Redis(port=port, decode_responses=True) for port in ports]


@contextmanager
def three_nodes() -> Iterator[str]:
    """Run a cluster for the length of a block; its URL."""
    with ExitStack() as stack:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(NODES)]
        ports = [node(stack, folder) for folder in folders]
        nodes = [stack.enter_context(line) for line in lines(ports)]
        bounds = [SLOTS * index // NODES for index in range(NODES + 1)]
        for line, first, end in zip(nodes, bounds, bounds[1:], strict=False):
            until(lambda line=line: line.ping())
            line.execute_command("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            line.execute_command("CLUSTER", "MEET", "127.0.0.1", ports[0])
        for sign in ("cluster_state:ok", "cluster_known_nodes:3"):
            until(lambda sign=sign: all(sign in line.execute_command("CLUSTER", "INFO") for line in nodes))
        yield f"redis://127.0.0.1:{ports[0]}"


def until(is_so: Any) -> None:
    """Wait, at most 20 s, for a cluster to agree."""
    ends_at = time.monotonic() + 20
    while time.monotonic() < ends_at:
        with contextlib.suppress(redis.RedisError):
            if is_so():
                return
        time.sleep(0.05)
    raise TimeoutError
