"""The folder of static reports, served as `file:///<path in the folder>` (SPEC R1).

Owns which files there are and the way to them. No way leads out: a path is opened segment by segment from the folder,
each must be spelled as the folder spells it, and no link is followed, so what is checked is what is read. The path of
the folder itself is shown to nobody.
"""

import os
import stat
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, starmap
from operator import itemgetter
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from planner_mcp.errors import NotFoundError, TooLargeError

ROOT: Final = "file:///"
DESIGN_ROOT: Final = "file:///var/reports/"
"""How the design writes the folder: the same files are read under it, unless the folder has a folder `var`."""
MAX_BYTES: Final = 8 * 1024 * 1024
MAX_LISTED: Final = 2000
MAX_DEPTH: Final = 8
MIME_TYPES: Final = {
    ".csv": "text/csv",
    ".geojson": "application/geo+json",
    ".htm": "text/html",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""What counts as a report; other files are not served."""
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Report:
    """A file of the folder."""

    path: str
    """Within the folder, with `/` between segments."""
    size: int
    modified_at: datetime | None
    """None where no calendar holds it."""

    @property
    def uri(self) -> str:
        """Its URI."""
        return ROOT + quote(self.path)

    @property
    def mime_type(self) -> str:
        """Its type, by its name."""
        return mime_type_of(self.path)


@dataclass(frozen=True, slots=True)
class ReportFolder:
    """The folder.

    Args:
        root: Where it lies; None for none.
    """

    root: Path | None

    def reports(self, first: int = 0, count: int = MAX_LISTED) -> list[Report]:
        """Return files by path, `MAX_LISTED` in all. Blocks on the disk.

        Args:
            first: How many to leave out.
            count: Most files returned; fewer only at the end of the list.
        """
        if self.root is None or not self.root.is_dir():
            return []
        found = islice(_walk(self.root, "", 1), first, MAX_LISTED)
        return list(islice(filter(None, starmap(_report, found)), count))

    def read(self, uri: str) -> bytes:
        """Return the bytes of a report. Blocks on the disk.

        Raises:
            NotFoundError: No such report, or no URI this folder ever gave out.
            TooLargeError: The file is larger than a resource may be.
        """
        if self.root is None:
            raise NotFoundError
        *folders, name = segments_of(self._own(uri))
        try:
            return _read(self.root, folders, name)
        except OSError as error:
            raise NotFoundError from error

    def read_folder(self, uri: str) -> dict[str, bytes]:
        """Return the reports that lie in a folder itself, by URI. Blocks on the disk.

        Args:
            uri: Of the folder, with `/` at its end, as the URIs of its reports begin.

        Raises:
            NotFoundError: No report lies there.
            TooLargeError: There are more than one answer may carry.
        """
        folder = self._own(uri)
        found = [each for each in self.reports() if each.uri.rpartition("/")[0] == folder.removesuffix("/")]
        if not found:
            raise NotFoundError
        if sum(each.size for each in found) > MAX_BYTES:
            raise TooLargeError(f"The reports of the folder are larger than {MAX_BYTES} bytes together.")
        return {uri + each.uri.removeprefix(folder): self.read(each.uri) for each in found}

    def _own(self, uri: str) -> str:
        """Return the URI of this folder for one that begins as the design writes it."""
        if not uri.startswith(DESIGN_ROOT) or self.root is None or (self.root / "var").is_dir():
            return uri
        return ROOT + uri.removeprefix(DESIGN_ROOT)


def mime_type_of(path: str) -> str:
    """Return the type of a report by its name; empty for what is no report."""
    return MIME_TYPES.get(Path(path).suffix.lower(), "")


def segments_of(uri: str) -> list[str]:
    """Return the segments of a report's URI, which must be spelled exactly as `Report.uri` spells it.

    Raises:
        NotFoundError: Otherwise: another host, an encoding that hides something, a dot segment, a hidden file.
    """
    if not uri.startswith(ROOT) or len(uri) > 2048:
        raise NotFoundError
    try:
        path = unquote(uri.removeprefix(ROOT), errors="strict")
    except UnicodeDecodeError as error:
        raise NotFoundError from error
    segments = path.split("/")
    is_plain = quote(path) == uri.removeprefix(ROOT) and unicodedata.normalize("NFC", path) == path
    if not is_plain or len(segments) > MAX_DEPTH or not all(_is_name(each) for each in segments):
        raise NotFoundError
    if not mime_type_of(path):
        raise NotFoundError
    return segments


def _is_name(segment: str) -> bool:
    """Return whether a segment may name a file or folder: printable, not hidden, nothing a file system reads twice."""
    is_clean = bool(segment) and segment.isprintable() and not any(char in segment for char in '\\:*?"<>|%')
    return is_clean and not segment.startswith((".", " ", "~")) and not segment.endswith((".", " ", "~"))


def _walk(folder: Path, prefix: str, depth: int) -> Iterator[tuple[os.DirEntry[str], str]]:
    """Yield the reports of a folder and those below it with their paths, in the order of these.

    Nothing is asked of the disk but the entries of a folder.
    """
    for name, entry in _entries(folder):
        path = prefix + name
        if name.endswith("/"):
            if depth < MAX_DEPTH:
                yield from _walk(folder / entry.name, path, depth + 1)
        elif mime_type_of(name) and _is_readable(ROOT + quote(path)):
            yield entry, path


def _entries(folder: Path) -> list[tuple[str, os.DirEntry[str]]]:
    """Return folders, with `/` behind their names, and files; nothing of a folder that is closed to the server."""
    try:
        with os.scandir(folder) as entries:
            found = [(f"{each.name}/" if each.is_dir(follow_symlinks=False) else each.name, each) for each in entries]
    except OSError:
        return []
    found = [(name, each) for name, each in found if name.endswith("/") or each.is_file(follow_symlinks=False)]
    return sorted(((name, each) for name, each in found if _is_name(each.name)), key=itemgetter(0))


def _report(entry: os.DirEntry[str], path: str) -> Report | None:
    """Return a file as it is now; None where it is gone, or is none."""
    try:
        about = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return Report(path, about.st_size, modification_time(about.st_mtime)) if stat.S_ISREG(about.st_mode) else None


def modification_time(seconds: float) -> datetime | None:
    """Return a time of the file system, which may be behind the year 9999; None then."""
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _is_readable(uri: str) -> bool:
    """Return whether a URI is one that is read: a folder may hold names too long, or not composed as NFC has them."""
    try:
        return bool(segments_of(uri))
    except NotFoundError:
        return False


def _read(root: Path, folders: list[str], name: str) -> bytes:
    place = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            inner = _open(place, folder, _FOLDER)
            os.close(place)
            place = inner
        with os.fdopen(_open(place, name, _FILE), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise NotFoundError
            if about.st_size > MAX_BYTES:
                raise TooLargeError(f"The report is larger than {MAX_BYTES} bytes.")
            return file.read(MAX_BYTES)
    finally:
        os.close(place)


def _open(place: int, name: str, flags: int) -> int:
    """Open a name within an open folder if it stands there in exactly this spelling."""
    if name not in os.listdir(place):
        raise NotFoundError
    return os.open(name, flags, dir_fd=place)
