"""Writes, or checks, the manifests, `openapi.json`, `server.json`, and the files of plugins and bundles.

The manifests come from the objects that answer `tools/list` and check input.

`python -m manifest.manifest_builder` writes, `python -m manifest.manifest_builder --check` fails when a committed file
is stale (SPEC M2). The documents are a function of the code alone, save one date, and of no settings: `last_updated`
is the day of the build that first said something else than the committed file. Building again keeps it, so any commit
builds the same.
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import manifest
import planner_mcp
from manifest import install_files, resource_schemas, rest_description, server_identity
from manifest.argument_examples import with_examples
from manifest.generated_files import write_or_check
from manifest.server_identity import registry_entry
from planner_mcp.errors import error_catalogue
from planner_mcp.jobs.events.event_types import TYPES
from planner_mcp.jobs.principals import READ
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.auth.bearer_challenge import WELL_KNOWN
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.resource_catalogue import FILE_TEMPLATE, FIXED, REPORT_FILE, TEMPLATES, UNLISTED
from planner_mcp.server.resources.skill_files import skills
from planner_mcp.server.tools.answers.error_results import ErrorOutput
from planner_mcp.server.tools.answers.notification_schemas import callback_payload_schema
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.server.tools.tool_output import whole_schema
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, OFFERS, REGISTRY, ServerOffer

SCHEMA_VERSION: Final = "2025-06-18"
"""The form of the manifest itself, as the design names it."""

_SHARED: Final = {"create_scenario": "Scenario"}
"""Tools whose input is a shared schema."""


def build(today: str, server: str = "planner") -> dict[str, Any]:
    """Return the manifest, with the date of the committed one where it says the same, else with today's."""
    fresh = _planner_manifest(today) if server == "planner" else tools_manifest(OFFERS[server], today)
    old = _committed(server)
    dated = fresh | {"last_updated": old.get("last_updated")}
    return dated if dated == old else fresh


def _committed(server: str) -> dict[str, Any]:
    """Return the committed manifest, empty where there is none or a merge left its marks in it."""
    try:
        return manifest.load(server)
    except (FileNotFoundError, ValueError):
        return {}


def tools_manifest(offer: ServerOffer, last_updated: str, further: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the manifest of a server that has tools and no more, unless `further` says so."""
    return {
        "schema_version": SCHEMA_VERSION,
        "name": offer.name,
        "title": offer.title,
        "description": offer.description,
        "version": planner_mcp.__version__,
        "last_updated": last_updated,
        "capabilities": {},
        "oauth": {"resource_metadata": WELL_KNOWN + "/mcp", "resource_indicators_supported": True},
        "tools": [_tool(tool) for tool in offer.tools],
        "resources": [],
        "prompts": [],
        **(further or {}),
        "errors": [{"code": code, **entry} for code, entry in error_catalogue().items()],
        "components": {"schemas": {"Error": whole_schema(ErrorOutput)}},
    }


def _planner_manifest(last_updated: str) -> dict[str, Any]:
    further = {
        "name": "vrp-planner-mcp",
        "capabilities": _capabilities(),
        "tools": [_tool(tool) for tool in (*REGISTRY, *APP_REGISTRY)],
        "resources": _resources(),
        "prompts": [prompt.as_json() for prompt in PROMPTS],
        "events": [{**each.as_json(), "scope": each.scope} for each in TYPES],
        "skills": [skill.as_json() for skill in skills()],
    }
    return tools_manifest(OFFERS["planner"], last_updated, further) | {"components": {"schemas": _components()}}


def _capabilities() -> dict[str, Any]:
    return {
        "callback": {
            "field": "callback_url",
            "methods": ["webhook"],
            "description": "Signed (Standard Webhooks) POST of each final notification of a job.",
        },
        "notifications": {
            "supported": True,
            "events": ["progress", "complete", "cancelled"],
            "channel": "/jobs/{job_id}/events",
        },
        "elicitation": {},
    }


def _tool(tool: Tool) -> dict[str, Any]:
    shared = _SHARED.get(tool.name)
    payload = {"callbackPayloadSchema": callback_payload_schema()} if tool.hints.callback else {}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.described(),
        "inputSchema": {"$ref": resource_schemas.SCHEMAS + shared} if shared else with_examples(tool.input_schema),
        "returns": tool.output_schema,
        "annotations": tool.annotations,
        "_meta": tool.meta | payload,
    }


def _resources() -> list[dict[str, Any]]:
    """Return what can be read: templates as `resources/templates/list` shows them with all scopes, and the rest."""
    named = [(template.uri_template, template.metadata, template.scope) for template in (*TEMPLATES, *FIXED, *UNLISTED)]
    return [
        {
            "uriTemplate": uri_template,
            "name": metadata.name,
            "title": metadata.title,
            "description": metadata.description,
            **({"mimeType": metadata.mime_type} if metadata.mime_type else {}),
            "annotations": {"audience": list(metadata.audience), "priority": metadata.priority},
            "scope": scope,
            **resource_schemas.described(metadata),
        }
        for uri_template, metadata, scope in [*named, (FILE_TEMPLATE, REPORT_FILE, READ)]
    ]


def _components() -> dict[str, Any]:
    schema = Scenario.model_json_schema(ref_template=resource_schemas.SCHEMAS + "{model}")
    schema, parts = with_examples(schema), with_examples(schema.pop("$defs", {}))
    parts |= resource_schemas.components()
    return {"Scenario": schema, **dict(sorted(parts.items())), "Error": whole_schema(ErrorOutput)}


def texts(today: str) -> dict[Path, str]:
    """Return each committed file with what it should hold."""
    documents = {
        manifest.PATH: build(today),
        manifest.ADDRESS_PATH: build(today, "address"),
        manifest.OPENAPI_PATH: rest_description.document(),
        server_identity.REGISTRY_PATH: registry_entry(planner_mcp.__version__, server_identity.PLANNER),
        server_identity.ADDRESS_REGISTRY_PATH: registry_entry(planner_mcp.__version__, server_identity.ADDRESS),
        **install_files.documents(planner_mcp.__version__),
    }
    project = {install_files.BUNDLE / "pyproject.toml": install_files.bundle_project(planner_mcp.__version__)}
    return {path: json.dumps(body, ensure_ascii=False, indent=2) + "\n" for path, body in documents.items()} | project


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them; return the exit status."""
    fresh = texts(f"{datetime.now(UTC):%Y-%m-%d}T00:00:00Z")
    return write_or_check(fresh, arguments, command="make manifest")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
