"""What an unknown field may stand for: a guess is obeyed, so it never asks for something else."""

import re
from typing import Any

import pytest
from pydantic import BaseModel

from planner_mcp.errors import Fault, InputError
from planner_mcp.routing.scenario.scenario_model import Agent, Break, Location, Options, Rush, Scenario, Ticket, Travel
from planner_mcp.routing.scenario.scenario_parsing import parse_scenario
from planner_mcp.routing.scenario.synonyms import _SYNONYMS, removal_hint, suggestion_for
from planner_mcp.server.tools.jobs.list_jobs import JobsArguments
from planner_mcp.server.tools.jobs.query_vrp_status import QueryArguments
from planner_mcp.server.tools.plans.compare_plans import CompareArguments
from planner_mcp.server.tools.plans.read_plan import ReadArguments
from planner_mcp.server.tools.plans.suggest_fixes import SuggestArguments
from planner_mcp.server.tools.scenarios.import_scenario import ImportArguments
from planner_mcp.server.tools.solves.plan_day import PlanDayArguments
from planner_mcp.server.tools.solves.resolve_vrp import ResolveArguments
from planner_mcp.server.tools.solves.solve_vrp import SolveArguments
from tests.shared.scenarios.scenario_builders import PLACES, agent, body, ticket

MODELS: dict[str, type[BaseModel]] = {
    model.__name__: model for model in (Scenario, Agent, Break, Ticket, Location, Rush, Travel, Options)
}
SAY_IT = "Use one of these; remove it only if none fits."
IDS, WINDOWS = "agents, a list of ids", 'time_windows, like [["08:00", "12:00"]]'


def faults(day: dict[str, Any]) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as refused:
        parse_scenario(day)
    return tuple(refused.value.errors)


@pytest.mark.parametrize(
    ("part", "word", "ours"),
    [
        ("tickets", "allowed_agents", IDS),
        ("tickets", "closed", 'time_windows around it, like [["08:00", "12:00"], ["14:00", "18:00"]]'),
        ("tickets", "allowedAgents", IDS),
        ("tickets", "required_agent", IDS),
        ("tickets", "driver", IDS),
        ("tickets", "excluded_agents", "not_agents, a list of ids"),
        ("tickets", "not_agent", "not_agents"),
        ("tickets", "notagents", "not_agents"),
        ("tickets", "forbidden_vehicles", "not_agents, a list of ids"),
        ("tickets", "not_after", WINDOWS),
        ("tickets", "not_before", WINDOWS),
        ("tickets", "soft_deadline", "soft_close"),
        ("tickets", "pickup_location", "pickup, the id of a ticket of its own"),
        ("tickets", "pickup_ticket", "pickup"),
        ("tickets", "type", "kind, delivery or pickup"),
        ("tickets", "lateness_cost_per_minute", "lateness_cost_per_hour, which has 60 minutes"),
        ("tickets", "any_agent", "agents (only these), not_agents or preferred_agent"),
        ("tickets", "prefered_agent", "preferred_agent"),
        ("tickets", "required_skills", "skills, a list"),
        ("tickets", "ready_time", WINDOWS),
        ("tickets", "due-time", WINDOWS),
        ("tickets", "deadline", WINDOWS),
        ("tickets", "service_time_min", "service_time_s (seconds)"),
        ("agents", "max_stops", "max_tickets"),
        ("agents", "cost_per_min", "cost_per_hour, which has 60 minutes"),
        ("agents", "costPerMinute", "cost_per_hour, which has 60 minutes"),
        ("agents", "cost_per_mile", "cost_per_km, which has 0.62 miles"),
        ("agents", "max_drive_time", "max_duration_s (seconds from departure to end)"),
        ("agents", "max_shift_s", "max_duration_s (seconds from departure to end)"),
        ("agents", "max_distance_miles", "max_distance_km"),
        ("agents", "max_hours", "max_duration_s (seconds)"),
        ("agents", "max_km", "max_distance_km"),
        ("agents", "time_window", "shift_start and shift_end"),
        ("locations", "coordinates", "lat and lon, a number each"),
        ("agents", "max_distance", "max_distance_km or max_distance_m (metres)"),
        ("agents", "overtime_cost", "overtime_cost_per_hour"),
        ("agents", "start", "start_location, or shift_start for a time"),
        ("agents", "end", "end_location, or shift_end for a time"),
        ("agents", "start_time", "shift_start"),
        ("agents", "end_time", "shift_end"),
        ("agents", "max_load", "capacity"),
        ("locations", "latitude", "lat"),
        ("locations", "lng", "lon"),
        ("locations", "time_windows", "time_windows of its tickets"),
        ("locations", "service_time_s", "service_time_s of its tickets (seconds)"),
    ],
)
def test_a_word_of_another_program_is_reported_with_ours(part: str, word: str, ours: str) -> None:
    """SPEC T7: never its opposite, never another unit, never what is merely spelt alike."""
    day = body(locations=[dict(place) for place in PLACES])
    day[part][0] |= {word: 1}
    assert [(fault.path, fault.hint) for fault in faults(day)] == [(f"/{part}/0/{word}", f"Did you mean {ours}?")]


