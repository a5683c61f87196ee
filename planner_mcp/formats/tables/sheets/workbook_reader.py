"""Tables of a workbook (SPEC T5).

Owns the process that reads it. The reader is native code fed with strangers' bytes: what makes it run out of memory
takes down its process, which must not be the server's.
"""

import json
import subprocess
import sys
from typing import Final

from planner_mcp.errors import Fault, TooLargeError, input_error
from planner_mcp.formats.tables.sheets.text_tables import Table, check_size, too_large
from planner_mcp.formats.tables.sheets.workbook_package import MAX_UNPACKED_BYTES
from planner_mcp.text import Json

LONGEST_S: Final = 20.0


def read_workbook(data: bytes, *, max_rows: int, sheet: str = "") -> dict[str, Table]:
    """Return the table of `tickets`, and of `agents` and of `locations` where sheets are named so.

    Args:
        sheet: Of the tickets; empty to find it: one of a usual name, or the only one.

    Raises:
        TooLargeError: There is more in it than allowed.
        InputError: All that is wrong with it, by sheet, row and column.
    """
    check_size(data)
    if "\0" in sheet:
        raise input_error([Fault("sheet", "There is no such sheet.", "the name of a sheet")])
    command = [sys.executable, "-P", "-m", "planner_mcp.formats.tables.sheets.sheet_reader", sheet, str(max_rows)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, timeout=LONGEST_S, check=False)  # noqa: S603
        output: Json = json.loads(done.stdout) if done.returncode == 0 else {}
    except subprocess.TimeoutExpired:
        output = {}
    if "faults" in output:
        faults = [Fault(**fault) for fault in output["faults"]]
        if output["is_too_large"]:
            raise TooLargeError(faults[0].problem, errors=faults)
        raise input_error(faults, found=output["found"])
    if "tables" not in output:
        problem = "The workbook takes more memory or time than allowed."
        raise too_large(
            "", problem, f"at most {MAX_UNPACKED_BYTES} bytes unpacked", "Save the sheets of the day alone."
        )
    return {
        kind: Table(tuple(headers), tuple(_row(headers, *row) for row in rows), name, tuple(notices))
        for kind, (headers, rows, name, notices) in output["tables"].items()
    }


def _row(headers: list[str], number: int, cells: list[str]) -> tuple[int, dict[str, str]]:
    return number, {header: cell for header, cell in zip(headers, cells, strict=True) if cell}
