"""`GET /manifest` and `GET /.well-known/mcp/manifest` (SPEC M1).

Owns the HTTP half: entity tag, caching, any origin may read. The document is `manifest/`'s.
"""

import hashlib
import json
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import manifest
from planner_mcp.settings import Settings

PATHS: Final = ("/manifest", "/.well-known/mcp/manifest")
MAX_AGE_S: Final = 300


def served(settings: Settings) -> dict[str, Any]:
    """Return the manifest of a deployment: the committed one, with addresses under its public URL."""
    document = manifest.load()
    if settings.public_url:
        path = document["oauth"]["resource_metadata"]
        document["oauth"]["resource_metadata"] = settings.public_url.rstrip("/") + path
    return document


def manifest_routes(settings: Settings) -> list[Route]:
    """Return the routes to mount."""
    body = json.dumps(served(settings), ensure_ascii=False, separators=(",", ":")).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {
        "ETag": tag,
        "Cache-Control": f"public, max-age={MAX_AGE_S}",
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Expose-Headers": "ETag",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }

    async def answer(request: Request) -> Response:
        if _is_known(request.headers.get("if-none-match", ""), tag):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    return [Route(path, answer) for path in PATHS]


def _is_known(header: str, tag: str) -> bool:
    """Return whether a client has the document (RFC 9110 §13.1.2: weak comparison)."""
    return any(each.strip().removeprefix("W/") in (tag, "*") for each in header.split(","))
