"""Locked visits that cannot be kept are refused when a scenario is stored; what a plan keeps is not (SPEC T7, S1)."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility import infeasibility_faults
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import (
    agent,
    all_faults,
    body,
    by_table,
    haul,
    raw_scenario,
    ticket,
)


@pytest.mark.parametrize(
    ("driver", "words", "reason"),
    [
        ({"shift_end": 9}, "shift", "SHIFT_END"),
        ({"max_duration_s": 7}, "max_duration_s", "MAX_DURATION"),
        ({"max_distance_m": 1}, "distance", "MAX_DISTANCE"),
        ({"max_tickets": 1}, "max_tickets", "MAX_TICKETS"),
    ],
)
def test_locked_visits_that_no_plan_can_keep_are_refused_with_a_reason(driver: Json, words: str, reason: str) -> None:
    """SPEC T7, S1: with what is in the way, before any solving."""
    locked = agent(locked_tickets=["b", "a"], **driver)
    tickets = [ticket("a", "A", service_time_s=6), ticket("b", "E", service_time_s=6)]
    found = all_faults(raw_scenario(body([locked, agent("w")], tickets)))
    assert found
    assert all(words in fault.problem and fault.path == "/agents/0/locked_tickets" for fault in found)
    assert {fault.reason for fault in found} == {reason}


@pytest.mark.parametrize(
    ("driver", "delivery", "path", "words"),
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
def test_the_delivery_of_a_locked_pickup_is_its_agents(driver: Json, delivery: Json, path: str, words: str) -> None:
    """SPEC T7, S1: that another agent could make the shipment does not help whoever has its pickup locked."""
    drivers = [agent(locked_tickets=["p"], **driver), agent("w", start_location="P")]
    found = all_faults(raw_scenario(haul(drivers, None, delivery)))
    assert [fault.path for fault in found] == ([path] if path else [])
    assert all(words in fault.problem for fault in found)
    assert all_faults(raw_scenario(haul([agent(**driver), drivers[1]], None, delivery))) == []


def test_a_visit_behind_its_window_is_named_by_its_place_in_the_order() -> None:
    """SPEC T7: the fault stands at the first visit that comes too late, with the reason."""
    day = body([agent(locked_tickets=["b", "a"])], [ticket(time_windows=[[0, 1]]), ticket("b", "E")])
    (fault,) = all_faults(raw_scenario(day))
    assert (fault.path, fault.reason) == ("/agents/0/locked_tickets/1", "TIME_WINDOW")
    assert fault.hint == "Unlock it, or widen its window."


def test_locked_visits_of_a_scenario_too_large_to_be_compiled_are_checked_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T7: of its tickets those that locks bring along are compiled, and what shares a place with them."""
    locked = [agent(locked_tickets=["p"], shift_end=3990), agent("w", start_location="P")]
    day = haul(locked, None, {"setup_time_s": 60})
    whole = all_faults(raw_scenario(day))
    others = [ticket(f"n{at}", "P") for at in range(3)]
    monkeypatch.setattr(infeasibility_faults, "MAX_PROVED_TICKETS", 4)
    assert [fault.reason for fault in whole] == ["SHIFT_END"]
    assert all_faults(raw_scenario({**day, "tickets": [*day["tickets"], *others]})) == []  # too many at one place
    monkeypatch.setattr(infeasibility_faults, "MAX_PROVED_TICKETS", 2)
    far = [ticket(f"n{at}", "D") for at in range(3)]
    assert all_faults(raw_scenario({**day, "tickets": [*day["tickets"], *far]})) == whole


def test_the_delivery_of_a_locked_pickup_may_be_reached_over_other_stops() -> None:
    """SPEC T7: in a table of travel a direct leg need not be the shortest way; a check says only what it can prove."""
    orders = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p"), ticket("c", "C")]
    table = [[0, 10, 9999, 10], [10, 0, 9999, 10], [9999, 9999, 0, 10], [10, 10, 10, 0]]
    driver = {"shift_end": 30, "end_location": None, "locked_tickets": ["p"]}
    day = raw_scenario(by_table(table, orders, **driver))
    assert all_faults(day) == []
    problem = compile_scenario(day)
    assert verify(problem, build_plan(problem, Candidate.of_tickets({0: [0, 2, 1]}))) == []
    alone = by_table(table, orders[:2], **driver)
    alone["agents"].append(agent("w", start_location="C"))
    assert [fault.path for fault in all_faults(raw_scenario(alone))] == ["/agents/0/locked_tickets"]


@examples(100)
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
    day = raw_scenario(body([driver], tickets, travel={"decimals": 0, "rounding": rounding}))
    problem = compile_scenario(day)
    index = {spec.id: number for number, spec in enumerate(problem.tickets)}
    locked = driver["locked_tickets"]
    owed = [name for name in names if name not in locked and (name in "pr" or {"q": "p", "s": "r"}[name] in locked)]
    plans = [[*locked, *(name for name in owed if name in "qs")], names]
    laid_out = (build_plan(problem, Candidate.of_tickets({0: [index[n] for n in plan]})) for plan in plans)
    assume(any(not verify(problem, plan) for plan in laid_out))
    assert not [fault for fault in all_faults(day) if "locked" in fault.path]


@examples(200)
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
    day = raw_scenario(body([driver], tickets))
    problem = compile_scenario(day)
    order = [next(i for i, t in enumerate(problem.tickets) if t.id == name) for name in driver["locked_tickets"]]
    plan = build_plan(problem, Candidate.of_tickets({0: order}))
    assume(not verify(problem, plan))
    assert not [fault for fault in all_faults(day) if "locked" in fault.path]
