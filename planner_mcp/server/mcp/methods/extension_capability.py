"""Declares an MCP extension: to every client that discovers, at a handshake to those alone that declared it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import CallNext, HandlerResult

from planner_mcp.server.mcp.request_context import Context, declares


@dataclass(frozen=True)
class ExtensionCapability:
    """One extension.

    Args:
        name: Its identifier.
        settings: What the server declares under it.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    def install(self, server: Any) -> None:
        """Add it to the capabilities of the SDK's server."""
        server.extensions[self.name] = dict(self.settings)
        server.middleware.append(self._layer)

    async def _layer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """Declare it at a handshake too, whose revisions have no extensions, where the client has declared it."""
        result = await call_next(ctx)
        if ctx.method != "initialize" or not isinstance(result, dict) or not is_asked_for(ctx, self.name):
            return result
        capabilities = result["capabilities"]
        extensions = {**(capabilities.get("extensions") or {}), self.name: dict(self.settings)}
        return {**result, "capabilities": {**capabilities, "extensions": extensions}}


def is_asked_for(ctx: Context, extension: str) -> bool:
    """Return whether the client declares an extension: on this request, at its handshake, or by opening one."""
    opened = (ctx.params or {}).get("capabilities") if ctx.method == "initialize" else None
    return declares(ctx, extension) or extension in ((opened or {}).get("extensions") or {})
