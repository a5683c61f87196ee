"""Every check of a scenario finds what it is for, and nothing finds a sound day (SPEC T7)."""

from typing import Any

import numpy as np
import pytest

from planner_mcp.errors import Fault
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.scenario.checks import (
    amount_checks,
    group_checks,
    ineffective_field_checks,
    lock_checks,
    matrix_checks,
    position_checks,
    reference_checks,
    shipment_checks,
    size_checks,
    time_checks,
)
from planner_mcp.routing.scenario.checks.reference_checks import bare, near_names
from planner_mcp.routing.scenario.checks.scenario_checks import CHECKS, WARNINGS, Check, warning_faults
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.scenarios.scenario_builders import SHIPMENT, agent, all_faults, body, raw_scenario, ticket


def globe(*places: tuple[float | None, float | None], **fields: Any) -> Json:
    """Return a day on the globe, one ticket at each place; the first is the depot too."""
    known = [{"id": f"P{n}", "lat": lat, "lon": lon} for n, (lat, lon) in enumerate(places)]
    return body(tickets=[ticket("a", "P0")], locations=known, depot="P0", **fields)


def matrix(**travel: Any) -> Json:
    places = [{"id": "D"}, {"id": "A"}]
    return body(tickets=[ticket()], locations=places, travel={"distances": [[0, 1], [1, 0]], **travel})


PEKING = [(39.9, 116.4), (39.91, 116.41), (39.92, 116.42)]


