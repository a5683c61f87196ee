"""Small sets of tickets that cannot all be served, against every plan there is."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility.infeasible_subsets import SHRINK_S, InfeasibleSubset, smallest_infeasible_subset
from planner_mcp.routing.feasibility.route_bounds import MAX_PATH_STEPS
from planner_mcp.routing.feasibility.unassigned_reasons import with_reasons
from planner_mcp.routing.problem import Candidate, Problem
from planner_mcp.routing.scenario.scenario_model import Scenario
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.plan_enumeration import every_plan
from tests.shared.scenarios.scenario_builders import agent, body, candidate, compiled, problem, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.heuristics import enumeration

CASES: list[tuple[str, set[str], list[Any], list[Any]]] = [
    (
        "CAPACITY",
        {"b", "c"},
        [agent(capacity=5)],
        [ticket("a"), ticket("b", "B", demand=3), ticket("c", "C", demand=4)],
    ),
    ("MAX_TICKETS", {"a", "b"}, [agent(max_tickets=1)], [ticket("a"), ticket("b", "B")]),
    (
        "WORKING_TIME",
        {"b", "c"},
        [agent(shift_end=19)],
        [ticket("a"), *(ticket(n, n.upper(), service_time_s=9) for n in "bc")],
    ),
    (
        "INCOMPATIBLE",
        {"a", "c"},
        [agent()],
        [ticket("a", time_windows=[[2, 2]]), ticket("c", "C", time_windows=[[3, 3]])],
    ),
]


@pytest.mark.parametrize(("kind", "tickets", "agents", "orders"), CASES, ids=[case[0] for case in CASES])
def test_the_fewest_tickets_are_named(kind: str, tickets: set[str], agents: list[Any], orders: list[Any]) -> None:
    """SPEC T5: an infeasible day is explained by a small set."""
    found = smallest_infeasible_subset(problem(agents, orders))
    assert found is not None
    assert (found.kind, set(found.tickets)) == (kind, tickets)


EITHER_SIDE = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 10, "y": 0}, {"id": "B", "x": -10, "y": 0}]
LONG = {"setup_time_s": 30}
SIMPLEST: list[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any]]] = [
    ("max_distance_m", {"max_distance_m": 30}, {}, {}),
    ("max_duration_s", {"max_duration_s": 30}, {}, {}),
    ("shift", {"shift_end": 30}, {}, {}),
    ("setup", {"shift_end": 70}, LONG, LONG),
    ("setup and windows", {}, LONG | {"time_windows": [[0, 45]]}, LONG | {"time_windows": [[0, 45]]}),
    ("release", {"shift_end": 60}, {"release_time": 30}, {"time_windows": [[0, 12]]}),
]


@pytest.mark.parametrize(
    ("driver", "one", "other"), [case[1:] for case in SIMPLEST], ids=[case[0] for case in SIMPLEST]
)
def test_two_of_which_either_could_be_served_alone(
    driver: dict[str, Any], one: dict[str, Any], other: dict[str, Any]
) -> None:
    """SPEC T5: on the simplest days, windows or not."""
    orders = [ticket("a", **one), ticket("b", "B", **other)]
    day = problem([agent(**driver)], orders, locations=EITHER_SIDE)
    assert smallest_infeasible_subset(day) is not None
    assert all(
        smallest_infeasible_subset(problem([agent(**driver)], [each], locations=EITHER_SIDE)) is None for each in orders
    )
    more = problem([agent(**driver)], [*orders, *(ticket(f"d{n}", "D") for n in range(9))], locations=EITHER_SIDE)
    found = smallest_infeasible_subset(more)
    assert found is not None
    assert set(found.tickets) == {"a", "b"}


def test_a_setup_that_another_stop_spares_proves_nothing() -> None:
    """SPEC T5, S1: who stands there already, for a ticket without setup or to load again, spends none."""
    orders = [ticket("a", **LONG), ticket("b", "B", **LONG)]
    assert smallest_infeasible_subset(problem([agent(shift_end=70)], orders, locations=EITHER_SIDE)) is not None
    third = problem([agent(shift_end=70)], [*orders, ticket("c")], locations=EITHER_SIDE)
    assert smallest_infeasible_subset(third) is None
    assert verify(third, build_plan(third, candidate(third, "c", "a", "b"))) == []
    loading = problem([agent(shift_end=70, reload_locations=["A"])], orders, locations=EITHER_SIDE)
    assert smallest_infeasible_subset(loading) is None
    assert verify(loading, build_plan(loading, candidate(loading, "reload@A", "a", "b"))) == []


def test_three_of_which_any_two_fit_are_a_conflict_of_several_limits() -> None:
    """SPEC T5: no two of them are too much work for their windows, and the shift has room for all."""
    day = problem([agent()], [ticket(name, service_time_s=2, time_windows=[[0, 4]]) for name in "abc"])
    assert smallest_infeasible_subset(day) == InfeasibleSubset(
        "COMBINED", ("a", "b", "c"), ("v",), "in no order do they fit on one route within their windows and all limits"
    )


def test_goods_that_cannot_be_divided_are_a_conflict() -> None:
    """SPEC T5: two agents with room for three each carry six, but not three times two."""
    orders = [ticket(name, demand=2) for name in "abc"]
    found = smallest_infeasible_subset(problem([agent("v", capacity=3), agent("w", capacity=3)], orders))
    assert found == InfeasibleSubset(
        "COMBINED",
        ("a", "b", "c"),
        ("v", "w"),
        "however they are shared among the 2 agents, one has more than it may carry or serve",
    )


def test_only_those_who_may_serve_count() -> None:
    """SPEC T5: capacity of others is no help."""
    agents = [agent("v", capacity=3, skills=["cold"]), agent("w", capacity=99)]
    orders = [ticket(name, "A", demand=2, skills=["cold"]) for name in "ab"] + [ticket("c", "C", demand=50)]
    found = smallest_infeasible_subset(problem(agents, orders))
    assert found is not None
    assert (found.kind, found.tickets, found.agents) == ("CAPACITY", ("a", "b"), ("v",))
    assert found.words == "they need 4 of load, the agents carry 3"


def test_tickets_that_exclude_each_other_need_no_windows_to_be_a_conflict() -> None:
    """SPEC T5, S1: three of one group are too many for two agents; the others are not told."""
    agents = [agent("v"), agent("w")]
    orders = [ticket(name, place) for name, place in zip("abcef", "ABCEA", strict=True)]
    assert smallest_infeasible_subset(problem(agents, orders, incompatible=[["a", "e"], ["b", "f"]])) is None
    found = smallest_infeasible_subset(problem(agents, orders, incompatible=[["a", "e"], ["a", "b", "c"]]))
    assert found is not None
    assert (found.kind, set(found.tickets)) == ("INCOMPATIBLE", {"a", "b", "c"})


def test_many_tickets_that_exclude_each_other_are_a_conflict_on_large_days_too() -> None:
    """SPEC T5, S1: with more places than ways are worked out for, and more tickets than are tried in pairs."""
    agents = [agent(f"v{n}", capacity=1000) for n in range(100)]
    orders = [ticket(f"t{n}", f"L{n}") for n in range(700)]
    day = body(agents, orders, locations=[], incompatible=[[f"t{n}" for n in range(0, 700, 4)]])
    large = compiled(day)
    assert len(large.locations) ** 3 > MAX_PATH_STEPS
    found = smallest_infeasible_subset(large)
    assert found is not None
    assert (found.kind, len(found.tickets)) == ("INCOMPATIBLE", 101)


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    """A tight day, small enough to try every plan."""
    agents = [
        agent(
            name,
            capacity=draw(st.integers(2, 6)),
            shift_end=draw(st.integers(4, 14)),
            max_tickets=draw(st.integers(1, 3)),
        )
        for name in "vw"[: draw(st.integers(1, 2))]
    ]
    tickets = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        opens = draw(st.integers(0, 8))
        fields: dict[str, Any] = {"service_time_s": draw(st.integers(0, 6)), "demand": draw(st.integers(1, 4))}
        if draw(st.booleans()):
            fields["time_windows"] = [[opens, opens + draw(st.integers(0, 4))]]
        tickets.append(ticket(name, draw(st.sampled_from("ABC")), **fields))
    period = st.sampled_from([[], [{"start": 0, "end": 6, "factor": 0.5}], [{"start": 2, "end": 9, "factor": 3}]])
    apart = [[entry["id"] for entry in tickets]] if draw(st.booleans()) and len(tickets) > 1 else []
    return body(agents, tickets, travel={"decimals": 0, "rush_hours": draw(period)}, incompatible=apart)


@examples(60)
@given(days())
def test_what_is_called_a_conflict_is_one(day: dict[str, Any]) -> None:
    """SPEC T5: no plan serves all of its tickets, whatever else it leaves out."""
    at = compile_scenario(Scenario.model_validate(day))
    found = smallest_infeasible_subset(at)
    assume(found is not None)
    assert found is not None
    rest = {**day, "tickets": [entry for entry in day["tickets"] if entry["id"] in found.tickets]}
    rest["incompatible"] = [[name for name in names if name in found.tickets] for names in day["incompatible"]]
    alone = compile_scenario(Scenario.model_validate(rest))
    best = enumeration.solve(alone, SearchLimits(float("inf")), lambda _: None, lambda: False).best
    assert best is not None
    assert sum(len(route.tickets) for route in best.routes) < len(found.tickets)


@examples(60)
@given(days())
def test_no_ticket_of_a_conflict_can_be_spared(day: dict[str, Any]) -> None:
    """SPEC T5: without any one of them, what was proved of the set can be proved no more."""
    at = compile_scenario(Scenario.model_validate(day))
    found = smallest_infeasible_subset(at)
    assume(found is not None)
    assert found is not None
    for spared in found.tickets:
        rest = tuple(each for each in at.tickets if each.id in set(found.tickets) - {spared})
        pairs = frozenset(combinations(range(len(rest)), 2)) if at.incompatible else frozenset()
        assert not rest or smallest_infeasible_subset(replace(at, tickets=rest, incompatible=pairs)) is None


def is_servable(day: Problem, names: Iterable[str]) -> bool:
    """Return whether some plan serves these tickets, whatever else it serves: of all plans, by the verifier's word."""
    wanted = {number for number, each in enumerate(day.tickets) if each.id in set(names)}
    plans = (plan for plan in every_plan(day) if wanted <= {index for route in plan.routes for index in route.tickets})
    return any(verify(day, build_plan(day, plan)) == [] for plan in plans)


