"""Writes the reference pages from the objects they describe: settings, errors, tools, REST, scenario, codes of plans.

Owns `docs/reference/`. Run `make docs` after a change; `python -m docs.build --check` fails when a page is stale.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic_core import PydanticUndefined

import manifest
from manifest.argument_examples import with_examples
from manifest.generated_files import write_or_check
from planner_mcp.errors import error_classes
from planner_mcp.routing.feasibility.verified_fixes import FIX_KINDS
from planner_mcp.routing.infeasibility_reasons import REASON_TEXTS
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.server.http.responses.http_responses import status_of
from planner_mcp.server.tools.answers.plan_pages import VIEWS, View
from planner_mcp.server.tools.tool_registry import OFFERS, ServerOffer
from planner_mcp.settings import Settings

HERE: Final = Path(__file__).parent / "reference"
NOTE: Final = "<!-- written by docs/build.py; run `make docs` instead of editing -->\n\n"


def settings_page() -> str:
    """Return every setting with its variable, default, bounds and meaning."""
    schema = Settings.model_json_schema()
    rows = [
        f"| `PLANNER_{name.upper()}` | {_default(field)} | {_accepted(schema['properties'][name])} "
        f"| {field.description or ''} |"
        for name, field in Settings.model_fields.items()
    ]
    head = (
        "# Settings\n\nRead from the environment; options of the command line win. Lists are comma-separated or JSON, "
        "maps JSON. `1…64` is from 1 to 64, `1…` from 1 on, `>0…` above 0.\n\n"
    )
    table = [NOTE + head + "| variable | default | accepted | meaning |", "|---|---|---|---|", *rows, ""]
    return "\n".join([*table, *_definitions(schema)])


def _accepted(field: dict[str, Any]) -> str:
    values = ["true", "false"] if field.get("type") == "boolean" else field.get("enum", [])
    return " or ".join(f"`{value}`" for value in values) or "; ".join(_bounds(field))


def _default(field: Any) -> str:
    if isinstance(field.default, bool):
        return f"`{json.dumps(field.default)}`"
    if field.default is not PydanticUndefined:
        return "" if field.default is None or not str(field.default) else f"`{field.default}`"
    made = field.default_factory()
    if isinstance(made, Path):  # the home folder of the page's builder says nothing to its readers
        return f"`~/{made.relative_to(Path.home()).as_posix()}`"
    return f"`{json.dumps(made)}`"


def errors_page() -> str:
    """Return the catalogue of stable codes."""
    rows = [
        f"| {code} | `{cls.type}` | {status_of(cls())} | {cls.summary} | {'yes' if cls.retryable else ''} |"
        for code, cls in error_classes().items()
    ]
    head = (
        "# Errors\n\nA refusal is `{code, type, message, traceId, errors, retryable}`, with `retry_after_s` where a "
        "wait helps. `errors` has one entry per mistake: `{path, problem, accepted, hint}`, the path a JSON Pointer "
        "into the arguments; `which` and `count` where equal mistakes are one entry; and `reason`, one of the "
        "[codes](codes.md), where a ticket provably cannot be served. Codes are stable. *HTTP* is the status of a "
        "refused request of REST; a tool that is called over MCP answers with `isError`.\n\n"
    )
    table = "| code | type | HTTP | meaning | retry helps |\n|--:|---|--:|---|---|"
    return "\n".join([NOTE + head + table, *rows, ""])


def tools_page() -> str:
    """Return every tool of the planner with its arguments and answer."""
    closing = "Every field of a scenario is on [its own page](scenario.md).\n"
    return f"{_tools_text('Tools', OFFERS['planner'])}\n{closing}"


def address_tools_page() -> str:
    """Return every tool of the address server."""
    return _tools_text("Tools of the address server", OFFERS["address"])


def _tools_text(title: str, offer: ServerOffer) -> str:
    parts = [NOTE + f"# {title}\n\nThe server describes itself to a client as: *{offer.instructions}*\n"]
    for tool in offer.tools:
        hints = ", ".join(name for name, is_set in tool.hints.as_json().items() if is_set) or "none"
        required = tool.input_schema.get("required", [])
        parts += [
            f"## `{tool.name}`\n\n{tool.description}\n",
            f"Scope `{tool.scope}`, tool set `{tool.toolset}`. Hints: {hints}.\n",
        ]
        parts += ["| argument | | type | meaning |\n|---|---|---|---|"]
        parts += list(_argument_rows(with_examples(tool.input_schema), required))
        if more := tool.input_schema.get("description"):
            parts += [f"\n{more}."]
        parts += ["\n| result | | type | meaning |\n|---|---|---|---|", *_result_rows(tool.output_schema), ""]
        parts += [f"**Example**\n\n```json\n{json.dumps(tool.meta['example'], ensure_ascii=False)}\n```\n"]
    return "\n".join(parts)


def codes_page() -> str:
    """Return the words of plans and of advice about them: reasons, kinds of fixes, columns."""
    parts = [
        NOTE + "# Codes and columns of plans\n",
        "## Why a ticket cannot be served\n\nOne list for every answer. A code is given only where the fact behind it "
        "was checked.\n\n"
        "- `code` of an unassigned ticket: no agent could serve it without breaking this limit, even with nothing else "
        "to do; or what the text says of its shipment, its group or the plan.\n"
        "- `in_the_way` of `explain_unassigned`: how many agents would break the limit with the ticket on their route, "
        "and for the nearest by how much.\n"
        "- `conflict.kind` of `validate_scenario`: the tickets together break it, however they are shared.\n"
        "- `kinds` of `suggest_fixes`: the limit that the fix changes.\n"
        "- `reason` of an entry of `errors`: it proves that no agent could serve the ticket, for this reason.\n",
        _glossary("code", REASON_TEXTS),
        "## What a fix changes\n\n`kinds` of `suggest_fixes`, one for each part of `change`.\n",
        _glossary("kind", FIX_KINDS),
        "## Columns of read_plan\n\n`fields` chooses columns and their order; without it the table has those under "
        "*shown*. `start`, `end`, `arrival` and `departure` are `HH:MM`, hours running on past midnight; the same with "
        "`_s` are seconds after midnight of the planning date. Every other `_s` is a length of time in seconds. "
        "`distance_m` of a visit is that from the stop before, `load` what is on board when leaving. `kind` is shown "
        "where a plan has breaks or reloads, which have no ticket.\n",
        "| view | shown | shown where any is above 0 | further |\n|---|---|---|---|",
        *(_columns(name, view) for name, view in VIEWS.items()),
        "",
    ]
    return "\n".join(parts)


def _glossary(head: str, meanings: Mapping[str, str]) -> str:
    rows = [f"| `{word}` | {meaning} |" for word, meaning in meanings.items()]
    return "\n".join([f"| {head} | meaning |", "|---|---|", *rows, ""])


def _columns(name: str, view: View) -> str:
    further = [column for column in view.columns if column not in (*view.shown, *view.if_any)]
    return f"| `{name}` | {_quoted(view.shown)} | {_quoted(view.if_any)} | {_quoted(further)} |"


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def scenario_page() -> str:
    """Return every field of a scenario."""
    schema = with_examples(Scenario.model_json_schema())
    head = (
        "# Scenario\n\nThe arguments of `create_scenario`. Times are `HH:MM` or `HH:MM:SS` of the planning date (hours "
        "up to 47), an ISO date-time, or seconds after midnight. Amounts are a number, or an object of numbers by "
        "dimension. Positions are WGS-84 unless `travel.crs` says otherwise. What a field means where two readings are "
        "possible stands in the [rules of the model](../how-to/model-rules.md).\n\n"
    )
    rows = _rows(schema, schema, schema.get("required", []))
    table = "\n".join(["| field | | type | meaning |", "|---|---|---|---|", *rows, ""])
    return "\n".join([NOTE + head + table, *_definitions(schema)])


def _rows(schema: dict[str, Any], root: dict[str, Any], required: list[str]) -> list[str]:
    return [
        f"| `{name}` | {'required' if name in required else ''} | {_type(field, root)} | {_meaning(field)} |"
        for name, field in schema.get("properties", {}).items()
    ]


def _argument_rows(schema: dict[str, Any], required: list[str]) -> Iterator[str]:
    """Yield a row for each argument, and under an object that has fields of its own one for each of these."""
    for name, field in schema["properties"].items():
        yield from _rows({"properties": {name: field}}, schema, required)
        if "properties" in field:
            inner = {f"{name}.{each}": about for each, about in field["properties"].items()}
            yield from _rows({"properties": inner}, schema, [f"{name}.{each}" for each in field.get("required", [])])


def _result_rows(schema: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield a row for each field of a result, and under an object, or a list of objects, its own fields."""
    for name, field in schema["properties"].items():
        when = "always" if name in schema.get("required", []) else ""
        yield f"| `{prefix}{name}` | {when} | {_type(field, schema)} | {_meaning(field)} |"
        if "properties" in field:
            yield from _result_rows(field, f"{prefix}{name}.")
        elif "properties" in field.get("items", {}):
            yield from _result_rows(field["items"], f"{prefix}{name}[].")


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
    facts += _bounds(field)
    if "pattern" in field:
        facts.append(f"`{field['pattern']}`")
    if "$ref" not in field and field.get("default") not in (None, [], {}, ""):
        facts.append(f"default `{json.dumps(field['default'], ensure_ascii=False)}`")
    if "examples" in field:
        facts.append(f"e.g. `{json.dumps(field['examples'][0], ensure_ascii=False)}`")
    return "; ".join([*(fact.removesuffix(".") for fact in facts[:-1]), *facts[-1:]]).replace("|", "\\|")