CASES: dict[Check, Json] = {
    reference_checks.duplicate_ids: body([agent(), agent()]),
    reference_checks.unknown_locations: body(tickets=[ticket(location="Q")]),
    reference_checks.unknown_agents: body(tickets=[ticket(agents=["w"])]),
    reference_checks.unknown_tickets: body([agent(locked_tickets=["zz"])]),
    group_checks.invalid_groups: body(groups=[{"kind": "all", "tickets": []}]),
    reference_checks.repeated_exclusions: body(incompatible=[["a", "b", "a"]]),
    reference_checks.locked_twice: body([agent(locked_tickets=["a"]), agent("w", locked_tickets=["a"])]),
    reference_checks.implausible_date: body(planning_date="1925-07-15"),
    size_checks.too_many_pairs: body(
        tickets=[ticket(f"t{n}") for n in range(633)], incompatible=[[f"t{n}" for n in range(633)]]
    ),
    size_checks.too_many_dimensions: body(
        [agent(n, capacity={f"d{n}{m}": 9 for m in range(8)} | {"load": 9}) for n in "abc"]
    ),
    size_checks.matrices_too_large: body(
        [agent(str(n), reload_locations=[f"R{n}-{m}" for m in range(20)]) for n in range(800)], locations=[]
    ),
    position_checks.incomplete_positions: globe(PEKING[0], (39.9, None)),
    position_checks.mixed_systems: body(locations=[{"id": "D", "x": 0, "y": 0}, {"id": "A", "lat": 1, "lon": 1}]),
    position_checks.missing_positions: body(locations=[{"id": "D", "x": 0, "y": 0}, {"id": "A"}, {"id": "B"}]),
    position_checks.impossible_positions: globe((116.4, 39.9)),
    position_checks.zero_positions: globe((0, 0)),
    position_checks.swapped_positions: globe((30, 60), (30.1, 60.1), (30.2, 60.2), (60, 30)),
    position_checks.tickets_without_position: body(
        locations=[
            {"id": "D", "x": 0, "y": 0},
            {"id": "A", "open_address": {"status": "not_found"}},
            {"id": "B", "x": 1, "y": 0},
        ]
    ),
    matrix_checks.several_sources: matrix(router="car"),
    matrix_checks.router_positions: body(travel={"router": "car"}),
    matrix_checks.missing_rows: body(travel={"matrix": "m"}),
    matrix_checks.matrix_order: matrix(matrix_locations=["D", "D"]),
    matrix_checks.matrix_shape: matrix(durations=[[0, 1]]),
    matrix_checks.matrix_values: matrix(durations=[[0, -1], [1, 0]]),
    time_checks.backward_windows: body(tickets=[ticket(time_windows=[[9, 8]])]),
    time_checks.backward_shifts: body([agent(shift_start=9, shift_end=8)]),
    time_checks.backward_breaks: body([agent(breaks=[{"earliest": 9, "latest": 8, "duration_s": 1}])]),
    time_checks.invalid_travel_periods: body(travel={"rush_hours": [{"start": 9, "end": 9, "factor": 2}]}),
    time_checks.late_releases: body(tickets=[ticket(release_time=9, time_windows=[[1, 8]])]),
    shipment_checks.late_pickups: body(
        tickets=[SHIPMENT[0] | {"time_windows": [[50, 60]]}, SHIPMENT[1] | {"time_windows": [[1, 9]]}]
    ),
    amount_checks.negative_amounts: body([agent(capacity=-1)]),
    amount_checks.unknown_dimensions: body(tickets=[ticket(demand={"m3": 1})]),
    amount_checks.unknown_min_loads: body([agent(min_load={"m3": 1})]),
    amount_checks.missing_skills: body(tickets=[ticket(skills=["crane"])]),
    amount_checks.tickets_without_eligible_agent: body(tickets=[ticket(not_agents=["v"])]),
    amount_checks.oversized_demands: body(tickets=[ticket(demand=11)]),
    amount_checks.max_tickets_too_small: body([agent(max_tickets=0)]),
    lock_checks.locked_to_ineligible_agents: body(
        [agent(locked_tickets=["a"]), agent("w")], [ticket(agents=["w"]), ticket("b", "B")]
    ),
    amount_checks.double_limits: body([agent(max_distance_km=1, max_distance_m=1)]),
    shipment_checks.broken_shipments: body(tickets=[*SHIPMENT, ticket("r", "B", pickup="p")]),
    shipment_checks.unequal_shipments: body(tickets=[SHIPMENT[0], SHIPMENT[1] | {"demand": 2}]),
    shipment_checks.separated_shipments: body(tickets=SHIPMENT, incompatible=[["q", "p"]]),
    lock_checks.locked_against_each_other: body([agent(locked_tickets=["a", "b"])], incompatible=[["a", "b"]]),
    lock_checks.locked_too_many: body([agent(capacity=1, locked_tickets=["a", "b"]), agent("w")]),
    lock_checks.locked_out_of_order: body([agent(locked_tickets=["q", "p"])], SHIPMENT),
    lock_checks.locked_backhaul: body(
        [agent(locked_tickets=["a", "b"])],
        [ticket(kind="pickup"), ticket("b", "B")],
        options={"backhaul": True},
    ),
    infeasibility_faults: body([agent(shift_start=0, shift_end=1)]),
}
ODD: dict[Check, Json] = {
    time_checks.numbers_as_minutes: globe(*PEKING, agents=[agent(shift_start=480, shift_end="18:00")]),
    time_checks.overlapping_windows: body(tickets=[ticket(time_windows=[[4, 8], [1, 5]])]),
    time_checks.durations_as_minutes: globe(*PEKING) | {"tickets": [ticket(location="P0", service_time_s=15)]},
    time_checks.breaks_outside_shifts: body(
        [agent(shift_start=9, breaks=[{"earliest": 1, "latest": 8, "duration_s": 1}])]
    ),
    time_checks.times_with_offset: body(
        [agent(shift_start="08:00")],
        [ticket(time_windows=[["2025-07-15T09:00:00Z", "2025-07-15T10:00:00Z"]])],
        planning_date="2025-07-15",
    ),
    amount_checks.prices_beside_metres: globe(*PEKING, agents=[agent(fixed_cost=40)]),
    amount_checks.agents_without_price: body([agent("v", cost_per_km=1), agent("w")], [ticket("a")]),
    amount_checks.more_demand_than_capacity: body(tickets=[ticket(demand=8), ticket("b", "B", demand=8)]),
    amount_checks.zero_penalty_tickets: body(tickets=[ticket(penalty=0)]),
    ineffective_field_checks.soft_closes_without_cost: body(tickets=[ticket(soft_close=5)]),
    ineffective_field_checks.fields_without_effect: body([agent(overtime_s=60)]),
    ineffective_field_checks.soft_closes_without_effect: body(
        tickets=[ticket(soft_close=9, lateness_cost_per_hour=1, time_windows=[[6, 9], [1, 5]])]
    ),
    shipment_checks.orphaned_shipment_halves: body(
        tickets=[*SHIPMENT, ticket("c")], groups=[{"kind": "one_of", "tickets": ["q", "c"]}]
    ),
    group_checks.self_excluding_groups: body(
        tickets=[ticket(name) for name in "abc"],
        groups=[
            {"kind": "one_of", "tickets": ["a", "c"]},
            *({"kind": "all", "tickets": [*two]} for two in ("ab", "bc")),
        ],
    ),
    ineffective_field_checks.group_penalties_without_effect: body(
        groups=[{"kind": "all", "tickets": ["a", "b"], "penalty": 9}]
    ),
    position_checks.far_outliers: globe(*PEKING, (52.5, 13.4)),
    matrix_checks.implausible_speeds: matrix(distances=[[0, 9000], [9000, 0]], durations=[[0, 11], [12, 0]]),
    matrix_checks.matrix_diagonals: matrix(durations=[[5, 1], [1, 0]]),
    position_checks.foreign_gcj02: globe((52.5, 13.4), (52.6, 13.4), (52.7, 13.4), travel={"crs": "gcj02"}),
}


