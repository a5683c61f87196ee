"""OpenAPI documents and configurations of bridges, small enough to read."""

import json
from pathlib import Path
from typing import Any

from planner_mcp.bridge.bridge_config import ToolConfig
from planner_mcp.bridge.openapi_document import OpenApiDocument
from planner_mcp.bridge.operation_arguments import OperationArguments, arguments_of
from planner_mcp.text import Json


def document(*, version: str = "3.1.0", **operations: Json) -> Json:
    """Return a document whose operations are at a path of their own: `get_x={…}` is GET /get_x."""
    return {
        "openapi": version,
        "info": {"title": "orders", "version": "1"},
        "servers": [{"url": "https://orders.example.com/v2"}],
        "paths": {
            f"/{name}": {name.partition("_")[0]: {"operationId": name, **body}} for name, body in operations.items()
        },
    }


def parameter(name: str, place: str = "query", **further: Any) -> Json:
    return {"name": name, "in": place, "schema": {"type": "string"}, **further}


def json_body(schema: Json, *, required: bool = True) -> Json:
    return {"requestBody": {"required": required, "content": {"application/json": {"schema": schema}}}}


def arguments(body: Json, operation: str, **config: Any) -> OperationArguments:
    """Return the arguments of an operation of a document."""
    read = OpenApiDocument(body)
    found = read.operation(operation)
    assert found is not None
    return arguments_of(read, found, ToolConfig(operation=operation, **config), "/tools/0")


def config(*tools: Json, **further: Any) -> Json:
    """Return the configuration of a bridge beside `document.json`."""
    return {"document": "document.json", "name": "orders", "tools": list(tools), **further}


def written(folder: Path, body: Json, configured: Json) -> Path:
    """Write both files; return the path of the configuration."""
    (folder / "document.json").write_text(json.dumps(body), encoding="utf-8")
    path = folder / "bridge.json"
    path.write_text(json.dumps(configured), encoding="utf-8")
    return path
