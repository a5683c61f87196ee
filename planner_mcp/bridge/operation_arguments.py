"""The flat arguments of a bridged tool, and where each of them goes in the request.

Owns names and schemas as callers see them. Fields of the body stand beside parameters; those of an object within it are
called `parent_field`, two levels deep. What a configuration hides is not offered, its constants are not shown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import jsonschema

from planner_mcp.bridge.bridge_config import ToolConfig
from planner_mcp.bridge.openapi_document import OpenApiDocument, Operation
from planner_mcp.bridge.schema_expansion import MAX_DESCRIPTION, SchemaExpansion, one_line, required_in
from planner_mcp.errors import Fault, input_error
from planner_mcp.text import Json, named, plain

Place = Literal["path", "query", "header", "body"]
MAX_ARGUMENTS: Final = 60
MAX_LEVELS: Final = 3
"""Levels of a body whose fields are arguments of their own."""
STYLES: Final = {
    "path": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "header": ("simple",),
}
"""How a parameter may be written; the first is the default of its place."""
_NOT_PARAMETERS: Final = frozenset(
    {
        *("accept", "content-type", "authorization"),
        *("accept-encoding", "connection", "content-length", "expect", "host", "transfer-encoding", "upgrade"),
    }
)
"""Headers that OpenAPI says are no parameters, and those that the client of the bridge sets itself."""
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_-]")
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_JSON_TYPE: Final = re.compile(r"application/([a-z0-9.+-]+\+)?json", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RequestArgument:
    """One value of a request."""

    name: str
    """As callers say it."""
    place: Place
    target: tuple[str, ...]
    """Name of the parameter, or where in the body; empty for the whole body."""
    schema: Json
    is_required: bool
    style: str = ""
    is_exploded: bool = False
    is_json: bool = False
    """A parameter that is written as JSON."""
    is_constant: bool = False
    """Its value is the configuration's, and no caller can say another."""


@dataclass(frozen=True, slots=True)
class OperationArguments:
    """What a request is made of."""

    offered: tuple[RequestArgument, ...]
    constants: tuple[tuple[RequestArgument, Any], ...]
    depends: Mapping[str, tuple[str, ...]]
    """By argument what must be there with it: fields of an object that is not required itself."""

    def input_schema(self) -> Json:
        """Return the JSON Schema of the arguments."""
        schema: Json = {
            "type": "object",
            "properties": {each.name: each.schema for each in self.offered},
            "required": [each.name for each in self.offered if each.is_required],
            "additionalProperties": False,
        }
        return schema | ({"dependentRequired": {k: [*v] for k, v in self.depends.items()}} if self.depends else {})


def arguments_of(document: OpenApiDocument, operation: Operation, config: ToolConfig, place: str) -> OperationArguments:
    """Return the arguments of an operation as its configuration shows them.

    Args:
        place: JSON Pointer of the configuration, for errors.

    Raises:
        InputError: With every fault of the configuration, or what of the document cannot be served.
    """
    found = [*_parameters(operation), *_body_fields(document, operation)]
    by_name = _with_unique_names(found, place)
    _check_names(by_name, config, place)
    expansion = SchemaExpansion(document, _place_of(operation))
    offered, constants = [], []
    for name, each in by_name.items():
        if name in config.constants:
            constant = replace(each.argument, name=name, schema={}, is_constant=True)
            constants.append((constant, config.constants[name]))
        elif name not in config.hide:
            offered.append(_shown(each, name, config, expansion))
    if len(offered) > MAX_ARGUMENTS:
        problem = f"The operation has {len(offered)} arguments."
        raise input_error([Fault(place, problem, f"at most {MAX_ARGUMENTS}", "Hide what callers do not need.")])
    arguments = OperationArguments(tuple(offered), tuple(constants), _dependencies(offered, found))
    _check_schema(arguments.input_schema(), place)
    return arguments