FAULT_OF: dict[Check, tuple[str, str]] = {
    reference_checks.duplicate_ids: ("/agents/1/id", "Rename one"),
    reference_checks.unknown_locations: ("/tickets/0/location", "Add the location"),
    reference_checks.unknown_agents: ("/tickets/0/agents/0", "Add the agent"),
    reference_checks.unknown_tickets: ("/agents/0/locked_tickets/0", "Add the ticket"),
    group_checks.invalid_groups: ("/groups/0/tickets", "Add tickets or remove the group"),
    reference_checks.repeated_exclusions: ("/incompatible/0/2", "Remove the repetition"),
    reference_checks.locked_twice: ("/agents/1/locked_tickets/0", "Remove one"),
    reference_checks.implausible_date: ("/planning_date", "Check the year"),
    size_checks.too_many_pairs: ("/incompatible/0", "Make the groups smaller"),
    size_checks.too_many_dimensions: ("/agents", "the same names"),
    size_checks.matrices_too_large: ("/agents", "Split the scenario"),
    position_checks.incomplete_positions: ("/locations/1", "Add lon"),
    position_checks.mixed_systems: ("/locations/1", "Use one system"),
    position_checks.missing_positions: ("/locations/1", "Add its coordinates"),
    position_checks.impossible_positions: ("/locations/0/lat", "Swap lat and lon"),
    position_checks.zero_positions: ("/locations/0", "Look the address up again"),
    position_checks.swapped_positions: ("/locations/3", "Swap lat and lon"),
    position_checks.tickets_without_position: ("/tickets/0/location", "Ask the user"),
    matrix_checks.several_sources: ("/travel", "Remove the others"),
    matrix_checks.router_positions: ("/locations/1", "Add its position"),
    matrix_checks.missing_rows: ("/travel/matrix", "Add their rows"),
    matrix_checks.matrix_order: ("/travel/matrix_locations", "Remove the repetition"),
    matrix_checks.matrix_shape: ("/travel/durations", "a number for every pair"),
    matrix_checks.matrix_values: ("/travel/durations/0/1", "a large number"),
    time_checks.backward_windows: ("/tickets/0/time_windows/0", "Swap the two"),
    time_checks.overlapping_windows: ("/tickets/0/time_windows", "count as one"),
    time_checks.backward_shifts: ("/agents/0/shift_end", "past midnight as 24:00"),
    time_checks.backward_breaks: ("/agents/0/breaks/0/latest", "Swap the two"),
    time_checks.invalid_travel_periods: ("/travel/rush_hours/0/end", "Swap the two"),
    time_checks.late_releases: ("/tickets/0/release_time", "Release it earlier"),
    time_checks.durations_as_minutes: ("/tickets/0/service_time_s", "Write 900 for 15 minutes"),
    time_checks.breaks_outside_shifts: ("/agents/0/breaks/0", "Move it into the shift"),
    shipment_checks.late_pickups: ("/tickets/1/time_windows", "open the pickup earlier"),
    amount_checks.negative_amounts: ("/agents/0/capacity", "Write 0"),
    amount_checks.unknown_dimensions: ("/tickets/0/demand", "Name the same dimensions"),
    amount_checks.unknown_min_loads: ("/agents/0/min_load", "Name the same dimensions"),
    amount_checks.missing_skills: ("/tickets/0/skills/0", "Give it to an agent"),
    amount_checks.tickets_without_eligible_agent: ("/tickets/0", "Relax skills, agents or not_agents"),
    amount_checks.oversized_demands: ("/tickets/0/demand", "Split the ticket"),
    amount_checks.max_tickets_too_small: ("/tickets/0", "Let another serve it"),
    lock_checks.locked_to_ineligible_agents: ("/agents/0/locked_tickets/0", "Lock it to another agent"),
    amount_checks.double_limits: ("/agents/0/max_distance_m", "Remove one"),
    shipment_checks.broken_shipments: ("/tickets/2/pickup", "Split the pickup"),
    shipment_checks.unequal_shipments: ("/tickets/1/demand", "Make them equal"),
    shipment_checks.separated_shipments: ("/incompatible/0/0", "Remove one of the two"),
    lock_checks.locked_against_each_other: ("/agents/0/locked_tickets/1", "Unlock one of the two"),
    lock_checks.locked_too_many: ("/agents/0/locked_tickets", "Unlock the last"),
    lock_checks.locked_out_of_order: ("/agents/0/locked_tickets/0", "Lock the pickup before it"),
    lock_checks.locked_backhaul: ("/agents/0/locked_tickets/1", "Lock deliveries first"),
    infeasibility_faults: ("/tickets/0/location", "Extend a shift"),
    time_checks.numbers_as_minutes: ("/agents/0/shift_start", 'Write "08:00"'),
    time_checks.times_with_offset: ("/planning_date", "local times of the place"),
    amount_checks.prices_beside_metres: ("/agents/0/fixed_cost", "Set cost_per_km of all agents"),
    amount_checks.agents_without_price: ("/agents/1/cost_per_km", "Give it theirs"),
    amount_checks.more_demand_than_capacity: ("/agents", "Add agents or reload_locations"),
    amount_checks.zero_penalty_tickets: ("/tickets/0/penalty", "Raise it"),
    ineffective_field_checks.soft_closes_without_cost: ("/tickets/0/soft_close", "Set lateness_cost_per_hour"),
    ineffective_field_checks.fields_without_effect: ("/agents/0/overtime_s", "Set shift_end"),
    ineffective_field_checks.soft_closes_without_effect: ("/tickets/0/soft_close", "before the last window closes"),
    shipment_checks.orphaned_shipment_halves: ("/groups/0/tickets/0", "a one_of group too"),
    group_checks.self_excluding_groups: ("/groups/0/tickets/1", "one of the groups"),
    ineffective_field_checks.group_penalties_without_effect: ("/groups/0/penalty", "Give its tickets a penalty"),
    position_checks.far_outliers: ("/locations/3", "Check its coordinates"),
    matrix_checks.implausible_speeds: ("/travel/durations", "write 600 for 10 minutes"),
    matrix_checks.matrix_diagonals: ("/travel/durations", "taken as 0"),
    position_checks.foreign_gcj02: ("/travel/crs", "Declare wgs84"),
}
"""Where the first fault of each case is, and what its hint says."""


