"""What becomes of the caller's numbers in integers: prices, amounts and hours that are small beside others."""

import math
from typing import Any

import pytest

from planner_mcp.routing.evaluation.plan_builder import build_plan, price
from planner_mcp.routing.feasibility.infeasible_subsets import smallest_infeasible_subset
from planner_mcp.routing.problem import Candidate, Feature, Problem
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.scenarios.scenario_builders import agent, body, compiled, problem, ticket

NO_WAY = 999_999_999
"""What a caller writes where there is no way."""


def with_no_way(tickets: int, lateness: float, decimals: float = 0.5, **driver: Any) -> Problem:
    """Return a day by tables of a hundred metres and seconds, in which one leg cannot be driven."""
    names = ["D", *(f"P{number}" for number in range(tickets))]
    table = [[0 if one == other else 100 + decimals for other in names] for one in names]
    table[1][2] = NO_WAY
    orders = [
        ticket(f"t{number}", f"P{number}", demand=0, soft_close="16:00", lateness_cost_per_hour=lateness)
        for number in range(tickets)
    ]
    places = [{"id": name} for name in names]
    travel = {"distances": table, "durations": table}
    return compiled(body([agent(f"v{n}", **driver) for n in range(12)], orders, locations=places, travel=travel))


@pytest.mark.parametrize("driver", [{"shift_start": "08:00", "shift_end": "18:00"}, {}], ids=["shift", "any time"])
@pytest.mark.parametrize("lateness", [20, 100, 1e5])
def test_a_leg_that_nobody_can_drive_takes_nothing_from_the_prices(lateness: float, driver: Any) -> None:
    """SPEC S1, S2: where there is no way a large number stands; a plan still says what it costs."""
    day = with_no_way(200, lateness, cost_per_km=0.35, cost_per_hour=30, **driver)
    (spec, *_), unit = day.agents, day.scale / day.cost_scale
    assert spec.distance_cost * unit * 1000 == pytest.approx(0.35, rel=1e-3)
    assert spec.time_cost * unit * 3600 == pytest.approx(30, rel=1e-3)
    assert day.tickets[0].lateness_cost * unit * 3600 == pytest.approx(lateness, rel=1e-3)
    assert day.assumptions == ()
    plan = build_plan(day, Candidate.of_tickets({0: [0]}))
    assert plan.cost == pytest.approx(0.35 * plan.distance_m / 1000 + 30 * plan.duration_s / 3600, rel=1e-3)
    assert verify(day, plan) == []


def test_prices_that_are_small_beside_others_stay_true() -> None:
    """SPEC S1: lateness at ten million an hour, three tickets in a town, hours at thirty."""
    tickets = [ticket(f"t{n}", soft_close="17:00", lateness_cost_per_hour=1e7, demand=0) for n in range(500)]
    day = problem([agent(cost_per_hour=30, shift_end="18:00")], tickets)
    assert day.agents[0].time_cost * 3600 * day.scale / day.cost_scale == pytest.approx(30, rel=1e-3)


def test_a_price_that_must_be_rounded_is_reported() -> None:
    """SPEC S2: never in silence; the penalties of wanted tickets stay beyond what a plan can cost."""
    day = problem([agent(cost_per_km=1e-8, fixed_cost=1e9)])
    (assumption,) = (said for said in day.assumptions if said.startswith("Prices are rounded"))
    assert "cost_per_km by up to 100 %" in assumption
    assert "fixed_cost" not in assumption
    assert day.tickets[0].penalty > 10**9 * day.cost_scale
    assert not any("rounded" in said for said in problem([agent(cost_per_km=0.35, cost_per_hour=31.7)]).assumptions)


def test_costs_of_any_drive_the_day_allows_fit_into_64_bits() -> None:
    """SPEC S2: a leg that is no way counts nothing for the scale, and no shift is so long that it could be driven."""
    day = with_no_way(200, 1e9, cost_per_km=0.35)
    late = day.agents[0].shift[1] * sum(spec.lateness_cost for spec in day.tickets)
    assert late < 2**61
    assert day.agents[0].shift[1] < NO_WAY * day.scale


