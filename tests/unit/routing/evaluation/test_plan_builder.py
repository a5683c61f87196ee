"""From scenario to plan: travel, integers, canonical times, reasons, and back again."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from planner_mcp.routing.compilation.assumptions import assumptions_of
from planner_mcp.routing.evaluation.plan_builder import build_plan, candidate_of
from planner_mcp.routing.plan import Plan
from planner_mcp.routing.problem import Candidate, Feature
from planner_mcp.routing.scenario.coordinates import haversine_m, to_wgs84
from planner_mcp.routing.scenario.travel_matrices import TravelMatrices
from planner_mcp.routing.verification.plan_verification import verify
from tests.shared.processes.stopwatch import Stopwatch
from tests.shared.scenarios.scenario_builders import agent, body, candidate, compiled, problem, scenario, ticket

HERE = [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 40.0, "lon": 116.4}]


def test_distances_on_the_globe_are_great_circles_with_a_stated_speed() -> None:
    """SPEC T1: WGS-84 by haversine; the answer says so."""
    day = problem(tickets=[ticket()], locations=HERE, travel={"speed_kmh": 36, "detour": 2})
    assert day.distances[0].tolist() == [[0, 22239], [22239, 0]]
    assert day.durations[0].tolist() == [[0, 2224], [2224, 0]]
    assert day.assumptions == ("Roads are not known: distances are straight lines (haversine) times 2 at 36 km/h.",)
    assert day.provenance["source"] == "haversine"


@pytest.mark.parametrize(("given", "metres"), [({}, 14455), ({"detour": 1}, 11120)])
def test_roads_are_straight_lines_times_1_3_unless_the_day_says_otherwise(given: dict[str, float], metres: int) -> None:
    """SPEC O9: the answer says that roads are not known, and by how much straight lines are lengthened."""
    day = problem(tickets=[ticket()], locations=HERE, travel=given)
    assert day.distances[0][0, 1] == metres
    assert day.assumptions[0].startswith("Roads are not known: distances are straight lines (haversine)")
    assert (" times 1.3 at 40 km/h" in day.assumptions[0]) is not bool(given)
    assert day.provenance["detour"] == given.get("detour", 1.3)


def test_lines_in_the_plane_are_not_lengthened() -> None:
    """SPEC O9: published instances are Euclidean."""
    day = problem(tickets=[ticket()])
    assert day.provenance["detour"] == 1.0


def test_gcj02_comes_back_to_wgs84() -> None:
    """SPEC T5: Chinese coordinates are converted. Source: Tiananmen as published in both systems."""
    assert haversine_m(to_wgs84(39.90872, 116.39748, "gcj02"), (39.90732, 116.39124)) < 3
    assert to_wgs84(52.5, 13.4, "gcj02") == (52.5, 13.4)
    assert haversine_m(to_wgs84(39.915119, 116.403963, "bd09"), (39.90732, 116.39124)) < 15


def test_unknown_positions_count_one_a_leg_and_are_reported() -> None:
    """SPEC T1: the smallest call."""
    day = problem(tickets=[ticket("a", "X"), ticket("b", "Y")], locations=[], depot=None)
    assert day.distances[0].tolist() == [[0, 1], [1, 0]]
    assert day.assumptions == assumptions_of(scenario(tickets=[ticket()], locations=[], depot=None))
    assert (
        day.assumptions[0]
        == "Travel is not known: no location has a position, so each leg between two different locations counts 1."
    )
    plan = build_plan(day, candidate(day, "a", "b"))
    assert (plan.distance_m, plan.cost, verify(day, plan)) == (1.0, 1.0, [])


def test_matrices_keep_their_decimals_and_their_direction() -> None:
    """SPEC T1: explicit matrices, row from, column to."""
    day = problem(
        tickets=[ticket()], locations=[], travel={"matrix_locations": ["A", "D"], "durations": [[0, 1.5], [2, 0]]}
    )
    assert (day.scale, day.locations) == (10, ("D", "A"))
    assert day.durations[0].tolist() == [[0, 20], [15, 0]]
    assert day.assumptions == ("Only durations are given: distance is taken equal to travel time.",)


def test_rounding_of_benchmark_sets() -> None:
    """Source: CVRPLIB rounds to the nearest unit, the DIMACS challenge cuts Solomon at one decimal."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 1, "y": 1}]
    nearest = problem(tickets=[ticket()], locations=places, travel={"decimals": 0})
    cut = problem(tickets=[ticket()], locations=places, travel={"decimals": 1, "rounding": "floor"})
    exact = problem(tickets=[ticket()], locations=places, travel={})
    assert [int(day.distances[0][0, 1]) for day in (nearest, cut, exact)] == [1, 14, 1414]
    assert exact.durations[0] is exact.distances[0]


PLANE = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 10, "y": 0}]
GLOBE = [{"id": "D", "lat": 39.9, "lon": 116.4}, {"id": "A", "lat": 39.9 + 10 / 111_195.08, "lon": 116.4}]
LENGTHS = [[0, 10], [10, 0]]