def test_no_check_is_without_its_case_and_there_are_many() -> None:
    """SPEC T7: at least 15 checks of logic; each is proved below."""
    with_travel = {infeasibility_faults}
    of_roads = {matrix_checks.off_network_ends}  # its case is below: a body cannot say what a road engine found
    assert set(CASES) | of_roads == {*CHECKS, size_checks.matrices_too_large, *with_travel}
    assert set(ODD) == set(WARNINGS)
    assert len(CASES) == 47
    assert len(ODD) == 19


@pytest.mark.parametrize("rule", [*CASES, *ODD], ids=lambda rule: rule.__name__)
def test_a_check_finds_what_it_is_for_and_lets_a_sound_day_pass(rule: Check) -> None:
    """SPEC T7: with a place in the input, and what would be accepted or what to do."""
    day = raw_scenario({**CASES, **ODD}[rule])
    found = list(rule(day))
    path, hint = FAULT_OF[rule]
    assert found[0].path == path
    assert hint in found[0].hint
    assert all(isinstance(fault, Fault) and fault.path.startswith("/") and fault.hint for fault in found)
    assert all(fault.accepted or fault.kind == "warning" for fault in found)
    assert set(found) <= {*all_faults(day), *warning_faults(day)}
    assert list(rule(raw_scenario(body()))) == []


def test_places_that_an_agent_names_are_looked_up_too() -> None:
    """SPEC T7: references that exist; all faults at once, each at its place."""
    lost = agent(start_location="Q", end_location="R", reload_locations=["D", "S"])
    places_of = ("start_location", "end_location", "reload_locations/1")
    faults = list(reference_checks.unknown_locations(raw_scenario(body([agent("w"), lost]))))
    assert [fault.path for fault in faults] == [f"/agents/1/{place}" for place in places_of]


@pytest.mark.parametrize(
    ("hours", "paths"),
    [
        ([(0, 10), (9, 20)], ["/travel/rush_hours/1"]),
        ([(9, 20), (0, 10)], ["/travel/rush_hours/1"]),
        ([(0, 30), (9, 20)], ["/travel/rush_hours/1"]),
        ([(0, 10), (20, 30), (5, 8)], ["/travel/rush_hours/2"]),
        ([(0, 10), (10, 20)], []),
        ([(10, 20), (0, 10)], []),
    ],
)
def test_rush_hours_may_touch_and_not_overlap(hours: list[tuple[int, int]], paths: list[str]) -> None:
    """SPEC T7, S1: no moment has two speeds."""
    travel_periods = [{"start": start, "end": end, "factor": 2} for start, end in hours]
    faults = list(time_checks.invalid_travel_periods(raw_scenario(body(travel={"rush_hours": travel_periods}))))
    assert [fault.path for fault in faults] == paths


@pytest.mark.parametrize(
    ("shift", "rest", "hint"),
    [
        (("22:00", "30:00"), ("01:00", "03:00"), "Past midnight write 25:00 to 27:00."),
        (("12:30", "18:00"), ("12:00", "14:00"), "Move it into the shift."),
        (("08:00", "14:00"), ("10:00", "14:00"), "Let its latest start be before the end of the shift."),
        (("08:00", "14:00"), ("10:00", "13:59"), None),
        (("12:15", "18:00"), ("12:00", "14:00"), None),
        (("08:00", None), ("10:00", "14:00"), None),
    ],
)
def test_a_break_that_no_route_takes_is_suspicious(
    shift: tuple[str, str | None], rest: tuple[str, str], hint: str | None
) -> None:
    """SPEC T7, S1: a plan without it looks like one of a driver that needs none."""
    hours = {name: hour for name, hour in zip(("shift_start", "shift_end"), shift, strict=True) if hour}
    breaks = [{"earliest": rest[0], "latest": rest[1], "duration_s": 1800}]
    drivers = [agent(name, breaks=breaks, **hours) for name in ("v", "w")]
    found = warning_faults(raw_scenario(body(drivers)))
    assert [(fault.path, fault.hint) for fault in found] == ([("/agents/0/breaks/0", hint)] if hint else [])


@pytest.mark.parametrize(
    ("service_s", "break_s", "hints"),
    [
        (0.25, 600, ["Write 900 for 0.25 hours."]),
        (600, 45, ["Write 2700 for 45 minutes."]),
        (15, 45, ["Write 900 for 15 minutes.", "Write 2700 for 45 minutes."]),
        (60, 60, []),
        (0, 0, []),
    ],
)
def test_durations_in_minutes_or_hours_are_suspicious(service_s: float, break_s: float, hints: list[str]) -> None:
    """SPEC T7: a visit of 15 minutes planned as one of 15 seconds makes a day that nobody can drive."""
    driver = agent(breaks=[{"earliest": 3600, "latest": 7200, "duration_s": break_s}])
    visits = [ticket("a", "P0", service_time_s=service_s), ticket("b", "P0")]
    found = time_checks.durations_as_minutes(raw_scenario(globe(*PEKING, agents=[driver]) | {"tickets": visits}))
    assert [fault.hint for fault in found] == hints


def test_a_limit_of_tickets_that_is_none_at_all_is_an_agent_that_is_out() -> None:
    """SPEC T7, T10: `absent` sets it, and nobody shall raise it again; of a shipment, one of two has to be allowed."""
    agents = [agent(max_tickets=1)]
    (fault, *_) = amount_checks.max_tickets_too_small(raw_scenario(body(agents, [*SHIPMENT])))
    assert fault.hint.startswith("Raise max_tickets")