def test_a_long_way_that_is_the_only_one_can_be_driven() -> None:
    """SPEC S1: what somebody must drive is no sign that there is no way."""
    table = [[0, NO_WAY, 5], [NO_WAY, 0, NO_WAY], [5, NO_WAY, 0]]
    travel = {"distances": table, "durations": table}
    orders = [ticket("a"), ticket("b", "B")]
    day = problem(None, orders, locations=[{"id": name} for name in "DAB"], travel=travel)
    plan = build_plan(day, Candidate.of_tickets({0: [0, 1]}))
    assert verify(day, plan) == []
    assert plan.cost < day.tickets[0].penalty / day.cost_scale


COAST = 5_512_345.678
"""Metres of a leg of days, as a table with three decimals has it."""


def far_apart(length: float, **driver: Any) -> Problem:
    """Return a day by a table in which A is a length from D, B a hundred from A, and C is cut off from B."""
    table = [[0, length, length, 1.234], [length, 0, 100, 100], [length, 100, 0, NO_WAY], [1.234, 100, NO_WAY, 0]]
    places = [{"id": name} for name in "DABC"]
    orders = [ticket(name, name) for name in "ABC"]
    return problem([agent(**driver)], orders, locations=places, travel={"distances": table})


@pytest.mark.parametrize(
    ("length", "driver", "scale"),
    [
        (COAST, {}, 100),
        (COAST, {"max_distance_km": 11_600}, 100),
        (COAST, {"max_distance_km": 3000}, 100),
        (COAST, {"max_distance_km": 2000}, 1000),
        (COAST, {"shift_start": "08:00", "shift_end": "18:00"}, 1000),
        (COAST / 10, {}, 1000),
        (COAST * 10, {}, 10),
    ],
)
def test_legs_that_can_be_driven_have_units_that_every_engine_can_reckon_with(
    length: float, driver: Any, scale: int
) -> None:
    """SPEC S2: a leg, or a limit that a longer one breaks, fits into 32 bits; what is no way costs no decimals."""
    day = far_apart(length, **driver)
    assumption = f"Lengths and times are rounded to {1 / scale:g}, because the longest legs are so long."
    assert day.scale == scale
    assert int(day.distances[0][0, 1]) == pytest.approx(length * scale, abs=0.6)
    assert [said for said in day.assumptions if "rounded" in said] == ([assumption] if scale < 1000 else [])


@pytest.mark.parametrize(("width", "scale"), [(1e6, 1000), (1e7, 100), (1e9, 1)])
@pytest.mark.parametrize("speed", [1, 1e-3])
def test_plane_units_are_reported_as_they_came(width: float, scale: int, speed: float) -> None:
    """SPEC S2: fewer decimals, the same numbers; a pace so slow that no leg ends costs one digit at the most."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": width, "y": 0}, {"id": "B", "x": width, "y": width / 10}]
    travel = {"plane_speed": speed}
    day = problem([agent()], [ticket(), ticket("b", "B")], locations=places, travel=travel)
    assert day.scale == (min(scale, 100) if speed < 1 else scale)
    assert int(day.distances[0].max()) < 2**31
    plan = build_plan(day, Candidate.of_tickets({0: [0, 1]}))
    assert plan.distance_m == pytest.approx((1.1 + math.hypot(1, 0.1)) * width, rel=1e-6)
    assert verify(day, plan) == []


@pytest.mark.parametrize(
    ("capacity", "demand", "count"),
    [(1, 0.0125, 80), (1, 0.3333, 3), (0.0005, 0.0005, 1), (0.3, 0.1, 3), (12.5, 0.000001, 4), (1e9, 0.5, 2)],
)
def test_goods_that_fit_in_the_callers_numbers_fit(capacity: float, demand: float, count: int) -> None:
    """SPEC S1: amounts have as many decimals as the caller writes, up to six."""
    orders = [ticket(f"t{number}", demand={"m3": demand, "kg": 1}) for number in range(count)]
    day = problem([agent(capacity={"m3": capacity, "kg": 20_000})], orders)
    plan = build_plan(day, Candidate.of_tickets({0: list(range(count))}))
    assert verify(day, plan) == []
    assert smallest_infeasible_subset(day) is None
    assert day.assumptions == problem([agent()]).assumptions


def test_goods_that_are_too_many_by_the_last_digit_do_not_fit() -> None:
    """SPEC S1: nothing is forgiven that the caller can tell."""
    orders = [ticket(f"t{number}", demand=0.333334) for number in range(3)]
    day = problem([agent(capacity=1)], orders)
    assert verify(day, build_plan(day, Candidate.of_tickets({0: [0, 1, 2]})))


@pytest.mark.parametrize(("capacity", "demand", "unit"), [(1, 1 / 3, "1e-06"), (1e9, 0.000001, "1e-06")])
def test_amounts_that_must_be_rounded_are_reported(capacity: float, demand: float, unit: str) -> None:
    """SPEC S2: which way, and how finely."""
    orders = [ticket(f"t{number}", demand=demand) for number in range(3)]
    day = problem([agent(capacity=capacity)], orders)
    assumptions = [said for said in day.assumptions if "Amounts" in said]
    assert assumptions == ([f"Amounts are rounded to {unit}: demands up, capacities down."] if demand == 1 / 3 else [])
    assert sum(spec.demand[0] for spec in day.tickets) + day.agents[0].capacity[0] < 2**51


def test_a_rush_that_rounds_to_nothing_is_none() -> None:
    """SPEC S1: an engine is asked only for what the compiled day has."""
    day = problem(travel={"rush_hours": [{"start": "08:00", "end": "09:00", "factor": 1.0004}]})
    assert day.travel_periods == ()
    assert Feature.RUSH_HOURS not in day.features


def test_a_window_within_one_unit_is_the_nearest_one() -> None:
    """SPEC S1: so is a break's, and a shift; none turns inside out."""
    driver = agent(shift_start=5.2, shift_end=5.4, breaks=[{"earliest": 3600.5, "latest": 3600.7, "duration_s": 5}])
    order = ticket(time_windows=[[3600.5, 3600.5], [7200.6, 7200.9], [9000.5, 9001.5]])
    day = problem([driver, agent("w")], [order])
    assert day.tickets[0].windows == ((3600, 3600), (7201, 7201), (9001, 9001))
    assert day.agents[0].shift == (5, 5)
    assert day.agents[0].breaks[0].window == (3600, 3600)
    assert verify(day, build_plan(day, Candidate.of_tickets({1: [0]}))) == []


