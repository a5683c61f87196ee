"""`resources/list`, `resources/templates/list` and `resources/read`: the resources as MCP types (SPEC R1, R2).

Owns the translation and the code of an unknown resource: −32002 in revisions with a handshake, −32602 in 2026-07-28.
`planner_mcp.server.resources` owns the resources and how they are read.
"""

from base64 import b64encode
from collections.abc import Callable
from typing import Any, Final

import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from planner_mcp.errors import NotFoundError, PlannerError, PlanNotReadyError
from planner_mcp.jobs.principals import Principal
from planner_mcp.server.mcp.jsonrpc.jsonrpc_errors import rpc_data
from planner_mcp.server.mcp.kernel import LIST_TTL_MS
from planner_mcp.server.mcp.methods.page_cursors import Cursors
from planner_mcp.server.mcp.request_context import Context, require_reader
from planner_mcp.server.resources.resource_catalogue import FILE_TEMPLATE, REPORT_FILE, forms, read_all, templates_for
from planner_mcp.server.resources.resource_definition import (
    SHORTLY_MS,
    Contents,
    ReadContext,
    ResourceEntry,
    ResourceMetadata,
)
from planner_mcp.server.resources.resource_listing import ListPosition, resource_page
from planner_mcp.server.tools.arguments.lookup_errors import naming_argument
from planner_mcp.server.tools.discovery.read_resource import ID_HINT
from planner_mcp.text import timestamp
from planner_mcp.translation import Language, translated

NOT_FOUND: Final = -32002
_NAMED_BY_PEOPLE: Final = ("scenario://", "file://")
"""Resources whose titles people wrote."""


class Resources:
    """Serves resources.

    Args:
        open_reading: Returns what a principal reads from.
        cursors: Makes and reads cursors.
        language: Of titles and descriptions.
    """

    def __init__(self, open_reading: Callable[[Principal], ReadContext], cursors: Cursors, language: Language) -> None:
        self._language: Language = language
        self._open = open_reading
        self._cursors = cursors

    def install(self, server: Any) -> None:
        """Add the methods to the SDK's server."""
        server.add_request_handler("resources/list", types.PaginatedRequestParams, self.list_resources)
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, self.list_templates)
        server.add_request_handler("resources/read", types.ReadResourceRequestParams, self.read)

    async def list_resources(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """Answer `resources/list`."""
        principal = require_reader(ctx)
        place = self._cursors.read(ctx, params)
        position = ListPosition() if place is None else ListPosition.parse(place)
        entries, following = await resource_page(self._open(principal), position)
        return types.ListResourcesResult(
            resources=[_resource(entry, self._language) for entry in entries],
            next_cursor=self._cursors.make(ctx, following.as_text()) if following else None,
            ttl_ms=SHORTLY_MS,
            cache_scope="private",
        )

    async def list_templates(
        self, ctx: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Answer `resources/templates/list`."""
        reading = self._open(require_reader(ctx))
        found = [_template(each.uri_template, each.metadata, self._language) for each in templates_for(reading)]
        if reading.reports.root is not None:
            found.append(_template(FILE_TEMPLATE, REPORT_FILE, self._language))
        shown, following = self._cursors.page(ctx, params, found)
        return types.ListResourceTemplatesResult(
            resource_templates=shown,
            next_cursor=following,
            ttl_ms=LIST_TTL_MS,
            cache_scope="private",
        )

    async def read(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Answer `resources/read`."""
        reading = self._open(require_reader(ctx))
        try:
            with naming_argument("/uri", (", ".join(forms(reading, params.uri)), ID_HINT)):
                found = await read_all(reading, params.uri)
        except (NotFoundError, PlanNotReadyError) as error:
            raise _unknown(ctx, error, params.uri) from error
        return types.ReadResourceResult(
            contents=[_contents(uri, each) for uri, each in found.items()],
            ttl_ms=min(each.ttl_ms for each in found.values()),
            cache_scope="public" if all(each.is_public for each in found.values()) else "private",
        )


def _unknown(ctx: Context, error: PlannerError, uri: str) -> MCPError:
    code = types.INVALID_PARAMS if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS else NOT_FOUND
    return MCPError(code, error.translated_message(), {**rpc_data(error), "uri": uri[:2048]})


def _annotations(metadata: ResourceMetadata, modified: str | None = None) -> types.Annotations:
    return types.Annotations(audience=list(metadata.audience), priority=metadata.priority, last_modified=modified)


def _resource(entry: ResourceEntry, language: Language) -> types.Resource:
    title = entry.metadata.title
    modified = timestamp(entry.modified_at) if entry.modified_at is not None else None
    return types.Resource(
        uri=entry.uri,
        name=entry.metadata.name,
        title=title if entry.uri.startswith(_NAMED_BY_PEOPLE) else translated(title, language),
        description=translated(entry.metadata.description, language),
        mime_type=entry.metadata.mime_type,
        size=entry.size,
        annotations=_annotations(entry.metadata, modified),
    )


def _template(uri_template: str, metadata: ResourceMetadata, language: Language) -> types.ResourceTemplate:
    return types.ResourceTemplate(
        uri_template=uri_template,
        name=metadata.name,
        title=translated(metadata.title, language),
        description=translated(metadata.description, language),
        mime_type=metadata.mime_type or None,
        annotations=_annotations(metadata),
    )


def _contents(uri: str, found: Contents) -> types.TextResourceContents | types.BlobResourceContents:
    if found.data is not None:
        return types.BlobResourceContents(uri=uri, mime_type=found.mime_type, blob=b64encode(found.data).decode())
    meta = None if found.meta is None else dict(found.meta)
    return types.TextResourceContents(uri=uri, mime_type=found.mime_type, text=found.text or "", _meta=meta)
