"""The parts of an XLSX file, unpacked within limits (SPEC T5, X3).

Owns what is no workbook we read (older, encrypted, binary, with macros) and the bombs a ZIP archive can be. What passes
is packed again without compression: the reader sees the very bytes that were counted here.
"""

import io
import zipfile
import zlib
from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.formats.text_tables import check_size, refuse_markup, too_large

MAX_UNPACKED_BYTES: Final = 64 * 1024 * 1024
MAX_PARTS: Final = 500
_XLSX: Final = "a workbook as .xlsx"
_OLE2: Final = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED: Final = "EncryptedPackage".encode("utf-16-le")
_HAS_PASSWORD: Final = 0x1
"""Flag of an entry of an archive."""
Parts = dict[str, bytes]


def unpacked(data: bytes) -> Parts:
    """Return the parts of a workbook by name.

    Raises:
        TooLargeError: It is larger than allowed, packed or unpacked.
        InputError: It is no such workbook, with what to do about it.
    """
    check_size(data)
    refuse_markup(data)
    if data.startswith(_OLE2):
        if _ENCRYPTED in data:
            raise _refusal("The workbook is encrypted.", "Save it without a password.")
        raise _refusal("The file is an older .xls.", "Save it as .xlsx.")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check_file(archive.infolist())
            parts = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError):
        raise _refusal("The file is not a workbook, or it is cut off.", "Save it as .xlsx again.") from None
    _check_kind(parts)
    return parts


def _check_file(entries: list[zipfile.ZipInfo]) -> None:
    """Refuse by what the directory says; the standard library reads no more of a part than that."""
    if any(entry.flag_bits & _HAS_PASSWORD for entry in entries):
        raise _refusal("The workbook is encrypted.", "Save it without a password.")
    if len(entries) > MAX_PARTS or sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        accepted = f"at most {MAX_UNPACKED_BYTES} bytes, {MAX_PARTS} parts"
        problem = f"The workbook unpacks to more than {MAX_UNPACKED_BYTES} bytes or {MAX_PARTS} parts."
        raise too_large("", problem, accepted, "Save the sheets of the day alone.")


def _check_kind(parts: Parts) -> None:
    if any("vbaproject" in name.lower() or name.startswith("xl/macrosheets/") for name in parts):
        raise _refusal("The workbook has macros.", "Save it as .xlsx, without macros.")
    if "xl/workbook.bin" in parts:
        raise _refusal("The file is a binary .xlsb.", "Save it as .xlsx.")
    if "xl/workbook.xml" not in parts:
        raise _refusal("The file is an archive, but not a workbook of Excel.", "Save it as .xlsx.")


def packed(parts: Parts) -> bytes:
    """Return parts as an archive without compression."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return file.getvalue()


def _refusal(problem: str, hint: str) -> Exception:
    return input_error([Fault("", problem, _XLSX, hint)])
