"""Removes a slash at the end of a path, for every layer and route behind it.

Starlette would redirect instead, to an address that it builds from the request: behind a proxy that terminates TLS,
that address would be plain HTTP.
"""

from starlette.types import ASGIApp, Receive, Scope, Send


class TrailingSlashMiddleware:
    """The outermost ASGI layer.

    Args:
        app: What is behind.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request without the slash."""
        if scope["type"] == "http" and scope["path"].endswith("/"):
            scope["path"] = scope["path"][:-1] or "/"
        await self._app(scope, receive, send)
