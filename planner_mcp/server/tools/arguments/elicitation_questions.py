"""Choices a day leaves open that its caller would rather make: depot, shift, speed (SPEC T7).

Owns when a question is worth asking, its form, and putting the answer into the day. A question is asked only where
positions are known, because a wrong assumption makes a plan useless there; the smallest call is never asked about. A
caller that does not answer gets the usual assumptions.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from planner_mcp.addresses.structured_address import AddressStatus, ResolvedAddress, StructuredAddress
from planner_mcp.errors import PlannerError
from planner_mcp.routing.scenario.scenario_model import Scenario, start_of
from planner_mcp.server.tools.arguments.resolved_inputs import ResolvedInputs, ScenarioBounds, scenario_within_limits
from planner_mcp.server.tools.arguments.scenario_addresses import with_resolved_addresses
from planner_mcp.text import Json

Fill = Callable[[Mapping[str, Any], Mapping[str, Any]], Json]
"""Returns the arguments of a call with an answer put in."""
MOST_OPTIONS: Final = 40
"""Locations offered as a choice; of more a client types the id."""
_TIME: Final = {"type": "string", "description": "HH:MM"}


@dataclass(frozen=True, slots=True)
class Question:
    """What to ask."""

    message: str
    schema: Json
    """Of the answer: flat, as elicitation wants it."""
    fill: Fill
    is_last: bool = True
    """Whether the call runs with its answer; else another question may follow."""


FindQuestion = Callable[[Any, ScenarioBounds], Question | None]
"""Returns what a call should ask first, by its arguments."""


def question_of_text(find: FindQuestion, text: str, bounds: ScenarioBounds) -> Question | None:
    """Return what a call should ask first whose arguments are text; in a process of its own."""
    return find(json.loads(text), bounds)


def question_of(args: Any, bounds: ScenarioBounds) -> Question | None:
    """Return what a call of `create_scenario` should ask first; None for nothing, and for what is wrong anyway."""
    if not isinstance(args, dict):
        return None
    try:
        body = with_resolved_addresses(args, _unresolved).body
        day = scenario_within_limits(body, bounds, ResolvedInputs())
    except PlannerError:
        return None
    fields: Json = {}
    if _has_positions(day) and all(start_of(day, agent) is None and _is_silent(agent) for agent in day.agents):
        fields["depot"] = _depot(day)
    if any(ticket.time_windows for ticket in day.tickets) and not any(_has_shift(agent) for agent in day.agents):
        fields |= {"shift_start": {**_TIME, "title": "Shift starts"}, "shift_end": {**_TIME, "title": "Shift ends"}}
    if (
        fields
        and "speed_kmh" not in day.travel.model_fields_set
        and any(place.lat is not None for place in day.locations)
    ):
        fields["speed_kmh"] = {
            "type": "number",
            "title": "Average speed, km/h",
            "minimum": 1,
            "maximum": 200,
            "default": 40,
        }
    if not fields or not _has_positions(day):
        return None
    message = "Some choices of this day are open. Leave a field empty to let the planner assume."
    return Question(message, {"type": "object", "properties": fields}, with_answer)


def with_answer(args: Mapping[str, Any], answer: Mapping[str, Any]) -> Json:
    """Return the arguments with the choices made; what was left empty stays open."""
    filled = dict(args)
    if answer.get("depot"):
        filled["depot"] = answer["depot"]
    shift = {name: answer[name] for name in ("shift_start", "shift_end") if answer.get(name)}
    if shift:
        filled["agents"] = [{**agent, **shift} for agent in args["agents"]]
    if answer.get("speed_kmh"):
        filled["travel"] = {**(args.get("travel") or {}), "speed_kmh": answer["speed_kmh"]}
    return filled


def _unresolved(texts: Sequence[str]) -> list[ResolvedAddress]:
    """Return that nothing is known of addresses: they are resolved, and asked about, behind this question."""
    return [ResolvedAddress(text, AddressStatus.NOT_FOUND, StructuredAddress(), None, ()) for text in texts]


def _has_positions(day: Scenario) -> bool:
    known = {place.id for place in day.locations if place.lat is not None or place.x is not None}
    return any(ticket.location in known for ticket in day.tickets)


def _is_silent(agent: Any) -> bool:
    """Return whether nothing was said of where an agent starts; null is something said."""
    return not {"start_location", "end_location"} & agent.model_fields_set


def _has_shift(agent: Any) -> bool:
    return agent.shift_start is not None or agent.shift_end is not None


def _depot(day: Scenario) -> Json:
    """Return the field for the depot; places without tickets come first, since depots are among them."""
    visited = {ticket.location for ticket in day.tickets}
    known = (place.id for place in day.locations if place.id not in day.open_places)
    names = sorted(known, key=lambda name: name in visited)
    field: Json = {"type": "string", "title": "Depot", "description": "Where vehicles start and end"}
    return field | ({"enum": names} if len(names) <= MOST_OPTIONS else {})
