"""Required parameters that a call lacks: asked of the person behind it, or reported (SPEC T7).

Owns which are asked: text, numbers and choices, as elicitation has no lists. Whoever cannot be asked, or does not
answer, gets the error that lists what is missing. Owns also the rule of two parameters of which a call needs one.
"""

from typing import Final

from planner_mcp.errors import Fault, input_error
from planner_mcp.server.tools.tool_definition import Arguments, Tool, ToolContext
from planner_mcp.text import Json
from planner_mcp.translation import phrase, translated

_ASKED: Final = frozenset({"string", "number", "integer", "boolean"})
"""Types of a field that a person can be asked for (spec 2025-06-18, elicitation)."""
_KEPT: Final = ("type", "enum", "description")


async def with_asked_parameters(ctx: ToolContext, tool: Tool, args: Json) -> Json:
    """Return the arguments with the required ones that were missing, as far as somebody gave them."""
    missing = [name for name in tool.input_schema.get("required", []) if name not in args]
    fields = {name: tool.input_schema["properties"][name] for name in missing}
    if ctx.ask_user is None or not missing or any(field.get("type") not in _ASKED for field in fields.values()):
        return args
    asked = {name: {key: field[key] for key in _KEPT if key in field} for name, field in fields.items()}
    schema = {"type": "object", "properties": asked, "required": missing}
    message = phrase("Please give {} for {}.", ", ".join(missing), translated(tool.title))
    answer = await ctx.ask_user(message, schema)
    return {**args, **{name: answer[name] for name in missing if answer.get(name) not in (None, "")}}


def only_given(asked: Arguments, first: str, second: str) -> str:
    """Return which of two arguments is given.

    Raises:
        InputError: Neither is, or both are.
    """
    given = [name for name in (first, second) if getattr(asked, name) is not None]
    if len(given) == 1:
        return given[0]
    problem = f"Both {first} and {second} are given." if given else f"Neither {first} nor {second} is given."
    kind = "invalid" if given else "missing"
    raise input_error([Fault(f"/{first}", problem, f"{first} or {second}, one of them", kind=kind)])
