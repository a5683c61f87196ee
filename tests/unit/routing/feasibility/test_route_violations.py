"""What keeps an agent from a route, against the verifier; and plans mended for a day that has changed."""

from dataclasses import replace
from itertools import combinations, count
from typing import Any

import pytest
from hypothesis import given

from planner_mcp.routing.analysis import plan_repair
from planner_mcp.routing.analysis.plan_repair import repair
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.feasibility.insertion_candidates import StopCheck
from planner_mcp.routing.feasibility.route_violations import violation_share, violations
from planner_mcp.routing.infeasibility_reasons import InfeasibilityReason
from planner_mcp.routing.problem import Candidate, Problem, Route
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, problem, route, ticket
from tests.unit.routing.verification.test_plan_verification import Looked, crowd
from tests.unit.routing.verification.test_timing_definition import days


@examples(300)
@given(days())
def test_a_route_has_violations_exactly_when_the_verifier_refuses_it(case: tuple[Problem, list[int]]) -> None:
    """SPEC T5, S2: evidence and fixes rest on what the verifier would say."""
    day, order = case
    candidate = Candidate.of_tickets({0: order})
    assert (violations(day, candidate.routes[0]) == []) == (verify(day, build_plan(day, candidate)) == [])


def test_many_exclusions_are_not_gone_through_for_each_route() -> None:
    """SPEC T5, X3: a plan is mended route by route, on a day that may exclude a hundred thousand pairs."""
    day = crowd(60)
    apart = Looked(combinations(range(60), 2))
    day = replace(day, incompatible=apart)
    alone = Candidate.of_tickets({n: [n] for n in range(60)})
    assert [violations(day, each) for each in alone.routes] == [[]] * 60
    assert apart.looks <= 60 * 60
    (together,) = Candidate.of_tickets({0: range(60)}).routes
    assert len(violations(day, together)) == len(apart)


REFUSED: list[tuple[InfeasibilityReason, int, dict[str, Any], dict[str, Any]]] = [
    (InfeasibilityReason.CAPACITY, 1, {"capacity": 1}, {}),
    (InfeasibilityReason.SHIFT_END, 1, {"shift_end": 3}, {}),
    (InfeasibilityReason.MAX_DURATION, 1, {"max_duration_s": 3}, {}),
    (InfeasibilityReason.MAX_DISTANCE, 1, {"max_distance_m": 3}, {}),
    (InfeasibilityReason.MAX_TICKETS, 1, {"max_tickets": 1}, {}),
    (InfeasibilityReason.MIN_LOAD, 1, {"min_load": 3}, {}),
    (InfeasibilityReason.TIME_WINDOW, 1, {}, {"time_windows": [[0, 1]]}),
    (InfeasibilityReason.SKILL_OR_AGENT, 1, {}, {"skills": ["cold"]}),
    (InfeasibilityReason.ORDER, 1, {"locked_tickets": ["b"]}, {}),
]


@pytest.mark.parametrize(("limit", "short", "driver", "order"), REFUSED, ids=str)
def test_a_violation_says_how_much_is_missing(
    limit: InfeasibilityReason, short: int, driver: dict[str, Any], order: dict[str, Any]
) -> None:
    """SPEC T5: a at A, then b at B, and home again: two there, four in all."""
    agents = [agent("v", **driver), agent("w", skills=["cold"])]
    day = compile_scenario(Scenario.model_validate(body(agents, [ticket("a"), ticket("b", "B", **order)])))
    found = violations(day, route(day, "a", "b"))
    assert [(each.limit, each.short) for each in found] == [(limit, short)]
    assert verify(day, build_plan(day, Candidate((route(day, "a", "b"),))))


def test_a_visit_that_is_late_either_way_costs_no_break_too() -> None:
    """SPEC T5: of two departures that break limits by as much in all, one after the rest misses the window alone."""
    driver = agent(breaks=[{"earliest": 0, "latest": 1, "duration_s": 2}])
    late = ticket("a", service_time_s=6, time_windows=[[0, 0]])
    day = compile_scenario(Scenario.model_validate(body([driver], [late])))
    assert [(each.limit, each.short) for each in violations(day, route(day, "a"))] == [
        (InfeasibilityReason.TIME_WINDOW, 3)
    ]


