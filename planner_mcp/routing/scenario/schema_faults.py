"""Translates pydantic errors into faults a caller can correct (SPEC T7).

Owns the translation for every input model: where (JSON Pointer), what is wrong, what is accepted, what to change. The
caller's values are never quoted. Names of unknown fields are, cleaned and truncated, because they are the place. A
reader may provide its own text: a `PydanticCustomError` with `accepted` and `hint` in its context is used as it is.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from planner_mcp.errors import Fault
from planner_mcp.routing.scenario.field_types import MAX_NUMBER
from planner_mcp.routing.scenario.synonyms import MAX_NAME, known_field_list, removal_hint, suggestion_for
from planner_mcp.text import Json, plain

MAX_FINDINGS: Final = 1000
"""Errors that are reported; inputs with more are hostile."""

PROBLEMS: Final = {
    "missing": "The required {where} is missing.",
    "extra_forbidden": "The {where} is not known.",
    "string_pattern_mismatch": "The {where} does not have the accepted form.",
    "literal_error": "The {where} is not one of the accepted values.",
    "enum": "The {where} is not one of the accepted values.",
    "string_too_long": "The {where} is too long.",
    "string_too_short": "The {where} is too short.",
    "too_long": "The {where} has too many items.",
    "too_short": "The {where} has too few items.",
    "greater_than": "The {where} is too small.",
    "greater_than_equal": "The {where} is too small.",
    "less_than": "The {where} is too large.",
    "less_than_equal": "The {where} is too large.",
    "finite_number": "The {where} is not a finite number.",
    "string_unicode": "The {where} is not valid Unicode text.",
    "type": "The {where} has the wrong type.",
}
"""What is said of a finding of pydantic, by its type; the last of any other."""
_KINDS: Final = {"missing": "missing", "extra_forbidden": "unknown"}

_MISSING: Final = {
    **dict.fromkeys(("capacity", "demand"), "Add it; 0 where nothing is carried."),
    "location": "Add it, or an address.",
}
"""Hints for missing required fields that need more than to be added."""
_TEXTS: Final = {"[": ("list", "array"), "{": ("object",)}
"""First character of JSON sent as text, and the names of its type in schemas."""
_PLAIN: Final = (
    (re.compile(r"-?\d{1,20}(?:\.\d{1,20})?"), ("number", "integer"), "Write the number without quotes."),
    (re.compile("true|false", re.IGNORECASE), ("boolean",), "Write true or false, without quotes."),
)
"""Form of a value that was sent as text, the names of its type in schemas, and what to do."""


def pointer(segments: Sequence[str | int]) -> str:
    """Return the JSON Pointer (RFC 6901) of a place; the caller's names are cleaned and truncated."""
    escaped = (plain(str(segment), MAX_NAME).replace("~", "~0").replace("/", "~1") for segment in segments)
    return "".join(f"/{segment}" for segment in escaped)


def faults_of(error: ValidationError, model: type[BaseModel], body: Any) -> list[Fault]:
    """Return every fault pydantic found, at most one per place.

    Args:
        error: What validation raised.
        model: The model that was validated.
        body: The validated input, to distinguish its keys from the names of union members.
    """
    schema = model.model_json_schema()
    found: dict[str, Fault] = {}
    branches: set[str] = set()
    whole: set[str] = set()
    for entry in error.errors(include_url=False, include_input=False)[:MAX_FINDINGS]:
        place, is_branch = _place(entry["loc"], body, is_missing=entry["type"] == "missing")
        fault = _fault(entry, place, schema, whole)
        if fault.kind == "invalid":
            value = _value_at(place, body)
            hint = _unquoted(value, fault.accepted) or fault.hint or _plain_unquoted(value, fault.accepted)
            fault = replace(fault, hint=hint)
        found.setdefault(fault.path, fault)
        if is_branch:
            branches.add(fault.path)
    paths = list(found)
    renamed = _renamed(found.values())
    return [
        fault
        for path, fault in found.items()
        if not (fault.kind == "missing" and path in renamed)
        and (path not in branches or not any(other.startswith(path + "/") for other in paths))
    ]


_MEANT: Final = re.compile(r"Did you mean (\w+)(?:\?|, | \()")


def _renamed(faults: Iterable[Fault]) -> set[str]:
    """Return where a field seems to lack that stands beside under another name: its own fault says so."""
    meant = ((fault.path.rpartition("/")[0], _MEANT.match(fault.hint)) for fault in faults if fault.kind == "unknown")
    return {f"{parent}/{found[1]}" for parent, found in meant if found}


def _place(loc: Sequence[str | int], body: Any, *, is_missing: bool) -> tuple[list[str | int], bool]:
    """Return the place in the input, and whether the last segment is the name of a union member."""
    place: list[str | int] = []
    here, is_branch = body, False
    for index, segment in enumerate(loc):
        may_lack = is_missing and index == len(loc) - 1
        if isinstance(segment, int):
            is_branch = not (isinstance(here, list | tuple) and segment < len(here))
        else:
            is_branch = not (isinstance(here, dict) and (segment in here or may_lack))
        if not is_branch:
            place.append(segment)
            here = here[segment] if not isinstance(here, dict) else here.get(str(segment))
    return place, is_branch


