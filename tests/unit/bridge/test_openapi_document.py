"""Documents: versions, operations and references."""

from typing import Any

import pytest

from planner_mcp.bridge.openapi_document import OpenApiDocument
from planner_mcp.errors import InputError
from tests.shared.bridge.bridge_documents import document, parameter


@pytest.mark.parametrize("version", ["3.0.0", "3.0.4", "3.1.0", "3.1.1"])
def test_both_versions_are_read(version: str) -> None:
    """SPEC O5: OpenAPI 3.0 and 3.1."""
    found = OpenApiDocument(document(version=version, get_orders={}))
    assert [each.id for each in found.operations] == ["get_orders"]


@pytest.mark.parametrize(
    "body",
    [{"swagger": "2.0"}, {"openapi": "2.0"}, {"openapi": "3.2.0"}, {"openapi": 3.1}, {"openapi": "3.1.0x"}, {}],
)
def test_other_versions_are_refused(body: dict[str, Any]) -> None:
    """SPEC O5: what a document is, it says."""
    with pytest.raises(InputError, match="says") as refused:
        OpenApiDocument({"paths": {}, **body})
    assert refused.value.errors[0].accepted == "OpenAPI 3.0 or 3.1"


def test_an_operation_is_found_by_its_id_and_by_method_and_path() -> None:
    """Our choice: documents without operationIds can be served too."""
    body = document(get_orders={"summary": "Orders"})
    body["paths"]["/orders/{id}"] = {"delete": {}, "parameters": [parameter("id", "path")]}
    found = OpenApiDocument(body)
    operation = found.operation("delete /orders/{id}")
    assert operation is not None
    assert (operation.id, operation.method, operation.parameters[0]["name"]) == ("DELETE /orders/{id}", "DELETE", "id")
    assert found.operation("get_orders") == found.operation("GET /get_orders")
    assert found.operation("absent") is None


def test_a_parameter_of_the_operation_takes_the_place_of_one_of_its_path() -> None:
    """SPEC O5: OpenAPI 3.1, Path Item Object."""
    body = document(get_orders={"parameters": [parameter("day", description="own")]})
    body["paths"]["/get_orders"]["parameters"] = [parameter("day", description="path"), parameter("day", "header")]
    operation = OpenApiDocument(body).operation("get_orders")
    assert operation is not None
    assert [(each["in"], each.get("description")) for each in operation.parameters] == [
        ("query", "own"),
        ("header", None),
    ]


def test_an_id_that_stands_twice_is_refused_with_both_places() -> None:
    """SPEC O5: OpenAPI 3.1; operationId is unique."""
    body = document(get_a={"operationId": "same"}, post_b={"operationId": "same"})
    with pytest.raises(InputError, match="GET /get_a, POST /post_b"):
        OpenApiDocument(body)


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("https://evil.example/x.json", "leads out"),
        ("other.yaml#/a", "leads out"),
        ("file:///etc/passwd", "leads out"),
        ("#/components/absent", "leads nowhere"),
        ("#/servers/²", "leads nowhere"),
        ("#/components/parameters/loop", "in a circle"),
        ("#/info/title", "not an object"),
    ],
)
def test_references_stay_within_the_document(reference: str, problem: str) -> None:
    """SPEC O5: a remote reference is refused, and nothing is asked for it."""
    body = document(get_orders={"parameters": [{"$ref": reference}]})
    body["components"] = {"parameters": {"loop": {"$ref": "#/components/parameters/loop"}}}
    with pytest.raises(InputError, match=problem):
        OpenApiDocument(body)


@pytest.mark.parametrize(
    "paths",
    [
        None,
        [],
        {"orders": {}},
        {"/a": 1},
        {"/a": {"get": []}},
        {"/a": {"get": {"parameters": {}}}},
        {"/a": {"get": {"parameters": [1]}}},
    ],
)
def test_broken_paths_are_refused(paths: Any) -> None:
    """SPEC T7: wrong types are told."""
    with pytest.raises(InputError):
        OpenApiDocument({"openapi": "3.1.0", "paths": paths})
