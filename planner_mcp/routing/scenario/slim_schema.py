"""A short JSON Schema of the scenario, for a language model's context. The full schema is in the manifest.

Owns the selection. The schema is generated from the models, so it is always up to date. It types the most common fields
and names nearly all others in descriptions; it accepts whatever the full schema accepts.
"""

from functools import cache
from typing import Final

from planner_mcp.routing.scenario.field_types import MAX_TIME_S
from planner_mcp.routing.scenario.scenario_model import NULLABLE, Scenario
from planner_mcp.text import Json

_TYPED: Final[dict[str, tuple[str, ...]]] = {
    "Scenario": ("name", "planning_date", "agents", "tickets", "locations", "depot", "travel"),
    "Agent": ("id", "capacity", "shift_start", "shift_end"),
    "Ticket": ("id", "location", "demand", "kind", "time_windows", "service_time_s", "priority"),
    "Location": ("id", "lat", "lon"),
}
"""Fields the short form types and describes; the others are named in the description of their object."""
_NOTES: Final = {
    ("Scenario", "name"): "shown in lists",
    ("Scenario", "planning_date"): "its midnight is time 0",
    ("Scenario", "agents"): "vehicles",
    ("Scenario", "tickets"): "visits",
    ("Scenario", "locations"): "places",
    ("Scenario", "depot"): "start and end of agents",
    ("Agent", "id"): "unique",
    ("Agent", "capacity"): "or {dimension: number}",
    ("Agent", "shift_start"): "HH:MM, ISO date-time or seconds",
    ("Agent", "shift_end"): "back by then",
    ("Ticket", "id"): "unique",
    ("Ticket", "demand"): "as capacity",
    ("Ticket", "kind"): "to or from the customer",
    ("Ticket", "time_windows"): '[["08:00","12:00"]] for start of service',
    ("Ticket", "service_time_s"): "seconds there",
    ("Ticket", "priority"): "9 left out last; no order",
    ("Ticket", "location"): "name or location id; or address",
    ("Location", "id"): "unique",
    ("Location", "lat"): "degrees",
    ("Location", "lon"): "degrees",
}
_OMITTED: Final = (
    "held",
    "resolved",
    "open_address",
    "rounding",
    "decimals",
    "plane_speed",
    "max_distance_m",
    "phone",
    "notes",
)
"""Fields that clients need not know: the server writes the first two, the next three serve benchmark instances,
`max_distance_m` is `max_distance_km` in metres, and no plan depends on the last two."""
_KEPT: Final = ("type", "enum", "format")
_BOUNDED: Final = ("service_time_s", "priority")
"""Fields whose bounds the short form shows; a model knows those of a latitude."""


@cache
def scenario_schema() -> Json:
    """Return the short schema, for a tool's `inputSchema`. It has no `$ref` and no `$defs`."""
    whole = Scenario.model_json_schema()
    return _slim_object("Scenario", whole, whole["$defs"])


def _tidy(name: str, field: Json) -> Json:
    """Return a field without title and null: null equals absent, except in nullable fields."""
    options = [option for option in field.get("anyOf", []) if option != {"type": "null"}]
    kept = {key: value for key, value in field.items() if key not in ("title", "anyOf") and value not in (None, [])}
    if name in NULLABLE:
        return kept | {"type": ["string", "null"]}
    return (options[0] if options else {}) | kept


def _slim_object(name: str, schema: Json, models: Json) -> Json:
    typed = _TYPED.get(name, ())
    fields = {field: _slim_field(name, field, schema["properties"][field], models) for field in typed}
    more = ", ".join(
        _mention(field, part, models)
        for field, part in schema["properties"].items()
        if field not in (*typed, *_OMITTED)
    )
    slim: Json = {"type": "object"}
    if more:
        slim["description"] = f"Also {more}" if typed else more
    if fields:
        slim["properties"] = fields
    if typed and "required" in schema:
        slim["required"] = schema["required"]
    return slim


def _slim_field(owner: str, name: str, field: Json, models: Json) -> Json:
    field = _tidy(name, field)
    if (model := _model_of(field)) is not None:
        return _slim_object(model, models[model], models)
    kept = (*_KEPT, "minimum", "maximum") if name in _BOUNDED else _KEPT
    slim: Json = {key: field[key] for key in kept if key in field and field[key] != MAX_TIME_S}
    if field.get("type") == "array" and "items" in field:
        slim["items"] = _slim_items(field["items"], models)
    if note := _NOTES.get((owner, name)):
        slim["description"] = note
    return slim


def _slim_items(items: Json, models: Json) -> Json:
    if (model := _model_of(items)) is not None:
        return _slim_object(model, models[model], models)
    return {"type": items["type"]}


def _model_of(field: Json) -> str | None:
    reference = field.get("$ref")
    return None if reference is None else str(reference).rpartition("/")[2]


def _mention(name: str, field: Json, models: Json) -> str:
    """Return the text that names a field in a description: with its own fields, or its choices."""
    field = _tidy(name, field)
    if (model := _model_of(field)) is not None:
        return f"{name} {{{_inside(model, models)}}}"
    if (model := _model_of(field.get("items", {}))) is not None:
        return f"{name} [{{{_inside(model, models)}}}]"
    if field.get("type") == "array" and field["items"].get("type") == "array":
        return f"{name} [[]]"
    if "enum" in field:
        return f"{name} ({'|'.join(field['enum'])})"
    return f"{name} []" if field.get("type") == "array" else name


def _inside(model: str, models: Json) -> str:
    return ", ".join(_mention(name, field, models) for name, field in models[model]["properties"].items())