CHOICE = [ticket("must", "A", demand=8), ticket("nice", "B", demand=8, penalty=500)]


@pytest.mark.parametrize(
    ("tickets", "groups"),
    [
        (CHOICE, []),
        ([CHOICE[0], *({**CHOICE[1], "id": f"n{number}", "penalty": 0.37} for number in range(40))], []),
        ([*CHOICE, ticket("other", "C", demand=8)], [{"kind": "one_of", "tickets": ["nice", "other"], "penalty": 900}]),
    ],
    ids=["one", "many", "group"],
)
@pytest.mark.parametrize("per_km", [0, 2, 1e-8])
def test_no_ticket_that_has_a_price_outweighs_one_that_has_none(
    tickets: list[Any], groups: list[Any], per_km: float
) -> None:
    """SPEC S3, J5, ADR 9: a wanted ticket costs more than any plan, whatever else that plan leaves out."""
    day = problem([agent(cost_per_km=per_km)], [{**each, "priority": 1} for each in tickets], groups=groups)
    kept, given_up = (Candidate.of_tickets({0: [number]}) for number in (0, 1))
    assert build_plan(day, kept).penalty == 0
    assert price(day, kept) < day.tickets[0].penalty
    assert price(day, kept) < price(day, given_up)


def test_penalties_too_large_for_a_promise_are_reported() -> None:
    """SPEC S2: where 64 bits have no room for a wanted ticket to outweigh all others, a plan says so."""
    orders = [ticket(f"t{number}", penalty=1e9, demand=0) for number in range(4000)]
    day = problem([agent(cost_per_km=0.35)], [*orders, ticket("must", priority=9)])
    (assumption,) = (said for said in day.assumptions if "may be left out" in said)
    assert assumption.startswith("The sum of penalties is so large")
    assert sum(spec.penalty for spec in day.tickets) < 2**62
    for calm in ([*orders[:400], ticket("must")], orders):
        assert not any("left out" in said for said in problem([agent(cost_per_km=0.35)], calm).assumptions)


def test_a_penalty_beside_a_tiny_price_fits_into_64_bits() -> None:
    """SPEC S2: prices are rounded before a number becomes too large for an engine."""
    orders = [CHOICE[0], {**CHOICE[1], "penalty": 1e9}]
    day = problem([agent(cost_per_km=0.123456789)], orders, travel={"decimals": 3})
    assert sum(spec.penalty for spec in day.tickets) < 2**62
    assert build_plan(day, Candidate.of_tickets({0: [0]})).cost == pytest.approx(1e9)