def test_a_skill_in_other_letters_is_reported_with_its_name() -> None:
    """SPEC T7: nobody has `Crane` where an agent has `crane`."""
    (fault,) = amount_checks.missing_skills(raw_scenario(body([agent(skills=["crane"])], [ticket(skills=["Crane"])])))
    assert fault.hint == "Did you mean crane?"


def test_a_latitude_that_is_none_has_a_hint_of_its_own() -> None:
    """SPEC T7: where no swap would mend it."""
    (fault,) = position_checks.impossible_positions(raw_scenario(globe((500, 116))))
    assert fault.hint == "Look it up again."


def test_alternatives_are_never_both_halves_of_a_shipment() -> None:
    """SPEC T7, S1: such a group could never be served; a group of each half can, and so can a half that may be left."""
    twins = [*SHIPMENT, ticket("r", kind="pickup"), ticket("s", "B", pickup="r")]
    torn = body(tickets=twins, groups=[{"kind": "one_of", "tickets": ["p", "q", "s"]}])
    assert [fault.path for fault in all_faults(raw_scenario(torn))] == ["/groups/0/tickets/1"]
    halves = [{"kind": "one_of", "tickets": ["q", "s"]}, {"kind": "one_of", "tickets": ["p", "r"]}]
    day = raw_scenario(body(tickets=twins, groups=halves))
    assert all_faults(day) == warning_faults(day) == []
    plan = build_plan(compile_scenario(day), Candidate.of_tickets({0: [0, 1]}))
    assert plan.status == "feasible"
    loose = [entry | {"penalty": 5} if entry["id"] in "pr" else entry for entry in twins]
    assert warning_faults(raw_scenario(body(tickets=loose, groups=halves[:1]))) == []


def test_of_alternatives_only_one_takes_room_and_the_price_may_be_the_groups() -> None:
    """SPEC T7: what is odd is told of what would really be planned."""
    pair = [{"kind": "one_of", "tickets": ["a", "b"]}]
    big = [ticket("a", demand=6), ticket("b", "B", demand=7)]
    assert warning_faults(raw_scenario(body(tickets=big, groups=pair))) == []
    (more,) = warning_faults(raw_scenario(body(tickets=[*big, ticket("c", demand=5)], groups=pair)))
    assert "need 11 of load" in more.problem
    free = [ticket("a", penalty=0), ticket("b", "B", penalty=0)]
    assert warning_faults(raw_scenario(body(tickets=free, groups=[pair[0] | {"penalty": 500}]))) == []
    assert [warning_fault.path for warning_fault in warning_faults(raw_scenario(body(tickets=free, groups=pair)))] == [
        "/tickets/0/penalty",
        "/tickets/1/penalty",
    ]
    dear = [free[0], free[1] | {"penalty": 500}]
    assert warning_faults(raw_scenario(body(tickets=dear, groups=pair))) == []


@pytest.mark.parametrize(
    ("driver", "order", "path"),
    [
        ({"overtime_cost_per_hour": 9}, {}, "/agents/0/overtime_cost_per_hour"),
        ({"max_reloads": 2}, {}, "/agents/0/max_reloads"),
        ({}, {"lateness_cost_per_hour": 9}, "/tickets/0/lateness_cost_per_hour"),
        ({}, {"preferred_agent": "v"}, "/tickets/0/preferred_agent"),
        ({}, {"switch_cost": 9}, "/tickets/0/switch_cost"),
    ],
)
def test_a_field_without_the_one_that_gives_it_a_meaning_is_suspicious(driver: Json, order: Json, path: str) -> None:
    """SPEC T7: told, because whoever wrote it expects something of it."""
    assert [
        warning_fault.path for warning_fault in warning_faults(raw_scenario(body([agent(**driver)], [ticket(**order)])))
    ] == [path]


def test_fields_that_have_an_effect_are_not_suspicious() -> None:
    """SPEC T7: not at midnight either, nor where they say that there is none, nor while vehicles are out."""
    late = agent(shift_end=0, overtime_s=9999, overtime_cost_per_hour=1, max_reloads=0)
    promise = {"soft_close": 0, "lateness_cost_per_hour": 9, "time_windows": [[0, 5]]}
    assert warning_faults(raw_scenario(body([late], [ticket(preferred_agent="v", switch_cost=9, **promise)]))) == []
    assert warning_faults(raw_scenario(body(tickets=[ticket(preferred_agent="v")], held={"until_s": 60}))) == []


def test_times_of_utc_are_suspicious_and_those_of_the_place_are_not() -> None:
    """SPEC T7: no offset is converted, so a driver's sheet would be hours off in silence."""
    for offset, said in (("Z", ["All times are written in UTC"]), ("+02:00", []), ("", [])):
        window = [f"2025-07-15T09:00:00{offset}", f"2025-07-15T10:00:00{offset}"]
        day = body(tickets=[ticket(time_windows=[window])], planning_date="2025-07-15")
        problems = [fault.problem for fault in warning_faults(raw_scenario(day))]
        assert [problem.partition(",")[0] for problem in problems] == said


