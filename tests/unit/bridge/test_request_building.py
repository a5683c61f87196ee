"""Requests: how values are written, and what callers cannot change."""

import json
from typing import Any

import pytest

from planner_mcp.bridge.request_building import BridgeRequest, bridge_request
from planner_mcp.errors import InputError
from tests.shared.bridge.bridge_documents import arguments, document, json_body, parameter

COLORS = ["red", "g,n", "b l"]


def _request(
    operation: dict[str, Any], values: dict[str, Any], query_names: frozenset[str] = frozenset()
) -> BridgeRequest:
    found = arguments(document(post_a=operation), "post_a")
    given = [(each, values[each.name]) for each in found.offered if each.name in values]
    return bridge_request("POST", "/a/{id}", given, query_names)


@pytest.mark.parametrize(
    ("further", "value", "query"),
    [
        ({}, "ü &", "c=%C3%BC%20%26"),
        ({}, True, "c=true"),
        ({}, 2.5, "c=2.5"),
        ({}, COLORS, "c=red&c=g%2Cn&c=b%20l"),
        ({"explode": False}, COLORS, "c=red,g%2Cn,b%20l"),
        ({"style": "pipeDelimited"}, COLORS, "c=red%7Cg%2Cn%7Cb%20l"),
        ({"style": "spaceDelimited"}, COLORS, "c=red%20g%2Cn%20b%20l"),
        ({}, {"r": 1, "g": "x=1"}, "r=1&g=x%3D1"),
        ({"explode": False}, {"r": 1, "g": 2}, "c=r,1,g,2"),
        (
            {"style": "deepObject"},
            {"a": {"b": 1}, "c": [1, 2], "d[]": "x"},
            "c%5Ba%5D%5Bb%5D=1&c%5Bc%5D=1&c%5Bc%5D=2&c%5Bd%5B%5D%5D=x",
        ),
    ],
)
def test_query_parameters_are_written_as_their_style_says(further: Any, value: Any, query: str) -> None:
    """SPEC O5: OpenAPI 3.1, Parameter Object; style, explode, deepObject in any depth."""
    request = _request({"parameters": [parameter("c", schema={}, **further)]}, {"c": value})
    assert request.path == f"/a/{{id}}?{query}"


def test_a_parameter_of_json_is_written_as_json() -> None:
    """SPEC O5: OpenAPI 3.1, Parameter Object; content."""
    holder = {"name": "where", "in": "query", "content": {"application/json": {"schema": {}}}}
    assert _request({"parameters": [holder]}, {"where": {"a": [1]}}).path.endswith("?where=%7B%22a%22%3A%5B1%5D%7D")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("?x#y", "/a/%3Fx%23y"),
        ("%2e%2e", "/a/%252e%252e"),
        (7, "/a/7"),
        (["x", "y"], "/a/x,y"),
    ],
)
def test_a_path_keeps_its_segments(value: Any, path: str) -> None:
    """SPEC O5: no value leads to another path."""
    assert _request({"parameters": [parameter("id", "path")]}, {"id": value}).path == path


@pytest.mark.parametrize("value", ["", ".", "..", "a/../b", "5/payments", "a\\b", ["a/b"]])
def test_a_segment_that_is_none_is_refused(value: Any) -> None:
    """RFC 3986, 5.2.4: dot segments move the path, and so does a slash at a service that decodes before it routes."""
    with pytest.raises(InputError, match="cannot be sent"):
        _request({"parameters": [parameter("id", "path")]}, {"id": value})


@pytest.mark.parametrize(
    ("further", "key", "query"),
    [({}, "tenant", "y=1"), ({}, "tenant[]", "y=1"), ({"style": "deepObject"}, "x", "c%5By%5D=1")],
)
def test_a_key_of_an_object_is_no_other_parameter(further: dict[str, Any], key: str, query: str) -> None:
    """SPEC O5: a constant, what is hidden and the credential of the query stay as they are."""
    operation, names = {"parameters": [parameter("c", schema={}, **further)]}, frozenset({"c", "tenant", "c[x]"})
    assert _request(operation, {"c": {"y": 1}}, names).path.endswith(f"?{query}")
    with pytest.raises(InputError, match="cannot be sent"):
        _request(operation, {"c": {"y": 1, key: "other"}}, names)


@pytest.mark.parametrize(
    ("written", "value", "path"),
    [
        (parameter("id", "path"), "group/plan", "/a/group%2Fplan"),
        (parameter("c", schema={}), {"tenant": "7"}, "/a/{id}?tenant=7"),
    ],
)
def test_a_constant_is_encoded_and_sent_whatever_it_is(written: dict[str, Any], value: Any, path: str) -> None:
    """SPEC O5: a constant is the operator's; services take paths as ids, as GitLab does."""
    found = arguments(document(post_a={"parameters": [written]}), "post_a", constants={written["name"]: value})
    assert bridge_request("POST", "/a/{id}", found.constants, frozenset({"c", "tenant"})).path == path


def test_a_key_of_an_object_is_no_key_of_a_constant() -> None:
    """SPEC O5: what a constant object writes into the query stays as it is."""
    operation = {"parameters": [parameter("fixed", schema={}), parameter("c", schema={})]}
    found = arguments(document(post_a=operation), "post_a", constants={"fixed": {"tenant": "7"}})
    (offered,), names = found.offered, frozenset({"fixed", "c"})
    request = bridge_request("POST", "/a", [*found.constants, (offered, {"y": 1})], names)
    assert request.path == "/a?tenant=7&y=1"
    with pytest.raises(InputError, match="cannot be sent"):
        bridge_request("POST", "/a", [*found.constants, (offered, {"tenant": "8"})], names)


@pytest.mark.parametrize("value", ["a\r\nHost: evil", "ü", "\x00"])
def test_a_header_carries_printable_ascii_alone(value: str) -> None:
    """RFC 9110, 5.5: no value makes another header."""
    with pytest.raises(InputError, match="cannot be sent"):
        _request({"parameters": [parameter("X-Day", "header")]}, {"X-Day": value})
    assert _request({"parameters": [parameter("X-Day", "header")]}, {"X-Day": "1"}).headers == {"x-day": "1"}


def test_a_list_within_a_parameter_is_refused() -> None:
    """SPEC O5: OpenAPI 3.1; nested values have no form in a query."""
    with pytest.raises(InputError, match="cannot be sent"):
        _request({"parameters": [parameter("c", schema={})]}, {"c": [[1]]})


def test_a_body_is_put_together_again() -> None:
    """SPEC O5: what was flattened goes back where it was."""
    place = {"type": "object", "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}}}
    schema = {"type": "object", "properties": {"id": {}, "at": place}}
    request = _request(json_body(schema), {"id": "x", "at_lat": 1.5, "at_lon": 2})
    assert json.loads(request.body) == {"id": "x", "at": {"lat": 1.5, "lon": 2}}
    assert request.headers == {"content-type": "application/json"}
    assert _request(json_body({"type": "array", "items": {}}), {"body": [1]}).body == b"[1]"
    assert _request(json_body(schema, required=False), {}).body == b""
