"""Gives each request the language of its texts: the one its `Accept-Language` asks for, else the server's.

Lists of tools, prompts and resources are in the server's language whatever a request asks for: clients and shared
caches keep them (revision 2026-07-28: `ttlMs`, `cacheScope`), and they must not vary from connection to connection.
"""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from planner_mcp.translation import Language, preferred, use_language


class LanguageMiddleware:
    """An ASGI layer.

    Args:
        app: What is behind.
        language: The server's.
    """

    def __init__(self, app: ASGIApp, language: Language) -> None:
        self._app = app
        self._language: Language = language

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request in its language."""
        if scope["type"] == "http":
            use_language(preferred(Headers(scope=scope).get("accept-language", ""), self._language))
        await self._app(scope, receive, send)
