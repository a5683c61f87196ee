"""A Valkey server of a test's own on a TCP port: with any option, in any environment, killed and started again.

With `STORE=redis` it is the Redis of this system instead.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from planner_mcp.jobs.store.embedded_server import find_server
from tests.shared.http.free_ports import free_port

IS_REDIS = os.environ.get("STORE") == "redis"
"""Whether the tests run on the `redis-server` on PATH instead of the bundled Valkey."""
START_S = 30.0
STARTS = 5
"""A port that was free may be taken before the server listens there: then another is tried, so often at most."""


class EndedError(RuntimeError):
    """The server ended by itself."""


def server_program() -> str:
    """Return the program of a store that is no product's own."""
    return shutil.which("redis-server") or "redis-server" if IS_REDIS else find_server()


class Valkey:
    """One server process.

    Args:
        folder: Its data.
        options: Names and values of its configuration, over an append-only file that is flushed each second.
        environment: Beside the usual one.
        program: What is started; `server_program()` unless said otherwise.
    """

    def __init__(
        self, folder: Path, *, environment: dict[str, str] | None = None, program: str | None = None, **options: str
    ) -> None:
        self.folder, self.port = folder, free_port()
        folder.mkdir(parents=True, exist_ok=True)
        self._environment = {**os.environ, **(environment or {})}
        self._program = program or server_program()
        usual = {"appendonly": "yes", "appendfsync": "everysec", "save": "", "bind": "127.0.0.1"}
        given = {name.replace("_", "-"): value for name, value in options.items()}
        self.options = {**usual, "dir": str(folder), **given}
        self.process: subprocess.Popen[bytes] | None = None
        self._log = folder / "valkey.log"

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"redis://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int | None:
        """The process id of the server last started."""
        return self.process.pid if self.process else None

    def start(self, *, is_awaited: bool = True) -> None:
        """Start it where it listened before; return when it has loaded its data."""
        options = {**self.options, "port": str(self.port)}
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                [self._program, *words], env=self._environment, stdout=log, stderr=subprocess.STDOUT
            )
        if is_awaited:
            self.until_loaded()

    def until_loaded(self) -> None:
        """Return when it answers.

        Raises:
            EndedError: It will not, with the last it said; for example because its port is taken.
        """
        ends_at = time.monotonic() + START_S
        while time.monotonic() < ends_at:
            assert self.process is not None
            if (code := self.process.poll()) is not None:
                raise EndedError(f"the server ended with code {code}: {self._log.read_text()[-500:]}")
            if self._is_loaded():
                return
            time.sleep(0.02)
        raise TimeoutError("the server did not come up")

    def _is_loaded(self) -> bool:
        """Return whether this very process answers, not another on its port. It is asked once: it may have ended."""
        line = redis.Redis(port=self.port, socket_timeout=1, retry=Retry(NoBackoff(), 0))
        with contextlib.suppress(redis.RedisError, OSError), line:
            line.ping()
            return self.process is not None and line.info("server")["process_id"] == self.process.pid
        return False

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
            self._start_anywhere()
        except BaseException:
            self.kill()
            raise
        return self

    def _start_anywhere(self) -> None:
        """Start it where there is room: nobody knows its port yet."""
        for _try in range(STARTS - 1):
            with contextlib.suppress(EndedError):
                return self.start()
            self.port = free_port()
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()