_SIZES: Final = (("Length", " characters"), ("Items", " items"), ("Properties", " entries"))


def _bounds(field: dict[str, Any]) -> list[str]:
    """Return what a value is bounded by: of a value that may be null of the value, of a list also of each item."""
    if "anyOf" in field:
        return [fact for option in field["anyOf"] for fact in _bounds(option)]
    low = field.get("minimum")
    if "exclusiveMinimum" in field:
        low = f">{field['exclusiveMinimum']:.15g}"
    facts = [_span(low, field.get("maximum"), "")]
    if "prefixItems" not in field:
        facts += [_span(field.get(f"min{size}"), field.get(f"max{size}"), unit) for size, unit in _SIZES]
    each = _bounds(field["items"]) if field.get("items") else []
    return [*filter(None, facts), *(fact if fact.startswith("each ") else f"each {fact}" for fact in each)]


def _span(low: float | str | None, high: float | None, unit: str) -> str:
    if low is None and high is None:
        return ""
    first, last = ("" if end is None else end if isinstance(end, str) else f"{end:.15g}" for end in (low, high))
    if unit and not (first and last):
        return f"at least {first}{unit}".replace(" 1 items", " 1 item") if first else f"at most {last}{unit}"
    return first + unit if first == last else f"{first}…{last}{unit}"


