"""Every check of a scenario finds what it is for, and nothing finds a sound day (SPEC T7)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner_mcp.errors import Fault
from planner_mcp.vrp.checks import amounts, groups, idle, locks, matrices, names, places, reach, shipments, sizes, times
from planner_mcp.vrp.checks.logic import CHECKS, WARNINGS, Check, check, oddities
from planner_mcp.vrp.compile.compiler import compile_scenario
from planner_mcp.vrp.day.model import Scenario
from planner_mcp.vrp.day.tables import Tables
from planner_mcp.vrp.layout.schedule import lay_out
from planner_mcp.vrp.problem import Candidate
from planner_mcp.vrp.proof.verify import verify

from .days import agent, body, ticket

Json = dict[str, Any]


def globe(*places: tuple[float | None, float | None], **fields: Any) -> Json:
    """Return a day on the globe, one ticket at each place; the first is the depot too."""
    known = [{"id": f"P{n}", "lat": lat, "lon": lon} for n, (lat, lon) in enumerate(places)]
    return body(tickets=[ticket("a", "P0")], locations=known, depot="P0", **fields)


def matrix(**travel: Any) -> Json:
    places = [{"id": "D"}, {"id": "A"}]
    return body(tickets=[ticket()], locations=places, travel={"distances": [[0, 1], [1, 0]], **travel})


PEKING = [(39.9, 116.4), (39.91, 116.41), (39.92, 116.42)]
SHIPMENT = [ticket("p", kind="pickup"), ticket("q", "B", pickup="p")]


def haul(drivers: list[Json], pickup: Json | None = None, delivery: Json | None = None, **fields: Any) -> Json:
    """Return a day with one shipment, from 1000 s on one side of the depot to 1000 s on the other."""
    known = [{"id": name, "x": at, "y": 0} for name, at in {"D": 0, "P": 1000, "Q": -1000}.items()]
    halves = [ticket("p", "P", kind="pickup", **(pickup or {})), ticket("q", "Q", pickup="p", **(delivery or {}))]
    return body(drivers, halves, locations=known) | fields


CASES: dict[Check, Json] = {
    names.duplicate_ids: body([agent(), agent()]),
    names.unknown_locations: body(tickets=[ticket(location="Q")]),
    names.unknown_agents: body(tickets=[ticket(agents=["w"])]),
    names.unknown_tickets: body([agent(locked_tickets=["zz"])]),
    names.groups_of_nothing: body(groups=[{"kind": "all", "tickets": []}]),
    names.repeated_exclusions: body(incompatible=[["a", "b", "a"]]),
    names.locked_twice: body([agent(locked_tickets=["a"]), agent("w", locked_tickets=["a"])]),
    names.absurd_date: body(planning_date="1925-07-15"),
    sizes.too_many_pairs: body(
        tickets=[ticket(f"t{n}") for n in range(633)], incompatible=[[f"t{n}" for n in range(633)]]
    ),
    sizes.too_many_dimensions: body(
        [agent(n, capacity={f"d{n}{m}": 9 for m in range(8)} | {"load": 9}) for n in "abc"]
    ),
    sizes.too_much_travel: body(
        [agent(str(n), reload_locations=[f"R{n}-{m}" for m in range(20)]) for n in range(500)], locations=[]
    ),
    places.incomplete_positions: globe(PEKING[0], (39.9, None)),
    places.mixed_systems: body(locations=[{"id": "D", "x": 0, "y": 0}, {"id": "A", "lat": 1, "lon": 1}]),
    places.missing_positions: body(locations=[{"id": "D", "x": 0, "y": 0}, {"id": "A"}, {"id": "B"}]),
    places.impossible_positions: globe((116.4, 39.9)),
    places.zero_positions: globe((0, 0)),
    places.swapped_positions: globe((30, 60), (30.1, 60.1), (30.2, 60.2), (60, 30)),
    matrices.several_sources: matrix(router="car"),
    matrices.router_positions: body(travel={"router": "car"}),
    matrices.missing_rows: body(travel={"matrix": "m"}),
    matrices.matrix_order: matrix(matrix_locations=["D", "D"]),
    matrices.matrix_shape: matrix(durations=[[0, 1]]),
    matrices.matrix_values: matrix(durations=[[0, -1], [1, 0]]),
    times.backward_windows: body(tickets=[ticket(time_windows=[[9, 8]])]),
    times.overlapping_windows: body(tickets=[ticket(time_windows=[[1, 5], [4, 8]])]),
    times.backward_shifts: body([agent(shift_start=9, shift_end=8)]),
    times.backward_breaks: body([agent(breaks=[{"earliest": 9, "latest": 8, "duration_s": 1}])]),
    times.odd_rushes: body(travel={"rush_hours": [{"start": 9, "end": 9, "factor": 2}]}),
    times.late_releases: body(tickets=[ticket(release_time=9, time_windows=[[1, 8]])]),
    times.late_pickups: body(
        tickets=[SHIPMENT[0] | {"time_windows": [[50, 60]]}, SHIPMENT[1] | {"time_windows": [[1, 9]]}]
    ),
    amounts.negative_amounts: body([agent(capacity=-1)]),
    amounts.unknown_dimensions: body(tickets=[ticket(demand={"m3": 1})]),
    amounts.missing_skills: body(tickets=[ticket(skills=["crane"])]),
    amounts.nobody_may_serve: body(tickets=[ticket(not_agents=["v"])]),
    amounts.oversized_demands: body(tickets=[ticket(demand=11)]),
    amounts.too_few_stops: body([agent(max_tickets=0)]),
    locks.locked_to_strangers: body(
        [agent(locked_tickets=["a"]), agent("w")], [ticket(agents=["w"]), ticket("b", "B")]
    ),
    amounts.double_limits: body([agent(max_distance_km=1, max_distance_m=1)]),
    amounts.broken_shipments: body(tickets=[*SHIPMENT, ticket("r", "B", pickup="p")]),
    amounts.unequal_shipments: body(tickets=[SHIPMENT[0], SHIPMENT[1] | {"demand": 2}]),
    groups.torn_shipments: body(tickets=SHIPMENT, incompatible=[["q", "p"]]),
    locks.locked_against_each_other: body([agent(locked_tickets=["a", "b"])], incompatible=[["a", "b"]]),
    locks.locked_too_many: body([agent(capacity=1, locked_tickets=["a", "b"]), agent("w")]),
    locks.locked_out_of_order: body([agent(locked_tickets=["q", "p"])], SHIPMENT),
    locks.locked_backhaul: body(
        [agent(locked_tickets=["a", "b"])],
        [ticket(kind="pickup"), ticket("b", "B")],
        options={"backhaul": True},
    ),
    times.unreachable_tickets: body([agent(shift_start=0, shift_end=1)]),
    shipments.unreachable_shipments: haul([agent(shift_end=3900)]),
    locks.unkept_locks: body([agent(locked_tickets=["b", "a"])], [ticket(time_windows=[[0, 1]]), ticket("b", "E")]),
}
ODD: dict[Check, Json] = {
    amounts.more_demand_than_capacity: body(tickets=[ticket(demand=8), ticket("b", "B", demand=8)]),
    amounts.worthless_tickets: body(tickets=[ticket(penalty=0)]),
    amounts.free_lateness: body(tickets=[ticket(soft_close=5)]),
    idle.idle_fields: body([agent(overtime_s=60)]),
    idle.idle_promises: body(tickets=[ticket(soft_close=9, lateness_cost_per_hour=1, time_windows=[[6, 9], [1, 5]])]),
    groups.halves_left_over: body(tickets=[*SHIPMENT, ticket("c")], groups=[{"kind": "one_of", "tickets": ["q", "c"]}]),
    groups.idle_penalties: body(groups=[{"kind": "all", "tickets": ["a", "b"], "penalty": 9}]),
    places.far_outliers: globe(*PEKING, (52.5, 13.4)),
    matrices.matrix_diagonals: matrix(durations=[[5, 1], [1, 0]]),
    places.foreign_gcj02: globe((52.5, 13.4), (52.6, 13.4), (52.7, 13.4), travel={"crs": "gcj02"}),
}


TOLD: dict[Check, tuple[str, str]] = {
    names.duplicate_ids: ("/agents/1/id", "Rename one"),
    names.unknown_locations: ("/tickets/0/location", "Add the location"),
    names.unknown_agents: ("/tickets/0/agents/0", "Add the agent"),
    names.unknown_tickets: ("/agents/0/locked_tickets/0", "Add the ticket"),
    names.groups_of_nothing: ("/groups/0/tickets", "Add tickets or remove the group"),
    names.repeated_exclusions: ("/incompatible/0/2", "Remove the repetition"),
    names.locked_twice: ("/agents/1/locked_tickets/0", "Remove one"),
    names.absurd_date: ("/planning_date", "Check the year"),
    sizes.too_many_pairs: ("/incompatible/0", "Make the groups smaller"),
    sizes.too_many_dimensions: ("/agents", "the same names"),
    sizes.too_much_travel: ("/agents", "Split the day"),
    places.incomplete_positions: ("/locations/1", "Add lon"),
    places.mixed_systems: ("/locations/1", "Use one system"),
    places.missing_positions: ("/locations/1", "Add its coordinates"),
    places.impossible_positions: ("/locations/0/lat", "Swap lat and lon"),
    places.zero_positions: ("/locations/0", "Look the address up again"),
    places.swapped_positions: ("/locations/3", "Swap lat and lon"),
    matrices.several_sources: ("/travel", "Remove the others"),
    matrices.router_positions: ("/locations/1", "Add its position"),
    matrices.missing_rows: ("/travel/matrix", "Add their rows"),
    matrices.matrix_order: ("/travel/matrix_locations", "Remove the repetition"),
    matrices.matrix_shape: ("/travel/durations", "a number for every pair"),
    matrices.matrix_values: ("/travel/durations/0/1", "a large number"),
    times.backward_windows: ("/tickets/0/time_windows/0", "Swap the two"),
    times.overlapping_windows: ("/tickets/0/time_windows", "Join them"),
    times.backward_shifts: ("/agents/0/shift_end", "past midnight as 24:00"),
    times.backward_breaks: ("/agents/0/breaks/0/latest", "Swap the two"),
    times.odd_rushes: ("/travel/rush_hours/0/end", "Swap the two"),
    times.late_releases: ("/tickets/0/release_time", "Release it earlier"),
    times.late_pickups: ("/tickets/1/time_windows", "open the pickup earlier"),
    amounts.negative_amounts: ("/agents/0/capacity", "Write 0"),
    amounts.unknown_dimensions: ("/tickets/0/demand", "Name the same dimensions"),
    amounts.missing_skills: ("/tickets/0/skills/0", "Give it to an agent"),
    amounts.nobody_may_serve: ("/tickets/0", "Relax skills, agents or not_agents"),
    amounts.oversized_demands: ("/tickets/0/demand", "Split the ticket"),
    amounts.too_few_stops: ("/tickets/0", "Raise max_tickets"),
    locks.locked_to_strangers: ("/agents/0/locked_tickets/0", "Lock it to another agent"),
    amounts.double_limits: ("/agents/0/max_distance_m", "Remove one"),
    amounts.broken_shipments: ("/tickets/2/pickup", "Split the pickup"),
    amounts.unequal_shipments: ("/tickets/1/demand", "Make them equal"),
    groups.torn_shipments: ("/incompatible/0/0", "Remove one of the two"),
    locks.locked_against_each_other: ("/agents/0/locked_tickets/1", "Unlock one of the two"),
    locks.locked_too_many: ("/agents/0/locked_tickets", "Unlock the last"),
    locks.locked_out_of_order: ("/agents/0/locked_tickets/0", "Lock the pickup before it"),
    locks.locked_backhaul: ("/agents/0/locked_tickets/1", "Lock deliveries first"),
    times.unreachable_tickets: ("/tickets/1/location", "Extend a shift"),
    shipments.unreachable_shipments: ("/tickets/1", "Extend a shift"),
    locks.unkept_locks: ("/agents/0/locked_tickets/1", "Unlock it"),
    amounts.more_demand_than_capacity: ("/agents", "Add agents"),
    amounts.worthless_tickets: ("/tickets/0/penalty", "Raise it"),
    amounts.free_lateness: ("/tickets/0/soft_close", "Set lateness_cost_per_hour"),
    idle.idle_fields: ("/agents/0/overtime_s", "Set shift_end"),
    idle.idle_promises: ("/tickets/0/soft_close", "before the last window closes"),
    groups.halves_left_over: ("/groups/0/tickets/0", "a one_of group too"),
    groups.idle_penalties: ("/groups/0/penalty", "Give its tickets a penalty"),
    places.far_outliers: ("/locations/3", "Check its coordinates"),
    matrices.matrix_diagonals: ("/travel/durations", "taken as 0"),
    places.foreign_gcj02: ("/travel/crs", "Declare wgs84"),
}
"""Where the first fault of each case is, and what its hint says."""


def read(day: Json) -> Scenario:
    """Return a day that was not judged yet; a matrix it names knows one place alone."""
    tables = Tables(("A",), np.zeros((1, 1))) if "matrix" in day.get("travel", {}) else None
    return Scenario.model_validate(day, context={"tables": tables})


def test_no_check_is_without_its_case_and_there_are_many() -> None:
    """SPEC T7, issue 6: at least 15 checks of logic; each is proved below."""
    with_travel = {times.unreachable_tickets, shipments.unreachable_shipments, locks.unkept_locks}
    assert set(CASES) == {*CHECKS, sizes.too_much_travel, *with_travel}
    assert set(ODD) == set(WARNINGS)
    assert len(CASES) == 48
    assert len(ODD) == 10


@pytest.mark.parametrize("rule", [*CASES, *ODD], ids=lambda rule: rule.__name__)
def test_a_check_finds_what_it_is_for_and_lets_a_sound_day_pass(rule: Check) -> None:
    """SPEC T7: with a place in the input, and what would be accepted or what to do."""
    day = read({**CASES, **ODD}[rule])
    found = list(rule(day))
    path, hint = TOLD[rule]
    assert found[0].path == path
    assert hint in found[0].hint
    assert all(isinstance(fault, Fault) and fault.path.startswith("/") and fault.hint for fault in found)
    assert all(fault.accepted or fault.kind == "warning" for fault in found)
    assert set(found) <= {*check(day), *oddities(day)}
    assert list(rule(read(body()))) == []


def test_a_latitude_that_is_none_has_a_hint_of_its_own() -> None:
    """SPEC T7: where no swap would mend it."""
    (fault,) = places.impossible_positions(read(globe((500, 116))))
    assert fault.hint == "Look it up again."


def test_alternatives_are_never_both_halves_of_a_shipment() -> None:
    """SPEC T7, S1: such a group could never be served; a group of each half can, and so can a half that may be left."""
    twins = [*SHIPMENT, ticket("r", kind="pickup"), ticket("s", "B", pickup="r")]
    torn = body(tickets=twins, groups=[{"kind": "one_of", "tickets": ["p", "q", "s"]}])
    assert [fault.path for fault in check(read(torn))] == ["/groups/0/tickets/1"]
    halves = [{"kind": "one_of", "tickets": ["q", "s"]}, {"kind": "one_of", "tickets": ["p", "r"]}]
    day = read(body(tickets=twins, groups=halves))
    assert check(day) == oddities(day) == []
    plan = lay_out(compile_scenario(day), Candidate.of_tickets({0: [0, 1]}))
    assert plan.status == "feasible"
    loose = [entry | {"penalty": 5} if entry["id"] in "pr" else entry for entry in twins]
    assert oddities(read(body(tickets=loose, groups=halves[:1]))) == []


def test_tickets_out_of_reach_are_told_beside_other_faults() -> None:
    """SPEC T7: all at once, save what another fault makes uncertain."""
    far = ticket("far", "E", time_windows=[[0, 1]])
    early = agent("w", locked_tickets=["b", "a"], max_duration_s=12)
    orders = [ticket("a", service_time_s=9), ticket("b", "B", service_time_s=9)]
    wrong = body([agent(), early], [*orders, far, ticket("c", demand=-1)])
    told = {fault.path for fault in check(read(wrong))}
    assert told == {"/tickets/3/demand", "/tickets/2/location", "/agents/1/locked_tickets"}
    backward = body([agent(shift_start=9, shift_end=8)], [far])
    assert [fault.path for fault in check(read(backward))] == ["/agents/0/shift_end"]


@pytest.mark.parametrize(
    ("driver", "told"),
    [
        ({"shift_end": 9}, "shift"),
        ({"max_duration_s": 7}, "max_duration_s"),
        ({"max_distance_m": 1}, "distance"),
        ({"max_tickets": 1}, "max_tickets"),
    ],
)
def test_locked_visits_that_no_plan_can_keep_are_refused_at_the_door(driver: Json, told: str) -> None:
    """SPEC T7, S1: with what is in the way, before any solving."""
    locked = agent(locked_tickets=["b", "a"], **driver)
    tickets = [ticket("a", "A", service_time_s=6), ticket("b", "E", service_time_s=6)]
    found = check(read(body([locked, agent("w")], tickets)))
    assert found
    assert all(told in fault.problem and fault.path == "/agents/0/locked_tickets" for fault in found)


@pytest.mark.parametrize(
    ("driver", "delivery", "path", "told"),
    [
        ({}, {"time_windows": [[0, 2990]]}, "/agents/0/locked_tickets/0", "delivery of this locked pickup"),
        ({"shift_start": 0, "shift_end": 3990}, {}, "/agents/0/locked_tickets", "the shift. Deliveries of locked"),
        ({"max_duration_s": 3990}, {}, "/agents/0/locked_tickets", "max_duration_s. Deliveries of locked"),
        ({"max_distance_m": 3990}, {}, "/agents/0/locked_tickets", "distance limit. Deliveries of locked"),
        ({"shift_end": 4000}, {"setup_time_s": 60}, "/agents/0/locked_tickets", "the shift. Deliveries of locked"),
        ({"shift_end": 4000}, {"release_time": 60}, "/agents/0/locked_tickets", "the shift. Deliveries of locked"),
        ({"shift_end": 4000, "max_duration_s": 4000, "max_distance_m": 4000}, {"time_windows": [[0, 3000]]}, "", ""),
    ],
)
def test_the_delivery_of_a_locked_pickup_is_its_agents(driver: Json, delivery: Json, path: str, told: str) -> None:
    """SPEC T7, S1: that another agent could make the shipment does not help whoever has its pickup locked."""
    drivers = [agent(locked_tickets=["p"], **driver), agent("w", start_location="P")]
    found = check(read(haul(drivers, None, delivery)))
    assert [fault.path for fault in found] == ([path] if path else [])
    assert all(told in fault.problem for fault in found)
    assert check(read(haul([agent(**driver), drivers[1]], None, delivery))) == []


def test_the_delivery_of_a_locked_pickup_may_be_come_to_over_other_stops() -> None:
    """SPEC T7: in a table of travel a direct leg need not be the shortest way; a check says only what it can prove."""
    orders = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p"), ticket("c", "C")]
    table = [[0, 10, 9999, 10], [10, 0, 9999, 10], [9999, 9999, 0, 10], [10, 10, 10, 0]]
    driver = {"shift_end": 30, "end_location": None, "locked_tickets": ["p"]}
    day = read(by_table(table, orders, **driver))
    assert check(day) == []
    problem = compile_scenario(day)
    assert verify(problem, lay_out(problem, Candidate.of_tickets({0: [0, 2, 1]}))) == []
    alone = by_table(table, orders[:2], **driver)
    alone["agents"].append(agent("w", start_location="C"))
    assert [fault.path for fault in check(read(alone))] == ["/agents/0/locked_tickets"]


@settings(max_examples=100)
@given(st.data())
def test_locked_pickups_that_a_plan_can_deliver_are_never_refused(data: st.DataObject) -> None:
    """SPEC T7: a check says only what it can prove, whatever setups, releases, windows and speeds do."""
    few, places = st.integers(0, 6), st.sampled_from("ABCE")
    driver = agent(speed_factor=data.draw(st.sampled_from([0.7, 1, 3])), shift_start=0)
    for limit in ("shift_end", "max_duration_s", "max_distance_m"):
        if data.draw(st.booleans()):
            driver[limit] = data.draw(st.integers(6, 30))
    names = ["p", "r", *data.draw(st.permutations(["q", "s"]))]
    driver["locked_tickets"] = names[: data.draw(st.integers(1, 3))]
    moods = [{"time_windows": [[0, data.draw(st.integers(2, 40))]]}, {"release_time": data.draw(few)}, {}]
    halves = {"p": {"kind": "pickup"}, "q": {"pickup": "p"}, "r": {"kind": "pickup"}, "s": {"pickup": "r"}}
    tickets = [
        ticket(name, data.draw(places), service_time_s=data.draw(few), setup_time_s=data.draw(few), **half)
        | data.draw(st.sampled_from(moods))
        for name, half in halves.items()
    ]
    rounding = data.draw(st.sampled_from(["floor", "nearest", "ceil"]))
    day = read(body([driver], tickets, travel={"decimals": 0, "rounding": rounding}))
    problem = compile_scenario(day)
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    locked = driver["locked_tickets"]
    owed = [name for name in names if name not in locked and (name in "pr" or {"q": "p", "s": "r"}[name] in locked)]
    plans = [[*locked, *(name for name in owed if name in "qs")], names]
    if any(
        not verify(problem, lay_out(problem, Candidate.of_tickets({0: [index[n] for n in plan]}))) for plan in plans
    ):
        assert not [fault for fault in check(day) if "locked" in fault.path]


@settings(max_examples=200)
@given(st.data())
def test_locks_that_a_plan_can_keep_are_never_refused(data: st.DataObject) -> None:
    """SPEC T7: a check says only what it can prove, whatever rounding, breaks and reloads do."""
    few = st.integers(0, 6)
    driver = agent(
        capacity=data.draw(st.integers(2, 6)),
        shift_end=data.draw(st.integers(6, 24)),
        locked_tickets=data.draw(st.permutations("abc"))[: data.draw(st.integers(1, 3))],
    )
    for limit in ("max_duration_s", "max_distance_m"):
        if data.draw(st.booleans()):
            driver[limit] = data.draw(st.integers(4, 20))
    if data.draw(st.booleans()):
        driver["reload_locations"] = ["D"]
    tickets = [
        ticket(
            name,
            data.draw(st.sampled_from("ABCE")),
            demand=data.draw(st.integers(0, 3)),
            kind=data.draw(st.sampled_from(["delivery", "pickup"])),
            service_time_s=data.draw(few),
            time_windows=[[0, data.draw(st.integers(2, 20))]],
        )
        for name in "abc"
    ]
    day = read(body([driver], tickets))
    problem = compile_scenario(day)
    order = [next(i for i, t in enumerate(problem.tickets) if t.id == name) for name in driver["locked_tickets"]]
    plan = lay_out(problem, Candidate.of_tickets({0: order}))
    if not verify(problem, plan):
        assert not [fault for fault in check(day) if "locked" in fault.path]


def by_table(durations: list[list[float]], orders: list[Json], **driver: Any) -> Json:
    """Return a day at D, A, B … with a table of seconds and metres."""
    places = [{"id": name} for name in "DABCE"[: len(durations)]]
    travel = {"distances": durations, "durations": durations}
    return body([agent(shift_start=0, **driver)], orders, locations=places, travel=travel)


ROUND = [[0, 600, 9999], [600, 0, 300], [9999, 300, 0]]
"""From D to B over A is quicker than straight there."""


@pytest.mark.parametrize(
    ("fields", "driver"),
    [
        ({"time_windows": [[0, 3600]]}, {"end_location": None}),
        ({}, {"max_distance_m": 1000, "end_location": None}),
        ({}, {"max_duration_s": 1000, "end_location": None}),
        ({}, {"shift_end": 1000, "end_location": None}),
        ({}, {"max_distance_m": 1000, "start_location": None}),
    ],
)
def test_a_ticket_that_can_be_reached_over_another_is_not_refused(fields: Json, driver: Json) -> None:
    """SPEC T7: in a table of travel a direct leg need not be the shortest way; a check says only what it can prove."""
    day = read(by_table(ROUND, [ticket("a"), ticket("b", "B", **fields)], **driver))
    assert check(day) == []
    order = [1, 0] if driver.get("start_location", "D") is None else [0, 1]
    problem = compile_scenario(day)
    assert verify(problem, lay_out(problem, Candidate.of_tickets({0: order}))) == []
    alone = read(by_table(ROUND, [ticket("b", "B", **fields)], **driver))
    assert [fault.path for fault in check(alone)] == ["/tickets/0/location"]


def test_a_ticket_that_no_way_round_reaches_in_time_is_refused() -> None:
    """SPEC T7: the shortest way over other stops counts, there and back; another agent's depot is no stop."""
    late = by_table(ROUND, [ticket("a"), ticket("b", "B", time_windows=[[0, 880]])])
    assert [fault.path for fault in check(read(late))] == ["/tickets/1/location"]
    far = by_table(ROUND, [ticket("a"), ticket("b", "B")], max_distance_m=1700)
    assert [fault.problem[:13] for fault in check(read(far))] == ["A direct trip"]
    depot = by_table(ROUND, [ticket("b", "B", time_windows=[[0, 3600]])])
    depot["agents"].append(agent("w", start_location="A", skills=["x"]))
    depot["tickets"][0]["not_agents"] = ["w"]
    assert [fault.path for fault in check(read(depot))] == ["/tickets/0/location"]