@pytest.mark.parametrize(
    ("model", "word", "ours"),
    [
        (SuggestArguments, "job_id", "plan"),
        (SuggestArguments, "plan_id", "plan"),
        (ResolveArguments, "job_id", "warm_from"),
        (SolveArguments, "id", "scenario_id"),
        (ImportArguments, "csv", "content"),
        (ImportArguments, "date", "planning_date"),
        (ImportArguments, "vehicles", "agents"),
        (QueryArguments, "plan_id", "job_id"),
        (JobsArguments, "limit", "size"),
        (ReadArguments, "vehicle_ids", "agent_ids, a list of ids"),
        (CompareArguments, "plans", "plan_a and plan_b"),
        (SolveArguments, "time_limit", 'solve_time, like "PT30S"'),
    ],
)
def test_an_argument_of_another_tool_is_reported_with_ours(model: type[BaseModel], word: str, ours: str) -> None:
    """SPEC T7: tools that take a plan call it by what they do with it."""
    assert suggestion_for(word, model.model_json_schema()) == f"Did you mean {ours}?"


@pytest.mark.parametrize(
    ("model", "word", "says"),
    [
        (Ticket, "after", "by pickup alone"),
        (Ticket, "depends_on", "by pickup alone"),
        (Ticket, "delivery_address", "two tickets of one demand"),
        (Ticket, "pickupWindow", "two tickets of one demand"),
        (Scenario, "shipments", "two tickets of one demand"),
        (Ticket, "remove", "null for its id"),
        (Agent, "deleted", "null for its id"),
        (Agent, "return_to_depot", "end_location null"),
        (Agent, "open_route", "end_location null"),
        (Scenario, "scenario", "without this name around them"),
        (Scenario, "arguments", "without this name around them"),
        (SolveArguments, "arguments", "without this name around them"),
        (PlanDayArguments, "params", "without this name around them"),
        (SolveArguments, "scenario", "with create_scenario, which returns its scenario_id, or plan it with plan_day"),
        (SolveArguments, "tickets", "with create_scenario"),
        (PlanDayArguments, "planning_date", "within scenario"),
        (PlanDayArguments, "vehicles", "within scenario"),
    ],
)
def test_what_no_field_says_is_reported_with_what_does(model: type[BaseModel], word: str, says: str) -> None:
    """SPEC T7: an order of two tickets, a removal, a day in one argument more."""
    assert says in suggestion_for(word, model.model_json_schema())


@pytest.mark.parametrize("model", _SYNONYMS)
def test_every_word_leads_to_fields_there_are(model: str) -> None:
    """SPEC T7: and none of them is a field itself."""
    fields = set(MODELS[model].model_fields)
    others = set(Ticket.model_fields)
    for word, ours in _SYNONYMS[model].items():
        assert word not in fields
        assert re.split(r"\W", ours)[0] in (others if " of its tickets" in ours else fields)


def test_a_word_like_no_other_is_reported_with_all_accepted_ones_and_not_dropped() -> None:
    """SPEC T7, T9: it may ask something of the plan; all fields are listed once, for there may be many such."""
    tickets = [ticket("a", colour=1), ticket("b", "B", colour=1)]
    first, second = faults(body(tickets=tickets))
    assert first.hint == second.hint == SAY_IT
    assert first.accepted == ", ".join(Ticket.model_fields)
    assert second.accepted == ", ".join(list(Ticket.model_fields)[:8]) + ", …"
    assert [fault.hint for fault in faults(body(locations=[{**PLACES[0], "city": "X"}, *PLACES[1:]]))] == ["Remove it."]


