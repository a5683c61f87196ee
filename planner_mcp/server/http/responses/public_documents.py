"""Public documents: entity tag, caching, any origin (RFC 9110 §13.1.2)."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planner_mcp.text import Json, compact

MAX_AGE_S: Final = 300


def document_routes(
    paths: Sequence[str], make: Callable[[], Json], media_type: str = "application/json"
) -> list[Route]:
    """Return the routes that serve a document, the same at each path; the first request makes it."""

    @cache
    def made() -> tuple[bytes, dict[str, str]]:
        body = compact(make()).encode()
        return body, {
            "ETag": entity_tag(body),
            "Cache-Control": f"public, max-age={MAX_AGE_S}",
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Expose-Headers": "ETag",
            "Cross-Origin-Resource-Policy": "cross-origin",
        }

    async def answer(request: Request) -> Response:
        return tagged(request, *made(), media_type)

    return [Route(path, answer) for path in paths]


def tagged(request: Request, body: bytes, headers: Mapping[str, str], media_type: str) -> Response:
    """Return a body whose entity tag stands in its headers, or 304 where the client has it."""
    if names_tag(request.headers.get("if-none-match", ""), headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, media_type)


def entity_tag(body: bytes) -> str:
    """Return the strong entity tag of a body."""
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def names_tag(header: str, tag: str) -> bool:
    """Return whether `If-None-Match` or `If-Match` names a tag, by weak comparison."""
    return any(each.strip().removeprefix("W/") in (tag, "*") for each in header.split(","))