def test_where_ways_cost_too_much_to_find_only_their_last_leg_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7, X3: a day made to cost time is let in rather than judged for minutes."""
    days = [read(by_table(ROUND, [ticket("a"), ticket("b", "B", time_windows=[[0, closes]])])) for closes in (880, 290)]
    monkeypatch.setattr(reach, "MAX_STEPS", 3)
    assert check(days[0]) == []
    assert [fault.path for fault in check(days[1])] == ["/tickets/1/location"]


def test_a_setup_that_another_ticket_may_spare_refuses_nothing() -> None:
    """SPEC T7, S1: of tickets in a row at one location only the first has a setup."""
    orders = [ticket("b", service_time_s=60), ticket("a", setup_time_s=3600, time_windows=[[0, 1800]])]
    day = read(body(None, orders))
    assert check(day) == []
    problem = compile_scenario(day)
    assert verify(problem, lay_out(problem, Candidate.of_tickets({0: [0, 1]}))) == []
    assert [fault.path for fault in check(read(body(None, orders[1:])))] == ["/tickets/0/location"]


HELD: list[tuple[str, Json, str, str]] = [
    (
        "delivery of another",
        body([agent(locked_tickets=["p"]), agent("w")], [SHIPMENT[0], SHIPMENT[1] | {"agents": ["w"]}]),
        "/agents/0/locked_tickets/0",
        "may not serve the delivery",
    ),
    (
        "delivery counts",
        body([agent(locked_tickets=["p"], max_tickets=1), agent("w")], SHIPMENT),
        "/agents/0/locked_tickets",
        "max_tickets",
    ),
    (
        "delivery excluded",
        body(
            [agent(locked_tickets=["p", "x"]), agent("w")],
            [*SHIPMENT, ticket("x")],
            incompatible=[["q", "x"]],
        ),
        "/agents/0/locked_tickets/1",
        "excludes it",
    ),
    (
        "group of the delivery",
        body(
            [agent(locked_tickets=["p"]), agent("w", locked_tickets=["x"])],
            [*SHIPMENT, ticket("x"), ticket("y", penalty=0)],
            groups=[{"kind": "one_of", "tickets": ["q", "x"]}],
        ),
        "/agents/1/locked_tickets/0",
        "excludes it",
    ),
    (
        "all of a group",
        body(
            [agent(locked_tickets=["a", "x"])],
            [ticket("a"), ticket("b", "B"), ticket("x")],
            groups=[{"kind": "all", "tickets": ["a", "b"]}, {"kind": "one_of", "tickets": ["b", "x"]}],
        ),
        "/agents/0/locked_tickets/1",
        "excludes it",
    ),
    (
        "both pickups first",
        body(
            [agent(locked_tickets=["p", "r"], reload_locations=["D"])],
            [entry | {"demand": 6} for entry in (*SHIPMENT, ticket("r", kind="pickup"), ticket("s", "B", pickup="r"))],
        ),
        "/agents/0/locked_tickets",
        "capacity",
    ),
]


@pytest.mark.parametrize(("day", "path", "told"), [case[1:] for case in HELD], ids=[case[0] for case in HELD])
def test_what_must_be_served_with_a_locked_visit_is_judged_with_it(day: Json, path: str, told: str) -> None:
    """SPEC T7, S1: told at the door with its place, not after a whole solve."""
    (fault,) = check(read(day))
    assert fault.path == path
    assert told in fault.problem


def test_locked_visits_that_a_reload_or_their_order_makes_possible_pass() -> None:
    """SPEC T7: a check says only what it can prove."""
    mixed = [ticket(kind="pickup"), ticket("b", "B")]
    back = {"options": {"backhaul": True}}
    assert check(read(body([agent(locked_tickets=["a", "b"], reload_locations=["D"])], mixed, **back))) == []
    assert check(read(body([agent(locked_tickets=["b", "a"])], mixed, **back))) == []
    shipped = [agent(locked_tickets=["p", "q"], max_tickets=2)]
    assert check(read(body(shipped, SHIPMENT, **back))) == []
    never = agent(locked_tickets=["a", "b"], reload_locations=["D"], max_reloads=0)
    assert [fault.path for fault in check(read(body([never], mixed, **back)))] == ["/agents/0/locked_tickets/1"]


@pytest.mark.parametrize(
    ("drivers", "order", "path"),
    [
        (
            [agent(capacity={"kg": 9, "m3": 0}), agent("w", capacity={"kg": 0, "m3": 9})],
            {"demand": {"kg": 5, "m3": 5}},
            "/tickets/0/demand",
        ),
        (
            [agent(capacity=100, shift_end="10:00"), agent("w")],
            {"demand": 50, "time_windows": [["14:00", "16:00"]]},
            "/tickets/0/time_windows",
        ),
        ([agent(max_tickets=0), agent("w", capacity=1)], {"demand": 5}, "/tickets/0"),
    ],
    ids=["both amounts", "amount and hours", "no stops"],
)
def test_a_ticket_that_each_agent_cannot_serve_for_another_reason_is_refused(
    drivers: list[Json], order: Json, path: str
) -> None:
    """SPEC T7: a ticket no agent could ever serve, whatever keeps each of them."""
    (fault,) = check(read(body(drivers, [ticket(**order)])))
    assert fault.path == path


def test_a_shipment_counts_as_two_tickets() -> None:
    """SPEC T7, S1: who may serve one ticket can serve no shipment."""
    found = check(read(body([agent(max_tickets=1)], SHIPMENT)))
    assert [fault.path for fault in found] == ["/tickets/0", "/tickets/1"]


@pytest.mark.parametrize(
    ("day", "told"),
    [
        (haul([agent(shift_end=3900), agent("w", shift_start=60, shift_end=3900)]), "within its shift"),
        (haul([agent(max_duration_s=3900)]), "max_duration_s"),
        (haul([agent(max_distance_m=3900)]), "distance limit"),
        (haul([agent()], {"time_windows": [[1500, 9000]]}, {"time_windows": [[0, 3400]]}), "in its window"),
        (haul([agent()], {"service_time_s": 1000}, {"time_windows": [[0, 3900]], "penalty": 5}), "in its window"),
        (haul([agent(), agent("w", shift_end=3900)], {"agents": ["w"]}), "within its shift"),
    ],
    ids=["shift", "duration", "distance", "windows", "service", "agents"],
)
def test_a_shipment_of_which_only_each_half_is_within_reach_is_refused(day: Json, told: str) -> None:
    """SPEC T7: a ticket no agent could ever serve; it is served after its pickup, by the same agent."""
    (fault,) = check(read(day))
    assert fault.path == "/tickets/1"
    assert told in fault.problem


@pytest.mark.parametrize(
    "day",
    [
        haul([agent(shift_end=4000)]),
        haul([agent(shift_end=3000), agent("w", shift_end=4000)]),
        haul([agent(shift_end=3000, overtime_s=1000)]),
        haul([agent(shift_end=3000, end_location=None)]),
        haul([agent(shift_end=3000, start_location=None)]),
        haul([agent(shift_end=2000, speed_factor=2)]),
        haul([agent(shift_end=2000)], travel={"rush_hours": [{"start": 0, "end": 9000, "factor": 0.5}]}),
        haul([agent(shift_end=4000, reload_locations=["P"], max_reloads=1)], {"setup_time_s": 99}),
    ],
    ids=["just", "another agent", "overtime", "open end", "open start", "speed", "quick hours", "set up by a reload"],
)
def test_a_shipment_that_some_agent_can_make_is_let_in(day: Json) -> None:
    """SPEC T7: a check says only what it can prove."""
    assert check(read(day)) == []


def test_an_agent_that_can_serve_a_ticket_is_asked_first_about_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: many agents of which only the last can cost no look each at every ticket."""
    drivers = [agent(str(number), shift_end=number) for number in range(1, 50)]
    day = read(haul([*drivers, agent()], tickets=[ticket(str(number), "PQ"[number % 2]) for number in range(40)]))
    asked: list[times.Duty] = []
    judge = times._in_the_way
    monkeypatch.setattr(times, "_in_the_way", lambda *given: asked.append(given[-1]) or judge(*given))
    assert check(day) == []
    assert len(asked) < 100


