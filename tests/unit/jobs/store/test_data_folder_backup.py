"""Archives of a data folder: what goes in, and what is refused."""

import errno
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from planner_mcp.errors import InputError
from planner_mcp.jobs.store.data_folder_backup import back_up, restore
from tests.shared.cli.command_runs import run_command_line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    (data / "appendonlydir").mkdir(parents=True)
    (data / "appendonlydir" / "appendonly.aof.manifest").write_text("m", encoding="utf-8")
    for name in ("secret.key", "server.lock", "server.log", "server.pid"):
        (data / name).write_text(name, encoding="utf-8")
    return data


def test_an_archive_holds_the_data_and_nothing_of_the_running_server(folder: Path, tmp_path: Path) -> None:
    """SPEC O7: and comes back as it was, for this user alone."""
    archive, new = tmp_path / "a.tar.gz", tmp_path / "new"
    back_up(folder, archive)
    assert archive.stat().st_mode & 0o077 == 0
    restore(archive, new)
    assert sorted(path.name for path in new.iterdir()) == ["appendonlydir", "secret.key"]
    assert new.stat().st_mode & 0o077 == 0
    assert (new / "appendonlydir" / "appendonly.aof.manifest").read_text("utf-8") == "m"


def test_nothing_is_overwritten(folder: Path, tmp_path: Path) -> None:
    """Our choice: neither an archive nor a folder in use; a failed backup leaves no file behind."""
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(b"kept")
    with pytest.raises(InputError, match="exists"):
        back_up(folder, archive)
    assert archive.read_bytes() == b"kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "data"]
    with pytest.raises(InputError, match="is not empty"):
        restore(archive, folder)


def test_no_archive_lies_in_the_folder_that_it_copies(folder: Path, tmp_path: Path) -> None:
    """Our choice: it would hold itself, and every later one all before it."""
    (tmp_path / "link").symlink_to(folder)
    for archive in (folder / "a.tar.gz", folder / "appendonlydir" / "a.tar.gz", tmp_path / "link" / "a.tar.gz"):
        with pytest.raises(InputError, match="inside the data folder"):
            back_up(folder, archive)
        assert not archive.exists()


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00broken"])
def test_what_is_no_backup_is_refused_in_words(content: bytes, tmp_path: Path) -> None:
    """SPEC T7: an empty file, some text, a broken stream."""
    (tmp_path / "a.tar.gz").write_bytes(content)
    with pytest.raises(InputError, match="no backup that can be read"):
        restore(tmp_path / "a.tar.gz", tmp_path / "new")


def test_an_archive_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    """SPEC T7: a path that climbs out is refused."""
    (tmp_path / "x").write_text("x", encoding="utf-8")
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        tar.add(tmp_path / "x", arcname="../outside")
    with pytest.raises(InputError, match="no backup"):
        restore(tmp_path / "a.tar.gz", tmp_path / "sub" / "new")
    assert not (tmp_path / "sub" / "outside").exists()


def test_the_command_says_what_to_do(folder: Path, tmp_path: Path) -> None:
    """SPEC T7: no such folder, a store of its own, a folder in use."""
    archive = str(tmp_path / "a.tar.gz")
    missing = run_command_line("backup", archive, "--data-dir", str(tmp_path / "none"))
    assert (missing.exit_code, "no data folder" in missing.stderr) == (1, True)
    foreign = run_command_line("backup", archive, PLANNER_REDIS_URL="redis://127.0.0.1:1")
    assert (foreign.exit_code, "use its own tools" in foreign.stderr) == (1, True)
    assert run_command_line("backup", archive, "--data-dir", str(folder)).exit_code == 0
    used = run_command_line("restore", archive, "--data-dir", str(folder))
    assert (used.exit_code, "is not empty" in used.stderr) == (1, True)


def test_a_damaged_archive_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    """SPEC O7: cut off, or with a bit that flipped on a disk; the planner would start with half of the jobs."""
    (folder / "appendonlydir" / "appendonly.aof.1").write_bytes(bytes(range(256)) * 500)
    archive, new = tmp_path / "a.tar.gz", tmp_path / "new"
    back_up(folder, archive)
    whole = archive.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0x10
    for data in (whole[: len(whole) * 2 // 3], bytes(flipped), whole[:-8] + bytes(4) + whole[-4:]):
        archive.write_bytes(data)
        with pytest.raises(InputError, match="no backup that can be read"):
            restore(archive, new)
        assert not new.exists()


def test_a_full_disk_leaves_no_half_of_a_backup(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC O7: nor is the archive blamed for it, and a folder that was there stays, also one behind a link."""
    archive, new = tmp_path / "a.tar.gz", tmp_path / "new"
    (tmp_path / "disk").mkdir()
    new.symlink_to(tmp_path / "disk")
    back_up(folder, archive)

    def fill_up(_tar: tarfile.TarFile, path: Path, **_named: Any) -> None:
        (path / "half").write_bytes(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tarfile.TarFile, "extractall", fill_up)
    with pytest.raises(InputError, match=r"new cannot be written: No space left on device\.$"):
        restore(archive, new)
    assert list(new.iterdir()) == []


def test_a_file_is_no_folder_to_restore_into(folder: Path, tmp_path: Path) -> None:
    """SPEC T8, in spirit: it is told in words and left as it is; there was a stack trace."""
    archive, file = tmp_path / "a.tar.gz", tmp_path / "file"
    back_up(folder, archive)
    file.write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match=r"file cannot be written: File exists\.$"):
        restore(archive, file)
    assert file.read_text(encoding="utf-8") == "x"