@pytest.mark.parametrize(
    ("places", "travel", "speed"),
    [
        (PLANE, {"plane_speed": 3}, 1),
        (PLANE, {}, 3),
        (PLANE, {"plane_speed": 1.5}, 2),
        (GLOBE, {"speed_kmh": 10.8, "detour": 1}, 1),
        (GLOBE, {"speed_kmh": 3.6, "detour": 1}, 3),
        ([], {"distances": LENGTHS, "speed_kmh": 10.8}, 1),
        ([], {"distances": LENGTHS, "speed_kmh": 3.6}, 3),
        ([], {"durations": LENGTHS}, 3),
        ([], {"distances": LENGTHS, "durations": LENGTHS}, 3),
    ],
)
@pytest.mark.parametrize(("rounding", "seconds"), [("floor", 3), ("nearest", 3), ("ceil", 4)])
def test_times_are_rounded_as_lengths_are(
    places: list[Any], travel: dict[str, Any], speed: float, rounding: str, seconds: int
) -> None:
    """SPEC T1: 10 m at 3 m/s take 3.33 s, wherever travel comes from and whoever drives."""
    named = {"matrix_locations": ["D", "A"]} if not places else {}
    known = travel | named | {"rounding": rounding, "decimals": 0}
    day = problem([agent(speed_factor=speed)], [ticket()], locations=places, travel=known)
    assert day.durations[0].tolist() == [[0, seconds], [seconds, 0]]


@pytest.mark.parametrize("source", [{"matrix": "mx_1"}, {"router": "roads"}])
@pytest.mark.parametrize("given", ["distances", "durations"])
def test_times_of_tables_that_came_along_are_rounded_alike(source: dict[str, str], given: str) -> None:
    """SPEC T1: uploaded, or asked of a road engine."""
    travel_matrices = TravelMatrices(
        ("D", "A"), **{given: np.array(LENGTHS, dtype=float)}, provenance={"source": "somewhere"}
    )
    travel = {**source, "rounding": "ceil", "speed_kmh": 3.6}
    asked = body([agent(speed_factor=3)], [ticket()], locations=HERE, travel=travel)
    day = compiled(asked, travel_matrices=TravelMatrices.unpack(travel_matrices.pack()))
    assert day.durations[0].tolist() == [[0, 4], [4, 0]]


def test_times_are_measured_before_they_are_rounded() -> None:
    """SPEC T1: 1.41 units at half a unit a second take 2.83 s, not twice the rounded length."""
    places = [{"id": "D", "x": 0, "y": 0}, {"id": "A", "x": 1, "y": 1}]
    for driver, speed in ((agent(), 0.5), (agent(speed_factor=0.5), 1)):
        day = problem([driver], [ticket()], locations=places, travel={"plane_speed": speed, "decimals": 0})
        assert (int(day.distances[0][0, 1]), int(day.durations[0][0, 1])) == (1, 3)


@pytest.mark.parametrize(("rounding", "length"), [("floor", 2_134_831.019), ("ceil", 2_131_499.49)])
def test_what_a_float_cannot_hold_exactly_is_not_rounded_away(rounding: str, length: float) -> None:
    """SPEC T1: large lengths stay what they are to the thousandth."""
    rows = {"distances": [[0, length], [length, 0]], "matrix_locations": ["D", "A"]}
    day = problem(None, [ticket()], locations=[], travel={**rows, "rounding": rounding, "decimals": 3})
    assert int(day.distances[0][0, 1]) == round(length * 1000)


def test_a_wanted_ticket_outweighs_every_detour_and_priorities_double() -> None:
    """SPEC S1: optional tickets with priority; sums stay within 64 bits."""
    day = problem(tickets=[ticket("a", priority=1), ticket("b", priority=9), ticket("c", penalty=2.5)])
    low, high, priced = (spec.penalty for spec in day.tickets)
    assert high == 256 * low
    assert low > build_plan(day, candidate(day, "a", "b", "c")).cost * day.cost_scale
    assert priced == 2.5 * day.cost_scale
    assert 5000 * high < 2**62


def test_prices_stay_exact() -> None:
    """Our choice: the cost scale is the least that keeps every price whole."""
    day = problem([agent(cost_per_km=1.23, cost_per_hour=7.5, fixed_cost=0.1)])
    spec, scale = day.agents[0], day.cost_scale
    assert spec.distance_cost * 100_000 == 123 * scale
    assert spec.time_cost * 480 == scale
    assert spec.fixed_cost * 10 == scale


