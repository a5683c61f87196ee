"""Workbooks, written part by part: what a spreadsheet saves, and what it never would."""

import io
import zipfile
from collections.abc import Mapping
from xml.sax.saxutils import escape, quoteattr

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
GENERAL, TIME, DAY, MOMENT, SPAN = range(5)
"""Styles of cells."""
STYLES = "".join(f'<xf numFmtId="{form}"/>' for form in (0, 20, 14, 22, 46))


def cell(place: str, value: str | float, style: int = GENERAL) -> str:
    """Return the XML of a cell of text or of a number."""
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}" s="{style}"><v>{value}</v></c>'


def rows_of(*rows: tuple[str | float, ...]) -> str:
    """Return the XML of rows of plain cells."""
    return "".join(
        f'<row r="{number}">{"".join(cell(f"{chr(64 + at)}{number}", each) for at, each in enumerate(row, 1))}</row>'
        for number, row in enumerate(rows, 1)
    )


def sheet_xml(rows: str, *, merged: str = "") -> str:
    """Return the XML of a sheet."""
    merges = "".join(f'<mergeCell ref="{each}"/>' for each in merged.split())
    merges = f"<mergeCells>{merges}</mergeCells>" if merges else ""
    return f"<worksheet {MAIN}><sheetData>{rows}</sheetData>{merges}</worksheet>"


def workbook(
    sheets: Mapping[str, str], *, hidden: tuple[str, ...] = (), more: Mapping[str, str | bytes] | None = None
) -> bytes:
    """Return a workbook of sheets by name, given as XML, with further parts."""
    names, types, relations = "", "", ""
    for number, name in enumerate(sheets, 1):
        state = ' state="hidden"' if name in hidden else ""
        names += f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="r{number}"{state}/>'
        types += f'<Override PartName="/xl/worksheets/s{number}.xml" ContentType="{TYPE}.worksheet+xml"/>'
        relations += f'<Relationship Id="r{number}" Type="{OFFICE}/worksheet" Target="worksheets/s{number}.xml"/>'
    relations += f'<Relationship Id="rs" Type="{OFFICE}/styles" Target="styles.xml"/>'
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        f'<Override PartName="/xl/workbook.xml" ContentType="{TYPE}.sheet.main+xml"/>{types}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook {MAIN} xmlns:r="{OFFICE}"><sheets>{names}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>',
        "xl/styles.xml": f'<styleSheet {MAIN}><cellXfs count="5">{STYLES}</cellXfs></styleSheet>',
    }
    parts |= {f"xl/worksheets/s{number}.xml": xml for number, xml in enumerate(sheets.values(), 1)}
    return archive(parts | dict(more or {}))


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """Return parts as a compressed archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, part in parts.items():
            made.writestr(name, part)
    return file.getvalue()


OPEN_SHEETS = "application/vnd.oasis.opendocument.spreadsheet"
SCHEMAS = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
)
CALC = 'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'


def open_cell(value: str | float, attributes: str = "") -> str:
    """Return the XML of a cell of an OpenDocument, with further attributes."""
    kind = 'string"' if isinstance(value, str) else f'float" office:value="{value}"'
    text = f"<text:p>{escape(str(value))}</text:p>"
    return f'<table:table-cell office:value-type="{kind} {attributes}>{text}</table:table-cell>'


def open_row(*cells: str | float, attributes: str = "") -> str:
    """Return the XML of a row of an OpenDocument; a cell that is XML stands as it is."""
    made = (each if isinstance(each, str) and each.startswith("<") else open_cell(each) for each in cells)
    return f"<table:table-row {attributes}>{''.join(made)}</table:table-row>"


def open_workbook(sheets: Mapping[str, str], *, more: Mapping[str, str | bytes] | None = None) -> bytes:
    """Return an OpenDocument of sheets by name, given as rows, with further parts."""
    tables = "".join(f"<table:table table:name={quoteattr(name)}>{rows}</table:table>" for name, rows in sheets.items())
    body = f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
    content = f'<office:document-content {SCHEMAS} {CALC} office:version="1.2">{body}</office:document-content>'
    return archive(
        {"mimetype": OPEN_SHEETS, "content.xml": content, "META-INF/manifest.xml": "<m/>"} | dict(more or {})
    )
