"""Who this server is, for whoever looks for servers: registry entry, server card, catalogue (SPEC M2).

Owns the server's name in registries and the forms of the three documents. None of them names a tool: what a server
offers is the manifest's and the lists' to say. Forms: MCP registry `server.json` (2025-12-11), MCP server cards
(SEP-2127, a draft) and AI catalogues (`specVersion` draft).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

NAME: Final = "io.github.planner-mcp/planner-mcp"
"""In reverse DNS, as registries ask; whoever publishes a fork sets their own."""
TITLE: Final = "VRP Planner"
DESCRIPTION: Final = "Async, job-oriented vehicle routing: scenarios become jobs, jobs become verified plans."
"""At most 100 characters, the registry's limit."""
PACKAGE: Final = "planner-mcp"
REGISTRY_PATH: Final = Path(__file__).parents[1] / "server.json"
CARD_TYPE: Final = "application/mcp-server-card+json"
CATALOGUE_TYPE: Final = "application/ai-catalog+json"
_REGISTRY_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def registry_entry(version: str) -> dict[str, Any]:
    """Return `server.json`: how to run this server from its package."""
    url = {"name": "PLANNER_REDIS_URL", "description": "Redis or Valkey to use; empty: a bundled one."}
    sets = {"name": "PLANNER_TOOLSETS", "description": "Tool sets shown.", "default": "core"}
    package = {
        "registryType": "pypi",
        "identifier": PACKAGE,
        "version": version,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
        "environmentVariables": [url, sets],
    }
    return {"$schema": _REGISTRY_SCHEMA, **_about(version), "packages": [package]}


def server_card(version: str, mcp_url: str, revisions: Sequence[str]) -> dict[str, Any]:
    """Return the card of a deployment: where it is and which revisions it speaks."""
    remote = {"type": "streamable-http", "url": mcp_url, "supportedProtocolVersions": list(revisions)}
    return {"$schema": _CARD_SCHEMA, **_about(version), "remotes": [remote]}


def catalogue(mcp_url: str) -> dict[str, Any]:
    """Return the catalogue of a domain that has this server alone."""
    publisher = urlsplit(mcp_url).hostname or "localhost"
    entry = {
        "identifier": f"urn:air:{publisher}:{NAME.rpartition('/')[2]}",
        "displayName": TITLE,
        "type": CARD_TYPE,
        "url": f"{mcp_url}/server-card",
    }
    return {"specVersion": "draft", "entries": [entry]}


def _about(version: str) -> dict[str, Any]:
    return {"name": NAME, "title": TITLE, "description": DESCRIPTION, "version": version}
