"""The lower bound, against the best plan there is."""

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner_mcp.routing.analysis import cost_bound
from planner_mcp.routing.analysis.cost_bound import LowerBound, lower_bound
from planner_mcp.routing.analysis.one_tree_bound import TreeCosts, tree_bound
from planner_mcp.routing.compilation.scenario_compiler import compile_scenario
from planner_mcp.routing.evaluation.plan_builder import build_plan
from planner_mcp.routing.feasibility import fleet_size_bounds
from planner_mcp.routing.feasibility.cheapest_legs import cheapest_legs, legs_between_tickets
from planner_mcp.routing.plan import PlanStatus
from planner_mcp.routing.scenario.scenario_model import Scenario
from tests.shared.property_tests.example_counts import examples
from tests.shared.scenarios.scenario_builders import agent, body, problem, ticket
from workers.engines.engine_interface import SearchLimits
from workers.engines.heuristics import enumeration
from workers.engines.native.native_arrays import incumbent_buffer

ENDS = st.sampled_from(
    [{}, {"end_location": None}, {"start_location": None}, {"start_location": "C", "end_location": "C"}]
)


@st.composite
def agents(draw: st.DrawFn) -> list[dict[str, Any]]:
    price = st.sampled_from([0, 0, 3, 20])
    limits = [{}, {}, {"max_tickets": 2}, {"shift_start": 2, "shift_end": 18}, {"max_duration_s": 14}]
    return [
        agent(
            name,
            capacity={"kg": draw(st.integers(4, 9)), "m3": draw(st.integers(3, 9))},
            fixed_cost=draw(price),
            cost_per_hour=draw(price) * 60,
            cost_per_km=draw(st.integers(500, 2000)),
            speed_factor=draw(st.sampled_from([1, 2])),
            **draw(st.sampled_from(limits)),
            **draw(ENDS),
        )
        for name in "vw"
    ]


@st.composite
def tickets(draw: st.DrawFn) -> list[dict[str, Any]]:
    found = []
    for name in "abc"[: draw(st.integers(1, 3))]:
        demand = {"kg": draw(st.integers(1, 4)), "m3": draw(st.integers(0, 3))}
        fields: dict[str, Any] = {"demand": demand, "kind": draw(st.sampled_from(["delivery", "pickup"]))}
        fields["service_time_s"] = draw(st.integers(0, 5))
        if draw(st.integers(0, 2)) == 0:
            opens = draw(st.integers(0, 9))
            fields["time_windows"] = [[opens, opens + draw(st.integers(0, 6))]]
        if draw(st.integers(0, 3)) == 0:
            fields["penalty"] = draw(st.integers(1, 6))
        if draw(st.integers(0, 4)) == 0:
            fields["agents"] = [draw(st.sampled_from("vw"))]
        if draw(st.integers(0, 4)) == 0:
            fields |= {"preferred_agent": draw(st.sampled_from("vw")), "switch_cost": draw(st.integers(1, 4))}
        found.append(ticket(name, draw(st.sampled_from("ABCE")), **fields))
    if len(found) > 1 and draw(st.integers(0, 3)) == 0:
        found[0]["kind"] = "pickup"
        found[1] |= {"kind": "delivery", "pickup": "a", "demand": found[0]["demand"]}
    return found


@st.composite
def days(draw: st.DrawFn) -> dict[str, Any]:
    """A day small enough to try every plan, some with legs that no geometry allows."""
    orders = draw(tickets())
    more: dict[str, Any] = {}
    if len(orders) > 2 and draw(st.booleans()):
        kind = draw(st.sampled_from(["one_of", "all"]))
        more["groups"] = [{"kind": kind, "tickets": ["b", "c"], **draw(st.sampled_from([{}, {"penalty": 2}]))}]
    if len(orders) > 1 and draw(st.integers(0, 4)) == 0:
        more["incompatible"] = [["a", "b"]]
    period = st.sampled_from([[], [{"start": 0, "end": 8, "factor": 0.5}], [{"start": 2, "end": 9, "factor": 3}]])
    travel: dict[str, Any] = {"decimals": 0, "rush_hours": draw(period)}
    if draw(st.booleans()):
        row = st.lists(st.integers(0, 9), min_size=5, max_size=5)
        travel |= {"distances": draw(st.lists(row, min_size=5, max_size=5)), "speed_kmh": 3.6}
    return body(draw(agents()), orders, travel=travel, **more)


