"""Which properties of a JSON Schema have no description."""

from collections.abc import Iterator
from typing import Any


def undescribed(schema: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each property without a description, however deep it lies."""
    if isinstance(schema, list):
        for each in schema:
            yield from undescribed(each, path)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            if key != "properties":
                yield from undescribed(value, path)
        for name, field in schema.get("properties", {}).items():
            if not field.get("description"):
                yield f"{path}/{name}"
            yield from undescribed(field, f"{path}/{name}")
