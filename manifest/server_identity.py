"""The identity of this server for directories of servers: registry entry, server card, catalogue (SPEC M2).

Owns the server's name in registries and the forms of the three documents. What is installed from files, such as
plugins, is `manifest/install_files.py`. None of them names a tool: what a server offers is the manifest's and the
lists' to say. Forms: MCP registry `server.json` (2025-12-11), MCP server cards (SEP-2127, a draft) and AI catalogues
(`specVersion` draft).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What one server of the package is called."""

    name: str
    """In reverse DNS, as registries ask; whoever publishes a fork sets their own."""
    title: str
    description: str
    """At most 100 characters, the registry's limit."""
    command: str = ""
    """After the name of the package; empty for none."""


PLANNER: Final = ServerIdentity(
    "io.github.planner-mcp/planner-mcp",
    "VRP Planner",
    "Async, job-oriented vehicle routing: scenarios become jobs, jobs become verified plans.",
)
ADDRESS: Final = ServerIdentity(
    "io.github.planner-mcp/planner-mcp-address",
    "Address resolver",
    "Addresses, Chinese and Western, to positions with radius and confidence; offline first.",
    "address",
)
PACKAGE: Final = "planner-mcp"
AUTHOR: Final = "The planner-mcp authors"
LICENSE: Final = "MIT"
KEYWORDS: Final = ("mcp", "vehicle-routing", "vrp", "optimization", "logistics")
REPOSITORY: Final = f"https://github.com/{PLANNER.name.removeprefix('io.github.')}"
"""Registries take a name under `io.github` only from the owner of this repository."""
IMAGE: Final = f"ghcr.io/{PLANNER.name.removeprefix('io.github.')}"
REGISTRY_PATH: Final = Path(__file__).parents[1] / "server.json"
ADDRESS_REGISTRY_PATH: Final = Path(__file__).parents[1] / "server-address.json"
CARD_TYPE: Final = "application/mcp-server-card+json"
CATALOGUE_TYPE: Final = "application/ai-catalog+json"
_REGISTRY_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_CARD_SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json"


def registry_entry(version: str, identity: ServerIdentity) -> dict[str, Any]:
    """Return `server.json`: how to run a server from the package."""
    url = {"name": "PLANNER_REDIS_URL", "description": "Redis or Valkey to use; empty: a bundled one."}
    sets = {"name": "PLANNER_TOOLSETS", "description": "Tool sets shown.", "default": "core"}
    services = {
        "name": "PLANNER_GEOCODERS",
        "description": "Geocoding services as JSON; empty: offline.",
        "isSecret": True,
    }
    settings = [url, services if identity.command else sets]
    arguments = [{"type": "positional", "value": identity.command}] if identity.command else []
    packages = [_python_package(version), _image(version)]
    common = {"transport": {"type": "stdio"}, "environmentVariables": settings}
    return {
        "$schema": _REGISTRY_SCHEMA,
        **_about(version, identity),
        "repository": {"url": REPOSITORY, "source": "github"},
        "websiteUrl": REPOSITORY,
        "packages": [
            {**package, **({"packageArguments": arguments} if arguments else {}), **common} for package in packages
        ],
    }


def _python_package(version: str) -> dict[str, Any]:
    return {"registryType": "pypi", "identifier": PACKAGE, "version": version, "runtimeHint": "uvx"}


def _image(version: str) -> dict[str, Any]:
    """Return the image as a registry names it: its tag is the version, and its default command is not stdio."""
    return {
        "registryType": "oci",
        "identifier": f"{IMAGE}:{version}",
        "runtimeHint": "docker",
        "runtimeArguments": [{"type": "named", "name": "--entrypoint", "value": PACKAGE}],
    }


def server_card(version: str, mcp_url: str, revisions: Sequence[str], identity: ServerIdentity) -> dict[str, Any]:
    """Return the card of a deployment: where it is and which revisions it speaks."""
    remote = {"type": "streamable-http", "url": mcp_url, "supportedProtocolVersions": list(revisions)}
    return {"$schema": _CARD_SCHEMA, **_about(version, identity), "remotes": [remote]}


def catalogue(mcp_url: str, identity: ServerIdentity) -> dict[str, Any]:
    """Return the catalogue of a domain that has this server alone."""
    publisher = urlsplit(mcp_url).hostname or "localhost"
    entry = {
        "identifier": f"urn:air:{publisher}:{identity.name.rpartition('/')[2]}",
        "displayName": identity.title,
        "type": CARD_TYPE,
        "url": f"{mcp_url}/server-card",
    }
    return {"specVersion": "draft", "entries": [entry]}


def _about(version: str, identity: ServerIdentity) -> dict[str, Any]:
    about = {"name": identity.name, "title": identity.title, "description": identity.description}
    return {**about, "version": version}
