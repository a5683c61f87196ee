"""The lists a deployment offers, and `list_changed` when one of them changes (SPEC T9, R2).

Owns the fingerprints of the lists of tools, prompts and kinds of resources. A replica that starts compares its own
with those in the store; if another version or other settings changed a list, every client that listens is notified,
at any replica. A change for one principal alone (its API keys) is announced where it is made. New scenarios and jobs
are followed by subscriptions, not by `list_changed`.
"""

import json
from typing import Any

import manifest
from planner_mcp.jobs.store.sessions.subscription_store import SubscriptionStore
from planner_mcp.server.mcp.methods.extension_capability import add_capabilities
from planner_mcp.server.mcp.notifications.resource_subscriptions import LISTS
from planner_mcp.server.mcp.request_context import Context
from planner_mcp.server.prompts.prompt_registry import PROMPTS
from planner_mcp.server.resources.app_page import page_uri
from planner_mcp.server.resources.resource_catalogue import TEMPLATES
from planner_mcp.server.tools.tool_registry import shown_tools
from planner_mcp.settings import Settings
from planner_mcp.text import Json, digest_of


class ListCapabilities:
    """What one replica offers.

    Args:
        settings: Which tool sets are shown and allowed, and whether there are reports.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def install(self, server: Any) -> None:
        """Declare `listChanged` at the handshake. Over stdio only tools change, by `enable_toolset`."""
        add_capabilities(server, _changing)

    async def publish(self, store: SubscriptionStore) -> None:
        """Make this replica's offer the deployment's."""
        for kind, fingerprint in self.fingerprints().items():
            await store.publish_fingerprint(kind, fingerprint)

    def fingerprints(self) -> dict[str, str]:
        """Return a short text for each list that differs when the list does.

        What tools look like is taken from the committed manifest, so that a start does not describe them all again.
        """
        shown = [tool.name for tool in shown_tools(self._settings)]
        allowed = [tool.name for tool in shown_tools(self._settings, f"all,{self._settings.toolsets}")]
        tools = [shown, allowed, manifest.load()["tools"], self._settings.lang, page_uri()]
        prompts = [prompt.as_json(self._settings.lang) for prompt in PROMPTS]
        kinds = [(template.uri_template, template.metadata.name, template.scope) for template in TEMPLATES]
        resources = [kinds, self._settings.reports_dir is not None]
        return {
            "tools": _digest(tools),
            "resources": _digest(resources),
            "prompts": _digest(prompts),
        }


def _changing(ctx: Context, answer: Json) -> Json:
    kinds = LISTS if ctx.request is not None else ("tools",)
    return {kind: {**has, "listChanged": True} for kind, has in answer["capabilities"].items() if kind in kinds}


def _digest(value: Any) -> str:
    return digest_of(json.dumps(value, sort_keys=True))[:32]