@examples(60)
@given(days())
def test_no_plan_that_serves_every_wanted_ticket_is_cheaper(day: dict[str, Any]) -> None:
    """SPEC T5, J5: a bound where it can honestly be given, whatever the day is made of."""
    at = compile_scenario(Scenario.model_validate(day))
    best = enumeration.solve(at, SearchLimits(float("inf")), lambda _: None, lambda: False).best
    bound = lower_bound(at)
    assert bound.cost is not None
    if best is not None and (plan := build_plan(at, best)).status is PlanStatus.FEASIBLE:
        assert bound.cost <= plan.cost + 1e-9
        assert bound.agents <= plan.agents_used


@examples(60)
@given(st.integers(1, 6), st.integers(1, 3), st.randoms(use_true_random=False))
def test_each_of_the_three_bounds_holds_by_itself(count: int, fleet: int, random: Any) -> None:
    """SPEC T5: legs, trees and shares, on days of one depot and any legs, against every plan."""
    far = [[random.randint(0, 30) for _ in range(5)] for _ in range(5)]
    orders = [ticket(f"t{n}", random.choice("ABCE"), demand=random.randint(0, 3)) for n in range(min(count, 4))]
    crew = [agent(f"v{n}", capacity=random.randint(4, 6)) for n in range(fleet)]
    at = compile_scenario(Scenario.model_validate(body(crew, orders, travel={"distances": far, "decimals": 0})))
    best = enumeration.solve(at, SearchLimits(float("inf")), lambda _: None, lambda: False).best
    assert best is not None
    plan = build_plan(at, best)
    if plan.status is PlanStatus.PARTIAL:
        return
    legs, wanted = cheapest_legs(at), fleet_size_bounds.mandatory_tickets(at)
    direct = legs_between_tickets(at, legs)
    bounds = [
        cost_bound._assignment_bound(at, legs, direct),
        cost_bound._one_tree_bound(at, legs, direct, wanted, fleet_size_bounds.agents_needed(at, wanted)),
        cost_bound._radial_bound(at, legs, wanted),
    ]
    assert max(bounds) / at.cost_scale <= plan.cost


def test_the_bound_is_not_nothing() -> None:
    """SPEC T5: one ticket is bounded exactly; two vehicles are needed for twice the load of one."""
    one = lower_bound(problem(tickets=[ticket("c", "C")]))
    assert one == LowerBound(6.0, 1)
    two = problem([agent("v", capacity=1, fixed_cost=5), agent("w", capacity=1, fixed_cost=9)])
    assert lower_bound(two) == LowerBound(14 + 2 + 4, 2)


@pytest.mark.parametrize(
    ("fields", "count"),
    [({"capacity": 2}, 2), ({"max_tickets": 1}, 3), ({"shift_end": 8}, 2), ({"max_duration_s": 6}, 2)],
    ids=["goods", "stops", "shift", "duration"],
)
def test_agents_are_counted_by_whatever_runs_out(fields: dict[str, Any], count: int) -> None:
    """SPEC T5: goods, stops, hours."""
    orders = [ticket(name, "A", service_time_s=3) for name in "abc"]
    at = compile_scenario(Scenario.model_validate(body([agent(n, **fields) for n in "vwx"], orders)))
    assert fleet_size_bounds.agents_needed(at, fleet_size_bounds.mandatory_tickets(at)) == count