@st.composite
def limits(draw: st.DrawFn) -> dict[str, Any]:
    """What may keep an agent from serving all."""
    few, some = st.integers(1, 3), st.integers(4, 16)
    choice = {"capacity": st.integers(2, 6), "max_tickets": few, "shift_end": some, "max_duration_s": some}
    chosen = draw(st.sets(st.sampled_from([*choice, "max_distance_m"])))
    return {name: draw({**choice, "max_distance_m": some}[name]) for name in sorted(chosen)}


@st.composite
def orders(draw: st.DrawFn, places: str, windows: int) -> list[dict[str, Any]]:
    """Up to three tickets, some late, some with setups."""
    found = []
    for name in "abc"[: draw(st.integers(2, 3))]:
        fields: dict[str, Any] = {"service_time_s": draw(st.integers(0, 3)), "demand": draw(st.integers(0, 3))}
        edges = sorted(draw(st.sets(st.integers(0, 14), min_size=2 * windows, max_size=2 * windows)))
        if draw(st.booleans()):
            pairs = [edges[at : at + 2] for at in range(0, len(edges), 2)]
            fields["time_windows"] = pairs[: draw(st.integers(1, windows))]
        if draw(st.integers(0, 2)) == 0:
            fields["release_time"] = draw(st.integers(0, 6))
        found.append(ticket(name, draw(st.sampled_from(places)), **fields))
    return found


