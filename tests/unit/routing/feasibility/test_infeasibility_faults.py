"""Tickets and shipments nobody could make are reported with the input; what some plan makes is accepted (SPEC T7)."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.infeasibility_faults import infeasibility_faults
from planner_mcp.routing.feasibility.unservable_tickets import PROVED_REASONS, UnservableTickets
from planner_mcp.routing.infeasibility_reasons import REASONS, InfeasibilityReason
from planner_mcp.routing.problem import Candidate
from planner_mcp.routing.verification.plan_verification import verify
from planner_mcp.text import Json
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import (
    SHIPMENT,
    agent,
    all_faults,
    body,
    by_table,
    haul,
    raw_scenario,
    ticket,
)


def test_tickets_out_of_reach_are_reported_beside_other_faults() -> None:
    """SPEC T7: all at once, save what another fault makes uncertain."""
    far = ticket("far", "E", time_windows=[[0, 1]])
    early = agent("w", locked_tickets=["b", "a"], max_duration_s=12)
    orders = [ticket("a", service_time_s=9), ticket("b", "B", service_time_s=9)]
    wrong = body([agent(), early], [*orders, far, ticket("c", demand=-1)])
    paths = {fault.path for fault in all_faults(raw_scenario(wrong))}
    assert paths == {"/tickets/3/demand", "/tickets/2/location", "/agents/1/locked_tickets"}
    backward = body([agent(shift_start=9, shift_end=8)], [far])
    assert [fault.path for fault in all_faults(raw_scenario(backward))] == ["/agents/0/shift_end"]


def test_every_proof_that_is_reported_has_words() -> None:
    """SPEC T7: a fault without a sentence would say nothing; those of a route that is over are of plans alone."""
    limits = {*map(InfeasibilityReason, ("SHIFT_END", "MAX_DURATION", "MAX_DISTANCE"))}
    shipments = {*limits, *map(InfeasibilityReason, ("TIME_WINDOW", "SKILL_OR_AGENT", "CAPACITY"))}
    tickets = {*PROVED_REASONS} - {*map(InfeasibilityReason, ("NO_POSITION", "ROUTE_OVER", "SHIPMENT_HALF_UNSERVED"))}
    assert [each for each in tickets if not REASONS[each].ticket.problem] == []
    assert [each for each in shipments if not REASONS[each].shipment.problem] == []
    assert [each for each in limits if not REASONS[each].locked] == []


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
    """SPEC T7, T5: a direct leg of a table need not be the shortest way; a check says only what it can prove."""
    day = raw_scenario(by_table(ROUND, [ticket("a"), ticket("b", "B", **fields)], **driver))
    assert all_faults(day) == []
    order = [1, 0] if driver.get("start_location", "D") is None else [0, 1]
    problem = compile_scenario(day)
    assert verify(problem, build_plan(problem, Candidate.of_tickets({0: order}))) == []
    alone = raw_scenario(by_table(ROUND, [ticket("b", "B", **fields)], **driver))
    assert [fault.path for fault in all_faults(alone)] == ["/tickets/0/location"]


def test_a_ticket_that_no_way_round_reaches_in_time_is_refused() -> None:
    """SPEC T7: the shortest way over other stops counts, there and back; another agent's depot is no stop."""
    late = by_table(ROUND, [ticket("a"), ticket("b", "B", time_windows=[[0, 880]])])
    assert [fault.path for fault in all_faults(raw_scenario(late))] == ["/tickets/1/location"]
    far = by_table(ROUND, [ticket("a"), ticket("b", "B")], max_distance_m=1700)
    assert [fault.problem[:13] for fault in all_faults(raw_scenario(far))] == ["A direct trip"]
    depot = by_table(ROUND, [ticket("b", "B", time_windows=[[0, 3600]])])
    depot["agents"].append(agent("w", start_location="A", skills=["x"]))
    depot["tickets"][0]["not_agents"] = ["w"]
    assert [fault.path for fault in all_faults(raw_scenario(depot))] == ["/tickets/0/location"]


