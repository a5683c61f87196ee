"""`/docs`: the OpenAPI document as a page for people, without scripts and without a network (SPEC O5).

Owns what the page says of an operation. The document is `openapi_routes.py`'s, the template `render/templates`'.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from itertools import groupby
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from planner_mcp.errors import error_catalogue
from planner_mcp.render.html_templates import render
from planner_mcp.server.http.routes.dashboard_routes import PAGE_HEADERS, REST_PAGE
from planner_mcp.text import Json

_REF: Final = "#/components/schemas/"


def reference_routes(read_document: Callable[[], Json]) -> list[Route]:
    """Return the route of the page of a document, which is read and drawn when it is asked for first."""

    @cache
    def page() -> str:
        return reference_page(read_document())

    async def answer(_request: Request) -> Response:
        return Response(page(), media_type="text/html", headers=PAGE_HEADERS)

    return [Route(REST_PAGE, answer)]


def reference_page(document: Json) -> str:
    """Return the page."""
    found = [
        _described(document, path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    order = [tag["name"] for tag in document["tags"]]
    found.sort(key=lambda operation: order.index(operation["tag"]))
    groups = [
        {"name": name, "operations": list(alike)}
        for name, alike in groupby(found, key=lambda operation: operation["tag"])
    ]
    info = document["info"]
    about = {"title": info["title"], "version": info["version"], "about": info["description"]}
    return render("rest_reference.html", groups=groups, errors=error_catalogue(), openapi=document["openapi"], **about)


def _described(document: Json, path: str, method: str, operation: Json) -> Json:
    scopes = [scope for needed in operation["security"] for names in needed.values() for scope in names]
    return {
        "tag": operation["tags"][0],
        "name": operation["operationId"],
        "method": method.upper(),
        "path": path,
        "title": operation["summary"],
        "description": operation.get("description", ""),
        "scope": ", ".join(scopes),
        "answers": ", ".join(operation["responses"]),
        "fields": [*_parameters(operation), *_members(document, operation)],
        "call": _call(document, path, method, operation),
    }


def _parameters(operation: Json) -> Iterator[Json]:
    for parameter in operation["parameters"]:
        yield {
            "name": parameter["name"],
            "where": parameter["in"],
            "is_required": parameter["required"],
            "type": type_text(parameter["schema"]),
            "meaning": parameter.get("description", ""),
        }


def _members(document: Json, operation: Json) -> Iterator[Json]:
    """Yield the members of a JSON body."""
    schema = _json_of(operation.get("requestBody", {})).get("schema", {})
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].removeprefix(_REF)]
    for name, member in schema.get("properties", {}).items():
        yield {
            "name": name,
            "where": "body",
            "is_required": name in schema.get("required", ()),
            "type": type_text(member),
            "meaning": member.get("description", ""),
        }


def _json_of(body: Json) -> Json:
    found: Json = body.get("content", {}).get("application/json", {})
    return found


def _call(document: Json, path: str, method: str, operation: Json) -> str:
    """Return a call by curl."""
    url = document["servers"][0]["url"].rstrip("/") or "$PLANNER"
    words = ["curl", *(("-X", method.upper()) if method not in ("get", "post") else ()), f"{url}{path}"]
    if body := _json_of(operation.get("requestBody", {})):
        example = json.dumps(body.get("example", {}), ensure_ascii=False)
        words += ["-H 'Content-Type: application/json'", f"-d '{example}'"]
    elif "requestBody" in operation:
        words.append("--data-binary @FILE")
    return " ".join(words)


def type_text(schema: Json) -> str:
    """Return what a value may be, in words."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    if "$ref" in schema:
        return str(schema["$ref"].removeprefix(_REF))
    if "anyOf" in schema:
        return " or ".join(type_text(each) for each in schema["anyOf"] if each != {"type": "null"})
    kind = schema.get("type", "any")
    if kind == "array":
        return f"list of {type_text(schema.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)