def test_a_shipment_that_can_be_made_over_other_stops_is_let_in() -> None:
    """SPEC T7: in a table of travel a direct leg need not be the shortest way, between the halves either."""
    table = [[0, 300, 300, 300], [300, 0, 9999, 300], [300, 9999, 0, 300], [300, 300, 300, 0]]
    orders = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p", time_windows=[[0, 950]]), ticket("c", "C")]
    assert check(read(by_table(table, orders))) == []
    (fault,) = check(read(by_table(table, [orders[0], orders[1] | {"time_windows": [[0, 850]]}, orders[2]])))
    assert fault.path == "/tickets/1"


@settings(max_examples=100)
@given(st.data())
def test_a_shipment_that_a_plan_makes_is_never_refused(data: st.DataObject) -> None:
    """SPEC T7: a check says only what it can prove, whatever rounding, setups, releases and windows do."""
    limits = ("shift_end", "max_duration_s", "max_distance_m")
    driver = agent(**{limit: data.draw(st.integers(2, 30)) for limit in limits if data.draw(st.booleans())})
    times = st.integers(0, 9)
    halves = [
        ticket(
            name,
            data.draw(st.sampled_from("ABCE")),
            service_time_s=data.draw(times),
            setup_time_s=data.draw(times),
            release_time=data.draw(times),
            time_windows=[[opens := data.draw(times), opens + data.draw(st.integers(0, 20))]],
        )
        for name in "pq"
    ]
    orders = [halves[0] | {"kind": "pickup"}, halves[1] | {"pickup": "p"}]
    day = read(body([driver], orders, travel={"decimals": 0, "detour": data.draw(st.sampled_from([0.7, 1.0, 3.4]))}))
    problem = compile_scenario(day)
    if not verify(problem, lay_out(problem, Candidate.of_tickets({0: [0, 1]}))):
        assert list(shipments.unreachable_shipments(day)) == []


