"""An OpenAPI 3.0 or 3.1 document: its operations, found by `operationId` or by method and path.

Owns the document as it was written: references are followed within it and nowhere else, so that reading it asks no
network and no other file. `schema_expansion.py` makes JSON Schema of its schemas.

Source: OpenAPI Specification 3.0.4 and 3.1.1.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from planner_mcp.errors import Fault, input_error
from planner_mcp.text import Json, named, plain

METHODS: Final = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
VERSIONS: Final = re.compile(r"3\.[01]\.\d+")
MAX_OPERATIONS: Final = 10_000
MAX_HOPS: Final = 32
"""References in a row, each to the next."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as the document describes it."""

    id: str
    """Its `operationId`; method and path where it has none."""
    method: str
    """In capitals."""
    path: str
    """With its parameters in braces."""
    summary: str
    description: str
    parameters: tuple[Json, ...]
    """Those of its path first; references resolved."""
    body: Json | None
    """Its request body, resolved."""
    servers: tuple[Any, ...]
    """The nearest list of servers."""


class OpenApiDocument:
    """A document that was read.

    Raises:
        InputError: Another version, no paths, or an `operationId` that stands twice.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self._root = document
        self.is_3_0 = _version_of(document).startswith("3.0")
        self._operations = {operation.id: operation for operation in self._read_operations()}

    @property
    def operations(self) -> tuple[Operation, ...]:
        """Every operation, in the order of the document."""
        return tuple(self._operations.values())

    def operation(self, name: str) -> Operation | None:
        """Return an operation by its id, or by `GET /orders/{id}`; None where there is none."""
        if (found := self._operations.get(name)) is not None:
            return found
        method, _blank, path = name.partition(" ")
        return next((each for each in self.operations if (each.method, each.path) == (method.upper(), path)), None)

    def resolved(self, value: Any, path: str) -> Json:
        """Return an object of the document, its reference followed.

        Args:
            path: What is asked for, for the error.

        Raises:
            InputError: No object, or a reference that leads out of the document, nowhere, or in a circle.
        """
        for _hop in range(MAX_HOPS):
            if not isinstance(value, dict):
                raise input_error([Fault(path, "This is not an object.", "an object")])
            if not isinstance(reference := value.get("$ref"), str):
                return value
            value = self._target(reference, path)
        raise input_error([Fault(path, "The references lead in a circle.")])

    def _target(self, reference: str, path: str) -> Any:
        shown = plain(reference, 100)
        if not reference.startswith("#/"):
            hint = "Put what it refers to into the document: no other file and no network is asked."
            raise input_error([Fault(path, f"The reference {shown} leads out of the document.", "#/…", hint)])
        here: Any = self._root
        for part in unquote(reference[2:]).split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(here, list) and name in map(str, range(len(here))):
                here = here[int(name)]
            elif isinstance(here, dict) and name in here:
                here = here[name]
            else:
                raise input_error([Fault(path, f"The reference {shown} leads nowhere.")])
        return here

    def _read_operations(self) -> Iterator[Operation]:
        places: dict[str, list[str]] = {}
        for operation in self._all_operations():
            places.setdefault(operation.id, []).append(f"{operation.method} {operation.path}")
            if len(places) > MAX_OPERATIONS:
                raise input_error([Fault("/paths", "There are too many operations.", f"at most {MAX_OPERATIONS}")])
            yield operation
        if twice := {name: found for name, found in places.items() if len(found) > 1}:
            raise input_error(
                [
                    Fault("/paths", f"The operationId {plain(name, 64)} stands more than once: {named(found)}.")
                    for name, found in twice.items()
                ],
                most=10,
            )

    def _all_operations(self) -> Iterator[Operation]:
        for path, entry in self._root["paths"].items():
            if path.startswith("x-"):
                continue
            place = f"/paths/{plain(path, 100)}"
            if not path.startswith("/"):
                raise input_error([Fault(place, "The path does not begin with a slash.")])
            item = self.resolved(entry, place)
            for method in METHODS:
                if method in item:
                    yield self._operation(path, method, item, f"{place}/{method}")

    def _operation(self, path: str, method: str, item: Json, place: str) -> Operation:
        body = self.resolved(item[method], place)
        parameters = [
            self.resolved(each, f"{place}/parameters")
            for owner in (item, body)
            for each in _list_of(owner.get("parameters", []), f"{place}/parameters")
        ]
        # a parameter of the operation takes the place of one of its path
        last = {(str(each.get("in")), str(each.get("name"))): each for each in parameters}
        given = body.get("operationId")
        return Operation(
            given if isinstance(given, str) and given else f"{method.upper()} {path}",
            method.upper(),
            path,
            _words(body.get("summary") or item.get("summary")),
            _words(body.get("description") or item.get("description")),
            tuple(last.values()),
            self.resolved(body["requestBody"], f"{place}/requestBody") if "requestBody" in body else None,
            tuple(_list_of(body.get("servers") or item.get("servers") or self._root.get("servers") or [], "/servers")),
        )


def _version_of(document: Mapping[str, Any]) -> str:
    """Return the version of a document; refuse any but 3.0 and 3.1, and a document without paths."""
    version = document.get("openapi", document.get("swagger"))
    if not isinstance(version, str) or not VERSIONS.fullmatch(version) or "openapi" not in document:
        version_text = f"says {plain(str(version), 20)}" if version is not None else "says no version"
        hint = "Convert it to OpenAPI 3 first." if "swagger" in document else ""
        raise input_error([Fault("/openapi", f"The document {version_text}.", "OpenAPI 3.0 or 3.1", hint)])
    if not isinstance(document.get("paths"), dict):
        raise input_error([Fault("/paths", "The document has no paths.", "an object of paths")])
    return version


def _list_of(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise input_error([Fault(path, "This is not a list.", "a list")])
    return value


def _words(value: Any) -> str:
    return value if isinstance(value, str) else ""
