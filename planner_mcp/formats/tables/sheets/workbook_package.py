"""The file of a workbook, opened within limits: XLSX, ODS or an older XLS (SPEC T5, X3).

Owns what is no workbook we read (encrypted, binary XLSB, with macros) and the bombs a ZIP archive can be. What passes
is packed again without compression: the reader sees the very bytes that were counted here.
"""

import io
import zipfile
import zlib
from dataclasses import dataclass, field
from typing import Final, Literal

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.tables.sheets.text_tables import OLE2, check_size, refuse_what_has_no_table, too_large

MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
MAX_PARTS: Final = 500
ACCEPTED: Final = "a workbook as .xlsx, .ods or .xls"
_OPEN_DOCUMENT: Final = b"application/vnd.oasis.opendocument.spreadsheet"
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_MACROS: Final = "_VBA_PROJECT_CUR".encode("utf-16-le")
"""The folder of macros in an older workbook."""
_HAS_PASSWORD: Final = 0x1
"""Flag of an entry of an archive."""
Parts = dict[str, bytes]


@dataclass(frozen=True, slots=True)
class WorkbookPackage:
    """A workbook that may be read."""

    kind: Literal["xlsx", "ods", "xls"]
    data: bytes
    """The whole, as the reader takes it."""
    parts: Parts = field(default_factory=dict)
    """Its files by name; none of an older workbook."""


def opened(data: bytes) -> WorkbookPackage:
    """Return a workbook by the bytes of its file.

    Raises:
        TooLargeError: It is larger than allowed, packed or unpacked.
        InputError: It is no such workbook, with what to do about it.
    """
    check_size(data)
    refuse_what_has_no_table(data)
    if data.startswith(OLE2):
        if _ENCRYPTED in data:
            raise _refusal("The workbook is encrypted.", "Save it without a password.")
        if _MACROS in data:
            raise _refusal("The workbook has macros.", "Save it as .xlsx, without macros.")
        return WorkbookPackage("xls", data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_size(archive.infolist())
            parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError):
        raise _refusal("The file is not a workbook, or it is cut off.", "Save it as .xlsx again.") from None
    is_open_document = parts.get("mimetype", b"").strip() == _OPEN_DOCUMENT
    _check_kind(parts, is_open_document=is_open_document)
    return WorkbookPackage("ods" if is_open_document else "xlsx", _packed(parts), parts)


def _check_size(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse by what the directory says; the standard library reads no more of a part than that."""
    if any(entry.flag_bits & _HAS_PASSWORD for entry in entries):
        raise _refusal("The workbook is encrypted.", "Save it without a password.")
    if len(entries) > MAX_PARTS or sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        accepted = f"at most {MAX_UNPACKED_BYTES} bytes, {MAX_PARTS} parts"
        problem = f"The workbook unpacks to more than {MAX_UNPACKED_BYTES} bytes or {MAX_PARTS} parts."
        raise too_large("", problem, accepted, "Save the sheets of the day alone.")


def _check_kind(parts: Parts, *, is_open_document: bool) -> None:
    if any("vbaproject" in name.lower() or name.startswith(("xl/macrosheets/", "Basic/")) for name in parts):
        raise _refusal("The workbook has macros.", "Save it as .xlsx, without macros.")
    if is_open_document:
        if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
            raise _refusal("The workbook is encrypted.", "Save it without a password.")
        return
    if "xl/workbook.bin" in parts:
        raise _refusal("The file is a binary .xlsb.", "Save it as .xlsx.")
    if "xl/workbook.xml" not in parts:
        raise _refusal("The file is an archive, but not a workbook.", "Save it as .xlsx.")


def _packed(parts: Parts) -> bytes:
    """Return parts as an archive without compression."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return file.getvalue()


def _refusal(problem: str, hint: str) -> Exception:
    return input_error([Fault("", problem, ACCEPTED, hint)])