def north(*orders: Json, **driver: Any) -> Json:
    """Return a day of tickets about 22 km, 33 minutes, north of the depot."""
    places = [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 40.1, "lon": 116.4}]
    return body([agent(**driver)], list(orders), locations=places)


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ([480, 720], ("/tickets/0/time_windows/0", "720 is 00:12:00: numbers are seconds.", 'Write "12:00".')),
        ([8, 12.5], ("/tickets/0/time_windows/0", "12.5 is 00:00:12: numbers are seconds.", 'Write "12:30".')),
        (["00:08", 1440], ("/tickets/0/time_windows/0", "1440 is 00:24:00: numbers are seconds.", 'Write "24:00".')),
        ([480, 1441], None),
        ([830, 1730], ("/tickets/0/time_windows/0", "1730 is 00:28:50: numbers are seconds.", 'Write "17:30".')),
        ([830, 1790], None),
        (["00:08", "00:12"], None),
        ([0, "00:12"], None),
        (["00:00", 630, "06:00"], None),
        (
            ["00:00", 630, "23:00"],
            ("/tickets/0/time_windows/0", "630 is 00:10:30: numbers are seconds.", 'Write "10:30".'),
        ),
    ],
)
def test_numbers_that_are_rather_minutes_or_hours_are_suspicious(
    window: list[Any], said: tuple[str, ...] | None
) -> None:
    """SPEC T7: a plan at eight minutes past midnight is not what anybody asked for."""
    windows, ends = [window[:2]], {"shift_end": window[2]} if window[2:] else {}
    warning_fault = warning_faults(raw_scenario(north(ticket(time_windows=windows), **ends)))
    assert [(fault.path, fault.problem, fault.hint) for fault in warning_fault] == ([said] if said else [])
    assert warning_faults(raw_scenario(body(tickets=[ticket(time_windows=windows)]))) == [], (
        "a plane has benchmark sets"
    )


def test_hours_as_numbers_beside_text_and_seconds_are_suspicious() -> None:
    """SPEC T7: a release at 10 was kept as ten seconds past midnight where another number is seconds, or a matrix is
    all there is of places."""
    hours = {"time_windows": [["09:00", "12:00"]]}
    orders = [ticket("a", release_time=10, **hours), ticket("b", release_time=36_000, **hours)]
    table = matrix(distances=[[0, 900], [900, 0]]) | {"tickets": orders[:1]}
    for day in (north(*orders), table):
        (fault,) = warning_faults(raw_scenario(day))
        assert (fault.path, fault.hint) == ("/tickets/0/release_time", 'Write "10:00".')
    assert warning_faults(raw_scenario(north(orders[1]))) == []


def test_groups_that_can_be_kept_are_not_suspicious() -> None:
    """SPEC T7: alternatives of which one brings along what no other excludes."""
    tickets = [ticket(name) for name in "abcde"]
    groups = [{"kind": "one_of", "tickets": ["a", "c"]}, {"kind": "all", "tickets": ["a", "b"]}]
    groups += [{"kind": "all", "tickets": ["c", "d"]}, {"kind": "one_of", "tickets": ["b", "d", "e"]}]
    assert warning_faults(raw_scenario(body(tickets=tickets, groups=groups))) == []


def test_tables_in_other_units_are_suspicious() -> None:
    """SPEC T7: with minutes as seconds every ticket is reached in time, by no van there is."""
    metres = [[0, 9000], [6000, 0]]
    for distances, durations, place in (
        (metres, [[0, 600], [500, 0]], None),
        (metres, metres, None),
        (metres, [[0, 10], [8, 0]], "/travel/durations"),
        ([[0, 9], [6, 0]], [[0, 600], [500, 0]], "/travel/distances"),
        ([[0, 9000], [1e9, 0]], [[0, 600], [1e9, 0]], None),
    ):
        found = warning_faults(raw_scenario(matrix(distances=distances, durations=durations)))
        assert [fault.path for fault in found] == ([place] if place else [])


def test_out_of_reach_by_such_numbers_says_so_first() -> None:
    """SPEC T7: a hint to widen a window of minutes leads from one refusal to the next."""
    (fault,) = all_faults(raw_scenario(north(ticket(time_windows=[[480, 720]]), shift_start=480)))
    assert fault.path == "/tickets/0/location"
    assert fault.hint.startswith('720 is 00:12:00: numbers are seconds. Write "12:00". Widen')


def test_out_of_reach_of_others_says_nothing_of_such_numbers() -> None:
    """SPEC T7: a number leads nowhere where neither the ticket nor who may serve it has one."""
    small = ticket("a", time_windows=[["00:00", 720]], agents=["w"])
    near = ticket("b", time_windows=[["00:00", "00:11"]], agents=["v"])
    day = north(small, near) | {"agents": [agent("v"), agent("w")]}
    first, second = all_faults(raw_scenario(day))
    assert (first.path, first.hint[:6]) == ("/tickets/0/location", "720 is")
    assert (second.path, second.hint[:5]) == ("/tickets/1/location", "Widen")
    locked = day | {"agents": [agent("v", shift_end=720), agent("w")], "tickets": [near]}
    (third,) = all_faults(raw_scenario(locked))
    assert third.hint.startswith("720 is"), "its agent has one"