def test_of_alternatives_only_one_takes_room_and_the_price_may_be_the_groups() -> None:
    """SPEC T7: what is odd is told of what would really be planned."""
    pair = [{"kind": "one_of", "tickets": ["a", "b"]}]
    big = [ticket("a", demand=6), ticket("b", "B", demand=7)]
    assert oddities(read(body(tickets=big, groups=pair))) == []
    (more,) = oddities(read(body(tickets=[*big, ticket("c", demand=5)], groups=pair)))
    assert "need 11 of load" in more.problem
    free = [ticket("a", penalty=0), ticket("b", "B", penalty=0)]
    assert oddities(read(body(tickets=free, groups=[pair[0] | {"penalty": 500}]))) == []
    assert [odd.path for odd in oddities(read(body(tickets=free, groups=pair)))] == [
        "/tickets/0/penalty",
        "/tickets/1/penalty",
    ]
    dear = [free[0], free[1] | {"penalty": 500}]
    assert oddities(read(body(tickets=dear, groups=pair))) == []


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
def test_a_field_without_the_one_that_gives_it_a_meaning_is_odd(driver: Json, order: Json, path: str) -> None:
    """SPEC T7: told, because whoever wrote it expects something of it."""
    assert [odd.path for odd in oddities(read(body([agent(**driver)], [ticket(**order)])))] == [path]


def test_fields_that_have_an_effect_are_not_odd() -> None:
    """SPEC T7: not at midnight either, nor where they say that there is none, nor while vehicles are out."""
    late = agent(shift_end=0, overtime_s=9999, overtime_cost_per_hour=1, max_reloads=0)
    promise = {"soft_close": 0, "lateness_cost_per_hour": 9, "time_windows": [[0, 5]]}
    assert oddities(read(body([late], [ticket(preferred_agent="v", switch_cost=9, **promise)]))) == []
    assert oddities(read(body(tickets=[ticket(preferred_agent="v")], held={"until_s": 60}))) == []
