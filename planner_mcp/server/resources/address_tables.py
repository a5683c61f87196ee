"""Tables of resolved addresses, `addresses://{digest}/addresses.csv`: what is too long for an answer (SPEC O4).

Owns its cells, those of `planner-mcp addresses` too, and under which name a table is kept: beside the uploaded files of
its principal, so that `import_scenario` takes it as `file`, for as long as they are kept.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Final

from planner_mcp.addresses.structured_address import ResolvedAddress
from planner_mcp.errors import NotFoundError
from planner_mcp.formats.tables.cells.formula_quotes import safe_cell
from planner_mcp.formats.tables.sheets.resolved_addresses import RESOLVED_COLUMNS
from planner_mcp.jobs.job_ports import ImportStore
from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.jobs.records.import_records import UploadedFile
from planner_mcp.server.resources.resource_definition import Contents, ReadContext, ResourceMetadata, Template

MIME_TYPE: Final = "text/csv"
_DIGITS: Final = 12
"""Of the digest."""


def address_table(headers: Sequence[str], rows: Sequence[Mapping[str, str]], found: Sequence[ResolvedAddress]) -> str:
    """Return CSV with the cells of each row and what its address was resolved to; no header stands in it twice.

    Columns of an earlier resolution, and positions, are written anew; a note, status or source of a row's own is kept.

    Args:
        headers: Of the cells.
        rows: Cells by header.
        found: What became of the address of each row.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    kept = _kept(headers)
    writer.writerow([*kept.values(), *RESOLVED_COLUMNS])
    for cells, each in zip(rows, found, strict=True):
        row = (*(cells.get(header, "") for header in kept), *_added(each))
        writer.writerow([safe_cell(cell) for cell in row])
    return text.getvalue()


def _kept(headers: Sequence[str]) -> dict[str, str]:
    """Return the headers whose cells are kept, each with the one they get."""
    anew = RESOLVED_COLUMNS if set(RESOLVED_COLUMNS) <= set(headers) else ("lat", "lon")
    kept = (header for header in headers if header.casefold() not in anew)
    return {header: f"given_{header}" if header in RESOLVED_COLUMNS else header for header in kept}


def _added(each: ResolvedAddress) -> tuple[object, ...]:
    says = (each.confidence, each.status.value, each.address.label, each.source, " ".join(each.notes))
    if (where := each.position) is None:
        return ("", "", "none", "", *says)
    return (where.lat, where.lon, where.accuracy.value, f"{where.radius_m:g}", *says)


async def keep_table(imports: ImportStore, principal: Principal, table: bytes) -> tuple[str, str]:
    """Keep a table; return its URI and its name among the files of the principal. The same table has one name.

    Raises:
        QuotaExceededError: The principal has as many files as it may.
    """
    digest = sha256(table).hexdigest()[:_DIGITS]
    file = UploadedFile(table, is_confidential=principal.may(SENSITIVE))
    await imports.put_file(principal.id, _name(digest), file)
    return f"addresses://{digest}/addresses.csv", _name(digest)


def _name(digest: str) -> str:
    return f"addresses-{digest}.csv"


async def _read(reading: ReadContext, variables: Mapping[str, str]) -> Contents:
    file = await reading.job_service.imports.file(reading.principal.id, _name(variables["digest"]))
    if file.is_confidential and not reading.principal.may(SENSITIVE):
        raise NotFoundError
    return Contents(MIME_TYPE, file.data.decode())


ADDRESS_TABLE: Final = Template(
    "addresses://{digest}/addresses.csv",
    ResourceMetadata(
        "address-table", "Resolved addresses", "A table that resolve_addresses answered.", MIME_TYPE, ("user",), 0.2
    ),
    _read,
)
