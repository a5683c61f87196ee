"""Arguments of bridged tools: names, schemas, and what cannot be served."""

from typing import Any

import jsonschema
import pytest

from planner_mcp.bridge import operation_arguments, schema_expansion
from planner_mcp.errors import InputError
from tests.shared.bridge.bridge_documents import arguments, document, json_body, parameter

CUSTOMER = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string"}, "phone": {"type": "string", "pattern": "^[0-9]+$"}},
}
ORDER = {
    "type": "object",
    "required": ["id", "customer"],
    "properties": {
        "id": {"type": "integer"},
        "customer": CUSTOMER,
        "billing": CUSTOMER,
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
        "made_at": {"type": "string", "readOnly": True},
    },
}


def test_a_body_is_flattened_beside_its_parameters() -> None:
    """SPEC O5: callers see flat arguments; what an object within needs is asked for with it."""
    body = document(post_order={"parameters": [parameter("id", description="of the shop")], **json_body(ORDER)})
    found = arguments(body, "post_order")
    assert [each.name for each in found.offered] == [
        "query_id",
        "body_id",
        "customer_name",
        "customer_phone",
        "billing_name",
        "billing_phone",
        "lines",
    ]
    schema = found.input_schema()
    assert schema["required"] == ["body_id", "customer_name"]
    assert schema["dependentRequired"] == {"billing_phone": ["billing_name"]}
    assert schema["properties"]["query_id"]["description"] == "of the shop"
    assert schema["properties"]["customer_phone"] == {"type": "string", "description": "form: ^[0-9]+$"}
    assert [each.target for each in found.offered if each.place == "body"][-1] == ("lines",)


def test_names_and_descriptions_are_those_of_the_configuration() -> None:
    """SPEC O5: rename, rewrite, hide, and constants that callers never see."""
    body = document(get_orders={"parameters": [parameter("d"), parameter("status"), parameter("trace")]})
    found = arguments(
        body,
        "get_orders",
        arguments={"d": {"name": "day", "description": "such as 2025-07-15", "required": True}},
        constants={"status": "open"},
        hide=["trace"],
    )
    assert found.input_schema() == {
        "type": "object",
        "properties": {"day": {"type": "string", "description": "such as 2025-07-15"}},
        "required": ["day"],
        "additionalProperties": False,
    }
    assert [(each.target, value) for each, value in found.constants] == [(("status",), "open")]


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"hide": ["absent"]}, "/tools/0/hide/absent"),
        ({"constants": {"absent": 1}}, "/tools/0/constants/absent"),
        ({"arguments": {"absent": {}}}, "/tools/0/arguments/absent"),
        ({"hide": ["id"]}, "/tools/0/hide"),
        ({"arguments": {"day": {"name": "id"}}}, "/tools/0/arguments"),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(config: dict[str, Any], path: str) -> None:
    """SPEC T7: each fault has its place."""
    body = document(get_orders={"parameters": [parameter("id", required=True), parameter("day")]})
    with pytest.raises(InputError) as refused:
        arguments(body, "get_orders", **config)
    assert refused.value.errors[0].path == path


def test_a_circle_of_references_is_cut_where_it_closes() -> None:
    """SPEC O5: trees are as deep as a document, and no deeper."""
    body = document(post_tree=json_body({"$ref": "#/components/schemas/Node"}))
    child = {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}
    node = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}, "children": child},
    }
    body["components"] = {"schemas": {"Node": node}}
    properties = arguments(body, "post_tree").input_schema()["properties"]
    assert properties["name"] == {"type": "string"}
    assert properties["next"] == {"type": "object", "description": "as above"}
    assert properties["children"]["items"] == {"type": "object", "description": "as above"}


def test_schemas_that_multiply_are_bounded() -> None:
    """SPEC O5: 30 references, each twice to the next, would be a billion schemas."""
    body = document(post_big=json_body({"type": "array", "items": {"$ref": "#/components/schemas/s0"}}))
    body["components"] = {
        "schemas": {
            f"s{n}": {
                "anyOf": [
                    {"$ref": f"#/components/schemas/s{n + 1}"},
                    {"type": "array", "items": {"$ref": f"#/components/schemas/s{n + 1}"}},
                ]
            }
            for n in range(30)
        }
        | {"s30": {"type": "string"}}
    }
    with pytest.raises(InputError, match="too large"):
        arguments(body, "post_big")


def test_schemas_that_are_put_together_are_bounded() -> None:
    """SPEC O5: 24 objects, each twice the next, and 300 fields of 300 fields of 300."""
    twice = {f"s{n}": {"allOf": [{"$ref": f"#/components/schemas/s{n + 1}"}] * 2} for n in range(24)}
    wide = {
        f"w{n}": {"properties": {f"p{m}": {"$ref": f"#/components/schemas/w{n + 1}"} for m in range(300)}}
        for n in (0, 1)
    }
    last = {"properties": {f"p{m}": {"type": "string"} for m in range(300)}}
    for first in ("s0", "w0"):
        body = document(post_big=json_body({"$ref": f"#/components/schemas/{first}"}))
        body["components"] = {"schemas": twice | wide | {"s24": last, "w2": last}}
        with pytest.raises(InputError, match="too large"):
            arguments(body, "post_big")