@dataclass(frozen=True, slots=True)
class _Found:
    """One value as the document describes it."""

    argument: RequestArgument
    """Without a name, and with its schema as it stands there."""
    within: tuple[str, ...] = ()
    """The references that led to its schema."""
    is_required_there: bool = True
    """In the object it stands in, which may be optional."""
    description: str = ""


def _parameters(operation: Operation) -> Iterator[_Found]:
    place = _place_of(operation)
    for parameter in operation.parameters:
        name, where = parameter.get("name"), parameter.get("in")
        if not isinstance(name, str) or not name or where not in ("path", "query", "header", "cookie"):
            raise input_error([Fault(place, "A parameter has no name or no place.", "name and in")])
        shown, is_required = plain(name, 60), parameter.get("required") is True or where == "path"
        if where == "header" and name.lower() in _NOT_PARAMETERS:
            continue
        if where == "cookie" or (where == "header" and not _HEADER.fullmatch(name)):
            if is_required:
                raise input_error([Fault(place, f"The parameter {shown} cannot be sent.", "path, query or header")])
            continue
        media = _json_media(parameter.get("content"))
        style = parameter.get("style", STYLES[where][0])
        if style not in STYLES[where]:
            raise input_error(
                [Fault(place, f"The parameter {shown} has a style that is not served.", named(STYLES[where]))]
            )
        if media is None and isinstance(parameter.get("content"), dict):
            raise input_error([Fault(place, f"The parameter {shown} is no JSON.", "application/json")])
        schema = parameter.get("schema") if media is None else media.get("schema")
        argument = RequestArgument(
            "",
            where,
            (name,),
            schema if schema is not None else {},
            is_required,
            style=style,
            is_exploded=parameter.get("explode", style == "form") is True,
            is_json=media is not None,
        )
        description = parameter.get("description")
        yield _Found(argument, description=description if isinstance(description, str) else "")


def _body_fields(document: OpenApiDocument, operation: Operation) -> Iterator[_Found]:
    if operation.body is None:
        return
    place = _place_of(operation)
    content = operation.body.get("content")
    kinds = content if isinstance(content, dict) else {}
    media = _json_media(content)
    is_required = operation.body.get("required") is True
    if media is None:
        if not is_required and not kinds:
            return
        problem = f"The body is {named([plain(kind, 60) for kind in kinds]) or 'of no type'}."
        raise input_error([Fault(f"{place}/requestBody", problem, "application/json", "Serve another operation.")])
    yield from _fields(SchemaExpansion(document, place), media.get("schema", {}), (), (), is_required)


def _json_media(content: Any) -> Json | None:
    """Return what a content says of its JSON; None where it has none."""
    kinds = content if isinstance(content, dict) else {}
    found = (kinds[kind] for kind in kinds if _JSON_TYPE.fullmatch(kind.partition(";")[0].strip()))
    return next((media if isinstance(media, dict) else {} for media in found), None)


def _fields(
    expansion: SchemaExpansion, schema: Any, target: tuple[str, ...], within: tuple[str, ...], is_required: bool
) -> Iterator[_Found]:
    """Yield the fields of an object, or the value itself where it is none or has no fixed fields."""
    merged, led = expansion.merged(schema, within)
    names = merged.get("properties") if merged is not None else None
    if merged is None or not isinstance(names, dict) or not _is_flat(merged) or len(target) >= MAX_LEVELS:
        yield _Found(RequestArgument("", "body", target, schema, is_required), within)
        return
    needed = required_in(merged)
    for name, each in names.items():
        if expansion.is_read_only(each):
            continue
        for field in _fields(expansion, each, (*target, name), led, is_required and name in needed):
            is_own = field.argument.target == (*target, name)
            yield replace(field, is_required_there=name in needed) if is_own else field


