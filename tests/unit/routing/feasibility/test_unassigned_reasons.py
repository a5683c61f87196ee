"""Each ticket that a plan leaves out has a reason whose fact was checked."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility import least_travel
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.plan import PlanStatus, Unassigned
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, candidate, plane, problem, route, ticket


def reasons(day: Problem, routes: Candidate) -> tuple[Unassigned, ...]:
    """Return what the published plan of a candidate says of the tickets it leaves out."""
    return with_reasons(day, build_plan(day, routes)).unassigned


def test_each_ticket_left_out_has_an_honest_reason() -> None:
    """SPEC T5, S1: codes, each true of the problem or the plan."""
    day = problem(
        [agent(capacity=2)], [ticket("a", demand=2), ticket("b"), ticket("c", penalty=1), ticket("d", demand=0)]
    )
    plan = build_plan(day, candidate(day, "a"))
    assert {entry.ticket_id: entry.code for entry in reasons(day, candidate(day, "a"))} == {
        "b": "ALL_CAPACITY_USED",
        "c": "PENALTY_LOWER_THAN_COST",
        "d": "NO_ROOM_FOUND",
    }
    assert plan.status is PlanStatus.PARTIAL
    near = replace(day, agents=(replace(day.agents[0], max_distance=1),))
    assert {entry.code for entry in reasons(near, Candidate(()))} == {"MAX_DISTANCE"}


def test_an_agent_that_is_absent_has_no_room() -> None:
    """SPEC T5, T10: more time was advised where those who came were full; one whose tickets are all locked is done."""
    for fields, code in (
        ({"max_tickets": 0}, "ALL_CAPACITY_USED"),
        ({"max_tickets": 1, "locked_tickets": ["c"]}, "ALL_CAPACITY_USED"),
        ({"max_tickets": 1}, "NO_ROOM_FOUND"),
    ):
        day = problem([agent("v", capacity=2), agent("w", **fields)], [ticket(demand=2), ticket("b"), ticket("c")])
        found = {entry.ticket_id: entry.code for entry in reasons(day, candidate(day, "a"))}
        assert found["b"] == code


def test_shipments_on_a_route_leave_no_room_for_what_comes_from_the_depot_or_goes_there() -> None:
    """SPEC T5: none is on board at the depot, so that what else is there decides; a shipment may find room between."""
    shipment = [ticket("p", "B", kind="pickup"), ticket("q", "C", pickup="p")]
    for kind, left, code in (
        ("delivery", [ticket("b", kind="delivery")], "ALL_CAPACITY_USED"),
        ("pickup", [ticket("b", kind="pickup")], "ALL_CAPACITY_USED"),
        ("delivery", [ticket("b", kind="pickup")], "NO_ROOM_FOUND"),
        ("delivery", [ticket("r", kind="pickup"), ticket("s", "C", pickup="r")], "NO_ROOM_FOUND"),
    ):
        day = problem([agent(capacity=2)], [ticket(kind=kind, demand=2), *shipment, *left])
        order = ("a", "p", "q") if kind == "delivery" else ("p", "q", "a")
        assert {entry.code for entry in reasons(day, candidate(day, *order))} == {code}
        if code == "ALL_CAPACITY_USED":
            ways = [candidate(day, *order[:at], "b", *order[at:]) for at in range(len(order) + 1)]
            assert all(verify(day, build_plan(day, way)) for way in ways)


def test_an_agent_that_serves_all_its_tickets_has_no_room() -> None:
    """SPEC T5: its capacity helps nobody; a shipment takes two of its tickets."""
    shipment = [ticket("p", "B", kind="pickup", demand=3), ticket("q", "C", pickup="p", demand=3)]
    for most, left, code in (
        (1, [ticket("b")], "ALL_CAPACITY_USED"),
        (2, [ticket("b")], "NO_ROOM_FOUND"),
        (2, shipment, "ALL_CAPACITY_USED"),
        (3, shipment, "NO_ROOM_FOUND"),
    ):
        drivers = [agent("v", capacity=2), agent("w", max_tickets=most)]
        day = problem(drivers, [ticket(demand=2), ticket("c"), *left])
        found = reasons(day, Candidate((route(day, "a"), route(day, "c", agent=1))))
        assert {entry.code for entry in found} == {code}, (most, left)
    full = problem([agent(max_tickets=1)], [ticket(), ticket("b")])
    assert {entry.code for entry in reasons(full, candidate(full, "a"))} == {"ALL_CAPACITY_USED"}


def test_an_agent_that_cannot_reach_its_smallest_load_serves_nobody() -> None:
    """SPEC T5: by what it may serve; a shipment counts once."""
    day = problem(
        [agent("v", min_load=4), agent("w", min_load=2)],
        [
            ticket("p", kind="pickup"),
            ticket("q", "B", pickup="p"),
            ticket("a", agents=["v"]),
            ticket("b", agents=["w"]),
        ],
    )
    found = {entry.ticket_id: entry.code for entry in reasons(day, Candidate(()))}
    assert found == {"p": "NO_ROOM_FOUND", "q": "NO_ROOM_FOUND", "a": "MIN_LOAD", "b": "NO_ROOM_FOUND"}
    assert verify(day, build_plan(day, Candidate((route(day, "p", "q", "b", agent=1),)))) == []


@given(st.lists(st.tuples(st.sampled_from(["delivery", "pickup"]), st.integers(0, 4)), min_size=1, max_size=5))
def test_capacity_is_named_only_where_no_place_on_the_route_has_room(loads: list[tuple[str, int]]) -> None:
    """SPEC T5: a delivery may go before the goods picked up come on board."""
    tickets = [ticket(f"t{i}", kind=kind, demand=demand) for i, (kind, demand) in enumerate(loads)]
    day = problem([agent(capacity=4)], tickets)
    served: list[str] = []
    for name in (entry["id"] for entry in tickets[:-1]):
        served += [] if verify(day, build_plan(day, candidate(day, *served, name))) else [name]
    last = tickets[-1]["id"]
    (code,) = [e.code for e in reasons(day, candidate(day, *served)) if e.ticket_id == last]
    ways = [candidate(day, *served[:at], last, *served[at:]) for at in range(len(served) + 1)]
    assert (code == "ALL_CAPACITY_USED") == all(verify(day, build_plan(day, way)) for way in ways)


@pytest.mark.parametrize(
    ("driver", "delivery", "codes"),
    [
        ({"shift": (0, 3900)}, {}, ["SHIFT_END"] * 2),
        ({"max_duration": 3900}, {}, ["MAX_DURATION"] * 2),
        ({"max_distance": 3900}, {}, ["MAX_DISTANCE"] * 2),
        ({}, {"windows": ((0, 2900),)}, ["SHIPMENT_HALF_UNSERVED", "TIME_WINDOW"]),
        ({"shift": (0, 4000)}, {"windows": ((0, 3000),)}, ["NO_ROOM_FOUND"] * 2),
        ({"shift": (0, 3900)}, {"is_priced": True}, ["SHIFT_END"] * 2),
    ],
    ids=["shift", "duration", "distance", "window", "possible", "priced"],
)
def test_a_shipment_is_explained_by_the_trip_over_both_halves(driver: Any, delivery: Any, codes: list[str]) -> None:
    """SPEC T5: each half may be within reach where both together are not."""
    known = plane({"D": (0, 0), "P": (1000, 0), "Q": (-1000, 0)})
    day = problem(None, [ticket("p", "P", kind="pickup"), ticket("q", "Q", pickup="p")], locations=known)
    halves = (day.tickets[0], replace(day.tickets[1], **delivery))
    narrow = replace(day, agents=(replace(day.agents[0], **driver),), tickets=halves)
    assert [entry.code for entry in reasons(narrow, Candidate(()))] == codes


AROUND = [[0, 10, 9999, 10], [10, 0, 10, 10], [9999, 10, 0, 10], [10, 10, 10, 0]]
"""Between D, B, A and C; from D to A and back there is a way over the others alone."""


@pytest.mark.parametrize("most", [least_travel.MAX_STEPS, 3])
def test_what_no_path_reaches_is_reported_as_out_of_reach(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """SPEC T5, T7, X3: the shortest way counts, there and back; where that costs too much to find, its last leg."""
    monkeypatch.setattr(least_travel, "MAX_STEPS", most)
    tickets = [ticket("a", "A"), ticket("b", "B"), ticket("c", "C")]
    known = {"locations": [{"id": name} for name in "DBAC"], "travel": {"durations": AROUND}}
    day = problem([agent()], tickets, **known)
    limits = {"shift": "SHIFT_END", "max_duration": "MAX_DURATION", "max_distance": "MAX_DISTANCE"}
    for name, code in limits.items():
        for reach, is_reported in ((19, True), (39, most > 3), (40, False)):
            limit: Any = {name: (0, reach) if name == "shift" else reach}
            narrow = replace(day.agents[0], **limit)
            codes = [entry.code for entry in reasons(replace(day, agents=(narrow,)), Candidate(()))]
            assert codes[0] == (code if is_reported else "NO_ROOM_FOUND")
    for closes, is_reported in ((9, True), (19, most > 3), (20, False)):
        late = replace(day, tickets=(replace(day.tickets[0], windows=((0, closes),)), *day.tickets[1:]))
        codes = [entry.code for entry in reasons(late, Candidate(()))]
        assert codes[0] == ("TIME_WINDOW" if is_reported else "NO_ROOM_FOUND")


def test_a_setup_that_a_reload_may_spare_proves_nothing() -> None:
    """SPEC T5: behind a reload at its place a service has no setup."""
    order = ticket("a", setup_time_s=50, time_windows=[[0, 30]])
    day = problem([agent(reload_locations=["A"])], [order])
    (entry,) = reasons(day, Candidate(()))
    assert entry.code == "NO_ROOM_FOUND"
    assert verify(day, build_plan(day, candidate(day, "reload@A", "a"))) == []


def test_a_group_whose_partner_gave_way_to_an_alternative_cannot_be_complete() -> None:
    """SPEC T5: t3 stands with t2, and t2 gave way to t0, which is locked; through a second group t4 stands with t3."""
    day = problem(
        [agent(locked_tickets=["t0"])],
        [ticket("t0"), ticket("t2", "B"), ticket("t3", "C"), ticket("t4", "A")],
        groups=[
            {"kind": "one_of", "tickets": ["t0", "t2"]},
            {"kind": "all", "tickets": ["t2", "t3"]},
            {"kind": "all", "tickets": ["t3", "t4"]},
        ],
    )
    assert {entry.ticket_id: entry.code for entry in reasons(day, candidate(day, "t0"))} == {
        "t2": "GROUP_OTHER_CHOSEN",
        "t3": "GROUP_INCOMPLETE",
        "t4": "GROUP_INCOMPLETE",
    }


def test_groups_that_contradict_each_other_through_a_shipment_leave_it_incomplete() -> None:
    """SPEC T5: d is served with its pickup p and with q, and of p and q only one is served."""
    day = problem(
        [agent()],
        [ticket("p", kind="pickup"), ticket("d", "B", pickup="p"), ticket("q", "C")],
        groups=[{"kind": "one_of", "tickets": ["p", "q"]}, {"kind": "all", "tickets": ["d", "q"]}],
    )
    codes = {entry.ticket_id: entry.code for entry in reasons(day, Candidate(()))}
    assert codes == dict.fromkeys(("p", "d", "q"), "GROUP_INCOMPLETE")


def test_an_agent_whose_visits_are_all_locked_has_not_ended_its_route() -> None:
    """SPEC T5: of a day that has not begun it is no route that is over."""
    day = problem([agent(locked_tickets=["a"], max_tickets=1)], [ticket("a"), ticket("b")])
    assert [entry.code for entry in reasons(day, candidate(day, "a"))] == ["NO_ROOM_FOUND"]
