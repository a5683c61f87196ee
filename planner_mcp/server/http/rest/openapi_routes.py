"""`GET /openapi.json`: what REST offers, in one document, and `/docs`, a page that shows it (SPEC O5).

Owns what a deployment changes in the committed document: where it is, whether credentials are needed, and which tools
it allows. `manifest/rest_description.py` makes the document.
"""

from functools import partial
from typing import Final

from starlette.routing import Route

import manifest
from planner_mcp.server.http.responses.public_documents import document_routes
from planner_mcp.server.http.rest.rest_operations import OPERATIONS, offered_operations
from planner_mcp.server.http.rest.rest_reference import reference_routes
from planner_mcp.settings import Settings
from planner_mcp.text import Json

PATHS: Final = ("/openapi.json",)


def served_openapi(settings: Settings) -> Json:
    """Return the document of a deployment: its address, its credentials, the operations of its tools."""
    document = manifest.read(manifest.OPENAPI_PATH)
    hidden = {each.tool.name for each in OPERATIONS} - {each.tool.name for each in offered_operations(settings)}
    document["paths"] = {
        path: left
        for path, methods in document["paths"].items()
        if (left := {method: each for method, each in methods.items() if each["operationId"] not in hidden})
    }
    if settings.public_url:
        document["servers"] = [{"url": settings.public_url.rstrip("/")}]
    for methods in document["paths"].values():
        for operation in methods.values():
            operation["security"] = operation["security"][:1] if settings.has_auth else []
    document["security"] = document["security"][:1] if settings.has_auth else []
    return document


def openapi_routes(settings: Settings) -> list[Route]:
    """Return the routes to mount."""
    make = partial(served_openapi, settings)
    return [*document_routes(PATHS, make), *reference_routes(make)]
