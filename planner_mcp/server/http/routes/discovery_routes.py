"""Discovery: the manifest at `/manifest` (SPEC M1), the server card at `/mcp/server-card` and a catalogue that points
to it (SPEC M2), who issues tokens.

Owns paths and addresses, and what a deployment changes in the manifest. The documents come from `manifest/` and
`server/auth/bearer_challenge.py`.
Addresses come from the settings, never from a request, so a header cannot redirect clients.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final

from starlette.routing import Route

import manifest
import planner_mcp
from manifest import server_identity
from manifest.server_identity import ServerIdentity
from planner_mcp.jobs.limits.principal_limits import limits_of
from planner_mcp.server.auth.bearer_challenge import WELL_KNOWN, metadata_path, metadata_url, resource_metadata
from planner_mcp.server.http.responses.public_documents import document_routes
from planner_mcp.settings import Settings
from planner_mcp.text import Json

MANIFEST_PATHS: Final = ("/manifest", "/.well-known/mcp/manifest")
CARD_PATHS: Final = ("/mcp/server-card",)
CATALOGUE_PATHS: Final = ("/.well-known/ai-catalog.json", "/.well-known/mcp/catalog.json")
"""The second is where the draft looked first."""


def served_manifest(settings: Settings, document: Json | None = None) -> Json:
    """Return the manifest of a deployment: a document, its limits, and addresses under its public URL.

    Args:
        settings: Limits and addresses.
        document: The manifest of its server; the committed one where none is given.

    Where nobody authenticates there is no resource metadata either, so no link leads to it.
    """
    document = {**(document or manifest.load(settings.server)), "limits": limits_of(settings)}
    if not settings.has_auth:
        del document["oauth"]["resource_metadata"]
    elif settings.public_url:
        document["oauth"]["resource_metadata"] = metadata_url(mcp_url(settings))
    return document


def manifest_routes(settings: Settings, document: Json | None = None) -> list[Route]:
    """Return the routes to mount; the arguments are those of `served_manifest`."""
    return document_routes(MANIFEST_PATHS, partial(served_manifest, settings, document))


def discovery_routes(settings: Settings, revisions: Sequence[str], identity: ServerIdentity) -> list[Route]:
    """Return the routes to mount.

    Args:
        settings: Where this server is reached.
        revisions: Those of MCP it speaks, oldest first.
        identity: What it is called.
    """
    url = mcp_url(settings)
    card = partial(server_identity.server_card, planner_mcp.__version__, url, revisions, identity)
    catalogue = partial(server_identity.catalogue, url, identity)
    return [
        *document_routes(CARD_PATHS, card, server_identity.CARD_TYPE),
        *document_routes(CATALOGUE_PATHS, catalogue, server_identity.CATALOGUE_TYPE),
    ]


def metadata_routes(settings: Settings) -> list[Route]:
    """Return `/.well-known/oauth-protected-resource`, also with the resource's path behind it (RFC 9728 §3.1).

    There is none where no issuer is configured.
    """
    if (resource := settings.described_resource) is None:
        return []
    paths = tuple(dict.fromkeys((WELL_KNOWN, metadata_path(resource))))
    return document_routes(paths, partial(resource_metadata, resource, settings.token_issuers))


def mcp_url(settings: Settings) -> str:
    """Return where clients connect, as far as the settings say."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    base = settings.public_url or f"http://{host}:{settings.port}"
    return f"{base.rstrip('/')}/mcp"