def test_the_opposite_is_never_proposed_for_a_word_without_not() -> None:
    """SPEC T7: obeyed, such a hint gives the opposite plan without a word."""
    schema = Scenario.model_json_schema()["$defs"]["Ticket"]
    for word in ("no_agents", "got_agents", "hot_agent", "t_agents", "only_agents"):
        assert "not_agents?" not in suggestion_for(word, schema)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (Ticket, "not_skills forbidden_skills no_skills soft_open release_before"),
        (Ticket, "optional items zone service_time_per_item"),
        (Agent, "min_tickets minimum_capacity max_trips shifts service_factor"),
        (Agent, "cost_per_stop cost_per_ticket cost_per_km_after"),
        (Scenario, "compatible compatible_tickets"),
        (Options, "balance_cost_per_km"),
    ],
)
def test_neither_the_opposite_nor_another_quantity_is_proposed(model: type[BaseModel], words: str) -> None:
    """SPEC T7: where nothing says it, all fields are listed instead."""
    schema = model.model_json_schema()
    assert {word: suggestion_for(word, schema) for word in words.split()} == dict.fromkeys(words.split(), "")


@pytest.mark.parametrize(
    ("model", "word", "ours"),
    [
        (Break, "start", "earliest (of its start)"),
        (Break, "end", "latest (of its start)"),
        (Rush, "from", "start"),
        (Travel, "time_matrix", "durations (seconds)"),
        (Travel, "distances_km", "distances (metres)"),
        (Travel, "speed_mps", "speed_kmh (km/h)"),
        (Scenario, "time_matrix", "travel.durations (seconds)"),
    ],
)
def test_a_word_of_a_smaller_part_is_reported_with_ours(model: type[BaseModel], word: str, ours: str) -> None:
    """SPEC T7: with the unit, where its name does not say it."""
    assert suggestion_for(word, model.model_json_schema()) == f"Did you mean {ours}?"


@pytest.mark.parametrize(
    ("model", "word", "said"),
    [
        (ResolveArguments, "remove_tickets", "for a change of the scenario use patch. Remove it only if none fits."),
        (SolveArguments, "max_vehicles", "or a field of the scenario; remove it only if none fits."),
        (SuggestArguments, "not_agents", SAY_IT),
        (Break, "location", SAY_IT),
        (Rush, "days", SAY_IT),
        (Location, "capacity", SAY_IT),
        (Location, "zipCode", "Remove it."),
    ],
)
def test_only_what_asks_for_nothing_is_dropped_at_once(model: type[BaseModel], word: str, said: str) -> None:
    """SPEC T7: an argument of a tool may ask as much of the plan as a field of the day."""
    schema = model.model_json_schema()
    assert suggestion_for(word, schema) == ""
    assert removal_hint(word, schema).endswith(said)


@pytest.mark.parametrize(
    ("day", "path", "what"),
    [
        (body() | {"tickets": '[{"id": "a"}]'}, "/tickets", "list"),
        (body() | {"travel": ' {"speed_kmh": 30}'}, "/travel", "object"),
        (body(tickets=[ticket(time_windows='[["08:00", "12:00"]]')]), "/tickets/0/time_windows", "list"),
        (body([agent(capacity='{"kg": 5}')]), "/agents/0/capacity", "object"),
    ],
)
def test_json_sent_as_text_is_reported_as_such(day: dict[str, Any], path: str, what: str) -> None:
    """SPEC T7: the usual slip of a model that writes arguments by hand."""
    assert [(fault.path, fault.hint) for fault in faults(day)] == [
        (path, f"It arrived as text: send the {what} itself, not in quotes.")
    ]


def test_other_text_in_place_of_a_list_has_no_such_hint() -> None:
    """SPEC T7: nor has text that only begins like one, where text is wanted."""
    assert [fault.hint for fault in faults(body() | {"tickets": "none"})] == [""]
    assert [fault.hint for fault in faults(body() | {"name": "[" * 200})] == [""]


def test_for_an_agent_that_carries_nothing_the_hint_is_to_leave_capacity_out() -> None:
    """SPEC T7: whoever adds 1 and 1 instead needs a vehicle for each ticket."""
    day = body([{"id": "v"}, {"id": "w", "capacity": 1}], [{"id": "a", "location": "A"}])
    assert {fault.path: fault.hint for fault in faults(day)} == dict.fromkeys(
        ("/agents/0/capacity", "/tickets/0/demand"), "Add it; 0 where nothing is carried."
    )