def test_a_setup_that_another_ticket_may_spare_refuses_nothing() -> None:
    """SPEC T7, T5, S1: of tickets in a row at one location only the first has a setup."""
    orders = [ticket("b", service_time_s=60), ticket("a", setup_time_s=3600, time_windows=[[0, 1800]])]
    day = raw_scenario(body(None, orders))
    assert all_faults(day) == []
    problem = compile_scenario(day)
    assert verify(problem, build_plan(problem, Candidate.of_tickets({0: [0, 1]}))) == []
    assert [fault.path for fault in all_faults(raw_scenario(body(None, orders[1:])))] == ["/tickets/0/location"]


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
    (fault,) = all_faults(raw_scenario(body(drivers, [ticket(**order)])))
    assert fault.path == path


def test_a_shipment_counts_as_two_tickets() -> None:
    """SPEC T7, T5, S1: who may serve one ticket can serve no shipment."""
    found = all_faults(raw_scenario(body([agent(max_tickets=1)], SHIPMENT)))
    assert [fault.path for fault in found] == ["/tickets/0", "/tickets/1"]


@pytest.mark.parametrize(
    ("day", "problem"),
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
def test_a_shipment_of_which_only_each_half_is_within_reach_is_refused(day: Json, problem: str) -> None:
    """SPEC T7: a ticket no agent could ever serve; it is served after its pickup, by the same agent."""
    (fault,) = all_faults(raw_scenario(day))
    assert fault.path == "/tickets/1"
    assert problem in fault.problem


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
    assert all_faults(raw_scenario(day)) == []


def test_an_agent_that_can_serve_a_ticket_is_asked_first_about_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC X3: many agents of which only the last can cost no look each at every ticket."""
    drivers = [agent(str(number), shift_end=number) for number in range(1, 50)]
    day = raw_scenario(
        haul([*drivers, agent()], tickets=[ticket(str(number), "PQ"[number % 2]) for number in range(40)])
    )
    asked: list[int] = []
    judge = UnservableTickets._violated_limit
    monkeypatch.setattr(UnservableTickets, "_violated_limit", lambda *given: asked.append(given[-1]) or judge(*given))
    assert all_faults(day) == []
    assert len(asked) < 100


def test_a_shipment_that_can_be_made_over_other_stops_is_let_in() -> None:
    """SPEC T7: in a table of travel a direct leg need not be the shortest way, between the halves either."""
    table = [[0, 300, 300, 300], [300, 0, 9999, 300], [300, 9999, 0, 300], [300, 300, 300, 0]]
    orders = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p", time_windows=[[0, 950]]), ticket("c", "C")]
    assert all_faults(raw_scenario(by_table(table, orders))) == []
    (fault,) = all_faults(
        raw_scenario(by_table(table, [orders[0], orders[1] | {"time_windows": [[0, 850]]}, orders[2]]))
    )
    assert fault.path == "/tickets/1"


@examples(100)
@given(st.data())
def test_a_shipment_that_a_plan_makes_is_never_refused(data: st.DataObject) -> None:
    """SPEC T7: a check says only what it can prove, whatever rounding, setups, releases and windows do."""
    limits = ("shift_end", "max_duration_s", "max_distance_m")
    driver = agent(**{limit: data.draw(st.integers(8, 60)) for limit in limits if data.draw(st.booleans())})
    times = st.integers(0, 6)
    halves = [
        ticket(
            name,
            data.draw(st.sampled_from("ABCE")),
            service_time_s=data.draw(times),
            setup_time_s=data.draw(times),
            release_time=data.draw(times),
            time_windows=[[opens := data.draw(times), opens + data.draw(st.integers(4, 40))]],
        )
        for name in "pq"
    ]
    orders = [halves[0] | {"kind": "pickup"}, halves[1] | {"pickup": "p"}]
    day = raw_scenario(
        body([driver], orders, travel={"decimals": 0, "detour": data.draw(st.sampled_from([0.7, 1.0, 3.4]))})
    )
    problem = compile_scenario(day)
    assume(not verify(problem, build_plan(problem, Candidate.of_tickets({0: [0, 1]}))))
    assert list(infeasibility_faults(day)) == []
