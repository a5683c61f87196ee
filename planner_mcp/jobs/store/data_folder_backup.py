"""Copies a data folder into one archive, also while its store runs, and unpacks an archive into a new folder.

The log of the store only grows while it is copied, and a step that was half written at its end is dropped when it is
read, as after a power cut. So an archive holds every job that was acknowledged before the copy began.
"""

import gzip
import os
import tarfile
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Final

from planner_mcp.errors import InputError
from planner_mcp.jobs.store.embedded_server import EmbeddedServer

NOT_COPIED: Final = frozenset(
    {"store.sock", "server.pid", "server.log", "start.lock", "users.lock", "server.lock", "backup.lock"}
)
"""What belongs to a running server and not to the data."""
_PIECE_BYTES: Final = 1024 * 1024


def back_up(data_dir: Path, archive: Path) -> None:
    """Write the data of a folder to a new `.tar.gz` file, which only this user may read.

    Raises:
        InputError: There is no such folder, or the archive exists or would lie in it.
        StoreUnavailableError: The folder's store runs and does not answer, or another backup is being made.
    """
    if not data_dir.is_dir():
        raise InputError(f"There is no data folder {data_dir}. Name it with --data-dir.")
    if archive.exists():
        raise InputError(f"{archive} exists. Name a new file.")
    if archive.resolve().is_relative_to(data_dir.resolve()):
        raise InputError(f"{archive} is inside the data folder {data_dir}. Name a file outside of it.")
    part = archive.with_name(f"{archive.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "wb") as file:
            _copy(data_dir, file)
        part.rename(archive)
    except OSError as error:
        raise InputError(f"{archive} cannot be written: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def _copy(data_dir: Path, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz") as tar, EmbeddedServer(data_dir).with_steady_files():
        for path in sorted(data_dir.iterdir()):
            if path.name not in NOT_COPIED and not path.is_socket():
                tar.add(path, arcname=path.name)


def restore(archive: Path, data_dir: Path) -> None:
    """Unpack an archive into a folder that does not exist yet or is empty.

    Raises:
        InputError: The folder holds something or cannot be written, or the file is no such archive.
    """
    if data_dir.is_dir() and any(data_dir.iterdir()):
        raise InputError(f"{data_dir} is not empty. Name a new folder with --data-dir, and start the planner with it.")
    try:
        _read_through(archive)
        with tarfile.open(archive, mode="r:gz") as tar:
            _unpack(tar, data_dir)
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error).removesuffix(".")
        raise InputError(f"{archive} is no backup that can be read: {why}.") from error


def _unpack(tar: tarfile.TarFile, data_dir: Path) -> None:
    """Unpack all or, where the disk is full, nothing: the planner would start with half of the jobs."""
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data_dir, prefix="restore-") as part:
            tar.extractall(Path(part), filter="data")
            for path in list(Path(part).iterdir()):
                path.rename(data_dir / path.name)
    except OSError as error:
        raise InputError(f"{data_dir} cannot be written: {error.strerror}.") from error


def _read_through(archive: Path) -> None:
    """Read an archive to its end, where its checksum stands: unpacking stops before it, and leaves what it has.

    Raises:
        OSError, EOFError, zlib.error: It is cut off or damaged.
    """
    with gzip.open(archive) as file:
        while file.read(_PIECE_BYTES):
            pass