_FORMS: Final = {
    "time_windows": 'Write it like [["08:00", "12:00"]]; a file may have hours by weekday as text.',
    "incompatible": 'Write it like [["id-1", "id-2"]].',
    "breaks": 'Write it like [{"earliest": "12:00", "latest": "13:00", "duration_s": 1800}].',
    "patch": 'Write it like {"tickets": {"t-3": null}}.',
    "breakdown": 'Write it like {"agent": "van-1", "at": "10:00"}.',
    "cases": 'Write it like {"fewer": {"absent": ["veh-2"]}}: by name, what resolve_vrp takes.',
    "agent_ids": 'Write it like ["id-1", "id-2"].',
    "ticket_ids": 'Write it like ["id-1", "id-2"].',
    "late_by": 'Write it like {"van-1": 1800}, in seconds.',
    "new_ticket": 'Write it like [{"id": "t-9", "location": "A", "demand": 1}].',
    "skills": 'Write it like ["skill-1", "skill-2"].',
    "not_agents": 'Write it like ["id-1", "id-2"].',
    **dict.fromkeys(("absent", "cancelled_ticket", "no_show"), 'Write it like ["id-1", "id-2"].'),
}
"""How a field of another type is written, where its type does not show it; also said of what stands within it."""


def _fault(entry: Any, place: list[str | int], schema: Json, whole: set[str]) -> Fault:
    """Return the fault of an error; `whole` collects the models whose fields were already listed in full."""
    kind, context = entry["type"], entry.get("ctx", {})
    path = pointer(place)
    if "accepted" in context:
        kind = str(context.get("kind", "invalid"))
        return Fault(path, str(entry["msg"]), str(context["accepted"]), str(context.get("hint", "")), kind)
    where = f"parameter {plain(str(place[-1]), MAX_NAME)}" if place and isinstance(place[-1], str) else "value"
    here = _schema_at(place, schema)
    problem = PROBLEMS.get(kind, PROBLEMS["type"]).format(where=where)
    if kind == "extra_forbidden":
        return _unknown(Fault(path, problem), str(place[-1]), _object_at(place[:-1], schema), whole)
    name = str(entry["loc"][-1]) if entry["loc"] else ""
    form = next((_FORMS[segment] for segment in reversed(entry["loc"]) if segment in _FORMS), "")
    hint = _MISSING.get(name, "Add it.") if kind == "missing" else form
    return Fault(path, problem, describe(here), hint, _KINDS.get(kind, "invalid"))


def _unknown(fault: Fault, name: str, parent: Json, whole: set[str]) -> Fault:
    """Return the fault of an unknown field; without a suggestion, all fields are listed, once for each model."""
    hint, model = suggestion_for(name, parent), str(parent.get("title"))
    is_whole = not hint and model not in whole
    if is_whole:
        whole.add(model)
    return replace(
        fault,
        accepted=known_field_list(parent, is_whole=is_whole),
        hint=hint or removal_hint(name, parent),
        kind="unknown",
    )


def _value_at(place: Sequence[str | int], body: Any) -> Any:
    """Return the value at a place of the input."""
    for segment in place:
        body = body[segment]
    return body


def _unquoted(value: Any, accepted: str) -> str:
    """Return a hint for a list or an object that was sent as JSON text; "" for other values."""
    words = _TEXTS.get(value.lstrip()[:1], ()) if isinstance(value, str) else ()
    if not any(word in accepted for word in words):
        return ""
    return f"It arrived as text: send the {words[0]} itself, not in quotes."


def _plain_unquoted(value: Any, accepted: str) -> str:
    """Return a hint for a number or a truth value that was sent as text; "" for other values."""
    found = (hint for form, words, hint in _PLAIN if form.fullmatch(value) and any(word in accepted for word in words))
    return next(found, "") if isinstance(value, str) else ""


def _schema_at(place: Sequence[str | int], root: Json) -> Json:
    """Return the JSON Schema of a place, `{}` where there is none."""
    here = root
    for segment in place:
        here = next((found for option in _options(here, root) if (found := _step(option, segment))), {})
    return _deref(here, root)


def _object_at(place: Sequence[str | int], root: Json) -> Json:
    """Return the JSON Schema of the object at a place, which may also accept other types."""
    here = _schema_at(place, root)
    return next((option for option in _options(here, root) if "properties" in option), here)


def _options(schema: Json, root: Json) -> Iterator[Json]:
    schema = _deref(schema, root)
    yield schema
    for option in schema.get("anyOf", []) + schema.get("oneOf", []):
        yield _deref(option, root)


def _step(schema: Json, segment: str | int) -> Json:
    if isinstance(segment, int):
        found = schema.get("items")
    else:
        found = schema.get("properties", {}).get(segment, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else {}


def _deref(schema: Json, root: Json) -> Json:
    if isinstance(reference := schema.get("$ref"), str):
        definition: Json = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        return {**definition, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def describe(schema: Json) -> str:
    """Return a short description of what a JSON Schema accepts."""
    if "enum" in schema:
        return f"one of {', '.join(str(value) for value in schema['enum'])}"
    if "const" in schema:
        return str(schema["const"])
    if options := schema.get("anyOf"):
        return " or ".join(dict.fromkeys(text for option in options if (text := describe(option)) and text != "null"))
    named = schema.get("type", "object" if "$ref" in schema else "")
    kind = " or ".join(named) if isinstance(named, list) else str(named)
    return f"{kind}{_bounds(schema)}"


def _bounds(schema: Json) -> str:
    form = f" matching {schema['pattern']}" if "pattern" in schema else ""
    high = schema.get("maximum")
    span = _span(schema.get("minimum"), None if high is not None and high >= MAX_NUMBER else high)
    length = _span(schema.get("minLength"), schema.get("maxLength"))
    items = _span(schema.get("minItems"), schema.get("maxItems"))
    return form + span + (f" of{length} characters" if length else "") + (f" of{items} items" if items else "")


def _span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "" if low is high else f" ≥ {low}" if high is None else f" ≤ {high}"
    return f" {low}…{high}"