def test_of_a_large_day_the_agents_are_counted_and_the_cost_is_not_bounded() -> None:
    """SPEC T5: as `validate_scenario` and `read_progress` tell it; up to 1500 tickets there are both."""
    crew = [agent(f"v{n}", capacity=500) for n in range(5)]
    orders = [ticket(f"t{n}", "A") for n in range(1501)]
    large = lower_bound(problem(crew, orders))
    assert (large, large.gap(9.0)) == (LowerBound(None, 4), None)
    assert large.as_json() == {"agents_needed": 4, "no_lower_bound": "the scenario has more than 1500 tickets"}
    assert LowerBound(14.004, 3).as_json() == {"agents_needed": 3, "lower_bound": 14}


def test_the_way_into_a_place_is_measured_from_all_others() -> None:
    """SPEC T5: of many places a few rows at a time; from a place to itself is no way."""
    far = np.random.default_rng(1).integers(5, 1000, (600, 600))
    np.fill_diagonal(far, 0)
    slow = far + 3
    others = np.where(np.eye(600, dtype=bool), 9999, far)
    places = [{"id": f"p{n}", "x": n, "y": 0} for n in range(599)]
    orders = [ticket(f"t{n}", f"p{n}") for n in range(599)]
    day = body(None, orders, locations=[{"id": "D", "x": 0, "y": 0}, *places], travel={"durations": far.tolist()})
    at = compile_scenario(Scenario.model_validate(day))
    into = fleet_size_bounds.least_arrival_legs(replace(at, durations=(slow, at.durations[0])))
    assert into.tolist() == [0, *others.min(axis=0)[1:]]


def test_a_small_day_with_endless_reloads_is_bounded_at_once() -> None:
    """SPEC T5: rooms are counted, not listed: a thousand agents that may load again a hundred thousand times."""
    crew = [agent(f"v{n}", capacity=2 + n % 2, reload_locations=["D"], max_reloads=100_000) for n in range(1000)]
    at = problem(crew, [ticket(name, demand=3) for name in "abcd"])
    tracemalloc.start()
    assert fleet_size_bounds.trips_needed(at, [0, 1, 2, 3]) == 4
    assert len(incumbent_buffer(at)) < 5000
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@given(st.integers(0, 60), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=6))
def test_trips_are_counted_as_if_each_were_listed(amount: int, crew: list[tuple[int, int]]) -> None:
    """SPEC T5: the largest first; one more than there are where all do not hold it."""
    listed = sorted((room for room, times in crew for _ in range(times)), reverse=True)
    enough = (n for n in range(len(listed) + 1) if sum(listed[:n]) >= amount)
    assert fleet_size_bounds._cover(amount, crew) == next(enough, len(listed) + 1)


def test_a_mixed_fleet_is_priced_by_what_its_room_costs() -> None:
    """SPEC T5: the small one is cheap and the large one cheap by the piece; half of it must be had."""
    crew = [agent("small", capacity=2, fixed_cost=10), agent("large", capacity=10, fixed_cost=30)]
    at = problem(crew, [ticket("a", "A", demand=5)])
    assert fleet_size_bounds.least_fixed_cost(at, [0]) / at.cost_scale == 15.0


def test_trees_know_a_good_round_trip() -> None:
    """SPEC T5: with good tolls a tree is almost a round trip; the ascent is repeatable."""
    angle = np.arange(1, 24) * 2 * np.pi / 24
    at = np.column_stack([1000 * np.cos(angle), 1000 * np.sin(angle)])
    way = np.rint(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))).astype(np.int64)
    np.fill_diagonal(way, 2**60)
    home = np.rint(np.hypot(*(at - [1000, 0]).T)).astype(np.int64)
    ground = TreeCosts(way, home, home, 1)
    side = round(2000 * np.sin(np.pi / 24))
    assert 0.99 * 24 * side <= tree_bound(ground) <= 24 * side
    assert tree_bound(ground) == tree_bound(ground)


def test_a_gap_is_a_share_of_the_plans_cost() -> None:
    """SPEC T5: 0 would mean proved to be best."""
    assert LowerBound(8.0, 1).gap(10.0) == pytest.approx(0.2)
    assert LowerBound(0.0, 0).gap(0.0) == 0
    assert LowerBound(-1.0, 0).gap(0.0) is None
