"""Writes the reference pages from the objects they describe: settings, errors, tools, scenario.

Owns `docs/reference/`. Run `make docs` after a change; `python -m docs.build --check` fails when a page is stale.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic_core import PydanticUndefined

from planner_mcp.errors import catalogue
from planner_mcp.settings import Settings
from planner_mcp.tools.registry import INSTRUCTIONS, REGISTRY
from planner_mcp.vrp.day.model import Scenario

HERE: Final = Path(__file__).parent / "reference"
NOTE: Final = "<!-- written by docs/build.py; run `make docs` instead of editing -->\n\n"


def settings_page() -> str:
    """Return every setting with its variable, default and meaning."""
    rows = [
        f"| `PLANNER_{name.upper()}` | {_default(field)} | {field.description or ''} |"
        for name, field in Settings.model_fields.items()
    ]
    head = (
        "# Settings\n\nRead from the environment; options of the command line win. Lists are comma-separated or JSON, "
        "maps JSON.\n\n"
    )
    return "\n".join([NOTE + head + "| variable | default | meaning |", "|---|---|---|", *rows, ""])


def _default(field: Any) -> str:
    if field.default is not PydanticUndefined:
        return "" if field.default is None else f"`{field.default}`"
    made = field.default_factory()
    if isinstance(made, Path):  # the home folder of whoever builds the page says nothing to its readers
        return f"`~/{made.relative_to(Path.home()).as_posix()}`"
    return f"`{json.dumps(made)}`"


def errors_page() -> str:
    """Return the catalogue of stable codes."""
    rows = [
        f"| {code} | `{entry['type']}` | {entry['meaning']} | {'yes' if entry['retryable'] else ''} |"
        for code, entry in catalogue().items()
    ]
    head = (
        "# Errors\n\nA refusal is `{code, type, message, traceId, errors, retryable}`, with `retry_after_s` where a "
        "wait helps. `errors` has one entry per mistake: `{path, problem, accepted, hint}`, the path a JSON Pointer "
        "into the arguments. Codes are stable.\n\n"
    )
    return "\n".join([NOTE + head + "| code | type | meaning | retry helps |", "|--:|---|---|---|", *rows, ""])


def tools_page() -> str:
    """Return every tool with its arguments and answer."""
    parts = [NOTE + f"# Tools\n\nWhat a client is told of the server: *{INSTRUCTIONS}*\n"]
    for tool in REGISTRY:
        hints = ", ".join(name for name, is_set in tool.hints.as_json().items() if is_set) or "none"
        required = tool.input_schema.get("required", [])
        parts += [
            f"## `{tool.name}`\n\n{tool.description}\n",
            f"Scope `{tool.scope}`, tool set `{tool.toolset}`. Hints: {hints}.\n",
        ]
        parts += ["| argument | | type | meaning |\n|---|---|---|---|"]
        parts += list(_rows(tool.input_schema, tool.input_schema, required))
        if more := tool.input_schema.get("description"):
            parts += [f"\n{more}."]
        parts += ["\n**Answer**: " + ", ".join(f"`{name}`" for name in tool.output_schema["properties"]) + ".\n"]
        parts += [f"**Example**\n\n```json\n{json.dumps(tool.meta['example'], ensure_ascii=False)}\n```\n"]
    parts.append("Every field of a scenario is on [its own page](scenario.md).\n")
    return "\n".join(parts)


def scenario_page() -> str:
    """Return every field of a scenario."""
    schema = Scenario.model_json_schema()
    head = (
        "# Scenario\n\nThe arguments of `create_scenario`. Times are `HH:MM` or `HH:MM:SS` of the planning date (hours "
        "up to 47), an ISO date-time, or seconds after midnight. Amounts are a number, or an object of numbers by "
        "dimension. Positions are WGS-84 unless `travel.crs` says otherwise.\n\n"
    )
    rows = _rows(schema, schema, schema.get("required", []))
    table = "\n".join(["| field | | type | meaning |", "|---|---|---|---|", *rows, ""])
    return "\n".join([NOTE + head + table, *_definitions(schema)])


def _rows(schema: dict[str, Any], root: dict[str, Any], required: list[str]) -> list[str]:
    return [
        f"| `{name}` | {'required' if name in required else ''} | {_type(field, root)} | {_meaning(field)} |"
        for name, field in schema.get("properties", {}).items()
    ]


def _definitions(schema: dict[str, Any]) -> list[str]:
    parts = []
    for name, part in schema.get("$defs", {}).items():
        if "properties" in part:
            rows = "\n".join(_rows(part, schema, part.get("required", [])))
            about = part.get("description", "")
            parts.append(f"## {name}\n\n{about}\n\n| field | | type | meaning |\n|---|---|---|---|\n{rows}\n")
    return parts


def _type(field: dict[str, Any], root: dict[str, Any]) -> str:
    if "$ref" in field:
        name = field["$ref"].rpartition("/")[2]
        target = root.get("$defs", {}).get(name, {})
        return f"[{name}](#{name.lower()})" if "properties" in target else _type(target, root)
    if "enum" in field:
        return " or ".join(f"`{value}`" for value in field["enum"])
    if "anyOf" in field:
        return " or ".join(_type(option, root) for option in field["anyOf"] if option != {"type": "null"})
    if field.get("type") == "array":
        inner = field.get("items") or {}
        if "prefixItems" in field:
            return f"[{', '.join(_type(item, root) for item in field['prefixItems'])}]"
        return f"list of {_type(inner, root)}" if inner else "list"
    kind = field.get("type", "any")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _meaning(field: dict[str, Any]) -> str:
    facts = [field["description"]] if "description" in field else []
    low, high = field.get("minimum"), field.get("maximum")
    if low is not None or high is not None:
        facts.append(f"{'' if low is None else f'{low:g}'}…{'' if high is None else f'{high:g}'}")
    if "pattern" in field:
        facts.append(f"`{field['pattern']}`")
    if "$ref" not in field and field.get("default") not in (None, [], {}, ""):
        facts.append(f"default `{json.dumps(field['default'], ensure_ascii=False)}`")
    return "; ".join(facts).replace("|", "\\|")


PAGES: Final = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "tools.md": tools_page,
    "scenario.md": scenario_page,
}


def stale() -> list[str]:
    """Return the pages that differ from what would be written."""
    return [name for name, page in PAGES.items() if not _is_equal(HERE / name, page())]


def _is_equal(path: Path, text: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == text


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` say which are stale."""
    if "--check" in arguments:
        if found := stale():
            print(f"stale: {', '.join(found)}; run `make docs`", file=sys.stderr)
        return 1 if found else 0
    HERE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (HERE / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
