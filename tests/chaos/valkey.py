"""A Valkey server of a test's own on a TCP port: with any option, in any environment, killed and started again."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import redis

from planner_mcp.store.embedded import find_server

START_S = 30.0


HIGHEST_PORT = 55_000
"""A node of a cluster listens on its port and 10,000 above."""


def free_port() -> int:
    """Return a port nobody listens on, fit for a node of a cluster too."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            if port < HIGHEST_PORT:
                return port


class Valkey:
    """One server process.

    Args:
        folder: Its data.
        options: Names and values of its configuration, over an append-only file that is flushed each second.
        environment: Beside the usual one.
    """

    def __init__(self, folder: Path, *, environment: dict[str, str] | None = None, **options: str) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self._environment = {**os.environ, **(environment or {})}
        usual = {"appendonly": "yes", "appendfsync": "everysec", "save": "", "bind": "127.0.0.1"}
        given = {name.replace("_", "-"): value for name, value in options.items()}
        self.options = {**usual, "port": str(self.port), "dir": str(folder), **given}
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self, *, is_awaited: bool = True) -> None:
        """Start it; return when it has loaded its data."""
        words = [word for name, value in self.options.items() for word in (f"--{name}", value)]
        self.process = subprocess.Popen(
            [find_server(), *words], env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if is_awaited:
            self.until_loaded()

    def until_loaded(self) -> None:
        """Return when it answers."""
        ends_at = time.monotonic() + START_S
        while time.monotonic() < ends_at:
            with contextlib.suppress(redis.RedisError, OSError):
                self.ask("PING")
                return
            time.sleep(0.02)
        raise TimeoutError("the server did not come up")

    def ask(self, *words: Any) -> Any:
        """Run one command on a connection of its own."""
        with redis.Redis(port=self.port, decode_responses=True, socket_timeout=5) as line:
            return line.execute_command(*words)

    def kill(self) -> None:
        """SIGKILL it and see it dead."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self.process is not None
        self.process.send_signal(number)

    def __enter__(self) -> "Valkey":
        try:
            self.start()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
