"""Makes JSON Schema 2020-12 that stands alone out of the schemas of an OpenAPI document.

Owns the translation for arguments of tools: references are filled in, circles cut where they close, `nullable` and
boolean bounds of 3.0 rewritten, and what neither a model nor a check needs left out. Departures from the document:

1. `pattern` becomes words of the description: an expression of a stranger may take minutes on a text of a caller.
2. Rules that a validator cannot check in linear time or that few documents use (`uniqueItems`, `not`, `if`,
   `patternProperties`, `prefixItems`, …) are dropped: the service checks its input itself.
3. Fields that the service alone sets (`readOnly`) are left out.
4. `oneOf` becomes `anyOf`: which of several forms is meant, the service decides.
"""

from typing import Any, Final

from planner_mcp.bridge.openapi_document import OpenApiDocument
from planner_mcp.errors import Fault, input_error
from planner_mcp.text import Json, plain

MAX_PARTS: Final = 5_000
"""Schemas within the arguments of one operation, those of `allOf` included, each as often as it is met."""
MAX_DEPTH: Final = 24
MAX_DESCRIPTION: Final = 300
"""Characters of one description."""
_KEPT: Final = (
    *("type", "format", "enum", "const", "default"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
)
_TYPES: Final = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


class SchemaExpansion:
    """Expands the schemas of one operation; what they may hold together is bounded."""

    def __init__(self, document: OpenApiDocument, place: str) -> None:
        self._document = document
        self._place = place
        self._parts = 0

    def expanded(self, schema: Any, within: tuple[str, ...]) -> Json:
        """Return a schema without references.

        Args:
            within: The references that led here.

        Raises:
            InputError: It has too many parts, or is no schema.
        """
        merged, within = self.merged(schema, within)
        if merged is None:
            return _cut(self._document.resolved(schema, self._place))
        made = {key: merged[key] for key in _KEPT if key in merged} | {"required": required_in(merged)}
        if text := description_of(merged):
            made["description"] = text
        for key in ("oneOf", "anyOf", "allOf"):
            if isinstance(options := merged.get(key), list) and options:
                made["anyOf" if key == "oneOf" else key] = [self.expanded(each, within) for each in options]
        if "items" in merged:
            made["items"] = self.expanded(merged["items"], within)
        if isinstance(names := merged.get("properties"), dict):
            writable = {name: each for name, each in names.items() if not self.is_read_only(each)}
            made["properties"] = {name: self.expanded(each, within) for name, each in writable.items()}
            made["required"] = [each for each in made["required"] if each in made["properties"]]
        if isinstance(others := merged.get("additionalProperties"), dict) and others:
            made["additionalProperties"] = self.expanded(others, within)
        elif others is False:
            made["additionalProperties"] = False
        if not made["required"]:
            del made["required"]
        return self._with_null(made, merged)

    def merged(self, schema: Any, within: tuple[str, ...]) -> tuple[Json | None, tuple[str, ...]]:
        """Return a schema with its reference followed and the objects of its `allOf` put together.

        Returns:
            The schema, and the references that led to it; None for it where it is met within itself.

        Raises:
            InputError: As `expanded`.
        """
        self._parts += 1
        if self._parts > MAX_PARTS or len(within) > MAX_DEPTH:
            hint = "Hide arguments, or set them as constants."
            raise input_error([Fault(self._place, "The schemas are too large.", f"{MAX_PARTS} parts", hint)])
        if isinstance(schema, bool):
            return {}, within
        if isinstance(schema, dict) and isinstance(reference := schema.get("$ref"), str):
            if reference in within:
                return None, within
            within = (*within, reference)
            beside = {key: value for key, value in schema.items() if key != "$ref"}
            schema = {**self._document.resolved(schema, self._place), **({} if self._document.is_3_0 else beside)}
        if not isinstance(schema, dict):
            raise input_error([Fault(self._place, "A schema is not an object.", "an object")])
        if not isinstance(parts := schema.get("allOf"), list) or not parts:
            return schema, within
        found = [self.merged(each, within) for each in parts]
        if not all(each is not None and _is_plain_object(each) for each, _ in found):
            return schema, within
        for _, led in found:
            within = (*within, *(each for each in led if each not in within))
        return _joined([each for each, _ in found if each is not None], schema), within

    def is_read_only(self, schema: Any) -> bool:
        """Return whether only the service sets a field."""
        if isinstance(schema, dict) and "$ref" in schema:
            schema = self._document.resolved(schema, self._place)
        return isinstance(schema, dict) and schema.get("readOnly") is True

    def _with_null(self, made: Json, merged: Json) -> Json:
        """Return a schema with the rules of OpenAPI 3.0 in the words of JSON Schema."""
        if not self._document.is_3_0:
            return made
        for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if isinstance(made.get(bound), bool):
                is_strict = made.pop(bound)
                if is_strict and limit in made:
                    made[bound] = made.pop(limit)
        if merged.get("nullable") is True and isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
            if "enum" in made and None not in made["enum"]:
                made["enum"] = [*made["enum"], None]
        return made


def description_of(schema: Json) -> str:
    """Return what a schema says of itself, its pattern in words."""
    stated = schema.get("description")
    text = one_line(stated, MAX_DESCRIPTION) if isinstance(stated, str) else ""
    form = schema.get("pattern")
    return " ".join(each for each in (text, f"form: {plain(form, 100)}" if isinstance(form, str) else "") if each)


def one_line(text: str, most: int) -> str:
    """Return what a document says, on one line and without hidden characters."""
    return plain(" ".join(text.split()), most)


def required_in(schema: Json) -> list[str]:
    """Return the names an object must have; none where a document wrote something else, as `required: true`."""
    names = schema.get("required")
    return [each for each in names if isinstance(each, str)] if isinstance(names, list) else []


def _cut(schema: Json) -> Json:
    """Return what stands where a schema is met within itself."""
    kind = schema.get("type")
    return {"type": kind, "description": "as above"} if isinstance(kind, str) and kind in _TYPES else {}


def _is_plain_object(schema: Json) -> bool:
    return isinstance(schema.get("properties"), dict) and not {"oneOf", "anyOf", "allOf", "$ref"} & schema.keys()


def _joined(parts: list[Json], whole: Json) -> Json:
    """Return several objects as one, which has the fields of all."""
    own = {key: value for key, value in whole.items() if key != "allOf"}
    joined: Json = {"type": "object", "properties": {}, "required": []}
    for part in (*parts, own):
        joined |= {key: value for key, value in part.items() if key not in ("properties", "required")}
        names = part.get("properties")
        joined["properties"] |= names if isinstance(names, dict) else {}
        joined["required"] = [*joined["required"], *required_in(part)]
    return joined
