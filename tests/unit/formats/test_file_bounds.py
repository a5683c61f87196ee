"""The largest files that can be sent, read as an import reads them: time, memory and answer are bounded (SPEC T5, X3).

Each is close to what an upload may hold, or grows to that when it is unpacked. A file that is refused is refused by
name; what the limits of the process end would say only that there is too much.
"""

import io
import zipfile
from collections.abc import Callable

import pytest

from planner_mcp.bounded_calls.bounded_call import bounded_call
from planner_mcp.bounded_calls.call_frames import CallLimits
from planner_mcp.bounded_calls.call_server import OUT_OF_BOUNDS
from planner_mcp.errors import PlannerError
from planner_mcp.formats.import_formats import read_scenario_file
from planner_mcp.formats.json_content import Content
from planner_mcp.formats.tables.import_options import Form, ImportOptions
from tests.shared.formats.workbook_files import rows_of, sheet_xml, workbook

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
LIMITS = CallLimits(cpu_s=12.0, wall_s=100.0, memory_mb=1024)
MAX_ANSWER = 8000
"""Characters."""
MAX_TICKETS, MAX_AGENTS = 5000, 1000
OLE2 = bytes.fromhex("d0cf11e0a1b11ae1")


def nested_archive(depth: int) -> bytes:
    """Return archives in an archive, ten million zeros in the innermost."""
    data = b"0" * 10_000_000
    for _ in range(depth):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", data)
            archive.writestr("inner.zip", data)
        data = file.getvalue()
    return data


def vrplib(size: int, weights: str, *sections: str) -> bytes:
    """Return an instance with a customer at each node but the first."""
    demands = "".join(f"{node} {int(node > 1)}\n" for node in range(1, size + 1))
    head = f"NAME : x\nTYPE : CVRP\nDIMENSION : {size}\nCAPACITY : 100\n{weights}"
    return f"{head}DEMAND_SECTION\n{demands}{''.join(sections)}DEPOT_SECTION\n1\n-1\nEOF\n".encode()


def explicit(size: int) -> bytes:
    """Return an instance with a whole table."""
    kind = "EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"
    return vrplib(size, kind + ("1 " * size + "\n") * size)


def plane(size: int, *sections: str) -> bytes:
    """Return an instance in the plane."""
    rows = "".join(f"{node} {node} {node}\n" for node in range(1, size + 1))
    return vrplib(size, f"VEHICLES : 1000\nEDGE_WEIGHT_TYPE : EUC_2D\nNODE_COORD_SECTION\n{rows}", *sections)


def clients(name: str, size: int) -> str:
    """Return a section that lists every node for every vehicle."""
    nodes = " ".join(map(str, range(2, size + 1)))
    return f"{name}_SECTION\n" + "".join(f"{vehicle} {nodes}\n" for vehicle in range(1, 1001))


def wide_table(rows: int, columns: int) -> bytes:
    """Return a table of many columns that are no field."""
    lines = [",".join(f"h{number}" for number in range(columns)), *[",".join(["1"] * columns)] * rows]
    return "\n".join(lines).encode()


FILES: dict[str, tuple[Form, Callable[[], bytes], bool]] = {
    "a million rows of text": ("csv", lambda: b"id,lat,lon\n" + b"1,2,3\n" * 1_000_000, False),
    "rows without a word": ("csv", lambda: b"id,lat,lon\n" + b",,\n" * 5_000_000, False),
    "lines without a cell": ("csv", lambda: b"id,lat,lon\n" + b"\n" * 19_000_000, False),
    "one cell": ("csv", lambda: b"id\n" + b"x" * 19_900_000, False),
    "quotes alone": ("csv", lambda: b"id\n" + b'"' * 19_900_000, False),
    "5000 rows of 200 cells": ("csv", lambda: wide_table(5000, 200), False),
    "a workbook of as many rows as a sheet has": (
        "xlsx",
        lambda: workbook({"Orders": sheet_xml(rows_of(("id", "lat", "lon"), *[("a", 1, 2)] * 1_048_575))}),
        False,
    ),
    "a workbook of a million empty rows": (
        "xlsx",
        lambda: workbook({"Orders": sheet_xml("".join(f'<row r="{number}"/>' for number in range(1, 1_048_577)))}),
        False,
    ),
    "archives in an archive": ("xlsx", lambda: nested_archive(6), False),
    "an encrypted workbook": (
        "xlsx",
        lambda: OLE2 + bytes(15_000_000) + "EncryptedPackage".encode("utf-16-le"),
        False,
    ),
    "an encrypted workbook said to be text": ("csv", lambda: OLE2 + bytes(15_000_000), False),
    "VRPLIB: as many nodes as allowed": ("vrplib", lambda: plane(5000), True),
    "VRPLIB: a table of nine million numbers": ("vrplib", lambda: explicit(3000), True),
    "VRPLIB: two million clients of vehicles": (
        "vrplib",
        lambda: plane(2000, clients("VEHICLES_ALLOWED_CLIENTS", 2000)),
        True,
    ),
    "VRPLIB: two million reloads": ("vrplib", lambda: plane(2000, clients("VEHICLES_RELOAD_DEPOT", 2000)), True),
    "VRPLIB: a size that no table follows": ("vrplib", lambda: b"DIMENSION : 999999999\nTYPE : CVRP\n", False),
    "Solomon: a million customers": (
        "solomon",
        lambda: b"c\nVEHICLE\nNUMBER CAPACITY\n5000 10\nCUSTOMER\n" + b"1 2 3 4 5 6 7\n" * 1_400_000,
        False,
    ),
    "VROOM: two million jobs": (
        "vroom",
        lambda: b'{"vehicles":[],"jobs":[' + b",".join([b'{"id":1}'] * 2_000_000) + b"]}",
        False,
    ),
    "GeoJSON: a million points": (
        "geojson",
        lambda: b'{"type":"FeatureCollection","features":[' + b",".join([b'{"type":"Feature"}'] * 1_000_000) + b"]}",
        False,
    ),
    "JSON: nineteen million brackets": ("vroom", lambda: b"[" * 19_000_000, False),
}
"""By name: the form, the file, and whether it is read rather than refused."""


def read(data: bytes, form: Form) -> int:
    """Return the tickets of a file."""
    depot = "1,2" if form in ("csv", "xlsx", "geojson") else ""
    import_options = ImportOptions("n", "2025-07-15", depot=depot)
    content = Content(data)
    found = read_scenario_file(content, form, import_options, max_tickets=MAX_TICKETS, max_agents=MAX_AGENTS)
    return len(found.body["tickets"])


@pytest.mark.parametrize("name", FILES)
async def test_the_largest_files_are_read_or_refused_within_bounds(name: str) -> None:
    """SPEC T5, X3: at most 12 s of CPU, 1 GiB and 8000 characters; the refusal says what is too much."""
    form, made, is_read = FILES[name]
    try:
        tickets = await bounded_call(read, made(), form, limits=LIMITS)
    except PlannerError as error:
        assert OUT_OF_BOUNDS not in error.message
        assert len(str(error.as_json("trace"))) <= MAX_ANSWER
        assert not is_read
    else:
        assert is_read
        assert tickets > 0