@pytest.mark.parametrize("decimals", [0, 3])
def test_hours_cost_what_the_caller_wrote_however_fine_the_units(decimals: int) -> None:
    """SPEC S1: on the plane times are milliseconds; a price of 1.07 an hour must not become 1.08 (3 in 100 of them)."""
    driver = agent(cost_per_hour=1.07, cost_per_km=0.0123, shift_end=40_000)
    tickets = [ticket(service_time_s=30_000, lateness_cost_per_hour=0.37, soft_close=0)]
    day = problem([driver], tickets, travel={"decimals": decimals})
    plan = build_plan(day, candidate(day, "a"))
    hours = 30_002 / 3600
    assert plan.cost == pytest.approx(1.07 * hours + 0.0123 * 0.002 + 0.37 / 3600, rel=3e-5)


@pytest.mark.parametrize(
    ("day", "feature"),
    [
        ({"tickets": [ticket(time_windows=[[0, 9]])]}, Feature.TIME_WINDOWS),
        ({"tickets": [ticket(kind="pickup")]}, Feature.PICKUPS),
        ({"tickets": [ticket(penalty=3)]}, Feature.OPTIONAL),
        ({"tickets": [ticket(release_time=3)]}, Feature.RELEASE),
        ({"agents": [agent(end_location=None)]}, Feature.OPEN_ROUTES),
        ({"agents": [agent(end_location="A")]}, Feature.MULTI_DEPOT),
        ({"agents": [agent(shift_end=900)]}, Feature.SHIFTS),
        ({"agents": [agent(), agent("w", capacity=9)]}, Feature.HETEROGENEOUS),
        ({"agents": [agent(), agent("w", speed_factor=2)]}, Feature.PROFILES),
        ({"agents": [agent(reload_locations=["D"])]}, Feature.RELOAD),
        ({"agents": [agent(skills=["s"]), agent("w")], "tickets": [ticket(skills=["s"])]}, Feature.SKILLS),
        ({"options": {"backhaul": True}}, Feature.BACKHAUL),
    ],
)
def test_a_day_names_exactly_what_it_asks_of_an_engine(day: dict[str, object], feature: Feature) -> None:
    """Our choice: features decide who can."""
    assert problem().features == frozenset()
    assert problem(**day).features == {feature}  # type: ignore[arg-type]


def test_services_are_early_and_departures_late() -> None:
    """Our choice: drivers wait at home rather than at a closed door."""
    day = problem([agent(shift_start=10)], [ticket("a", time_windows=[[50, 60]], service_time_s=5), ticket("b", "B")])
    route = build_plan(day, candidate(day, "a", "b")).routes[0]
    assert (route.start_s, route.end_s, route.waiting_s) == (49.0, 58.0, 0.0)
    assert [(visit.arrival_s, visit.start_s, visit.departure_s) for visit in route.visits] == [
        (50, 50, 55),
        (56, 56, 56),
    ]


def test_a_reload_loads_and_waits_for_the_goods_of_its_trip() -> None:
    """SPEC S1: reload, release times."""
    late = ticket("b", "B", release_time=30)
    day = problem([agent(capacity=1, reload_locations=["D"])], [ticket(), late])
    plan = build_plan(day, candidate(day, "a", "reload@D", "b"))
    assert verify(day, plan) == []
    assert [visit.load["load"] for visit in plan.routes[0].visits] == [0.0, 1.0, 0.0]
    assert plan.routes[0].visits[1].departure_s == 30.0


def test_a_plan_goes_through_json_and_back_to_its_stops() -> None:
    """SPEC S3: plans are stored, and later solves start from them."""
    rest = [{"earliest": 0, "latest": 50, "duration_s": 3}]
    day = problem([agent(capacity=1, reload_locations=["D"], breaks=rest)])
    stops = candidate(day, "a", "break", "reload@D", "b")
    plan = build_plan(day, stops, engine="sisr", seed=7, versions={"sisr": "1"}, input_hash="h")
    stored = json.loads(json.dumps(plan.as_json()))
    read = Plan.from_json(stored)
    assert read == plan
    assert candidate_of(day, read) == stops
    assert build_plan(day, candidate_of(day, read), engine="auto").engine == "sisr"
    fewer = replace(day, tickets=day.tickets[1:], agents=(replace(day.agents[0], breaks=(), reload_at=()),))
    assert candidate_of(fewer, read) == candidate(fewer, "b")


def test_large_days_fit_in_memory_and_time() -> None:
    """Our choice: 1500 locations compile within a second or two, in integers of 8 bytes."""
    spread = np.random.default_rng(1).uniform(39.5, 40.5, (1500, 2))
    places = [{"id": f"P{i}", "lat": float(lat), "lon": float(lon)} for i, (lat, lon) in enumerate(spread)]
    tickets = [ticket(f"t{i}", f"P{i}") for i in range(1500)]
    watch = Stopwatch()
    day = problem([agent(capacity=10_000)], tickets, locations=places, depot="P0", travel={})
    assert watch.spent_s < 2
    plan = build_plan(day, Candidate.of_tickets({0: list(range(1500))}))
    assert verify(day, plan) == []
    assert day.distances[0].nbytes == 8 * 1500**2
