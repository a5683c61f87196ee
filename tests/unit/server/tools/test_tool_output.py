"""A result is serialised by one rule, and its schemas come from its model."""

from typing import ClassVar

import jsonschema
import pytest
from pydantic import Field

from planner_mcp.errors import Fault
from planner_mcp.jobs.field_meanings import FIELD_MEANINGS
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.server.tools.tool_output import FaultOutput, Number, ToolOutput, listed_schema, whole_schema
from planner_mcp.server.tools.tool_registry import REGISTRY


class Part(ToolOutput):
    """A part of a result."""

    name: str
    cost: Number | None = None


class Whole(ToolOutput):
    """A result with a field of each kind."""

    listed: ClassVar[tuple[str, ...]] = ("parts", "cost", "price")
    kept_nulls: ClassVar[frozenset[str]] = frozenset({"price"})
    parts: list[Part] = Field(description="all of them")
    cost: Number | None
    count: int | None = None
    price: str | None = None


def test_what_is_not_known_is_left_out_and_what_is_always_sent_may_be_null() -> None:
    """SPEC T6: required fields are always there; null stands only where a schema allows it."""
    assert Whole(parts=[Part(name="a"), Part(name="b", cost=2)], cost=None).as_json() == {
        "parts": [{"name": "a"}, {"name": "b", "cost": 2}],
        "cost": None,
    }
    assert Whole(parts=[], cost=1.5, count=0, price=None).as_json() == {
        "parts": [],
        "cost": 1.5,
        "count": 0,
        "price": None,
    }


def test_the_whole_schema_stands_alone() -> None:
    """SPEC T6, M2: no references, no titles; null only where it is sent."""
    of_cost = FIELD_MEANINGS["cost"]
    part = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "cost": {"type": "number", "description": of_cost}},
        "required": ["name"],
    }
    assert whole_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part, "description": "all of them"},
            "cost": {"type": ["number", "null"], "description": of_cost},
            "count": {"type": "integer"},
            "price": {"type": ["string", "null"]},
        },
        "required": ["parts", "cost"],
    }


def test_the_listed_schema_shows_the_listed_fields_alone() -> None:
    """SPEC T9: every model pays for what tools/list shows; none is required, since errors follow it too."""
    assert listed_schema(Whole) == {
        "type": "object",
        "properties": {
            "parts": {
                "type": "array",
                "items": {"type": "object", "required": ["name"]},
                "description": "all of them",
            },
            "cost": {"type": ["number", "null"], "description": FIELD_MEANINGS["cost"]},
            "price": {"type": ["string", "null"]},
        },
    }


def test_a_fault_is_written_as_errors_write_it() -> None:
    """SPEC T7: the four fields of an error's entry, empty ones too."""
    fault = Fault("/tickets/0", "There is none.")
    assert FaultOutput.of(fault).as_json() == fault.as_json()


@pytest.mark.parametrize("tool", REGISTRY, ids=lambda tool: tool.name)
def test_the_listed_fields_are_fields_of_the_result(tool: Tool) -> None:
    """SPEC T6: and both schemas are JSON Schemas."""
    assert set(tool.output.listed) <= tool.output.model_fields.keys()
    for schema in (whole_schema(tool.output), listed_schema(tool.output)):
        jsonschema.Draft202012Validator.check_schema(schema)
