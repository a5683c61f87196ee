"""What the schema of a tool says is what the tool takes: every property is given values of every JSON type."""

from typing import Any

import jsonschema
import pytest
from pydantic import ValidationError

from planner_mcp.errors import InputError
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.schema_faults import faults_of, pointer
from planner_mcp.server.tools.scenarios import create_scenario
from planner_mcp.server.tools.tool_definition import Tool, ToolContext, schema_of
from planner_mcp.server.tools.tool_registry import ADDRESS_REGISTRY, APP_REGISTRY, REGISTRY
from planner_mcp.text import Json

pytestmark = pytest.mark.anyio
TOOLS = {tool.name: tool for tool in (*REGISTRY, *APP_REGISTRY, *ADDRESS_REGISTRY)}
VALUES: tuple[Any, ...] = (False, 1.0, 0.5, "1", [[]], {"a": True})
"""One value at a time stands in every place of a call. Null is left out: it stands for absence (docs/reference)."""


def whole_schema(tool: Tool) -> Json:
    """Return the input schema with every field; that of a scenario is short in the list."""
    return schema_of(Scenario) if tool is create_scenario.TOOL else tool.input_schema


def are_nested(path: str, other: str) -> bool:
    """Return whether one place is the other or within it."""
    return f"{path}/".startswith(f"{other}/") or f"{other}/".startswith(f"{path}/")


def filled(schema: Json, value: Any, *, inside: bool) -> Any:
    """Return an instance with the value in every place; `inside` puts it into lists and maps, else in their stead."""
    if "properties" in schema:
        return {name: filled(field, value, inside=inside) for name, field in schema["properties"].items()}
    items, others = schema.get("items", {}), schema.get("additionalProperties", {})
    if "properties" in items or (inside and items):
        return [filled(items, value, inside=inside)]
    return {"a": value} if inside and others and schema["type"] == "object" else value


async def refused(tool: Tool, ctx: ToolContext, args: Json) -> dict[str, str]:
    """Return what a tool refuses, by place; empty where it takes the call. Of a scenario an answer lists the first."""
    try:
        if tool is create_scenario.TOOL:
            Scenario.model_validate(args)
        await tool.run(ctx, tool.parsed(args, ctx.settings))
    except ValidationError as error:
        return {fault.path: fault.problem for fault in faults_of(error, Scenario, args)}
    except InputError as error:
        return {fault.path: fault.problem for fault in error.errors if fault.kind in ("invalid", "unknown")}
    return {}


@pytest.mark.parametrize("inside", [False, True], ids=["plain", "inside"])
async def test_what_the_schema_refuses_is_refused_at_its_place_and_nothing_else(inside: bool, ctx: ToolContext) -> None:
    """SPEC T11: no value of another type is turned into one that fits, and a whole number may be written as 1.0."""
    unequal = []
    for tool in TOOLS.values():
        schema = whole_schema(tool)
        validator = jsonschema.Draft202012Validator(schema)
        for value in VALUES:
            args = filled(schema, value, inside=inside)
            wrong = {pointer(list(error.absolute_path)) for error in validator.iter_errors(args)}
            reported = await refused(tool, ctx, args)
            lax = [path for path in wrong if not any(are_nested(path, place) for place in reported)]
            beyond = [path for path in reported if not any(are_nested(path, place) for place in wrong)]
            of_type = [path for path in beyond if "type" in reported[path] or "not text" in reported[path]]
            unequal += [(tool.name, value, path) for path in (*lax, *of_type)]
    assert not unequal
