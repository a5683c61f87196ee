"""What a resource is, before any protocol carries it.

Owns the shapes: a template that names a kind of thing, an entry of a list, contents that were read, and the reading
that asks for them. `server/mcp/methods/resource_methods.py` turns them into MCP's words.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from planner_mcp.jobs.job_service import JobService
from planner_mcp.jobs.principals import READ, Principal
from planner_mcp.server.resources.report_folder import ReportFolder
from planner_mcp.travel.route_geometry import RouteGeometry

if TYPE_CHECKING:
    from planner_mcp.jobs.store.security.audit_log import AuditLog

JSON: Final = "application/json"
SHORTLY_MS: Final = 1_000
"""Time for which contents that change may be reused."""
LONG_MS: Final = 3_600_000
"""Time for which contents that never change again may be reused."""


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Who reads, and from what."""

    principal: Principal
    job_service: JobService
    reports: ReportFolder
    logs: "AuditLog"
    """Whoever reads it has checked the admin scope."""
    geometry: RouteGeometry | None = None
    """None: routes are drawn straight from stop to stop."""
    roads: Path | None = None
    """The register whose roads maps show; None: maps have a grid."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What was read: text or bytes, never both."""

    mime_type: str
    text: str | None = None
    data: bytes | None = None
    ttl_ms: int = SHORTLY_MS
    """How long it may be reused."""
    is_public: bool = False
    """Whether a shared cache may keep it."""
    masked: tuple[str, ...] = ()
    """Fields of a scenario that are hidden in the text, which says so itself, at its beginning."""
    meta: Mapping[str, Any] | None = None
    """`_meta` of the contents over MCP."""

    @property
    def body(self) -> bytes:
        """The contents as they are sent over HTTP or written to a file."""
        return self.data if self.data is not None else (self.text or "").encode()


Read = Callable[[ReadContext, Mapping[str, str]], Awaitable[Contents]]
"""`(reading, variables of the URI) → contents`; raises `NotFoundError` for what is unknown or somebody else's."""


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """How a resource is shown in a list."""

    name: str
    title: str
    description: str
    mime_type: str
    audience: tuple[str, ...] = ("user", "assistant")
    priority: float = 0.5
    """1: hardly anything works without it; 0: quite optional."""


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of resource, named by a URI template (RFC 6570, level 1)."""

    uri_template: str
    metadata: ResourceMetadata
    read: Read
    scope: str = READ
    optional: frozenset[str] = field(default_factory=frozenset)
    """Variables of the query that may be left out, or that the template does not show."""


@dataclass(frozen=True, slots=True)
class ResourceEntry:
    """A resource in a list."""

    uri: str
    metadata: ResourceMetadata
    size: int | None = None
    """Bytes, where known."""
    modified_at: datetime | None = None
