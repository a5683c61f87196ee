"""The challenge for a caller without the right token, and the metadata that says where to get one.

Owns the `WWW-Authenticate` challenge (RFC 6750 §3, RFC 9728 §5.1) and the protected resource metadata (RFC 9728 §3).
URLs come from the configured public URL alone, never from a request header.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit

from planner_mcp.jobs.principals import SCOPES
from planner_mcp.text import Json

WELL_KNOWN: Final = "/.well-known/oauth-protected-resource"


def metadata_path(resource: str) -> str:
    """Return the path-suffixed well-known path of a resource, e.g. `/.well-known/oauth-protected-resource/mcp`."""
    return WELL_KNOWN + urlsplit(resource).path.rstrip("/")


def metadata_url(resource: str) -> str:
    """Return the absolute URL of a resource's metadata."""
    parts = urlsplit(resource)
    return f"{parts.scheme}://{parts.netloc}{metadata_path(resource)}"


def resource_metadata(resource: str, issuers: Sequence[str]) -> Json:
    """Return the RFC 9728 document of this server."""
    return {
        "resource": resource,
        "resource_name": "planner-mcp",
        "authorization_servers": list(issuers),
        "scopes_supported": sorted(SCOPES),
        "bearer_methods_supported": ["header"],
    }


def challenge(resource: str | None, scopes: Iterable[str], *, error: str | None = None, description: str = "") -> str:
    """Return a `WWW-Authenticate` value.

    Args:
        resource: This server's resource identifier; None where it has no token issuer to point to.
        scopes: All scopes the call needs, named at once.
        error: `invalid_token` or `insufficient_scope`; None where no token came (RFC 6750 §3.1 asks for no code then).
        description: Plain ASCII text without quotes.
    """
    parts = [] if resource is None else [f'resource_metadata="{metadata_url(resource)}"']
    parts.append(f'scope="{" ".join(sorted(scopes))}"')
    if error is not None:
        parts.insert(0, f'error="{error}"')
        if description:
            parts.insert(1, f'error_description="{description.translate(_NO_QUOTES)}"')
    return "Bearer " + ", ".join(parts)


_NO_QUOTES: Final = str.maketrans({'"': "'", "\\": "/"})
