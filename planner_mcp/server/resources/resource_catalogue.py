"""Every kind of resource, and reading by URI.

Owns the order of the templates and the one answer for what cannot be read: unknown, malformed and somebody else's are
never distinguished (SPEC A2).
"""

from typing import Final

import anyio.to_thread

from planner_mcp.errors import NotFoundError
from planner_mcp.jobs.principals import READ
from planner_mcp.server.resources.address_tables import ADDRESS_TABLE
from planner_mcp.server.resources.app_page import APP
from planner_mcp.server.resources.day_plan_resources import DAY_FILE
from planner_mcp.server.resources.export_resources import CSV, GEOJSON, GPX, XLSX
from planner_mcp.server.resources.json_resources import JOB, JOBS, LIMITS, LOG, PLAN, RESULT, SCENARIO, SCHEMA, WORKERS
from planner_mcp.server.resources.map_roads import ROADS
from planner_mcp.server.resources.rendering_resources import CALENDAR, MAP_PNG, MAP_SVG, REPORT, SHEETS
from planner_mcp.server.resources.report_folder import ROOT, mime_type_of
from planner_mcp.server.resources.resource_definition import Contents, ReadContext, ResourceMetadata, Template
from planner_mcp.server.resources.skill_files import SKILL_FILE
from planner_mcp.server.resources.text_logs import JOB_LOG, LOG_TEXT
from planner_mcp.server.resources.uri_templates import variables_of

TEMPLATES: Final = (
    SCENARIO,
    RESULT,
    JOB,
    JOB_LOG,
    JOBS,
    PLAN,
    MAP_SVG,
    MAP_PNG,
    REPORT,
    SHEETS,
    CALENDAR,
    CSV,
    XLSX,
    GEOJSON,
    GPX,
    DAY_FILE,
    LOG,
    LOG_TEXT,
)
"""Always in this order."""
FIXED: Final = (LIMITS, SCHEMA, WORKERS)
"""Kinds of which there is one: listed with the resources, not with the templates."""
UNLISTED: Final = (APP, ROADS, SKILL_FILE, ADDRESS_TABLE)
"""What only pages read, clients that load skills, and who was given its URI."""
REPORT_FILE: Final = ResourceMetadata("report", "Static report", "A file of the folder of reports.", "", ("user",), 0.3)
FILE_TEMPLATE: Final = ROOT + "{+path}"
FILES_TTL_MS: Final = 60_000
_TEXT: Final = ("text/", "application/json", "application/geo+json", "image/svg+xml")


async def read_contents(reading: ReadContext, uri: str) -> Contents:
    """Return the contents of a resource.

    Raises:
        NotFoundError: Nothing, or nothing of the principal's, has this URI.
        InsufficientScopeError: Logs without the admin scope, anything without the scope to read.
    """
    if uri.startswith(ROOT):
        return await _file(reading, uri)
    for template in (*TEMPLATES, *FIXED, *UNLISTED):
        if (variables := variables_of(template, uri)) is not None:
            reading.principal.require(template.scope)
            return await template.read(reading, variables)
    raise NotFoundError


async def read_all(reading: ReadContext, uri: str) -> dict[str, Contents]:
    """Return what a URI names, by URI: one resource, or of a folder of reports each that lies in it.

    Raises:
        NotFoundError, InsufficientScopeError: As `read_contents`.
    """
    if not (uri.startswith(ROOT) and uri.endswith("/")):
        return {uri: await read_contents(reading, uri)}
    reading.principal.require(READ)
    found = await anyio.to_thread.run_sync(reading.reports.read_folder, uri)
    return {each: _report(each, data) for each, data in found.items()}


async def _file(reading: ReadContext, uri: str) -> Contents:
    reading.principal.require(READ)
    return _report(uri, await anyio.to_thread.run_sync(reading.reports.read, uri))


def _report(uri: str, data: bytes) -> Contents:
    mime_type = mime_type_of(uri)
    if mime_type.startswith(_TEXT):
        try:
            return Contents(mime_type, data.decode(), ttl_ms=FILES_TTL_MS)
        except UnicodeDecodeError:
            pass  # a table in another encoding travels as bytes
    return Contents(mime_type, data=data, ttl_ms=FILES_TTL_MS)


def is_named(uri: str) -> bool:
    """Return whether a URI has the form of a resource that a template names; whether there is one it does not say."""
    return any(variables_of(template, uri) is not None for template in TEMPLATES)


def forms(reading: ReadContext, uri: str) -> list[str]:
    """Return the URIs a principal may read, names to be filled in: those that begin as one does, else all.

    What a URI begins with is all that counts, so that nothing is revealed of the names in it (SPEC A2).
    """
    known = [template.uri_template for template in (*templates_for(reading), *fixed_for(reading))] + [FILE_TEMPLATE]
    return [form for form in known if form.partition("//")[0] == uri.partition("//")[0]] or known


def fixed_for(reading: ReadContext) -> tuple[Template, ...]:
    """Return the kinds of which there is one that a principal may read."""
    return tuple(kind for kind in FIXED if reading.principal.may(kind.scope))


def templates_for(reading: ReadContext) -> tuple[Template, ...]:
    """Return the templates a principal may read."""
    return tuple(template for template in TEMPLATES if reading.principal.may(template.scope))