def test_breaks_reloads_and_shipments_are_understood() -> None:
    """SPEC T5: what the verifier takes has no obstacle."""
    rest = {"earliest": 1, "latest": 5, "duration_s": 1}
    driver = agent("v", capacity=1, breaks=[rest], reload_locations=["D"])
    day = problem(
        [driver], [ticket("a"), ticket("b", "B"), ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p")]
    )
    good = route(day, "a", "break", "reload@D", "b", "p", "q")
    assert verify(day, build_plan(day, Candidate((good,)))) == []
    assert violations(day, good) == []
    assert {each.limit for each in violations(day, route(day, "a", "b", "q", "p"))} == {
        InfeasibilityReason.CAPACITY,
        InfeasibilityReason.ORDER,
    }


def test_a_plan_that_still_fits_is_left_alone() -> None:
    """SPEC T5."""
    day = problem()
    candidate = Candidate((route(day, "a", "b"),))
    assert repair(day, candidate) == candidate


def test_only_what_no_longer_fits_is_left_out() -> None:
    """SPEC T5: a window moved under one ticket costs that ticket alone."""
    before = problem([agent()], [ticket("a"), ticket("b", "B"), ticket("c", "C")])
    plan = build_plan(before, Candidate((route(before, "a", "b", "c"),)))
    tickets = [ticket("a"), ticket("b", "B", time_windows=[[9, 9]]), ticket("c", "C", time_windows=[[3, 4]])]
    after = problem([agent()], tickets)
    mended = repair(after, candidate_of(after, plan))
    assert [each.tickets for each in mended.routes] == [[0, 2]]
    assert verify(after, build_plan(after, mended)) == []


def test_a_break_that_is_new_or_moved_costs_no_ticket() -> None:
    """SPEC T5: whoever gives a driver a break keeps the plan; the break is put where it fits."""
    tickets = [ticket("a", service_time_s=9), ticket("b", "B", service_time_s=9), ticket("c", "C", service_time_s=9)]
    before = problem([agent()], tickets)
    plan = build_plan(before, Candidate((route(before, "a", "b", "c"),)))
    for earliest, latest in ((12, 14), (0, 0), (22, 23)):
        rest = [{"earliest": earliest, "latest": latest, "duration_s": 5}]
        after = problem([agent(shift_end=40, breaks=rest)], tickets)
        mended = repair(after, candidate_of(after, plan))
        assert [each.tickets for each in mended.routes] == [[0, 1, 2]]
        assert verify(after, build_plan(after, mended)) == []


def test_groups_and_shipments_are_repaired_whole() -> None:
    """SPEC T5: one of a pair drops out with the other, and what a group forbids."""
    tickets = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p"), ticket("c", "C"), ticket("e", "E")]
    free = problem([agent()], tickets)
    plan = Candidate((route(free, "p", "q", "c", "e"),))
    grouped = problem([agent()], tickets, groups=[{"kind": "one_of", "tickets": ["c", "e"]}])
    assert [each.tickets for each in repair(grouped, plan).routes] == [[0, 1, 2]]
    short = replace(grouped, agents=(replace(grouped.agents[0], max_distance=6),))
    assert [each.tickets for each in repair(short, plan).routes] == [[0, 1, 2]]
    tight = replace(free, tickets=tuple(replace(t, windows=((0, 0),)) if t.id == "q" else t for t in free.tickets))
    assert [each.tickets for each in repair(tight, plan).routes] == [[2, 3]]


def test_a_long_route_is_cut_where_it_stops_fitting() -> None:
    """SPEC T5: in a second, however long."""
    many = [ticket(f"t{n}", "A", service_time_s=1) for n in range(300)]
    day = problem([agent("v", capacity=999, shift_end=202)], many)
    mended = repair(day, Candidate((route(day, *(f"t{n}" for n in range(300))),)))
    assert len(mended.routes[0].tickets) == 200


def ends_after(calls: int) -> StopCheck:
    """Return a clock that runs out when it has been asked so often."""
    asked = count(1)
    return lambda: next(asked) > calls


def test_what_does_not_fit_when_the_time_is_up_is_cut() -> None:
    """SPEC T5, S2: routes that still fit stay whole, of others the beginning; every one of them holds."""
    many = [ticket(f"t{n}", "A") for n in range(60)]
    day = problem([agent("v", capacity=30), agent("w", capacity=13)], many)
    plan = Candidate.of_tickets({0: range(30), 1: range(30, 60)})
    mended = repair(day, plan, lambda: True)
    assert [route.tickets for route in mended.routes] == [[*range(30)], [*range(30, 43)]]
    for calls in (1, 40, 300):
        assert [len(route.tickets) for route in repair(day, plan, ends_after(calls)).routes] == [30, 13]


def test_tickets_their_agent_may_not_serve_cost_no_other_its_place() -> None:
    """SPEC T5: not even where the time is up at once and one of them comes first."""
    tickets = [ticket("a", skills=["cold"]), ticket("b", "B"), ticket("c", "C", skills=["cold"]), ticket("e", "E")]
    day = problem([agent("v"), agent("w", skills=["cold"])], tickets)
    mended = repair(day, Candidate.of_tickets({0: [0, 1, 2, 3]}), lambda: True)
    assert [route.tickets for route in mended.routes] == [[1, 3]]


def test_a_cut_keeps_locked_visits_and_shipments_whole() -> None:
    """SPEC T5, S1: locked visits stay, with what they picked up; half a shipment goes with its other half."""
    tickets = [
        ticket("p", kind="pickup"),
        ticket("a", "A"),
        ticket("q", "C", pickup="p"),
        ticket("r", "B", kind="pickup"),
        ticket("s", "E", pickup="r"),
    ]
    day = problem([agent("v", locked_tickets=["p"], max_tickets=4)], tickets)
    whole = Candidate((route(day, "p", "a", "r", "q", "s"),))
    (kept,) = repair(day, whole, lambda: True).routes
    assert [day.tickets[index].id for index in kept.tickets] == ["p", "a", "q"]
    tight = replace(day, agents=(replace(day.agents[0], max_distance=1),))
    assert repair(tight, whole, lambda: True).routes == ()


def test_breaks_are_placed_while_there_is_time() -> None:
    """SPEC T5: then the route is cut to what holds without the break."""
    tickets = [ticket(name, place, service_time_s=9) for name, place in zip("abc", "ABC", strict=True)]
    rest = [{"earliest": 12, "latest": 14, "duration_s": 5}]
    day = problem([agent(shift_end=40, breaks=rest)], tickets)
    plan = Candidate((route(day, "a", "b", "c"),))
    assert [each.tickets for each in repair(day, plan).routes] == [[0, 1, 2]]
    (short,) = repair(day, plan, lambda: True).routes
    assert short.tickets == [0, 1]
    assert verify(day, build_plan(day, Candidate((short,)))) == []


def test_locked_visits_lead_whatever_the_earlier_plan_did() -> None:
    """SPEC T5: a lock laid on a stop in mid-route, or on one of another agent, costs no other stop its place."""
    tickets = [ticket(name, place) for name, place in zip("abcd", "ABCE", strict=True)]
    plan = build_plan(day := problem([agent("v"), agent("w")], tickets), Candidate.of_tickets({0: [0, 1, 2], 1: [3]}))
    assert verify(day, plan) == []
    mid = problem([agent("v", locked_tickets=["b"]), agent("w")], tickets)
    mended = repair(mid, candidate_of(mid, plan))
    assert [each.tickets for each in mended.routes] == [[1, 0, 2], [3]]
    other = problem([agent("v"), agent("w", locked_tickets=["b"])], tickets)
    mended = repair(other, candidate_of(other, plan))
    assert [each.tickets for each in mended.routes] == [[0, 2], [1, 3]]
    assert verify(other, build_plan(other, mended)) == []


def led(agents: list[dict[str, Any]], tickets: list[dict[str, Any]], routes: dict[int, list[int]], **more: Any) -> Any:
    """Return the mended plan of a day on which locks were laid since, proved."""
    free = [{key: value for key, value in each.items() if key != "locked_tickets"} for each in agents]
    before = problem(free, tickets, **more)
    plan = build_plan(before, Candidate.of_tickets(routes))
    assert verify(before, plan) == []
    after = problem(agents, tickets, **more)
    mended = repair(after, candidate_of(after, plan))
    assert verify(after, build_plan(after, mended)) == []
    return {route.agent: route.tickets for route in mended.routes}


def test_a_locked_pickup_takes_its_delivery_along() -> None:
    """SPEC T5: from another agent's route to the front of its own, also of one that was idle."""
    tickets = [ticket("p", "A", kind="pickup"), ticket("q", "B", pickup="p"), ticket("c", "C"), ticket("e", "E")]
    for idle in (False, True):
        routes = {0: [0, 1, 2]} if idle else {0: [0, 1, 2], 1: [3]}
        assert led([agent("v"), agent("w", locked_tickets=["p"])], tickets, routes) == {
            0: [2],
            1: [0, 1] if idle else [0, 1, 3],
        }


def test_of_alternatives_the_locked_one_stays() -> None:
    """SPEC T5: the other gives way."""
    tickets = [ticket(name, place) for name, place in zip("abc", "ABC", strict=True)]
    groups = [{"kind": "one_of", "tickets": ["a", "b"]}]
    agents = [agent("v"), agent("w", locked_tickets=["b"])]
    assert led(agents, tickets, {0: [0], 1: [2]}, groups=groups) == {1: [1, 2]}


def test_a_lock_in_the_way_of_many_stays_and_breaks_are_placed_anew() -> None:
    """SPEC T5: those who come too late behind it are left out, not the lock."""
    late = [ticket("a", time_windows=[[0, 3000]]), ticket("b", "B", time_windows=[[0, 3000]])]
    tickets = [*late, ticket("c", "C", time_windows=[[20_000, 30_000]]), ticket("e", "E")]
    rest = {"breaks": [{"earliest": 100, "latest": 25_000, "duration_s": 60}]}
    assert led([agent("v", locked_tickets=["c"], **rest)], tickets, {0: [0, 1, 2, 3]}) == {0: [2, 3]}


def test_no_place_for_a_break_is_checked_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """SPEC T5: a long route with many breaks has hundreds of places, and the caller waits for the repair."""
    rests = [{"earliest": 20, "latest": 40, "duration_s": 5} for _ in range(4)]
    tickets = [ticket(f"t{n}", service_time_s=1, time_windows=[[0, 99]]) for n in range(50)]
    day = problem([agent("v", capacity=99, shift_end=50, breaks=rests)], tickets)
    judged: list[Route] = []

    def share(day: Problem, each: Route) -> float:
        judged.append(each)
        return violation_share(day, each)

    monkeypatch.setattr(plan_repair, "violation_share", share)
    plan_repair.with_breaks_placed(day, route(day, *(f"t{n}" for n in range(50))), lambda: len(judged) > 2)
    assert len(judged) < 20
