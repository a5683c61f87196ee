"""What an unknown field may stand for: a guess is obeyed, so it never asks for something else."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from planner_mcp.errors import Fault, InputError
from planner_mcp.vrp.day.model import Agent, Location, Scenario, Ticket
from planner_mcp.vrp.day.words import _FOREIGN, meant
from planner_mcp.vrp.scenario import parse_scenario

from .days import PLACES, agent, body, ticket

MODELS: dict[str, type[BaseModel]] = {"Agent": Agent, "Ticket": Ticket, "Location": Location}
IDS, WINDOWS = "agents, a list of ids", 'time_windows, like [["08:00", "12:00"]]'


def told(day: dict[str, Any]) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as refused:
        parse_scenario(day)
    return tuple(refused.value.errors)


@pytest.mark.parametrize(
    ("part", "word", "ours"),
    [
        ("tickets", "allowed_agents", IDS),
        ("tickets", "allowedAgents", IDS),
        ("tickets", "required_agent", IDS),
        ("tickets", "driver", IDS),
        ("tickets", "excluded_agents", "not_agents, a list of ids"),
        ("tickets", "not_agent", "not_agents"),
        ("tickets", "any_agent", "agents (only these), not_agents or preferred_agent"),
        ("tickets", "prefered_agent", "preferred_agent"),
        ("tickets", "required_skills", "skills, a list"),
        ("tickets", "ready_time", WINDOWS),
        ("tickets", "due-time", WINDOWS),
        ("tickets", "deadline", WINDOWS),
        ("tickets", "service_time_min", "service_time_s (seconds)"),
        ("agents", "max_stops", "max_tickets"),
        ("agents", "max_hours", "max_duration_s (seconds)"),
        ("agents", "max_distance", "max_distance_km or max_distance_m"),
        ("agents", "overtime_cost", "overtime_cost_per_hour"),
        ("agents", "start", "start_location, or shift_start for a time"),
        ("agents", "end", "end_location, or shift_end for a time"),
        ("agents", "start_time", "shift_start"),
        ("agents", "end_time", "shift_end"),
        ("agents", "max_load", "capacity"),
        ("locations", "latitude", "lat"),
        ("locations", "lng", "lon"),
    ],
)
def test_a_word_of_another_program_is_told_with_ours(part: str, word: str, ours: str) -> None:
    """SPEC T7: never its opposite, never another unit, never what is merely spelt alike."""
    day = body(locations=[dict(place) for place in PLACES])
    day[part][0] |= {word: 1}
    assert [(fault.path, fault.hint) for fault in told(day)] == [(f"/{part}/0/{word}", f"Did you mean {ours}?")]


@pytest.mark.parametrize("model", MODELS)
def test_every_word_leads_to_fields_there_are(model: str) -> None:
    """SPEC T7: and none of them is a field itself."""
    fields = set(MODELS[model].model_fields)
    for word, ours in _FOREIGN[model].items():
        assert word not in fields
        assert re.split(r"\W", ours)[0] in fields


def test_what_is_like_nothing_is_told_with_all_there_is_and_is_not_dropped_at_once() -> None:
    """SPEC T7, T9: it may ask something of the plan; all fields are listed once, for there may be many such."""
    tickets = [ticket("a", colour=1), ticket("b", "B", colour=1)]
    first, second = told(body(tickets=tickets))
    assert first.hint == second.hint == "Say it by one of these; remove it only if none can."
    assert first.accepted == ", ".join(Ticket.model_fields)
    assert second.accepted == ", ".join(list(Ticket.model_fields)[:8]) + ", …"
    assert [fault.hint for fault in told(body(locations=[{**PLACES[0], "city": "X"}, *PLACES[1:]]))] == ["Remove it."]


def test_the_opposite_is_never_proposed_for_a_word_without_not() -> None:
    """SPEC T7: obeyed, such a hint gives the opposite plan without a word."""
    schema = Scenario.model_json_schema()["$defs"]["Ticket"]
    for word in ("no_agents", "got_agents", "hot_agent", "t_agents", "only_agents"):
        assert "not_agents?" not in meant(word, schema)


@pytest.mark.parametrize(
    ("day", "path", "what"),
    [
        (body() | {"tickets": '[{"id": "a"}]'}, "/tickets", "list"),
        (body() | {"travel": ' {"speed_kmh": 30}'}, "/travel", "object"),
        (body(tickets=[ticket(time_windows='[["08:00", "12:00"]]')]), "/tickets/0/time_windows", "list"),
        (body([agent(capacity='{"kg": 5}')]), "/agents/0/capacity", "object"),
    ],
)
def test_json_sent_as_text_is_told_as_such(day: dict[str, Any], path: str, what: str) -> None:
    """SPEC T7: the usual slip of a model that writes arguments by hand."""
    assert [(fault.path, fault.hint) for fault in told(day)] == [
        (path, f"It arrived as text: send the {what} itself, not in quotes.")
    ]


def test_other_text_in_place_of_a_list_has_no_such_hint() -> None:
    """SPEC T7: nor has text that only begins like one, where text is wanted."""
    assert [fault.hint for fault in told(body() | {"tickets": "none"})] == [""]
    assert [fault.hint for fault in told(body() | {"name": "[" * 200})] == [""]


def test_who_carries_nothing_is_told_to_write_nothing() -> None:
    """SPEC T7: whoever adds 1 and 1 instead needs a vehicle for each ticket."""
    day = body([{"id": "v"}], [{"id": "a", "location": "A"}])
    assert {fault.path: fault.hint for fault in told(day)} == dict.fromkeys(
        ("/agents/0/capacity", "/tickets/0/demand"), "Add it; 0 where nothing is carried."
    )
