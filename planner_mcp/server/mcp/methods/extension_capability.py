"""Declares capabilities that the SDK does not know of its own accord.

Owns the layer around the answer to a handshake. An extension is declared to every client that discovers, at a handshake
to those alone that declared it.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.server.context import CallNext, HandlerResult

from planner_mcp.server.mcp.request_context import Context, declares
from planner_mcp.text import Json

Added = Callable[[Context, Json], Json]
"""Returns the capabilities that are added to an answer; the request and the answer are its arguments."""


def add_capabilities(server: Any, added: Added, methods: Collection[str] = ("initialize",)) -> None:
    """Add capabilities to the answers that the SDK's server gives to some methods."""

    async def layer(ctx: Context, call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method not in methods or not isinstance(result, dict):
            return result
        return {**result, "capabilities": {**result["capabilities"], **added(ctx, result)}}

    server.middleware.append(layer)


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
        add_capabilities(server, self._at_handshake)

    def _at_handshake(self, ctx: Context, answer: Json) -> Json:
        """Declare it at a handshake too, whose revisions have no extensions, where the client has declared it."""
        if not is_asked_for(ctx, self.name):
            return {}
        declared = answer["capabilities"].get("extensions") or {}
        return {"extensions": {**declared, self.name: dict(self.settings)}}


def is_asked_for(ctx: Context, extension: str) -> bool:
    """Return whether the client declares an extension: on this request, at its handshake, or by opening one."""
    opened = (ctx.params or {}).get("capabilities") if ctx.method == "initialize" else None
    return declares(ctx, extension) or extension in ((opened or {}).get("extensions") or {})
