"""The folder of static reports: what is served, and that no way leads out of it (SPEC R1)."""

import os
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from planner_mcp.errors import NotFoundError, TooLargeError
from planner_mcp.server.resources import report_folder
from planner_mcp.server.resources.report_folder import Report, ReportFolder, modification_time

OUTSIDE = "not yours"


@pytest.fixture
def folder(tmp_path: Path) -> ReportFolder:
    """A folder with two reports, and everything around it that must not be read."""
    root = tmp_path / "reports"
    (root / "weekly").mkdir(parents=True)
    (root / "周报").mkdir()
    (root / ".git").mkdir()
    (root / "a.html").write_text("<p>a</p>")
    (root / "weekly" / "1.csv").write_text("x,y\n")
    (root / "周报" / "一.md").write_text("# 一")
    for hidden in (".hidden.html", ".git/x.html", "key.pem", "notes.html~"):
        (root / hidden).write_text(OUTSIDE)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.html").write_text(OUTSIDE)
    (tmp_path / "x.html").write_text(OUTSIDE)
    (tmp_path / "reports-2").mkdir()
    (tmp_path / "reports-2" / "x.html").write_text(OUTSIDE)
    (root / "link.html").symlink_to(outside / "x.html")
    (root / "linked").symlink_to(outside)
    (root / "inner.html").symlink_to(root / "a.html")
    os.mkfifo(root / "pipe.html")
    (root / "folder.html").mkdir()
    return ReportFolder(root)


def test_reports_are_listed_with_size_and_type(folder: ReportFolder) -> None:
    """SPEC R1: neither hidden files, nor links, nor other kinds of files."""
    listed = [(report.uri, report.mime_type, report.size) for report in folder.reports()]
    assert listed == [
        ("file:///a.html", "text/html", 8),
        ("file:///weekly/1.csv", "text/csv", 4),
        ("file:///%E5%91%A8%E6%8A%A5/%E4%B8%80.md", "text/markdown", 5),
    ]


def test_what_is_listed_can_be_read(folder: ReportFolder) -> None:
    """SPEC R1."""
    assert [folder.read(report.uri) for report in folder.reports()] == [b"<p>a</p>", b"x,y\n", "# 一".encode()]


def test_the_kind_of_a_report_is_recognized_in_capitals_too(folder: ReportFolder) -> None:
    """SPEC R1: as scanners and old programs write it; the name itself is still spelled as the folder spells it."""
    assert folder.root is not None
    (folder.root / "B.PDF").write_bytes(b"%PDF-")
    (folder.root / "C.Csv").write_text("x")
    listed = {report.uri: report.mime_type for report in folder.reports()}
    assert (listed["file:///B.PDF"], listed["file:///C.Csv"]) == ("application/pdf", "text/csv")
    assert folder.read("file:///B.PDF") == b"%PDF-"
    with pytest.raises(NotFoundError):
        folder.read("file:///B.pdf")


def test_what_cannot_be_read_by_its_uri_is_not_listed(folder: ReportFolder) -> None:
    """SPEC R1: a name as macOS decomposes it, and one whose URI would be too long."""
    assert folder.root is not None
    before = folder.reports()
    (folder.root / unicodedata.normalize("NFD", "été.csv")).write_text("x")
    deep = folder.root.joinpath(*["周" * 80] * 3)
    deep.mkdir(parents=True)
    (deep / "x.csv").write_text("x")
    assert folder.reports() == before


def _closed(path: Path) -> None:
    if path.name == "weekly":
        raise PermissionError


def _removed(path: Path) -> None:
    for file in path.glob("1.csv"):
        file.unlink()


@pytest.mark.parametrize("between", [_closed, _removed])
def test_a_folder_that_is_closed_or_a_file_that_goes_hides_nothing_else(
    folder: ReportFolder, monkeypatch: pytest.MonkeyPatch, between: Callable[[Path], None]
) -> None:
    """SPEC R1: such as lost+found of another owner, and a report that is removed while the folder is listed."""
    scan = os.scandir

    class Scan:
        """A look at a folder, after which something happens to it."""

        def __init__(self, path: Path) -> None:
            with scan(path) as entries:
                self.entries = iter(list(entries))
            between(path)

        def __enter__(self) -> object:
            return self.entries

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr(os, "scandir", Scan)
    assert [report.path for report in folder.reports()] == ["a.html", "周报/一.md"]


