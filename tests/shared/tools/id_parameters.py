"""Every parameter of every tool that takes an id, found in the schemas, so that tools to come are tested too."""

import re
from collections.abc import Iterator
from typing import Any

from planner_mcp.jobs.ids import plan_of, random_id
from planner_mcp.server.tools.tool_definition import Tool
from planner_mcp.server.tools.tool_registry import APP_REGISTRY, REGISTRY

Ids = dict[str, str]
"""Kind of thing → id."""


def unknown(kind: str, like: Ids) -> str:
    """Return an id of a kind that names nothing."""
    job = random_id("job", 0)
    names = {"scenario": random_id("scn", 0), "job": job, "plan": plan_of(job)}
    return names.get(kind) or re.sub(r"[a-z2-7]{26}", job[-26:], like[kind])


def kind_of(parameter: str) -> str | None:
    """Return which id a parameter of a tool takes, None for what is no id."""
    return next(
        (kind for kind in ("scenario", "plan", "job", "delivery") if re.search(rf"{kind}(_ids?|s)$", parameter)), None
    )


def id_parameters() -> Iterator[tuple[Tool, str]]:
    """Yield every parameter of every tool that takes an id, those of tools to come included."""
    for tool in (*REGISTRY, *APP_REGISTRY):
        for parameter in tool.input_schema["properties"]:
            if kind_of(parameter):
                yield tool, parameter


def arguments(tool: Tool, parameter: str, value: str, own: Ids) -> Iterator[dict[str, Any]]:
    """Yield calls that give an id: with all other ids left out, and with the caller's own in their place."""
    properties = tool.input_schema["properties"]
    plain = {name: each for name, each in tool.meta.get("example", {}).items() if not kind_of(name)}
    if "wait_s" in properties:
        plain["wait_s"] = 0
    required = {name for name in tool.input_schema.get("required", ()) if kind_of(name)}
    given: Any = [value] if properties[parameter].get("type") == "array" else value
    for others in (required, {name for name in properties if kind_of(name)}):
        owned = {name: own[kind_of(name) or ""] for name in others if properties[name].get("type") != "array"}
        for action in properties.get("action", {}).get("enum", [None]):
            yield plain | owned | ({"action": action} if action else {}) | {parameter: given}