def test_one_of_several_forms_stays_one_argument() -> None:
    """SPEC O5: oneOf is shown as it is; a body that has forms is called body."""
    forms = [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "string"}]
    body = document(post_forms=json_body({"oneOf": forms}))
    (found,) = arguments(body, "post_forms").offered
    assert (found.name, found.target, found.schema) == ("body", (), {"anyOf": forms})


def test_all_of_becomes_one_object() -> None:
    """SPEC O5: JSON Schema, allOf; fields of all parts."""
    parts = [
        {"$ref": "#/components/schemas/Base"},
        {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}},
    ]
    body = document(post_all=json_body({"allOf": parts}))
    body["components"] = {"schemas": {"Base": {"type": "object", "properties": {"a": {"type": "string"}}}}}
    schema = arguments(body, "post_all").input_schema()
    assert (list(schema["properties"]), schema["required"]) == (["a", "b"], ["b"])


def test_rules_of_3_0_become_json_schema() -> None:
    """SPEC O5: OpenAPI 3.0, Schema Object; nullable and boolean bounds."""
    schema = {
        "type": "object",
        "properties": {
            "kg": {"type": "number", "minimum": 0, "exclusiveMinimum": True, "nullable": True},
            "size": {"type": "string", "enum": ["s", "m"], "nullable": True},
            "n": {"type": "integer", "maximum": 9, "exclusiveMaximum": False},
        },
    }
    properties = arguments(document(version="3.0.3", post_a=json_body(schema)), "post_a").input_schema()["properties"]
    assert properties["kg"] == {"type": ["number", "null"], "exclusiveMinimum": 0}
    assert properties["size"] == {"type": ["string", "null"], "enum": ["s", "m", None]}
    assert properties["n"] == {"type": "integer", "maximum": 9}


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        (
            {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": {}}}}},
            "multipart/form-data",
        ),
        ({"requestBody": {"content": {"application/xml": {}}}}, "application/xml"),
        ({"requestBody": {"required": True}}, "of no type"),
        ({"parameters": [parameter("a", "path", style="matrix")]}, "style"),
        ({"parameters": [parameter("a", "cookie", required=True)]}, "cannot be sent"),
        ({"parameters": [parameter("a\r\nx: y", "header", required=True)]}, "cannot be sent"),
        ({"parameters": [parameter("a", "nowhere")]}, "no place"),
        ({"parameters": [{"in": "query"}]}, "no name"),
        ({"parameters": [{"name": "a", "in": "query", "content": {"text/csv": {}}}]}, "no JSON"),
        ({"parameters": [parameter("a", schema={"type": "strange"})]}, "not valid"),
        ({"parameters": [parameter("a", schema={"type": "string", "minLength": "x"})]}, "not valid"),
        ({"parameters": [parameter("a", schema={"type": "string", "enum": 3})]}, "not valid"),
        ({"parameters": [parameter("a", schema=[])]}, "not an object"),
        ({"parameters": [parameter("a b"), parameter("a,b")]}, "Several arguments"),
        (json_body({"type": "object", "properties": {f"f{n}": {"type": "string"} for n in range(61)}}), "61 arguments"),
    ],
)
def test_what_cannot_be_served_is_refused(operation: dict[str, Any], problem: str) -> None:
    """SPEC O5, T7: told when the bridge starts, never by a call that fails."""
    with pytest.raises(InputError, match=problem):
        arguments(document(post_a=operation), "post_a")


def test_values_of_another_type_are_passed_over() -> None:
    """SPEC O5: a document that is not well-formed ends in no stack trace."""
    where = {"name": "where", "in": "query", "content": {"application/json": "x"}}
    joined = {"allOf": [{"type": "object", "properties": {"a": {}}}], "properties": 5}
    body = document(post_a={"parameters": [where]} | json_body({"properties": {"b": joined}}))
    assert list(arguments(body, "post_a").input_schema()["properties"]) == ["where", "b_a"]


def test_hostile_names_become_names_that_clients_take() -> None:
    """SPEC O5: what a service calls a field stays in the request; callers see safe names."""
    names = ["__proto__", "$where", "订单", "a b", "x" * 300]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    found = arguments(document(post_a=json_body(schema)), "post_a").offered
    assert [each.name for each in found] == ["__proto__", "_where", "__", "a_b", "x" * 64]
    assert [each.target for each in found] == [(name,) for name in names]


def test_hidden_and_long_descriptions_are_cut() -> None:
    """SPEC O5: no invisible text of a document reaches a model."""
    text = "Day\u202e\U000e0041 of\n the order. " + "x" * 1000
    (found,) = arguments(document(get_a={"parameters": [parameter("day", description=text)]}), "get_a").offered
    assert found.schema["description"].startswith("Day of the order. xxx")
    assert len(found.schema["description"]) == schema_expansion.MAX_DESCRIPTION


def test_headers_that_the_client_sets_are_no_arguments() -> None:
    """SPEC O5: OpenAPI 3.1, Parameter Object; RFC 9110; who calls changes neither the host nor the length."""
    names = [*operation_arguments._NOT_PARAMETERS, "X-Trace"]
    found = arguments(document(get_a={"parameters": [parameter(name.title(), "header") for name in names]}), "get_a")
    assert [each.name for each in found.offered] == ["X-Trace"]
    jsonschema.Draft202012Validator.check_schema(found.input_schema())
