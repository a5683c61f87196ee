"""The manifest: what this server offers, in one document that a client can read before it connects (SPEC M1).

Owns the committed `manifest.json`, `address_manifest.json` and their `schema.json`, and `openapi.json`. Reading needs
the standard library alone; `manifest.manifest_builder` makes the documents from the objects that answer `tools/list`.
"""

import json
from pathlib import Path
from typing import Any, Final

PATH: Final = Path(__file__).with_name("manifest.json")
ADDRESS_PATH: Final = Path(__file__).with_name("address_manifest.json")
"""That of the address server."""
OPENAPI_PATH: Final = Path(__file__).with_name("openapi.json")
"""What REST offers."""
SCHEMA_PATH: Final = Path(__file__).with_name("schema.json")
"""The JSON Schema that every manifest follows."""


def load(server: str = "planner") -> dict[str, Any]:
    """Return the committed manifest of a server: `planner` or `address`."""
    return read(ADDRESS_PATH if server == "address" else PATH)


def read(path: Path) -> dict[str, Any]:
    """Return one of the committed documents."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document
