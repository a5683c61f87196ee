"""What every tool's result is made of: a model that declares its fields, and the one place where it becomes JSON.

Owns how a result is serialised and the two JSON Schemas of it. The whole schema is for the manifest and the reference.
`tools/list` shows a short one, since every model pays for it in tokens.
"""

from functools import cache
from typing import Annotated, Any, ClassVar, Final

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    WithJsonSchema,
    model_serializer,
)

from planner_mcp.errors import Fault
from planner_mcp.jobs.field_meanings import with_meanings
from planner_mcp.text import Json
from planner_mcp.translation import translated_line

Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""A number that is written without decimals where it has none."""
Words = Annotated[str, PlainSerializer(translated_line)]
"""Text for people; it becomes JSON in the language of its reader, wherever it was written."""
Timestamp = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
_UNUSED: Final = {"title", "additionalProperties", "default"}
_NOT_LISTED: Final = {"properties", "required", "items", "minimum", "maximum"}


class ToolOutput(BaseModel):
    """Base of the results of tools and of what they hold.

    A field without a default is always sent, if need be as null. One whose default is None is left out while it is
    None, unless `kept_nulls` names it and it was set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    listed: ClassVar[tuple[str, ...]] = ()
    """The fields that `tools/list` shows; empty for all."""
    kept_nulls: ClassVar[frozenset[str]] = frozenset()
    """Optional fields of which null says something else than absence."""

    @model_serializer(mode="wrap")
    def _without_absent(self, serialize: SerializerFunctionWrapHandler) -> Json:
        written: Json = serialize(self)
        return {name: value for name, value in written.items() if value is not None or self._says_null(name)}

    def _says_null(self, name: str) -> bool:
        if name in self.kept_nulls:
            return name in self.model_fields_set
        return type(self).model_fields[name].is_required()

    def as_json(self) -> Json:
        """Return the result as plain JSON, in the order of its fields."""
        return self.model_dump(mode="json")


class FaultOutput(ToolOutput):
    """One thing that is wrong with an input."""

    path: str = Field(json_schema_extra={"format": "json-pointer"})
    problem: str
    accepted: str | None = Field(None, description="absent where the error has no room for it")
    hint: str | None = None
    reason: str | None = Field(None, description="code, where a ticket provably cannot be served")
    which: list[str] | None = Field(None, description="ids of the entries, each with the value seen")
    count: int | None = Field(None, description="equal mistakes reported as one")

    @staticmethod
    def of(fault: Fault) -> "FaultOutput":
        """Return a fault as a part of a result."""
        return FaultOutput(**fault.as_json())


@cache
def whole_schema(model: type[ToolOutput]) -> Json:
    """Return the JSON Schema of a result with everything it holds. It stands alone: no `$ref`, no `$defs`."""
    schema = model.model_json_schema()
    tidied: Json = _tidied(schema, schema.get("$defs", {}))
    tidied.setdefault("required", [])
    for name in model.kept_nulls:
        tidied["properties"][name]["type"] = [tidied["properties"][name]["type"], "null"]
    return tidied


@cache
def listed_schema(model: type[ToolOutput]) -> Json:
    """Return the short schema for `tools/list`: the listed fields, and of objects within them what they always have.

    Errors follow it too, since some clients check the structured content of an error against it: no field is required.
    """
    whole = whole_schema(model)
    fields = {name: _short(whole["properties"][name]) for name in model.listed or whole["properties"]}
    return {"type": "object", "properties": fields}


def _tidied(schema: Any, models: Json) -> Any:
    """Return a schema with its references filled in, without what says nothing of a result."""
    if isinstance(schema, list):
        return [_tidied(each, models) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key not in {"$ref", *_UNUSED}}
        return {**_tidied(models[schema["$ref"].rpartition("/")[2]], models), **beside}
    if options := schema.get("anyOf"):
        is_optional = "default" in schema
        kept = [option for option in options if not (is_optional and option == {"type": "null"})]
        beside = {key: value for key, value in schema.items() if key not in {"anyOf", *_UNUSED}}
        return {**_joined([_tidied(option, models) for option in kept]), **beside}
    tidied = {key: _tidied(value, models) for key, value in schema.items() if key not in {*_UNUSED, "$defs"}}
    if "properties" in schema:
        fields = {name: _tidied(value, models) for name, value in schema["properties"].items()}
        tidied["properties"] = with_meanings(fields)
        tidied.pop("description", None)
    return {key: value for key, value in tidied.items() if value != {}}


def _joined(options: list[Json]) -> Json:
    """Return one of several schemas as one."""
    if len(options) == 1:
        return options[0]
    merged = {key: value for option in options for key, value in option.items()}
    return {**merged, "type": [option["type"] for option in options]}


def _short(field: Json) -> Json:
    """Return a field without bounds and what it holds; of objects in a list the names that each has stay."""
    short = {key: value for key, value in field.items() if key not in _NOT_LISTED}
    if "enum" in short:
        short.pop("type", None)
    items = field.get("items")
    if items is not None and "properties" in items:
        short["items"] = {"type": "object", "required": items["required"]}
    return short