def _is_flat(schema: Json) -> bool:
    """Return whether an object has its fields and nothing else to it."""
    is_object = schema.get("type", "object") == "object" and bool(schema["properties"])
    return is_object and not {"oneOf", "anyOf", "allOf", "nullable"} & schema.keys()


def _with_unique_names(found: list[_Found], place: str) -> dict[str, _Found]:
    """Return each value under the name it has without configuration: safe for every client, and its own."""
    plain_names = [_UNSAFE.sub("_", "_".join(each.argument.target))[:64] or "body" for each in found]
    names = [
        name if plain_names.count(name) == 1 else f"{each.argument.place}_{name}"[:64]
        for name, each in zip(plain_names, found, strict=True)
    ]
    if twice := {name for name in names if names.count(name) > 1}:
        problem = f"Several arguments would be called {named(sorted(twice))}."
        raise input_error([Fault(place, problem, "an operation whose names differ")])
    return dict(zip(names, found, strict=True))


def _check_names(by_name: Mapping[str, _Found], config: ToolConfig, place: str) -> None:
    """Refuse a configuration with names that no argument has, with a required one hidden, or with a name twice."""
    faults = [
        Fault(f"{place}/{part}/{plain(name, 64)}", "The operation has no such argument.", named([*by_name]))
        for part, names in (("arguments", config.arguments), ("constants", config.constants), ("hide", config.hide))
        for name in names
        if name not in by_name
    ]
    faults += [
        Fault(f"{place}/hide", f"The argument {name} is required.", "an optional one", "Set it by constants.")
        for name in config.hide
        if name in by_name and by_name[name].argument.is_required
    ]
    shown = [_name_of(name, config) for name in by_name if name not in {*config.hide, *config.constants}]
    faults += [
        Fault(f"{place}/arguments", f"Two arguments are called {name}.", "names that differ")
        for name in sorted({name for name in shown if shown.count(name) > 1})
    ]
    if faults:
        raise input_error(faults)


def _shown(each: _Found, name: str, config: ToolConfig, expansion: SchemaExpansion) -> RequestArgument:
    settings = config.arguments.get(name)
    schema = expansion.expanded(each.argument.schema, each.within)
    if each.description and "description" not in schema:
        schema["description"] = one_line(each.description, MAX_DESCRIPTION)
    if settings is not None and settings.description is not None:
        schema["description"] = settings.description
    is_required = each.argument.is_required or (settings is not None and settings.required is True)
    return replace(each.argument, name=_name_of(name, config), schema=schema, is_required=is_required)


def _name_of(name: str, config: ToolConfig) -> str:
    settings = config.arguments.get(name)
    return settings.name if settings is not None and settings.name is not None else name


def _dependencies(offered: list[RequestArgument], found: list[_Found]) -> dict[str, tuple[str, ...]]:
    """Return by argument which others its object cannot do without."""
    needed = {each.argument.target for each in found if _is_optional_field(each.argument) and each.is_required_there}
    fields = [each for each in offered if _is_optional_field(each)]
    depends = {
        each.name: tuple(
            other.name
            for other in fields
            if other is not each and other.target in needed and _is_beside(other.target, each.target)
        )
        for each in fields
    }
    return {name: others for name, others in depends.items() if others}


def _is_optional_field(argument: RequestArgument) -> bool:
    return argument.place == "body" and not argument.is_required and bool(argument.target)


def _is_beside(target: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether a field stands in an object that another field is in, or below."""
    return target[:-1] == other[: len(target) - 1]


def _check_schema(schema: Json, place: str) -> None:
    """Refuse a schema in which a keyword of the document has a value that it cannot have."""
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        where = "/".join(map(str, error.absolute_path))
        problem = f"The schema of its arguments is not valid at {plain(where, 100)}."
        raise input_error([Fault(place, problem, "JSON Schema", "Hide the argument, or fix the document.")]) from error


def _place_of(operation: Operation) -> str:
    return f"{operation.method} {plain(operation.path, 100)}"