@st.composite
def tangled(draw: st.DrawFn) -> dict[str, Any]:
    """A day of all that a proof must not overlook: any table of ways, reloads, breaks, setups, open ends, rushes."""
    size, crew = 4, []
    for name in "vw"[: draw(st.integers(1, 2))]:
        driver = agent(name, **draw(limits()))
        if draw(st.integers(0, 2)) == 0:
            driver |= {"reload_locations": [draw(st.sampled_from("DA"))], "max_reloads": 1}
        if draw(st.integers(0, 3)) == 0:
            driver["breaks"] = [{"earliest": 2, "latest": 6, "duration_s": 2}]
        driver |= draw(st.sampled_from([{}, {"start_location": None}, {"end_location": None}, {"start_location": "B"}]))
        crew.append(driver)
    tickets = draw(orders("DAB", 2))
    for entry in tickets:
        entry |= {
            "setup_time_s": draw(st.sampled_from([0, 2, 5])),
            "kind": draw(st.sampled_from(["delivery", "pickup"])),
        }
        if draw(st.integers(0, 5)) == 0:
            entry["penalty"] = 1
    table = st.lists(st.lists(st.integers(0, 6), min_size=size, max_size=size), min_size=size, max_size=size)
    period = st.sampled_from([[], [{"start": 0, "end": 6, "factor": 0.5}], [{"start": 2, "end": 9, "factor": 3}]])
    travel = {"decimals": 0, "distances": draw(table), "durations": draw(table), "rush_hours": draw(period)}
    return body(crew, tickets, locations=[{"id": name} for name in "DABC"], travel=travel)