def rest_page() -> str:
    """Return every operation under `/v1`, and what its answer leads to."""
    document = manifest.read(manifest.OPENAPI_PATH)
    rows = [
        f"| `{method.upper()} {path}` | `{operation['operationId']}` | {operation['summary']} "
        f"| {_quoted(operation['security'][0]['bearer'])} | {_media(operation)} |"
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    head = (
        "# Operations of REST\n\nArguments and answers are those of the [tool](tools.md) of the same name. The whole "
        f"description is `/openapi.json` (OpenAPI {document['openapi']}), and `/docs` shows it "
        "([how to use it](../how-to/rest.md)). Errors are problem details with the [codes](errors.md).\n\n"
    )
    table = "| operation | name | | scope | answers in |\n|---|---|---|---|---|"
    return "\n".join([NOTE + head + table, *rows, ""])


def _media(operation: dict[str, Any]) -> str:
    answers = operation["responses"].values()
    return _quoted(dict.fromkeys(kind for answer in answers for kind in answer.get("content", {})))


PAGES: Final = {
    "settings.md": settings_page,
    "errors.md": errors_page,
    "tools.md": tools_page,
    "address-tools.md": address_tools_page,
    "scenario.md": scenario_page,
    "codes.md": codes_page,
    "rest.md": rest_page,
}


def texts() -> dict[Path, str]:
    """Return each page with what it should hold."""
    return {HERE / name: page() for name, page in PAGES.items()}


def main(arguments: list[str]) -> int:
    """Write the pages, or with `--check` say which are stale."""
    return write_or_check(texts(), arguments, command="make docs")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