def test_a_report_dated_behind_the_calendar_is_listed_without_its_date(
    folder: ReportFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SPEC R1: some file systems hold years after 9999; one such file hides no other."""
    assert [modification_time(each) for each in (4e11, -1e18, 0.0)] == [None, None, datetime(1970, 1, 1, tzinfo=UTC)]
    monkeypatch.setattr(report_folder, "modification_time", lambda _seconds: None)
    assert {report.modified_at for report in folder.reports()} == {None}


def test_a_page_asks_the_disk_for_its_own_files_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC R2: a page of 50 cost 0.6 s where 20,000 files lie; now it looks at 50 of them."""
    for number in range(300):
        (tmp_path / f"{number:03}.csv").touch()
    asked: list[str] = []

    def report(entry: "os.DirEntry[str]", path: str) -> Report:
        asked.append(path)
        return Report(path, 0, None)

    monkeypatch.setattr(report_folder, "_report", report)
    assert [each.path for each in ReportFolder(tmp_path).reports(100, 2)] == ["100.csv", "101.csv"]
    assert asked == ["100.csv", "101.csv"]


ESCAPES = [
    "file:///../x.html",
    "file:///weekly/../../x.html",
    "file:///weekly/../a.html",
    "file:///./a.html",
    "file:////a.html",
    "file:///weekly//1.csv",
    "file:///weekly/",
    "file:///",
    "file://",
    "file:/a.html",
    "file://localhost/a.html",
    "file://evil.example/a.html",
    "FILE:///a.html",
    "file:///A.html",
    "file:///a.HTML",
    "file:///Weekly/1.csv",
    "file:///%2e%2e/x.html",
    "file:///%2E%2E%2Fx.html",
    "file:///..%2fx.html",
    "file:///%252e%252e%252fx.html",
    "file:///weekly%2f1.csv",
    "file:///weekly\\1.csv",
    "file:///..\\x.html",
    "file:///..%5cx.html",
    "file:///%61.html",
    "file:///a.html%00",
    "file:///a.html%00.csv",
    "file:///a.html\x00",
    "file:///a%0a.html",
    "file:///a.html?x=1",
    "file:///a.html#part",
    "file:///a.html.",
    "file:///a.html%20",
    "file:///a.html::$DATA",
    "file:///C:/x.html",
    "file:///%c0%ae%c0%ae/x.html",
    "file:///%ff.html",
    "file:///．．/x.html",
    "file:///%EF%BC%8E%EF%BC%8E/x.html",
    "file:///\N{FULLWIDTH SOLIDUS}x.html",
    "file:///weekly%E2%80%8B/1.csv",
    "file:///.hidden.html",
    "file:///.git/x.html",
    "file:///key.pem",
    "file:///notes.html~",
    "file:///~root/x.html",
    "file:///link.html",
    "file:///linked/x.html",
    "file:///inner.html",
    "file:///pipe.html",
    "file:///folder.html",
    "file:///a.html/x.html",
    "file:///reports-2/x.html",
    "file:///etc/passwd",
    "file:///proc/self/environ",
    "file:///dev/zero.html",
    "file:///" + "a/" * 40 + "x.html",
    "file:///" + "a" * 5000 + ".html",
]


@pytest.mark.parametrize("uri", ESCAPES)
def test_no_way_leads_out(folder: ReportFolder, uri: str) -> None:
    """SPEC R1: `..`, encodings, NUL, case, hidden files, links, devices: all answered as unknown."""
    with pytest.raises(NotFoundError):
        folder.read(uri)


def test_an_absolute_path_of_the_folder_itself_is_unknown(folder: ReportFolder) -> None:
    """SPEC T8: where the folder lies is no part of any URI."""
    with pytest.raises(NotFoundError):
        folder.read(f"file://{folder.root}/a.html")


def test_a_folder_that_becomes_a_link_is_not_followed(folder: ReportFolder, tmp_path: Path) -> None:
    """SPEC R1: what is checked is what is read."""
    assert folder.root is not None
    (folder.root / "weekly" / "1.csv").unlink()
    (folder.root / "weekly").rmdir()
    (folder.root / "weekly").symlink_to(tmp_path / "outside")
    with pytest.raises(NotFoundError):
        folder.read("file:///weekly/x.html")


def test_a_huge_file_is_refused(folder: ReportFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: limits."""
    monkeypatch.setattr(report_folder, "MAX_BYTES", 4)
    with pytest.raises(TooLargeError):
        folder.read("file:///a.html")


def test_without_a_folder_there_are_no_reports(tmp_path: Path) -> None:
    """Our choice: nothing is served unless an operator says so."""
    for none in (ReportFolder(None), ReportFolder(tmp_path / "missing")):
        assert none.reports() == []
        with pytest.raises(NotFoundError):
            none.read("file:///a.html")


def test_a_folder_is_read_as_the_reports_that_lie_in_it(folder: ReportFolder) -> None:
    """SPEC R1: those of the folder itself, never what is hidden, linked or above it [D 2.3]."""
    assert folder.read_folder("file:///") == {"file:///a.html": b"<p>a</p>"}
    assert folder.read_folder("file:///weekly/") == {"file:///weekly/1.csv": b"x,y\n"}
    for uri in ("file:///.git/", "file:///linked/", "file:///weekly/../", "file:///../", "file:///no/", "file:////"):
        with pytest.raises(NotFoundError):
            folder.read_folder(uri)


def test_a_folder_larger_than_an_answer_is_refused(folder: ReportFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: it is told, and nothing is cut."""
    monkeypatch.setattr(report_folder, "MAX_BYTES", 3)
    with pytest.raises(TooLargeError):
        folder.read_folder("file:///weekly/")
