"""What a principal without `planner:sensitive` sees (SPEC R3).

Owns the masking; which fields are sensitive is declared beside them, as `x-sensitive-fields` of a schema, and read from
there, so that a field cannot be declared and forgotten. Text becomes `***`. A position becomes coarse by about a
kilometre: a map still shows the town, and no address. Anything else becomes null. Everything here is pure: a body goes
in, a copy comes out. Labels, which are ids and the name of the scenario itself, are shown to every reader, because
people find the day by them.

Of a plan the cost of each route is masked, since with its distance and duration it would reveal the prices. The total
cost and its lower bound stay, in events and webhooks too: progress is measured by them, and callers compare plans so.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, Final

from planner_mcp.jobs.principals import SENSITIVE, Principal
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.scenario.field_types import MAX_FREE_TEXT_LENGTH
from planner_mcp.routing.scenario.scenario_body import ScenarioBody
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.shown_scenario import ShownScenario, as_shown
from planner_mcp.text import MASK, Json, plain

KEYWORD: Final = "x-sensitive-fields"
MASKED: Final = "masked"
"""What a scenario of which anything is hidden says first: which fields. No scenario that is sent may have it."""
COARSE: Final = {"lat": 2, "lon": 2, "x": -3, "y": -3}
"""Decimals a masked position keeps: a hundredth of a degree, a thousand metres."""
_SCALAR: Final = (str, int, float, type(None))
"""Most of what a large day holds: sorted out before anything dearer is asked of it."""


def scenario_for(principal: Principal, body: Mapping[str, Any]) -> ShownScenario:
    """Return a scenario's body as a principal may see it. Text for people comes without characters that do not show."""
    return as_shown(_shown(body, _schema(), is_masked=not principal.may(SENSITIVE)))


def masked_fields(principal: Principal, body: Mapping[str, Any]) -> list[str]:
    """Return which fields of a scenario are hidden from a principal, as `agents.name`, in the order of the alphabet."""
    if principal.may(SENSITIVE):
        return []
    return sorted({name for name, value in _sensitive(body, _schema()) if value is not None})


def masked_values_in(body: Mapping[str, Any]) -> list[str]:
    """Return, as `agents.name`, which fields of a scenario read as if they had been masked before it was sent."""
    return sorted({name for name, value in _sensitive(body, _schema()) if value == MASK})


def has_sensitive_values(body: Mapping[str, Any]) -> bool:
    """Return whether a scenario has a value in any sensitive field."""
    return any(value is not None for _name, value in _sensitive(body, _schema()))


def computable_body(body: Mapping[str, Any]) -> ScenarioBody:
    """Return a scenario as its masked form can be planned: positions rounded, other sensitive fields left out.

    A road engine is left out too: it would be asked for roads between rounded positions.
    """
    masked = dict(_shown(body, _schema(), is_masked=True, is_computed_on=True))
    travel = masked.get("travel")
    if isinstance(travel, Mapping) and "router" in travel:
        masked["travel"] = {name: value for name, value in travel.items() if name != "router"}
    return masked


def plan_for(principal: Principal, plan: Plan) -> Plan:
    """Return a plan as a principal may see it."""
    if principal.may(SENSITIVE):
        return plan
    return replace(plan, routes=tuple(replace(route, cost=None) for route in plan.routes))


def sensitive_fields() -> dict[str, tuple[str, ...]]:
    """Return the sensitive fields by the name of their object."""
    return {name: tuple(part[KEYWORD]) for name, part in _schema()["$defs"].items() if KEYWORD in part}


@cache
def _schema() -> Json:
    return Scenario.model_json_schema()


def _shown(value: Any, schema: Json, *, is_masked: bool, is_computed_on: bool = False) -> Any:
    """Return a copy of a value; where it is computed on, a masked field that is not coarse is left out."""
    if isinstance(value, _SCALAR):
        return value
    shown = partial(_shown, is_masked=is_masked, is_computed_on=is_computed_on)
    schema = _resolved(schema)
    if isinstance(value, list):
        return [shown(each, schema.get("items", {})) for each in value]
    hidden, fields = schema.get(KEYWORD, ()), schema.get("properties", {})
    return {
        name: _field(name, each, is_masked=is_masked) if name in hidden else shown(each, fields.get(name, {}))
        for name, each in value.items()
        if not is_computed_on or name not in hidden or name in COARSE
    }


def _sensitive(value: Any, schema: Json, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the sensitive fields of a value, each with its name behind those of the lists and objects it lies in."""
    schema = _resolved(schema)
    if isinstance(value, list):
        for each in value:
            yield from _sensitive(each, schema.get("items", {}), path)
    elif isinstance(value, Mapping):
        hidden, fields = schema.get(KEYWORD, ()), schema.get("properties", {})
        for name, each in value.items():
            if name in hidden:
                yield path + name, each
            elif isinstance(each, list | Mapping):
                yield from _sensitive(each, fields.get(name, {}), f"{path}{name}.")


def _field(name: str, value: Any, *, is_masked: bool) -> Any:
    if is_masked and name in COARSE and isinstance(value, int | float):
        return round(value, COARSE[name])
    if is_masked:
        return MASK if isinstance(value, str) else None
    return plain(value, MAX_FREE_TEXT_LENGTH) if isinstance(value, str) else value


def _resolved(schema: Json) -> Json:
    """Return what a reference, or an optional one, points to."""
    options = [schema, *schema.get("anyOf", ())]
    target = next((option["$ref"] for option in options if "$ref" in option), None)
    return schema if target is None else _schema()["$defs"][target.rpartition("/")[2]]