@pytest.mark.parametrize(
    ("window", "hint"),
    [
        (["01:00", "03:00"], "Past midnight write 25:00 to 27:00."),
        (["05:00", "07:00"], "Move the window or a shift."),
    ],
)
def test_a_window_after_midnight_is_written_in_hours_of_the_shift(window: list[str], hint: str) -> None:
    """SPEC T7: where a day later it lies within one."""
    night = agent(shift_start="22:00", shift_end=6 * 3600 + 86_400)
    (fault,) = all_faults(raw_scenario(body([night], [ticket(time_windows=[window])])))
    assert (fault.path, fault.hint) == ("/tickets/0/time_windows", hint)
    endless = agent(shift_start="22:00")
    (fault,) = all_faults(raw_scenario(body([endless], [ticket(time_windows=[window])])))
    assert fault.hint == "Move the window or a shift."


@pytest.mark.parametrize(
    ("driver", "order", "fields", "path"),
    [
        (
            {"shift_end": "17:00", "overtime_s": 60, "overtime_cost_per_hour": 40},
            {},
            {},
            "/agents/0/overtime_cost_per_hour",
        ),
        ({}, {"penalty": 50}, {}, "/tickets/0/penalty"),
        ({}, {"preferred_agent": "v", "switch_cost": 50}, {}, "/tickets/0/switch_cost"),
        ({}, {"preferred_agent": "v", "switch_cost": 5000}, {}, None),
        ({}, {"soft_close": "09:00", "lateness_cost_per_hour": 9}, {}, "/tickets/0/lateness_cost_per_hour"),
        ({}, {}, {"options": {"balance_cost_per_hour": 9}}, "/options/balance_cost_per_hour"),
        ({}, {}, {"groups": [{"kind": "one_of", "tickets": ["a"], "penalty": 9}]}, "/groups/0/penalty"),
        ({"cost_per_km": 1}, {"penalty": 50}, {}, None),
        ({"cost_per_hour": 0}, {"penalty": 50}, {}, None),
        ({}, {}, {}, None),
    ],
)
def test_a_price_is_suspicious_where_a_kilometre_costs_1000_beside_it(
    driver: Json, order: Json, fields: Json, path: str | None
) -> None:
    """SPEC T7: without a price by km or hour cost is metres, so 50 for a ticket left out is 50 m."""
    day = raw_scenario(north(ticket(**order), **driver) | fields)
    assert [warning_fault.path for warning_fault in warning_faults(day)] == ([path] if path else [])


def test_a_name_for_people_leads_to_its_id() -> None:
    """SPEC T7: a new vehicle of the driver's name is not what was meant; a name of two leads nowhere."""
    drivers = [agent(id_) | {"name": name} for id_, name in (("van-1", "Li"), ("van-2", "Wu"), ("van-3", "Wu"))]
    day = body(drivers, [ticket(agents=["Li"], not_agents=["Wu"])])
    asked = Scenario.model_validate(day, context={"shows_names": True})
    assert [(fault.path, fault.hint) for fault in all_faults(asked)] == [
        ("/tickets/0/agents/0", "Did you mean van-1?"),
        ("/tickets/0/not_agents/0", "Add the agent or name another."),
    ]


def test_a_name_for_people_leads_nowhere_unless_the_caller_may_know_it() -> None:
    """SPEC R3: whoever may read names masked could ask for them one by one; ids lead to ids as ever."""
    day = body([agent("van-1") | {"name": "Li"}], [ticket(agents=["Li", "van1"])])
    assert [(fault.path, fault.hint) for fault in all_faults(raw_scenario(day))] == [
        ("/tickets/0/agents/0", "Add the agent or name another."),
        ("/tickets/0/agents/1", "Did you mean van-1?"),
    ]


@pytest.mark.parametrize(
    "points",
    [
        [(52.5, 13.4), (52.4, 13.5), (13.3, 52.6), (13.4, 52.5)],
        [(52.5, 13.4), (13.3, 52.6), (13.4, 52.5), (52.4, 13.5), (52.3, 13.6)],
    ],
)
def test_half_of_all_may_be_swapped(points: list[tuple[float, float]]) -> None:
    """SPEC T7: each lies among the others when swapped, though their middle is nowhere."""
    swapped = [f"/locations/{n}" for n, (lat, lon) in enumerate(points) if lat < lon]
    assert [fault.path for fault in position_checks.swapped_positions(raw_scenario(globe(*points)))] == swapped


def test_a_depot_that_looks_swapped_may_be_right() -> None:
    """SPEC T7: a table whose columns are named the wrong way round has all its tickets wrong, its depot right."""
    day = globe((13.4, 52.5), (13.41, 52.51), (13.42, 52.52), (52.5, 13.4), agents=[agent(start_location="P3")])
    (fault,) = position_checks.swapped_positions(raw_scenario(day))
    assert (fault.path, fault.hint) == (
        "/locations/3",
        "Swap lat and lon, or those of all tickets if this one is right.",
    )


def test_a_single_ticket_is_swapped_where_the_depot_lies_near_its_mirror() -> None:
    """SPEC T7: a table of one stop with exchanged headers was planned over thousands of kilometres."""
    day = globe((52.5, 13.4), (13.41, 52.51))
    assert [fault.path for fault in position_checks.swapped_positions(raw_scenario(day))] == ["/locations/1"]