@pytest.mark.slow
@examples(60)
@given(tangled())
def test_no_plan_of_the_whole_day_serves_a_conflict(day: dict[str, Any]) -> None:
    """SPEC T5, S1: proved, whatever the day is made of and whatever other tickets a plan serves on the way."""
    at = compile_scenario(Scenario.model_validate(day))
    found = smallest_infeasible_subset(at)
    assume(found is not None)
    assert found is not None
    event(found.kind)
    assert not is_servable(at, found.tickets)


@st.composite
def plain(draw: st.DrawFn) -> dict[str, Any]:
    """A day on a line with one window a ticket and the same setup for all, on which the proof leaves nothing aside."""
    crew = [agent(name, **draw(limits())) for name in "vw"[: draw(st.integers(1, 2))]]
    setup = draw(st.sampled_from([0, 2]))
    tickets = [{**entry, "setup_time_s": setup} for entry in draw(orders("ABCE", 1))]
    if draw(st.booleans()):
        tickets[0]["agents"] = ["v"]
    apart = [["a", "b"]] if draw(st.integers(0, 3)) == 0 else []
    return body(crew, tickets, incompatible=apart)


@examples(60)
@given(plain())
def test_a_small_day_has_a_conflict_exactly_when_no_plan_serves_all(day: dict[str, Any]) -> None:
    """SPEC T5: infeasible days are explained; and the fewest tickets are named, by the same measure."""
    at = compile_scenario(Scenario.model_validate(day))
    names = [each.id for each in at.tickets]
    found = smallest_infeasible_subset(at)
    assert (found is None) == is_servable(at, names)
    if found is not None:
        event(f"{found.kind} {len(found.tickets)}")
        fewer = (some for count in range(len(found.tickets)) for some in combinations(names, count))
        assert all(is_servable(at, some) for some in fewer)
        assert not is_servable(at, found.tickets)


def test_a_set_found_by_one_proof_is_thinned_by_another() -> None:
    """SPEC T5: of two at one place the way to it is paid once; without the one that is small, it counts whole."""
    orders = [
        ticket("a", "C", service_time_s=1),
        *(ticket(n, p, service_time_s=6) for n, p in (("b", "C"), ("c", "E"))),
    ]
    at = compile_scenario(Scenario.model_validate(body([agent(shift_end=12, end_location=None)], orders)))
    found = smallest_infeasible_subset(at)
    assert found is not None
    assert set(found.tickets) == {"b", "c"}


