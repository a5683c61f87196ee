"""Declares capabilities that the SDK does not know of its own accord.

Owns the layer around the answer to a handshake. An extension is declared to every client that discovers, at a handshake
to those alone that declared it.
"""

from collections.abc import Callable, Collection
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


def declare_extension(server: Any, name: str, settings: Json) -> None:
    """Add an extension, and what the server declares under it, to the capabilities of the SDK's server.

    It is declared at a handshake too, whose revisions have no extensions, where the client has declared it.
    """

    def at_handshake(ctx: Context, answer: Json) -> Json:
        declared = answer["capabilities"].get("extensions") or {}
        return {"extensions": {**declared, name: settings}} if is_asked_for(ctx, name) else {}

    server.extensions[name] = settings
    add_capabilities(server, at_handshake)


def is_asked_for(ctx: Context, extension: str) -> bool:
    """Return whether the client declares an extension: on this request, at its handshake, or by opening one."""
    opened = (ctx.params or {}).get("capabilities") if ctx.method == "initialize" else None
    return declares(ctx, extension) or extension in ((opened or {}).get("extensions") or {})