@pytest.mark.parametrize(
    "points",
    [
        [(30.04, 31.24), (31.20, 29.92), (31.04, 31.38), (30.59, 32.27), (29.31, 30.84)],
        [(41.01, 28.98), (39.93, 32.86), (38.42, 27.14), (38.73, 35.48), (37.91, 40.23)],
        [(33.31, 44.36), (36.34, 43.13), (30.51, 47.78), (35.69, 51.39), (41.72, 44.79)],
        [(6.52, 3.38), (5.60, -0.19), (9.06, 7.49), (4.05, 9.70), (3.87, 11.52)],
    ],
    ids=["Egypt", "Turkey", "from Baghdad to Tehran and Tbilisi", "Gulf of Guinea"],
)
def test_cities_whose_lat_and_lon_are_alike_are_not_taken_for_swapped(points: list[tuple[float, float]]) -> None:
    """SPEC T7: a sound day passes; their mirror is near them, and so are they."""
    assert list(position_checks.swapped_positions(raw_scenario(globe(*points)))) == []


@pytest.mark.parametrize(
    ("orders", "driver", "said"),
    [
        ([ticket(demand=8)], {}, "need 8 of load, all agents together carry 5."),
        ([ticket(name, demand=2.7) for name in "abc"], {}, "need 8.1 of load, all agents together carry 5."),
        ([ticket(demand=8), *SHIPMENT], {}, "need 8 of load, all agents together carry 5."),
        ([ticket(demand=12)], {"reload_locations": ["D"], "max_reloads": 0}, "need 12 of load"),
        ([ticket(demand=12)], {"reload_locations": ["D"], "max_reloads": 1}, "all agents together carry 10."),
        ([ticket(demand=15)], {"reload_locations": ["D"], "max_reloads": 2}, ""),
        ([ticket(demand=30)], {"reload_locations": ["D"]}, ""),
        ([ticket(demand=31)], {"reload_locations": ["D"]}, "all agents together carry 30."),
    ],
)
def test_what_all_agents_carry_counts_their_reloads_and_no_shipments(
    orders: list[Json], driver: Json, said: str
) -> None:
    """SPEC T7: total demand against total capacity; a shipment takes no room from what is brought."""
    found = list(amount_checks.more_demand_than_capacity(raw_scenario(body([agent(capacity=5, **driver)], orders))))
    assert [said in fault.problem for fault in found] == ([True] if said else [])


def test_an_agent_that_does_not_come_carries_nothing() -> None:
    """SPEC T7: `absent` leaves it in the day with max_tickets 0, and a day one van short seemed to have room."""
    day = body([agent(capacity=5), agent("w", capacity=5, max_tickets=0)], [ticket(demand=3), ticket("b", demand=4)])
    (found,) = amount_checks.more_demand_than_capacity(raw_scenario(day))
    assert "need 7 of load, all agents together carry 5." in found.problem


ROUND_AMOUNTS: dict[str, Json] = {
    "a sum of decimals": body([agent(capacity=0.3)], [ticket(demand=0.1 + 0.2)]),
    "decimals that fill an agent": body(
        [agent(capacity=0.3)], [ticket(name, place, demand=0.1) for name, place in zip("abc", "ABC", strict=True)]
    ),
    "nothing of what nobody carries": body(tickets=[ticket(demand={"load": 1, "m3": 0})]),
    "nothing of it beside a shipment": body(tickets=[SHIPMENT[0] | {"demand": {"load": 1, "m3": 0}}, SHIPMENT[1]]),
}


@pytest.mark.parametrize("name", ROUND_AMOUNTS)
def test_amounts_that_a_plan_carries_are_neither_refused_nor_warned_of(name: str) -> None:
    """SPEC T7: 0.1 + 0.2 fits where 0.3 does, and whoever has no room for pallets carries none."""
    day = raw_scenario(ROUND_AMOUNTS[name])
    assert (all_faults(day), warning_faults(day)) == ([], [])
    known = compile_scenario(day)
    plan = build_plan(known, Candidate.of_tickets({0: [*range(len(known.tickets))]}))
    assert verify(known, plan) == []


def test_only_places_that_agents_cannot_do_without_refuse_a_day_off_the_roads() -> None:
    """SPEC T7, O9: a depot is a fault with its place; a ticket is a finding."""
    size = len(body()["locations"])
    names = tuple(place["id"] for place in body()["locations"])
    apart = {names[0]: "5,750 m from the nearest road of the map", names[1]: "without a road to or from 2 others"}
    legs = np.ones((size, size))
    day = raw_scenario(body()).with_travel_matrices(TravelMatrices(names, legs, legs, off_network=apart))
    (fault,) = matrix_checks.off_network_ends(day)
    assert (fault.path, fault.accepted) == ("/locations/0", "a place on the road network")
    assert "which is 5,750 m from the nearest road" in fault.problem
    (finding,) = infeasibility_faults(day)
    assert (finding.path, finding.reason) == ("/tickets/0/location", "NO_ROAD")
    assert finding.which == (f"{names[1]}: {apart[names[1]]}",)


def test_a_name_that_differs_by_marks_zeros_or_case_alone_is_the_nearest() -> None:
    """SPEC T7: A-1 is A-01 and not A-21, which has as many letters in common; 1-12 and 11-2 are two names."""
    wrong = ("A-1", "a_01", "van-1", "VAN01")
    found = near_names(wrong, ["A-21", "A-01", "Van 1"])
    assert found == dict(zip(wrong, ("A-01", "A-01", "Van 1", "Van 1"), strict=True))
    assert bare("1-12") != bare("11-2")
    assert bare("A 1 - 12") != bare("A 11 - 2")