def test_a_long_set_is_thinned_too() -> None:
    """SPEC T5: ten places, each with much work and a little; the ways to it, once each, make the little needless."""
    line = [{"id": "D", "x": 0, "y": 0}, *({"id": f"P{n}", "x": 30 + 30 * n, "y": 0} for n in range(10))]
    large = [ticket(f"large{n}", f"P{n}", service_time_s=100) for n in range(10)]
    small = [ticket(f"small{n}", f"P{n}", service_time_s=20) for n in range(10)]
    driver = agent(shift_end=1110, capacity=99, end_location=None)
    at = compile_scenario(Scenario.model_validate(body([driver], [*large, *small], locations=line)))
    found = smallest_infeasible_subset(at)
    assert found is not None
    assert set(found.tickets) < {entry["id"] for entry in large}
    assert found.kind == "WORKING_TIME"


@examples(60)
@given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(2, 6), st.integers(1, 4))
def test_where_one_agent_carries_all_the_rest_of_a_conflict_can_be_served(
    demands: list[int], capacity: int, stops: int
) -> None:
    """SPEC T5: goods and stops of one agent decide alone, so a plan serves any conflict less one ticket."""
    orders = [ticket(f"t{n}", "A", demand=demand) for n, demand in enumerate(demands)]
    day = body([agent(capacity=capacity, max_tickets=stops)], orders)
    found = smallest_infeasible_subset(compile_scenario(Scenario.model_validate(day)))
    assert (found is None) == (sum(demands) <= capacity and len(demands) <= stops)
    for spared in found.tickets if found is not None else ():
        rest = [entry for entry in orders if found and entry["id"] in set(found.tickets) - {spared}]
        if not rest:
            continue
        alone = compile_scenario(Scenario.model_validate({**day, "tickets": rest}))
        best = enumeration.solve(alone, SearchLimits(float("inf")), lambda _: None, lambda: False).best
        assert best is not None
        assert sum(len(route.tickets) for route in best.routes) == len(rest)


def test_goods_that_are_fetched_at_a_depot_on_the_way_are_no_conflict() -> None:
    """SPEC T5, S1: release, reload and windows: whoever waits where the day starts would come too late."""
    late = {"location": "E", "release_time": 10, "time_windows": [[0, 11]]}
    day = problem([agent("v", reload_locations=["C"])], [ticket("a", **late), ticket("b", **late)])
    assert smallest_infeasible_subset(day) is None
    plan = build_plan(day, candidate(day, "reload@C", "a", "b"))
    assert verify(day, plan) == []
    idle = with_reasons(day, build_plan(day, Candidate(())))
    assert {entry.code for entry in idle.unassigned} == {"NO_ROOM_FOUND"}


def crowded(places: int) -> Problem:
    """Return a day of too few hours on which many tickets share a place, so that leaving one out tells more."""
    grid = [{"id": f"L{at}", "x": 2 * (at % 22), "y": 2 * (at // 22)} for at in range(places)]
    orders = [ticket(f"t{n}-{at}", f"L{at}", service_time_s=3, demand=0) for at in range(1, places) for n in range(2)]
    day = body([agent("v", shift_end=200)], orders)
    return compiled({**day, "depot": "L0", "locations": grid})


def test_a_long_conflict_of_a_large_day_is_thinned_while_there_is_time() -> None:
    """SPEC T5: with more places than pairs of tickets are looked at on."""
    moments = iter([0.0, 0.0])
    in_haste = smallest_infeasible_subset(crowded(450), lambda: next(moments, SHRINK_S))
    at_leisure = smallest_infeasible_subset(crowded(450))
    assert in_haste is not None and at_leisure is not None
    assert len(at_leisure.tickets) < len(in_haste.tickets)
